"""Reads saved XFinBench responses: lm-eval's samples files, or a table with id, ground_truth and model_response."""

import csv
import io
import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fin_tasks.benchmarks.xfinbench.cells import capability_codes, parse_choices
from fin_tasks.benchmarks.xfinbench.metrics import CAPABILITIES
from fin_tasks.errors import DataError

__all__ = ["Response", "read_responses"]

_COLUMNS = ("id", "ground_truth", "model_response")


@dataclass(frozen=True, kw_only=True)
class Response:
    """One saved response.

    Attributes:
        id: The question's id, of the type the file has.
        ground_truth: The truth as the file has it.
        text: What the model wrote; empty where it wrote nothing.
        task: `bool`, `mcq` or `calcu`, where the file says.
        choices: The choices' texts, where the file has them.
        capabilities: Capability codes, where the file has them.
    """

    id: str | int
    ground_truth: str
    text: str
    task: str = ""
    choices: tuple[str, ...] = ()
    capabilities: tuple[str, ...] = ()


def read_responses(path: Path) -> list[Response]:
    """Read a file of responses.

    Args:
        path: `.csv` or `.tsv`; any other file is read as JSON lines, or as a JSON list. Beside the three columns,
            `task`, `choice` or `choices` and `fin_capability` or `capabilities` are used. A samples file of lm-eval
            holds every question once per filter; the first filter's lines are taken, as the responses are the same.

    Raises:
        DataError: The file is missing, empty or malformed, or lacks a column.
    """
    try:
        text = path.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise DataError(
            f"{path}: expected a readable file of responses, got {error.strerror}. Check the path."
        ) from error
    except UnicodeDecodeError as error:
        raise DataError(
            f"{path}: expected UTF-8 text, got byte {error.object[error.start]:#x} at {error.start}."
        ) from error
    suffix = path.suffix.lower()
    if suffix in (".csv", ".tsv"):
        rows = _csv_rows(text, path, delimiter="\t" if suffix == ".tsv" else ",")
    else:
        rows = _json_rows(text, path)
    responses = list(_responses(rows, path))
    if not responses:
        raise DataError(f"{path}: expected at least one response, found none.")
    return responses


def _csv_rows(text: str, path: Path, *, delimiter: str) -> Iterator[tuple[int, Mapping[str, Any]]]:
    limit = csv.field_size_limit(len(text) + 1)  # responses can be longer than csv's default limit of 128 kB
    try:
        reader = csv.DictReader(io.StringIO(text, newline=""), delimiter=delimiter, skipinitialspace=True)
        reader.fieldnames = [name.strip() for name in reader.fieldnames or ()]
        _require(reader.fieldnames, path, "header")
        for row in reader:
            if None in row:
                raise DataError(
                    f"{path}, line {reader.line_num}: expected {len(reader.fieldnames)} cells, got "
                    f"{len(reader.fieldnames) + len(row[None])}. Quote cells that hold the separator."
                )
            yield reader.line_num, row
    except csv.Error as error:
        raise DataError(f"{path}: expected CSV, got a malformed row: {error}.") from error
    finally:
        csv.field_size_limit(limit)


def _json_rows(text: str, path: Path) -> Iterator[tuple[int, Mapping[str, Any]]]:
    if text.lstrip().startswith("["):
        numbered: Iterable[tuple[int, Any]] = enumerate(_parse(text, path, 1), 1)
    else:
        lines = ((number, line) for number, line in enumerate(text.split("\n"), 1) if line.strip())
        numbered = ((number, _parse(line, path, number)) for number, line in lines)
    for number, row in numbered:
        if not isinstance(row, dict):
            raise DataError(f"{path}, row {number}: expected an object, got {type(row).__name__}.")
        yield number, row


def _parse(text: str, path: Path, number: int) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise DataError(f"{path}, line {number}: expected JSON, got {text[:60]!r} ({error}).") from error


def _responses(rows: Iterable[tuple[int, Mapping[str, Any]]], path: Path) -> Iterator[Response]:
    first_filter: str | None = None
    for number, row in rows:
        if "resps" not in row:
            yield _from_table(row, path, number)
            continue
        first_filter = first_filter or str(row.get("filter"))
        if str(row.get("filter")) == first_filter:
            yield from _from_sample(row, path, number)


def _from_table(row: Mapping[str, Any], path: Path, number: int) -> Response:
    _require(row, path, f"row {number}")
    return _response(row, row["model_response"])


def _from_sample(row: Mapping[str, Any], path: Path, number: int) -> Iterator[Response]:
    doc = row.get("doc")
    if not isinstance(doc, dict) or not {"id", "ground_truth"} <= doc.keys():
        raise DataError(
            f"{path}, line {number}: expected `doc` with id and ground_truth, got {doc!r:.80}. Is it of XFinBench?"
        )
    resps = row["resps"]
    if not isinstance(resps, list) or not all(isinstance(r, list) for r in resps):
        raise DataError(f"{path}, line {number}: expected `resps` to be a list of lists, got {resps!r:.80}.")
    # A question whose response was lost counts as one without an answer rather than vanishing.
    for response in [text for texts in resps for text in texts] or [""]:
        yield _response(doc, response)


def _response(row: Mapping[str, Any], text: Any) -> Response:
    choices = row.get("choices") or row.get("choice")
    capabilities = row.get("capabilities") or row.get("fin_capability")
    named = capabilities if isinstance(capabilities, list) else capability_codes(_text(capabilities))
    return Response(
        id=row["id"] if isinstance(row["id"], int) else _text(row["id"]),
        ground_truth=_text(row["ground_truth"]),
        text=_text(text),
        task=_text(row.get("task")),
        choices=tuple(map(str, choices)) if isinstance(choices, list) else tuple(parse_choices(_text(choices)) or ()),
        capabilities=tuple(code for code in map(str, named) if code in CAPABILITIES),
    )


def _require(names: Iterable[str], path: Path, where: str) -> None:
    if missing := [column for column in _COLUMNS if column not in set(names)]:
        raise DataError(
            f"{path}, {where}: expected the columns {', '.join(_COLUMNS)}, found {sorted(map(str, names))!r:.300} "
            f"(missing: {', '.join(missing)})."
        )


def _text(value: Any) -> str:
    return "" if value is None else value if isinstance(value, str) else json.dumps(value)
