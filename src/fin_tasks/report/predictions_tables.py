"""Reads tables of predictions cell by cell as text: spreadsheets, tab- and comma-separated files.

A spreadsheet's cell is what was written into it: `=1+1` is four characters, not 2, and a number is its shortest form.
A character that XML cannot hold is spelt out there (`_x0001_`), and is read as that character. Letters that only look
like it are marked by all writers but openpyxl (`_x005F_x0001_`), and are read without the mark.
What a program lost when it wrote the file (zeros before a number, all beyond 32,767 characters) is not in there.
"""

import csv
import re
import zipfile
import zlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from fin_tasks.errors import DataError

__all__ = ["CELL_LIMIT", "MAX_ROWS", "NO_VALUE", "TableRow", "read_delimited", "read_xlsx", "respelt"]

MAX_ROWS = 200_000
"""Rows a file may have."""
CELL_LIMIT = 32_767
"""Characters a spreadsheet's cell can hold; programs that write more cut it."""
NO_VALUE = frozenset({"", "nan", "none", "null", "n/a", "na", "<na>", "#n/a"})
"""What pandas reads as no value, in small letters, and writes as an empty cell or as `nan`."""

_MAX_UNPACKED = 2**30
_MAX_CELL = 64 * 2**20
_MAX_COLUMNS = 1_000
_MAX_PROPERTIES = 2**16
_ESCAPED = re.compile(
    "_x005F(?P<kept>_x[0-9A-Fa-f]{4}_)"  # spelt out by whoever wrote `_x0041_` itself
    "|_x(?P<code>00[01][0-9A-F]|D[89A-F][0-9A-F]{2}|FFF[EF])_"  # what XML cannot hold
)
"""How workbooks spell what they cannot hold. Nothing else is spelt so by programs: `_x0041_` is those seven letters."""
_PASSED_ON = re.compile("(?<!_x005F)_x(?P<code>00[01][0-9A-F])_")
"""What openpyxl, which spells nothing itself, leaves of workbooks that it read. The same letters of a text are lost."""
_BY_OPENPYXL = re.compile(rb"<Application>[^<]*Openpyxl|<AppVersion>[1-9]\.")
"""In the properties of openpyxl's workbooks: it names its own version where others name Excel's, from 12 up."""
_SPELT = re.compile("_x([0-9A-Fa-f]{4})_")


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
    with _opened(path) as (file, marks):
        try:
            workbook = _workbook(file)
        except Exception as error:  # a broken workbook raises anything: KeyError, ValueError, XML errors
            raise _no_workbook(path, error) from error
        yield from _sheet_rows(path, workbook, marks=marks)


def _workbook(file: IO[bytes]) -> Any:
    """Open a workbook with openpyxl, but for the table of its texts, from which openpyxl removes every `x005F_`."""
    from openpyxl.cell.text import Text
    from openpyxl.reader.excel import ExcelReader
    from openpyxl.xml.constants import SHARED_STRINGS, SHEET_MAIN_NS
    from openpyxl.xml.functions import iterparse

    class Reader(ExcelReader):  # type: ignore[misc]
        """Leaves texts as they are in the file."""

        def read_strings(self) -> None:
            part = self.package.find(SHARED_STRINGS)
            if part is None:
                return
            with self.archive.open(part.PartName[1:]) as source:
                for _, node in iterparse(source):
                    if node.tag == f"{{{SHEET_MAIN_NS}}}si":
                        self.shared_strings.append(Text.from_tree(node).content)
                        node.clear()

    # read_only streams the sheet; data_only=False gives formulas as they are written, not what they gave
    reader = Reader(file, read_only=True, data_only=False, keep_links=False)
    reader.read()
    return reader.wb


def respelt(text: str) -> str:
    """Return a text with everything read as a character that looks like a spelt one, as Excel reads unmarked letters.

    Example:
        >>> respelt("_x0041_"), respelt("_x005F_x0041_")
        ('A', 'A')
    """
    while (read := _SPELT.sub(lambda match: chr(int(match[1], 16)), text)) != text:
        text = read
    return text


def _sheet_rows(path: Path, workbook: Any, *, marks: bool) -> Iterator[TableRow]:
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
        cells = [_text(value, marks=marks) for value in values]
        if not any(cells):
            continue
        if header is None:
            while cells and not cells[-1]:
                cells.pop()
            header = _header(path, cells)
            continue
        cells += [""] * (len(header) - len(cells))  # empty cells at the end are not in the file
        yield TableRow(place=f"row {number}", cells=dict(zip(header, cells, strict=False)))


def _text(value: object, *, marks: bool = True) -> str:
    r"""Return what was written into a cell.

    Args:
        value: As openpyxl gives it.
        marks: Whether the workbook's writer marks letters that look like a spelt character.

    Example:
        >>> [_text(value) for value in ("007.50", "=1+1", None, 7.5)]
        ['007.50', '=1+1', '', '7.5']
        >>> [_text(value) for value in ("a_x000D_b", "_x005F_x000D_", "_x0041_")]
        ['a\rb', '_x000D_', '_x0041_']
        >>> [_text(value, marks=False) for value in ("a_x000D_b", "_x005F_x000D_")]
        ['a\rb', '_x005F_x000D_']
    """
    from openpyxl.worksheet.formula import ArrayFormula

    if value is None:
        return ""
    if isinstance(value, str):
        if not marks:
            return _PASSED_ON.sub(lambda match: chr(int(match["code"], 16)), value)
        # one pass: what a mark stood before is not read again
        return _ESCAPED.sub(lambda match: chr(int(match["code"], 16)) if match["code"] else match["kept"], value)
    if isinstance(value, ArrayFormula):  # what was {=...} before a writer took it for a formula
        return "{" + str(value.text) + "}"
    return str(value)


@contextmanager
def _opened(path: Path) -> Iterator[tuple[IO[bytes], bool]]:
    """Open a workbook, unless it is one that would fill the memory; its name may have any suffix.

    Yields:
        The file, and whether its writer marks letters that look like a spelt character.
    """
    try:
        file = path.open("rb")
    except OSError as error:
        raise _no_workbook(path, error) from error
    with file:
        try:
            with zipfile.ZipFile(file) as parts:
                size = sum(part.file_size for part in parts.infolist())
                marks = not _BY_OPENPYXL.search(_properties(parts))
        except (OSError, ValueError, NotImplementedError, RuntimeError, zlib.error, zipfile.BadZipFile) as error:
            raise _no_workbook(path, error) from error
        if size > _MAX_UNPACKED:
            raise DataError(
                f"{path}: expected at most {_MAX_UNPACKED:,} bytes unpacked, got {size:,}. Save it as .tsv."
            )
        yield file, marks


def _properties(parts: zipfile.ZipFile) -> bytes:
    """Return what a workbook says of the program that wrote it; empty where it says nothing."""
    if "docProps/app.xml" not in parts.namelist():
        return b""
    with parts.open("docProps/app.xml") as properties:
        return properties.read(_MAX_PROPERTIES)


def _check_count(path: Path, number: int) -> None:
    if number > MAX_ROWS:
        raise DataError(f"{path}: expected at most {MAX_ROWS:,} rows, got more. Split the file.")


def _header(path: Path, names: Sequence[str]) -> list[str]:
    if twice := sorted({name for name in names if name and names.count(name) > 1}):
        raise DataError(f"{path}: expected each column once, got {', '.join(twice)} more than once. Remove one.")
    return list(names)


def _no_workbook(path: Path, error: Exception) -> DataError:
    return DataError(f"{path}: expected an .xlsx workbook, got a file that cannot be read as one ({error}).")
