"""Reads the rows of files with saved predictions, whatever their form; nothing in them is evaluated.

The form is recognised by what a file holds. Files may come from strangers: sizes, rows and lines are capped, only
regular files are opened, and an error names file, line and field.
"""

import json
import stat
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fin_tasks.errors import DataError
from fin_tasks.report.predictions_tables import MAX_ROWS, TableRow, read_delimited, read_xlsx

__all__ = ["MAX_BYTES", "MAX_LINE", "SavedRow", "SavedRows", "read_saved", "saved_text"]

MAX_BYTES = 2**30
"""Bytes a file may have: predictions on a thousand questions take some megabytes."""
MAX_LINE = 64 * 2**20
"""Bytes a line of JSON may have, which holds one row with its prompt and responses."""

_HEAD = 64 * 2**10
_FORMS = (
    "VLMEvalKit's .xlsx, .tsv, .csv or .json, lm-eval's samples_*.jsonl, or JSON lines with index, question, answer, "
    "prediction, task_category, image_type, image_style, image_path"
)


@dataclass(frozen=True, kw_only=True)
class SavedRow:
    """A row as it was saved.

    Attributes:
        where: File and line or row, for messages.
        fields: Field to value: text from tables, anything JSON has from JSON.
        responses: What the model wrote, where a samples file has it beside the document; usually one.
    """

    where: str
    fields: Mapping[str, Any]
    responses: tuple[Any, ...] | None = None


@dataclass(frozen=True, kw_only=True)
class SavedRows:
    """The rows of a file.

    Attributes:
        form: `xlsx`, `tsv`, `csv`, `json`, `jsonl` or `samples` (of lm-eval).
        rows: At least one.
    """

    form: str
    rows: tuple[SavedRow, ...]


def read_saved(path: Path, *, expected: str = _FORMS) -> SavedRows:
    """Read a file.

    Args:
        path: The file; its form is recognised by its content.
        expected: What it should be, for the message where it is nothing of the kind.

    Raises:
        DataError: It is no regular file, too large, of no form we know, broken, or has no rows.
    """
    head = _head(path)
    if head.startswith(b"PK\x03\x04"):
        saved = SavedRows(form="xlsx", rows=_from_table(path, read_xlsx(path)))
    elif head.startswith(b"\xd0\xcf\x11\xe0"):
        raise DataError(f"{path}: expected .xlsx, got a workbook of the older form .xls. Save it as .xlsx or .tsv.")
    elif head.removeprefix(b"\xef\xbb\xbf").lstrip()[:1] in (b"[", b"{"):
        saved = _from_json(path, is_list=head.removeprefix(b"\xef\xbb\xbf").lstrip().startswith(b"["))
    else:
        delimiter = _delimiter(path, head, expected)
        form = "tsv" if delimiter == "\t" else "csv"
        saved = SavedRows(form=form, rows=_from_table(path, read_delimited(path, delimiter)))
    if not saved.rows:
        raise DataError(f"{path}: expected at least one row, found none.")
    return saved


def saved_text(value: Any) -> str:
    """Return what was saved in a field as the text that is scored: tables of JSON may hold something else.

    Example:
        >>> [saved_text(value) for value in ("007.50", None, 7.5, True)]
        ['007.50', '', '7.5', 'true']
    """
    if value is None:
        return ""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _head(path: Path) -> bytes:
    """Return the first bytes of a file that may be read; nothing else is opened, as a pipe would block."""
    try:
        found = path.stat()
        if not stat.S_ISREG(found.st_mode):
            kind = "a folder" if stat.S_ISDIR(found.st_mode) else "a pipe or device"
            raise DataError(f"{path}: expected a file with predictions, got {kind}. Name one file.")
        if found.st_size > MAX_BYTES:
            raise DataError(f"{path}: expected at most {MAX_BYTES:,} bytes, got {found.st_size:,}. Split the file.")
        with path.open("rb") as file:
            return file.read(_HEAD)
    except (OSError, ValueError) as error:
        raise DataError(
            f"{path}: expected a readable file, got {getattr(error, 'strerror', None) or error}."
        ) from error


