"""MME-Finance's tables: tab-separated text, quoted as pandas quotes it. Every cell stays the text it is."""

import csv
from pathlib import Path

from fin_tasks.benchmarks.mme_finance.category_names import category_of
from fin_tasks.data.tables import Record, Table, read_csv
from fin_tasks.errors import DataError

__all__ = ["OPTIONAL", "REQUIRED", "read_table"]

REQUIRED = ("index", "question", "answer", "task_category", "image_type", "image_style")
"""Columns a table must have, beside `image_path` or `image` (the picture itself, base64)."""

OPTIONAL = ("background", "truth")
"""Columns that are read where there are any."""

_LONGEST_CELL = 1 << 28
"""Characters; a picture in base64 is far longer than the csv module allows a cell by default."""


def read_table(path: Path) -> Table:
    """Read a table.

    Raises:
        DataError: It is not there, is no UTF-8, lacks a column, or a quote in it is never closed.
    """
    before = csv.field_size_limit(_LONGEST_CELL)
    try:
        table = read_csv(path, columns=REQUIRED, delimiter="\t")
    finally:
        csv.field_size_limit(before)
    if table.records and not {"image_path", "image"} & table.records[0].cells.keys():
        raise DataError(
            f"{path}: expected a column image_path, or image with pictures in base64; missing both, got "
            f"{', '.join(table.records[0].cells)}. Fetch the file again or rename its columns."
        )
    for record in table.records:
        _expect_closed_quotes(path, record)
    return table


def _expect_closed_quotes(path: Path, record: Record) -> None:
    """Refuse a cell that has swallowed rows: the reader goes on over tabs and lines until the next quote."""
    columns = list(record.cells)
    at = columns.index("task_category")
    for name, cell in record.cells.items():
        lines = (line.split("\t") for line in cell.splitlines()[1:] if "\t" in line)
        # an answer may well be a table, but hardly one with a category in this place
        if any(len(line) == len(columns) and category_of(line[at]) for line in lines):
            raise DataError(
                f"{path}: expected each quote to be closed, got one in the column {name} that goes on over whole rows "
                f"up to line {record.line} (index {record.cells['index']!r}). Double the quotes inside cells, and put "
                "quotes around cells that hold any."
            )
