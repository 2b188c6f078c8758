"""Read the tables that people and harnesses fill: spreadsheets, CSV and TSV files."""

from collections.abc import Iterable, Iterator
from pathlib import Path
from zipfile import ZipFile

from fin_tasks.data.tables import MAX_CELLS, MAX_COLUMNS, Record, check_header, read_csv
from fin_tasks.errors import DataError

_MAX_ROWS = 200_000
_MAX_BYTES = 1 << 28  # of a workbook, unpacked
_MAX_TAGS = 4_000_000  # of a workbook; a cell has four
_PIECE = 1 << 20  # bytes
_DELIMITERS = {".csv": ",", ".tsv": "\t"}


def read_sheet(
    path: Path,
    *,
    sheet: str | None = None,
) -> list[Record]:
    """Read the rows of a .csv or .tsv file, or of a sheet of an .xlsx file, as texts.

    Rows without any text are left out, and `line` is the number that a spreadsheet program shows.
    A workbook's first sheet is read unless another is named.
    """
    if path.suffix == ".xlsx":
        records = _read_workbook(path, sheet)
    elif path.suffix in _DELIMITERS:
        delimiter = _DELIMITERS[path.suffix]
        lines = read_csv(path, [], delimiter=delimiter, max_rows=_MAX_ROWS)
        records = [record._replace(line=line) for line, record in enumerate(lines, start=2)]
    else:
        raise DataError(f"{path}: expected a file .xlsx, .csv or .tsv, got {path.suffix!r}.")
    return [record for record in records if any(record.cells.values()) or record.surplus > 0]


def _read_workbook(
    path: Path,
    sheet: str | None,
) -> list[Record]:
    from openpyxl import load_workbook

    try:
        _check_parts(path)
        book = load_workbook(path, read_only=True, data_only=True, keep_links=False)
        try:
            worksheet = book[sheet] if sheet else book.worksheets[0]
            worksheet.reset_dimensions()  # what the file says of its size may be wrong
            return list(_records(path, worksheet.iter_rows(values_only=True)))
        finally:
            book.close()
    except DataError:
        raise
    except Exception as error:  # a broken workbook raises anything
        problem = f"expected a workbook that can be read, got: {error}"
        raise DataError(f"{path}: {problem}. Save it again as .xlsx.") from error


def _check_parts(path: Path) -> None:
    """Refuse a workbook with parts that would need much memory, because some are read at once."""
    n_tags = 0
    with ZipFile(path) as archive:
        n_bytes = sum(part.file_size for part in archive.infolist())
        if n_bytes > _MAX_BYTES:
            raise ValueError(f"more than {_MAX_BYTES:,} bytes unpacked")
        for part in archive.infolist():
            with archive.open(part) as file:
                while piece := file.read(_PIECE):
                    n_tags += piece.count(b"<")
            if n_tags > _MAX_TAGS:
                raise ValueError(f"more than {_MAX_TAGS:,} tags")


def _records(
    path: Path,
    rows: Iterable[tuple[object, ...]],
) -> Iterator[Record]:
    header: list[str] = []
    n_cells = 0
    for line, values in enumerate(rows, start=1):
        n_cells += len(values)
        if line > _MAX_ROWS + 1 or len(values) > MAX_COLUMNS or n_cells > MAX_CELLS:
            limits = f"{_MAX_ROWS:,} rows, {MAX_COLUMNS:,} columns and {MAX_CELLS:,} cells"
            raise ValueError(f"more than {limits}")
        cells = [_text_of(value) for value in values]
        if header:
            surplus = sum(map(bool, cells[len(header) :]))
            cells += [""] * (len(header) - len(cells))
            named = {name: cell for name, cell in zip(header, cells, strict=False) if name}
            yield Record(line=line, cells=named, surplus=surplus)
        elif any(cells):
            header = cells
            check_header(path, [name for name in header if name], [])


def _text_of(value: object) -> str:
    if value is None:
        return ""
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return str(value)