def _delimiter(path: Path, head: bytes, expected: str) -> str:
    """Tell tabs, commas and the semicolons of some spreadsheets apart by the first line, which names the columns."""
    line = head.split(b"\n", 1)[0].removeprefix(b"\xef\xbb\xbf").strip()
    for delimiter in ("\t", ",", ";"):
        names = {name.strip(b' "').lower() for name in line.split(delimiter.encode())}
        if b"\0" not in line and {b"index", b"id"} & names:
            return delimiter
    raise DataError(f"{path}: expected {expected}; got a file that starts with {head[:40]!r}.")


def _from_table(path: Path, rows: Iterator[TableRow]) -> tuple[SavedRow, ...]:
    return tuple(SavedRow(where=f"{path}, {row.place}", fields=row.cells) for row in rows)


def _from_json(path: Path, *, is_list: bool) -> SavedRows:
    rows: list[SavedRow] = []
    first_filter: Any = None
    form = "json" if is_list else "jsonl"
    for where, value in _listed(path) if is_list else _lines(path):
        if not isinstance(value, dict):
            raise DataError(f"{where}: expected an object, got {_shown(value)}.")
        if not rows and _is_by_column(value):
            return SavedRows(form="json", rows=_by_column(path, value))
        row = SavedRow(where=where, fields=value)
        if isinstance(value.get("doc"), dict) and "resps" in value:
            form = "samples"
            first_filter = value.get("filter") if not rows else first_filter
            if value.get("filter") != first_filter:  # the same responses once more, read in another way
                continue
            row = SavedRow(where=where, fields=value["doc"], responses=_responses(where, value["resps"]))
        elif form == "samples":
            raise DataError(f"{where}: expected doc and resps as in the lines before, got {_shown(sorted(value))}.")
        if len(rows) >= MAX_ROWS:
            raise DataError(f"{path}: expected at most {MAX_ROWS:,} rows, got more. Split the file.")
        rows.append(row)
    return SavedRows(form=form, rows=tuple(rows))


def _is_by_column(value: Mapping[str, Any]) -> bool:
    """Tell an object of columns, as pandas writes a table unless it is told otherwise, from a row."""
    return isinstance(value.get("index"), dict) and isinstance(value.get("prediction"), dict)


def _by_column(path: Path, columns: Mapping[str, Any]) -> tuple[SavedRow, ...]:
    labels = list(columns["index"])
    for name, cells in columns.items():
        if not isinstance(cells, dict) or list(cells) != labels:
            raise DataError(
                f"{path}, column {name!r}: expected a cell for each of the {len(labels)} rows of index, got "
                f"{_shown(cells)}. Was the file cut or edited?"
            )
    if len(labels) > MAX_ROWS:
        raise DataError(f"{path}: expected at most {MAX_ROWS:,} rows, got {len(labels):,}. Split the file.")
    return tuple(
        SavedRow(where=f"{path}, row {label}", fields={name: cells[label] for name, cells in columns.items()})
        for label in labels
    )


def _listed(path: Path) -> Iterator[tuple[str, Any]]:
    for number, value in enumerate(_parsed(str(path), _content(path)), start=1):
        yield f"{path}, row {number}", value


def _lines(path: Path) -> Iterator[tuple[str, Any]]:
    # Lines of bytes end in b"\n" only; text would also be cut at U+2028 and others, which JSON may hold.
    with path.open("rb") as file:
        number = 0
        while line := file.readline(MAX_LINE + 1):
            number += 1
            where = f"{path}, line {number}"
            if len(line) > MAX_LINE:
                raise DataError(f"{where}: expected at most {MAX_LINE:,} bytes, got more.")
            if line.strip():
                yield where, _parsed(where, line)


def _content(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise DataError(f"{path}: expected a readable file, got {error.strerror or error}.") from error


def _parsed(where: str, text: bytes) -> Any:
    try:
        return json.loads(text.decode("utf-8-sig"))
    except (ValueError, RecursionError) as error:
        raise DataError(
            f"{where}: expected JSON in UTF-8, got {text[:60]!r} ({error}). Was the file cut or edited?"
        ) from error


def _responses(where: str, value: Any) -> tuple[Any, ...]:
    """Take the responses to a document's only request."""
    first = value[0] if isinstance(value, list) and value else None
    if not isinstance(first, list) or not first:
        raise DataError(f"{where}, resps: expected a list with a list of responses, got {_shown(value)}.")
    return tuple(first)


def _shown(value: Any) -> str:
    return repr(value)[:80]
