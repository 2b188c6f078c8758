"""Reads files of recorded outputs, the authors' or lm-eval's, and says what is wrong with one it cannot understand."""

import json
import reprlib
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fin_tasks.errors import DataError
from fin_tasks.sandbox import escape

__all__ = ["Record", "read_records"]


@dataclass(frozen=True, kw_only=True)
class Record:
    """One recorded response and what it is compared with.

    Attributes:
        question_id: As the file has it, text or whole number.
        output: The response; blank where the model gave none.
        ground_truth: The reference result, rounded in the authors' files.
        python_solution: The program that computes it at full precision, if the row has one.
        topic: The question's field, if the row has one.
    """

    question_id: str | int
    output: str
    ground_truth: float
    python_solution: str | None
    topic: str | None = None


def read_records(path: str | Path) -> list[Record]:
    """Read and check a file of recorded outputs.

    Args:
        path: A JSON list, or JSON lines, in UTF-8 with or without a byte order mark. A samples file of lm-eval holds
            every question once per filter; the first filter's lines are taken, as the responses are the same.

    Raises:
        DataError: It is missing, not JSON, empty, or a row lacks something.
    """
    file = Path(path)
    name = escape(str(file))
    try:
        # Decoded from bytes, as reading as text would take other line ends for "\n".
        text = file.read_bytes().decode("utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise DataError(f"{name}: expected a readable JSON file in UTF-8, got {error}") from error
    rows = _rows(name, text)
    if not rows:
        raise DataError(f"{name}: expected at least one row, found none")
    numbered = [(f"{name}, row {number}", row) for number, row in enumerate(rows, start=1)]
    first = rows[0].get("filter") if isinstance(rows[0], dict) else None
    return [_record(where, _unpacked(row)) for where, row in numbered if not _of_another_filter(row, first)]


def _rows(name: str, text: str) -> Sequence[Any]:
    if not text.lstrip().startswith("["):
        # Not splitlines(): JSON text may hold U+2028 and other characters that it takes for line ends.
        lines = [(number, line) for number, line in enumerate(text.split("\n"), start=1) if line.strip()]
        return [_parse(f"{name}, line {number}", line) for number, line in lines]
    rows: Sequence[Any] = _parse(name, text)
    return rows


def _parse(where: str, text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise DataError(f"{where}: expected JSON, got {error}") from error


def _of_another_filter(row: Any, first: Any) -> bool:
    return isinstance(row, dict) and "resps" in row and row.get("filter") != first


def _unpacked(row: Any) -> Any:
    """A line of lm-eval's samples as a row of the authors': the document, and the first response to it."""
    if not isinstance(row, dict) or not isinstance(row.get("doc"), dict) or not isinstance(row.get("resps"), list):
        return row
    responses = row["resps"][0] if row["resps"] else None
    return {**row["doc"], "output": responses}


def _record(where: str, row: Any) -> Record:
    if not isinstance(row, dict):
        raise DataError(f"{where}: expected an object, got {reprlib.repr(row)}")
    return Record(
        question_id=_question_id(where, _field(where, row, "question_id")),
        output=_output(where, _field(where, row, "output")),
        ground_truth=_ground_truth(where, _field(where, row, "ground_truth")),
        python_solution=_text_or_none(where, row, "python_solution"),
        topic=_text_or_none(where, row, "topic"),
    )


def _field(where: str, row: Mapping[str, Any], name: str) -> Any:
    if name not in row:
        raise DataError(f"{where}, field {name}: expected it to be there, found only {sorted(row)!r:.200}")
    return row[name]


def _question_id(where: str, value: Any) -> str | int:
    if isinstance(value, bool) or not isinstance(value, (str, int)):
        raise DataError(f"{where}, field question_id: expected a text or a whole number, got {reprlib.repr(value)}")
    try:
        str(value).encode("utf-8")
    except UnicodeEncodeError as error:  # half a surrogate pair, which no file of items could hold
        raise DataError(f"{where}, field question_id: expected valid Unicode, got {reprlib.repr(value)}") from error
    return value


def _output(where: str, value: Any) -> str:
    first = (value[0] if value else None) if isinstance(value, list) else value
    if first is None:
        return ""
    if not isinstance(first, str):
        raise DataError(
            f"{where}, field output: expected a text or a list that starts with one, got {reprlib.repr(value)}"
        )
    return first


def _ground_truth(where: str, value: Any) -> float:
    number = value
    if isinstance(value, str):
        try:
            number = float(value)
        except ValueError:
            number = None
    usable = isinstance(number, (int, float)) and not isinstance(number, bool)
    if not usable or not abs(number) <= sys.float_info.max:
        raise DataError(f"{where}, field ground_truth: expected a finite number, got {reprlib.repr(value)}")
    return float(number)


def _text_or_none(where: str, row: Mapping[str, Any], name: str) -> str | None:
    value = row.get(name)
    if value is not None and not isinstance(value, str):
        raise DataError(f"{where}, field {name}: expected a text or nothing, got {reprlib.repr(value)}")
    return value
