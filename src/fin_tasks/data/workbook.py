"""Read the rows of workbooks (XLSX), which are archives of XML that openpyxl reads in part as a whole."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

from fin_tasks.errors import DataError
from fin_tasks.limited_file import open_archive

_HEADER_ROWS = 100  # of a sheet that may hold the table
_MAX_PARTS = 10_000
_MAX_BYTES = 1 << 28  # unpacked
_MAX_TAGS = 4_000_000  # a cell has four
_MAX_OTHER_TAGS = 300_000
"""Elements that are not part of a cell: openpyxl makes an object of each font, name and relation."""
_MAX_SHEETS = 1_000
_PIECE = 1 << 20  # bytes
_TAG = re.compile(rb"<(?:\w{1,20}:)?(\w{1,20})")
_CELL = frozenset(b"c v f t is si row r rPr b i u sz color rFont family scheme".split())
"""Elements of rows, of cells and of the texts in them."""


def workbook_rows(path: Path, columns: Sequence[str]) -> Iterator[list[str]]:
    """Yield the cells of the first sheet with these columns, else of the first sheet.

    Raises:
        DataError: The workbook cannot be read, or has too much in it.
    """
    from openpyxl import load_workbook

    try:
        _check_parts(path)
        with path.open("rb") as file:
            book = load_workbook(file, read_only=True, data_only=True, keep_links=False)
            chosen = book.worksheets[0]
            for worksheet in book.worksheets if columns else ():
                first_rows = islice(_cells_of(worksheet), _HEADER_ROWS)
                header = next(filter(any, first_rows), [])
                if set(columns) <= set(header):
                    chosen = worksheet
                    break
            yield from _cells_of(chosen)
    except Exception as error:  # a broken workbook raises anything
        raise DataError(
            f"{path}: expected a workbook that can be read, got: {error}. Save it again as .xlsx."
        ) from error


def _cells_of(worksheet: Any) -> Iterator[list[str]]:
    worksheet.reset_dimensions()  # what the file says of its size may be wrong
    for values in worksheet.iter_rows(values_only=True):
        cells = list(map(_text_of, values))
        while cells and not cells[-1]:
            cells.pop()
        yield cells


def _check_parts(path: Path) -> None:
    """Refuse a workbook that needs much memory or time."""
    n_bytes = 0
    counts = Counter[bytes]()
    with open_archive(path, _MAX_PARTS) as archive:
        for part in archive.infolist():
            with archive.open(part) as file:
                while piece := file.read(_PIECE):
                    n_bytes += len(piece)
                    counts.update(_TAG.findall(piece))
                    _check_counts(n_bytes, counts)


def _check_counts(n_bytes: int, counts: Counter[bytes]) -> None:
    n_tags = counts.total()
    n_others = n_tags - sum(counts[name] for name in _CELL)
    limits = (
        (n_bytes, _MAX_BYTES, "bytes unpacked"),
        (n_tags, _MAX_TAGS, "tags"),
        (n_others, _MAX_OTHER_TAGS, "tags beside those of cells"),
        (counts[b"sheet"], _MAX_SHEETS, "sheets"),
    )
    for n, most, what in limits:
        if n > most:
            raise ValueError(f"more than {most:,} {what}")


def _text_of(value: object) -> str:
    if value is None:
        return ""
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return str(value)
