"""Tables of a benchmark, and what is wrong with them.

A missing column makes a table useless and is an error. Anything odd about single rows is a `Defect`: collected,
counted and shown, so that no row disappears in silence.
"""

import codecs
import csv
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from fin_tasks.errors import DataError

__all__ = ["Defect", "Record", "Table", "ids_by_kind", "read_csv"]


@dataclass(frozen=True)
class Defect:
    """Something odd in a file.

    Attributes:
        kind: A short fixed name, such as `missing-figure`.
        row_id: The row's id; empty for the file as a whole.
        detail: What was found there.
    """

    kind: str
    row_id: str
    detail: str


@dataclass(frozen=True, kw_only=True)
class Record:
    """One row of a table.

    Attributes:
        line: Line of the file the row ends on; a quoted cell may span many.
        cells: Column to cell; empty text where the row was too short.
        surplus: Cells beyond (positive) or short of (negative) the header.
    """

    line: int
    cells: dict[str, str]
    surplus: int


@dataclass(frozen=True, kw_only=True)
class Table:
    """A CSV file as read.

    Attributes:
        records: The rows in the file's order; blank lines are no rows.
        has_bom: Whether the file starts with a byte order mark.
    """

    records: tuple[Record, ...]
    has_bom: bool


def read_csv(path: Path, *, columns: Sequence[str], delimiter: str = ",") -> Table:
    """Read a CSV file with a header, with or without a byte order mark.

    Args:
        path: The file, UTF-8.
        columns: Columns it must have; others are kept as they are.
        delimiter: What stands between cells; a tab in a TSV file.

    Raises:
        DataError: The file is not there, is no UTF-8 or no CSV, or lacks a column.
    """
    try:
        with path.open("rb") as raw:
            has_bom = raw.read(3) == codecs.BOM_UTF8
        with path.open(encoding="utf-8-sig", newline="") as file:
            reader = csv.reader(file, delimiter=delimiter)
            header = next(reader, [])
            _check_header(path, header, columns)
            records = tuple(_record(header, row, reader.line_num) for row in reader if row)
    except OSError as error:
        raise DataError(f"{path}: expected a readable CSV file, got {error.strerror!r}. Put it there.") from error
    except UnicodeDecodeError as error:
        raise DataError(
            f"{path}: expected UTF-8, got byte {error.object[error.start]:#04x} at offset {error.start} of a block. "
            "Save it as UTF-8 or fetch it again."
        ) from error
    except csv.Error as error:
        raise DataError(f"{path}: expected CSV, got a line that cannot be read ({error}). Fetch it again.") from error
    return Table(records=records, has_bom=has_bom)


def ids_by_kind(defects: Iterable[Defect]) -> dict[str, tuple[str, ...]]:
    """Group defects: kind to the ids of its rows, kinds in alphabetical order.

    Example:
        >>> ids_by_kind([Defect("zero-truth", "b", "0"), Defect("bom", "", ""), Defect("zero-truth", "a", "0")])
        {'bom': ('',), 'zero-truth': ('b', 'a')}
    """
    ids: dict[str, list[str]] = {}
    for defect in defects:
        ids.setdefault(defect.kind, []).append(defect.row_id)
    return {kind: tuple(ids[kind]) for kind in sorted(ids)}


def _check_header(path: Path, header: Sequence[str], columns: Sequence[str]) -> None:
    if missing := [column for column in columns if column not in header]:
        raise DataError(
            f"{path}: expected the columns {', '.join(columns)}; missing {', '.join(missing)}, "
            f"got {', '.join(header) or 'an empty file'}. Fetch the file again or rename its columns."
        )
    if len(set(header)) != len(header):
        twice = sorted({column for column in header if header.count(column) > 1})
        raise DataError(f"{path}: expected each column once, got {', '.join(twice)} more than once. Remove one.")


def _record(header: Sequence[str], row: Sequence[str], line: int) -> Record:
    surplus = len(row) - len(header)
    padded = [*row, *[""] * -surplus] if surplus < 0 else row
    return Record(line=line, cells=dict(zip(header, padded, strict=False)), surplus=surplus)
