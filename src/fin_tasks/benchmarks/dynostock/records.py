"""Reads recorded responses: the authors' `exp_*.json` and lm-eval's `samples_*.jsonl`.

Such files are strangers'. What makes a whole file useless is an error; a row that cannot be used is a `Defect`, so that
the rest of the file still counts and nothing disappears in silence.
"""

import json
import math
import re
import reprlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fin_tasks.benchmarks.dynostock.windows import BIASES
from fin_tasks.data.tables import Defect
from fin_tasks.errors import DataError
from fin_tasks.judging.predictions_model import model_of

__all__ = ["Condition", "Record", "Recording", "find_files", "model_of_folder", "read_recording"]

_LARGEST_FILE = 1 << 30
_PATTERNS = ("exp_*.json", "samples_*.jsonl")
_NAMED = re.compile(r"exp_([A-Za-z]+)_(\d{1,4})")
_MOVEMENTS: Mapping[Any, int] = {"0": 0, "1": 1, "0.0": 0, "1.0": 1, "false": 0, "true": 1}


@dataclass(frozen=True, kw_only=True)
class Condition:
    """What the responses of a file have in common; None or the default where the file does not say.

    Attributes:
        model: The model's name.
        bias: `recency`, `authority` or `plain`.
        mode: `image` or `text`.
        arm: Which statement was shown, see the task's metadata; `signal` in the authors' recordings.
        anonymised: Whether ticker and dates were hidden.
    """

    model: str | None = None
    bias: str | None = None
    mode: str = "image"
    arm: str = "signal"
    anonymised: bool = False


@dataclass(frozen=True, kw_only=True)
class Record:
    """One recorded response. Movements are 1 for up, 0 for down.

    Attributes:
        id: The window's id, where the file has one.
        ticker: The stock; empty where the file does not say, as for the dates.
        start: First day shown.
        end: Last day shown.
        truth: Movement after the newest report; None while it is not known.
        signal: Movement the biased statement suggests; None where the window has no such statement.
        response: What the model wrote; empty where it wrote nothing.
        document: Number of the row; with `repeats` several responses are of one row, and so of one window.
    """

    id: str
    ticker: str
    start: str
    end: str
    truth: int | None
    signal: int | None
    response: str
    document: int = 1


@dataclass(frozen=True, kw_only=True)
class Recording:
    """A file of recorded responses.

    Attributes:
        file: The file.
        condition: What its responses have in common.
        window: Number of reports in its windows; None where the file does not say or has several.
        records: The rows that can be used, in the file's order.
        defects: The others; `row_id` is the number of the row, from 1.
    """

    file: Path
    condition: Condition
    window: int | None
    records: tuple[Record, ...]
    defects: tuple[Defect, ...]


def find_files(paths: Sequence[Path]) -> list[Path]:
    """Return files as they are and, of folders, all recordings below them, ordered by name and window size.

    Raises:
        DataError: A folder holds no recording.
    """
    files: list[Path] = []
    for path in paths:
        if not path.is_dir():
            files.append(path)
            continue
        below = sorted({file for pattern in _PATTERNS for file in path.rglob(pattern)}, key=_natural)
        if not below:
            raise DataError(f"{path}: expected {' or '.join(_PATTERNS)} in or below this folder, found none.")
        files += below
    return list(dict.fromkeys(files))


def read_recording(path: Path) -> Recording:
    """Read a file.

    Args:
        path: A JSON list or JSON lines, in UTF-8 with or without a byte order mark. Either the authors' rows (`bias`,
            `gt`, `response`, and `ticker`, `start_time`, `end_time`) or lm-eval's (`doc` and `resps`). The latter hold
            every question once per filter: the first filter's lines are taken, as the responses are the same.

    Raises:
        DataError: The file is missing, no such file, or holds no row that can be used.
    """
    numbered = list(_numbered_rows(path, _text_of(path)))
    is_samples = any(isinstance(row, dict) and "resps" in row for _, row in numbered)
    first_filter = next((row.get("filter") for _, row in numbered if isinstance(row, dict)), None)
    records: list[Record] = []
    defects: list[Defect] = []
    docs: list[Mapping[str, Any]] = []
    for number, row in numbered:
        try:
            if isinstance(row, DataError):
                raise row
            if not isinstance(row, dict):
                raise DataError(f"expected an object, got {reprlib.repr(row)}")
            if is_samples:
                if row.get("filter") == first_filter:
                    records += list(_from_sample(row, number))
                    docs.append(row["doc"])
            else:
                records.append(_from_authors(row, number))
        except DataError as error:
            defects.append(Defect("unusable-row", str(number), str(error)))
    if not records:
        first = f" Row {defects[0].row_id}: {defects[0].detail}" if defects else ""
        raise DataError(
            f"{path}: expected recorded responses (rows with bias, gt and response, or lm-eval's samples), "
            f"found no usable one among {len(numbered)}.{first}"
        )
    condition, window = _of_samples(path, docs) if is_samples else _of_authors(path)
    return Recording(file=path, condition=condition, window=window, records=tuple(records), defects=tuple(defects))


