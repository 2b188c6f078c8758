"""Reads tables of predictions cell by cell as text: spreadsheets, tab- and comma-separated files.

A spreadsheet's cell is what was written into it: `=1+1` is four characters, not 2, and a number is its shortest form.
What a program lost when it wrote the file (zeros before a number, all beyond 32,767 characters) is not in there.
"""

import csv
import re
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from fin_tasks.errors import DataError

__all__ = ["CELL_LIMIT", "MAX_ROWS", "TableRow", "read_delimited", "read_xlsx"]

MAX_ROWS = 200_000
"""Rows a file may have."""
CELL_LIMIT = 32_767
"""Characters a spreadsheet's cell can hold; programs that write more cut it."""

_MAX_UNPACKED = 2**30
_MAX_CELL = 64 * 2**20
_MAX_COLUMNS = 1_000
_ESCAPED = re.compile("_x([0-9A-F]{4})_")


@dataclass(frozen=True, kw_only=True)
class TableRow:
    """A row.

    Attributes:
        place: Line or row of the file, for messages.
        cells: Column to text; empty where the cell is.
    """

    place: str
    cells: Mapping[str, str]


def read_delimited(path: Path, delimiter: str) -> Iterator[TableRow]:
    """Read a separated file whose first line names the columns.

    Args:
        path: UTF-8, with or without a byte order mark; cells may be quoted and hold line ends.
        delimiter: A tab, a comma or a semicolon.

    Raises:
        DataError: It is no UTF-8, a column comes twice, or a row has more or fewer cells than the first line.
    """
    before = csv.field_size_limit(_MAX_CELL)
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            reader = csv.reader(file, delimiter=delimiter, strict=True)
            header = _header(path, next(reader, []))
            for number, cells in enumerate((row for row in reader if row), start=1):
                place = f"line {reader.line_num}"
                if len(cells) != len(header):
                    raise DataError(
                        f"{path}, {place}: expected {len(header)} cells as in the first line, got {len(cells)}. "
                        "Was the file cut, or a cell written without quotes?"
                    )
                _check_count(path, number)
                yield TableRow(place=place, cells=dict(zip(header, cells, strict=True)))
    except OSError as error:
        raise DataError(f"{path}: expected a readable file, got {error.strerror or error}.") from error
    except UnicodeDecodeError as error:
        raise DataError(
            f"{path}: expected UTF-8, got byte {error.object[error.start]:#04x} that is none. Save it as UTF-8."
        ) from error
    except csv.Error as error:
        raise DataError(f"{path}: expected separated cells, got a line that cannot be read ({error}).") from error
    finally:
        csv.field_size_limit(before)


def read_xlsx(path: Path) -> Iterator[TableRow]:
    """Read the first sheet of a workbook, whose first row names the columns.

    Raises:
        DataError: It is no workbook, would unpack to more than a gibibyte, or a column comes twice.
    """
    import openpyxl

    with _opened(path) as file:
        try:
            # read_only streams the sheet; data_only=False gives formulas as they are written, not what they gave
            workbook = openpyxl.load_workbook(file, read_only=True, data_only=False, keep_links=False)
        except Exception as error:  # a broken workbook raises anything: KeyError, ValueError, XML errors
            raise _no_workbook(path, error) from error
        yield from _sheet_rows(path, workbook)


def _sheet_rows(path: Path, workbook: Any) -> Iterator[TableRow]:
    if not workbook.worksheets:
        raise DataError(f"{path}: expected a workbook with a sheet, got one without.")
    sheet = workbook.worksheets[0]
    sheet.reset_dimensions()  # what a file says of its own size need not be true
    header: list[str] | None = None
    rows = sheet.iter_rows(values_only=True, max_col=_MAX_COLUMNS)
    number = 0
    while True:
        try:
            values = next(rows, None)
        except Exception as error:
            raise _no_workbook(path, error) from error
        if values is None:
            return
        number += 1
        _check_count(path, number)
        cells = [_text(value) for value in values]
        if not any(cells):
            continue
        if header is None:
            while cells and not cells[-1]:
                cells.pop()
            header = _header(path, cells)
            continue
        cells += [""] * (len(header) - len(cells))  # empty cells at the end are not in the file
        yield TableRow(place=f"row {number}", cells=dict(zip(header, cells, strict=False)))


def _text(value: object) -> str:
    r"""Return what was written into a cell.

    Example:
        >>> [_text(value) for value in ("007.50", "=1+1", None, 7.5, "a_x000D_b")]
        ['007.50', '=1+1', '', '7.5', 'a\rb']
    """
    from openpyxl.worksheet.formula import ArrayFormula

    if value is None:
        return ""
    if isinstance(value, str):
        return _ESCAPED.sub(lambda match: chr(int(match[1], 16)), value)
    if isinstance(value, ArrayFormula):  # what was {=...} before a writer took it for a formula
        return "{" + str(value.text) + "}"
    return str(value)


@contextmanager
def _opened(path: Path) -> Iterator[IO[bytes]]:
    """Open a workbook, unless it is one that would fill the memory; its name may have any suffix."""
    try:
        file = path.open("rb")
    except OSError as error:
        raise _no_workbook(path, error) from error
    with file:
        try:
            with zipfile.ZipFile(file) as parts:
                size = sum(part.file_size for part in parts.infolist())
        except (OSError, ValueError, zipfile.BadZipFile) as error:
            raise _no_workbook(path, error) from error
        if size > _MAX_UNPACKED:
            raise DataError(
                f"{path}: expected at most {_MAX_UNPACKED:,} bytes unpacked, got {size:,}. Save it as .tsv."
            )
        yield file


def _check_count(path: Path, number: int) -> None:
    if number > MAX_ROWS:
        raise DataError(f"{path}: expected at most {MAX_ROWS:,} rows, got more. Split the file.")


def _header(path: Path, names: Sequence[str]) -> list[str]:
    if twice := sorted({name for name in names if name and names.count(name) > 1}):
        raise DataError(f"{path}: expected each column once, got {', '.join(twice)} more than once. Remove one.")
    return list(names)


def _no_workbook(path: Path, error: Exception) -> DataError:
    return DataError(f"{path}: expected an .xlsx workbook, got a file that cannot be read as one ({error}).")
