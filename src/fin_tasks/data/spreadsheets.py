"""Read the tables that people and harnesses fill: spreadsheets, CSV and TSV files."""

from collections.abc import Iterator
from pathlib import Path
from zipfile import ZipFile

from fin_tasks.errors import DataError

from .tables import Record, csv_rows, records_of

_MAX_BYTES = 1 << 28  # of a workbook, unpacked
_MAX_TAGS = 4_000_000  # of a workbook; a cell has four
_DELIMITERS = {".csv": ",", ".tsv": "\t"}


def read_sheet(path: Path, *, sheet: str | None = None) -> list[Record]:
    """Read the rows of a .csv or .tsv file, or of a sheet of an .xlsx file, as texts.

    Rows without any text are left out, and `line` is the number that a spreadsheet program shows.
    A workbook's first sheet is read unless another is named.
    """
    if path.suffix == ".xlsx":
        rows = _workbook_rows(path, sheet)
    elif path.suffix in _DELIMITERS:
        rows = (row for _, row in csv_rows(path, _DELIMITERS[path.suffix]))
    else:
        raise DataError(
            f"{path}: expected a file .xlsx, .csv or .tsv, got {path.suffix!r}."
        )
    records = records_of(path, enumerate(rows, start=1))
    return [
        record for record in records if any(record.cells.values()) or record.surplus > 0
    ]


def _workbook_rows(path: Path, sheet: str | None) -> Iterator[list[str]]:
    from openpyxl import load_workbook

    try:
        _check_parts(path)
        with path.open("rb") as file:
            book = load_workbook(file, read_only=True, data_only=True, keep_links=False)
            worksheet = book[sheet] if sheet else book.worksheets[0]
            worksheet.reset_dimensions()  # what the file says of its size may be wrong
            for values in worksheet.iter_rows(values_only=True):
                cells = list(map(_text_of, values))
                while cells and not cells[-1]:
                    cells.pop()
                yield cells
    except Exception as error:  # a broken workbook raises anything
        raise DataError(
            f"{path}: expected a workbook that can be read, got: {error}. Save it again as .xlsx."
        ) from error


def _check_parts(path: Path) -> None:
    """Refuse a workbook that needs much memory: openpyxl reads some of its parts as a whole."""
    n_tags = 0
    with ZipFile(path) as archive:
        n_bytes = sum(part.file_size for part in archive.infolist())
        if n_bytes > _MAX_BYTES:
            raise ValueError(f"more than {_MAX_BYTES:,} bytes unpacked")
        for part in archive.infolist():
            with archive.open(part) as file:
                while piece := file.read(1 << 20):
                    n_tags += piece.count(b"<")
            if n_tags > _MAX_TAGS:
                raise ValueError(f"more than {_MAX_TAGS:,} tags")


def _text_of(value: object) -> str:
    if value is None:
        return ""
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return str(value)
