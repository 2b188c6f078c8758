"""Read the sheets that people filled in, and find the draw that they belong to."""

import re
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import pandas as pd

from fin_tasks.data.spreadsheets import read_sheet
from fin_tasks.data.tables import Record
from fin_tasks.errors import ConfigError, DataError
from fin_tasks.labels.draw import Draw
from fin_tasks.labels.sheet import SHEET

_NUMBER = re.compile(r"_\d+$")
_MAX_SHOWN = 80  # characters of a cell


class Problem(NamedTuple):
    """A cell or a row that cannot be used."""

    sheet: str
    line: int
    """In the file; 0 for a row that is missing."""
    row: str
    column: str
    message: str


class FilledSheets(NamedTuple):
    """What people wrote."""

    draw: Draw
    values: pd.DataFrame
    """A line for each row and question, a column for each sheet; None without a usable value."""
    problems: list[Problem]


def read_sheets(paths: Sequence[Path]) -> FilledSheets:
    """Read filled sheets, and the draw beside them."""
    names = [path.name for path in paths]
    if len(set(names)) < len(names):
        expected = "expected a file name for each person"
        raise ConfigError(f"sheets: {expected}, got {', '.join(names)}. Rename a sheet.")
    draw = _read_draw(paths)
    row_ids = [row.id for row in draw.rows]
    lines = pd.MultiIndex.from_product(
        [row_ids, draw.study.columns()],
        names=["row", "question"],
    )
    columns = {}
    problems: list[Problem] = []
    for path in paths:
        cells, problems_of_sheet = _read_cells(draw, path)
        columns[path.name] = [cells.get(line) for line in lines]
        problems += problems_of_sheet
    values = pd.DataFrame(columns, index=lines, dtype=object)
    return FilledSheets(draw, values, problems)


def _read_draw(sheets: Sequence[Path]) -> Draw:
    """Read the draw that is named like the sheets, else the only draw beside them."""
    files: set[Path] = set()
    for sheet in sheets:
        stem = _NUMBER.sub("", sheet.stem)
        files.update(sheet.parent.glob(f"{stem}.draw.json"))
    for sheet in () if files else sheets:
        files.update(sheet.parent.glob("*.draw.json"))
    if len(files) != 1:
        expected = "expected sheets of one draw, with its .draw.json beside them"
        names = sorted(file.name for file in files)
        raise ConfigError(f"label: {expected}, got {names}. Name sheets like their draw.")
    (file,) = files
    try:
        return Draw.model_validate_json(file.read_bytes())
    except ValueError as error:
        expected = "expected the file that `fin-tasks label draw` wrote"
        raise ConfigError(f"{file}: {expected}, got {error}.") from error


def _read_cells(
    draw: Draw,
    path: Path,
) -> tuple[dict[tuple[str, str], str], list[Problem]]:
    """Return the usable values of a sheet by row and column, and what is wrong with it."""
    rows_by_id = {row.id: row for row in draw.open_rows()}
    records = _records(path, ["row", *draw.study.columns()])
    counts = Counter(record.cells["row"].strip() for record in records)
    values = {}
    problems = []
    for record in records:
        row_id = record.cells["row"].strip()
        row = rows_by_id.get(row_id)
        messages = {}
        if row is None:
            messages["row"] = f"{row_id[:_MAX_SHOWN]!r} is not in this draw"
        elif counts[row_id] > 1:
            messages["row"] = f"{row_id} comes {counts[row_id]} times, so none counts"
        else:
            for column in draw.open_columns(row):
                text = record.cells[column].strip()
                allowed = draw.allowed(column, row)
                value = allowed.read(text)
                if value is None:
                    messages[column] = f"expected {allowed}, got {text[:_MAX_SHOWN]!r}"
                else:
                    values[row_id, column] = value
        for column, message in messages.items():
            problems.append(Problem(path.name, record.line, row_id, column, message))
    for row_id in rows_by_id.keys() - counts.keys():
        problems.append(Problem(path.name, 0, row_id, "row", f"{row_id} is missing"))
    return values, problems


def _records(
    path: Path,
    columns: Sequence[str],
) -> list[Record]:
    sheet = SHEET if path.suffix == ".xlsx" else None
    records = read_sheet(path, sheet=sheet)
    for column in columns:
        if not records or column not in records[0].cells:
            raise DataError(f"{path}: expected rows with a column {column}, found none.")
    return records
