"""Read tables: CSV, a list of JSON objects, or JSON lines."""

import csv
import json
from collections.abc import Iterable, Iterator, Sequence
from io import StringIO
from itertools import zip_longest
from pathlib import Path
from typing import Any, NamedTuple

from fin_tasks.errors import DataError

from .files import check_name

_MAX_ROWS = 200_000
_MAX_COLUMNS = 1000
_MAX_CELLS = 5_000_000
"""Limits of a table, so that a small file cannot take much memory."""
_MAX_CELL = (1 << 31) - 1  # characters; the default is 128 kB


class Record(NamedTuple):
    """One row of a table; a short row is filled up with empty cells."""

    line: int
    """The line of the file on which the row ends."""
    cells: dict[str, str]
    surplus: int
    """Number of cells that the header lacks; negative if the row is short."""


def records_of(
    path: Path, rows: Iterable[tuple[int, Sequence[str]]], columns: Sequence[str] = ()
) -> list[Record]:
    """Return numbered rows as records; the first one with text is the header.

    The header must have these columns and may have more, each once. Columns without a name are
    left out.
    """
    header: Sequence[str] = []
    records: list[Record] = []
    n_cells = 0
    for line, row in rows:
        n_cells += max(len(row), len(header))
        if len(records) > _MAX_ROWS or len(row) > _MAX_COLUMNS or n_cells > _MAX_CELLS:
            raise DataError(
                f"{path}: expected at most {_MAX_ROWS:,} rows, {_MAX_COLUMNS:,} columns and "
                f"{_MAX_CELLS:,} cells, got more."
            )
        if header:
            surplus = len(row) - len(header)
            cells = dict(zip_longest(header, row[: len(header)], fillvalue=""))
            cells.pop("", None)
            records.append(Record(line, cells, surplus))
        elif any(row):
            header = row
    names = list(filter(None, header))
    if not set(columns) <= set(names) or len(set(names)) < len(names):
        raise DataError(
            f"{path}: expected the columns {', '.join(columns)}, each once, "
            f"got {', '.join(names) or 'an empty file'}. Rename its columns."
        )
    return records


def read_csv(
    path: Path, columns: Sequence[str], *, delimiter: str = ","
) -> list[Record]:
    """Read the rows of a UTF-8 CSV file that has these columns and maybe more; skip blank lines."""
    return records_of(path, csv_rows(path, delimiter), columns)


def csv_rows(path: Path, delimiter: str) -> Iterator[tuple[int, list[str]]]:
    """Yield the rows of a UTF-8 CSV file that are not blank, each with the line of its end."""
    check_name(path)
    csv.field_size_limit(_MAX_CELL)
    try:
        text = path.read_bytes().decode("utf-8-sig")
        reader = csv.reader(StringIO(text, newline=""), delimiter=delimiter)
        for row in reader:
            if row:
                yield reader.line_num, row
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise DataError(
            f"{path}: expected a CSV file in UTF-8, could not read it ({error})."
        ) from error


def read_json(path: Path, columns: Sequence[str] = ()) -> list[dict[str, Any]]:
    """Read the objects of a JSON list, or of JSON lines, in UTF-8; each must have these columns."""
    check_name(path)
    try:
        text = path.read_bytes().decode("utf-8-sig")
        if not text.lstrip().startswith("["):
            # JSON does not break lines at other separators, as `splitlines` would.
            lines = [line for line in text.split("\n") if line.strip()]
            text = "[" + ",\n".join(lines) + "]"
        rows = json.loads(text)
    except (OSError, ValueError, RecursionError) as error:
        raise DataError(
            f"{path}: expected a JSON list or JSON lines in UTF-8, got {error}."
        ) from error
    if not rows:
        raise DataError(f"{path}: expected at least one row, got none.")
    for number, row in enumerate(rows, start=1):
        if not isinstance(row, dict) or not set(columns) <= row.keys():
            names = f" with {', '.join(columns)}" if columns else ""
            raise DataError(
                f"{path}, row {number}: expected an object{names}, got {row!r:.200}."
            )
    return list(rows)