def _text_of(path: Path) -> str:
    try:
        if path.stat().st_size > _LARGEST_FILE:
            raise DataError(f"{path}: expected at most {_LARGEST_FILE >> 30} GiB, got {path.stat().st_size} bytes.")
        content = path.read_bytes()
        return content.decode("utf-8-sig")
    except OSError as error:
        raise DataError(
            f"{path}: expected a readable file of responses, got {error.strerror}. Check the path."
        ) from error
    except UnicodeDecodeError as error:
        if error.reason == "unexpected end of data":  # cut off within a character: the lines before are whole
            return content[: error.start].decode("utf-8-sig")
        raise DataError(
            f"{path}: expected UTF-8, got byte {error.object[error.start]:#04x} at offset {error.start}. "
            "Save it as UTF-8."
        ) from error


def _numbered_rows(path: Path, text: str) -> Iterator[tuple[int, Any]]:
    """Rows of a list, or of JSON lines; in place of a line that is no JSON, such as one cut off, the error."""
    if text.lstrip().startswith("["):
        yield from enumerate(_parse(f"{path}: ", text), start=1)
        return
    # Not splitlines(): JSON text may hold U+2028 and other characters that it takes for line ends.
    lines = [(number, line) for number, line in enumerate(text.split("\n"), start=1) if line.strip()]
    if len(lines) > 1 and _is_one_object(text):
        raise DataError(
            f"{path}: expected a JSON list or JSON lines, got one object over several lines. Put [ ] round it."
        )
    for number, line in lines:
        try:
            yield number, _parse("", line)
        except DataError as error:
            yield number, error


def _is_one_object(text: str) -> bool:
    try:
        return isinstance(json.loads(text), dict)
    except (ValueError, RecursionError):
        return False


def _parse(where: str, text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise DataError(f"{where}expected JSON, got {reprlib.repr(text)} ({error}).") from error


def _from_authors(row: Mapping[str, Any], number: int) -> Record:
    return Record(
        id="",
        ticker=_label(row.get("ticker")),
        start=_label(row.get("start_time")),
        end=_label(row.get("end_time")),
        truth=_movement(row, "gt"),
        signal=_movement(row, "bias"),
        response=_response(row.get("response")),
        document=number,
    )


def _from_sample(row: Mapping[str, Any], number: int) -> Iterator[Record]:
    doc, resps = row.get("doc"), row.get("resps")
    if not isinstance(doc, dict) or not {"truth", "signal"} <= doc.keys():
        raise DataError(f"expected `doc` with truth and signal, got {reprlib.repr(doc)}. Is it of DynoStock?")
    if not isinstance(resps, list) or not all(isinstance(several, list) for several in resps):
        raise DataError(f"expected `resps` to be a list of lists, got {reprlib.repr(resps)}")
    truth, signal = (None if doc[name] is None else _movement(doc, name) for name in ("truth", "signal"))
    # A question whose response was lost counts as one without an answer rather than vanishing.
    for response in [text for several in resps for text in several] or [None]:
        yield Record(
            id=_label(doc.get("id")),
            ticker=_label(doc.get("ticker")),
            start=_label(doc.get("start")),
            end=_label(doc.get("end")),
            truth=truth,
            signal=signal,
            response=_response(response),
            document=number,
        )


def _movement(row: Mapping[str, Any], name: str) -> int:
    value = row.get(name)
    key = value.strip().lower() if isinstance(value, str) else value
    if isinstance(key, str) and key in _MOVEMENTS:
        return _MOVEMENTS[key]
    if isinstance(key, (bool, int, float)) and key in (0, 1):
        return int(key)
    found = reprlib.repr(value) if name in row else f"none, only {sorted(map(str, row))!r:.120}"
    raise DataError(f"field {name}: expected 0 or 1, got {found}")


def _response(value: Any) -> str:
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return ""
    if isinstance(value, str):
        return value
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return str(value)
    raise DataError(f"field response: expected a text or nothing, got {reprlib.repr(value)}")


def _label(value: Any) -> str:
    return "" if value is None else str(value)[:200]


def model_of_folder(file: Path) -> str:
    """Name the model after the folder a file lies in, and never after a bias: `gpt-4o/recency/` is of `gpt-4o`.

    Example:
        >>> model_of_folder(Path("/runs/recency/gpt-4o/exp_recency_12.json"))
        'gpt-4o'
    """
    folder = file.parent.resolve()  # not of the file, which may be a link into a cache
    return folder.parent.name if folder.name in BIASES else folder.name


def _of_authors(path: Path) -> tuple[Condition, int | None]:
    """Model, bias and window from a name such as `recency/gpt-4o/exp_recency_12.json`."""
    folder = path.parent.resolve()
    named = _NAMED.match(path.name)
    bias = named[1] if named else next((one.name for one in (folder, folder.parent) if one.name in BIASES), None)
    return Condition(model=model_of_folder(path), bias=bias), int(named[2]) if named else None


def _of_samples(path: Path, docs: Sequence[Mapping[str, Any]]) -> tuple[Condition, int | None]:
    def one(name: str, kind: type, default: Any) -> Any:
        found = {doc[name] for doc in docs if isinstance(doc.get(name), kind)}
        return found.pop() if len(found) == 1 else default

    condition = Condition(
        model=model_of(path, "samples", []) or model_of_folder(path),  # as a report of the same run names it
        bias=one("bias_type", str, None),
        mode=one("mode", str, "image"),
        arm=one("arm", str, "signal"),
        anonymised=one("anonymised", bool, False),
    )
    return condition, one("window", int, None)


def _natural(path: Path) -> list[tuple[bool, int, str]]:
    parts: Iterable[str] = re.split(r"(\d+)", str(path))
    return [(part.isdigit(), int(part) if part.isdigit() and len(part) < 19 else 0, part) for part in parts]
