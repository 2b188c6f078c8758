"""Read the sheets that people filled in, and find the draw that they belong to."""

import re
from collections import Counter, defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import pandas as pd

from fin_tasks.data.tables import read_table
from fin_tasks.errors import ConfigError, DataError
from fin_tasks.limited_file import RESULTS_MB, read_limited_json

from .draw import Draw

_MAX_SHOWN = 80  # characters of a cell


class Problem(NamedTuple):
    """A cell or a row that cannot be used."""

    sheet: str
    line: int
    """In the file; 0 for a row that is missing."""
    row: str
    column: str
    message: str

    def __str__(self) -> str:
        return (
            f"{self.sheet}, row {self.line or self.row}, {self.column}: {self.message}"
        )


class FilledSheets(NamedTuple):
    """What people wrote into the sheets of a draw."""

    draw: Draw
    values: pd.DataFrame
    """A line for each row and question, a column for each sheet; None where a cell cannot be used."""
    problems: list[Problem]


def read_sheets(paths: Sequence[Path]) -> FilledSheets:
    """Read filled sheets, and the draw beside them."""
    names = [path.name for path in paths]
    if len(set(names)) < len(names):
        raise ConfigError(
            f"sheets: expected a file name for each person, got {', '.join(names)}. Rename a sheet."
        )
    draw = _read_draw(paths)
    lines = pd.MultiIndex.from_product(
        [[row.id for row in draw.rows], draw.study.columns()],
        names=["row", "question"],
    )
    values = pd.DataFrame(index=lines, columns=names, dtype=object)
    problems: list[Problem] = []
    for path in paths:
        cells = _read_cells(draw, path, problems)
        values[path.name] = [cells.get(line) for line in lines]
    return FilledSheets(draw, values, problems)


def group_by_draw(paths: Sequence[Path]) -> list[list[Path]]:
    """Group sheets by the draw that their names say."""
    sheets_by_draw = defaultdict(list)
    for path in paths:
        sheets_by_draw[draw_file(path)].append(path)
    return list(sheets_by_draw.values())


def draw_file(sheet: Path) -> Path:
    """Return `calc.draw.json` for the sheet `calc_1.xlsx`."""
    stem = re.sub(r"_\d+$", "", sheet.stem)
    return sheet.with_name(f"{stem}.draw.json")


def _read_draw(sheets: Sequence[Path]) -> Draw:
    """Read the draw that is named like the sheets."""
    files = {file for file in map(draw_file, sheets) if file.is_file()}
    if len(files) != 1:
        names = sorted(file.name for file in files)
        raise ConfigError(
            "label: expected sheets of one draw, with its .draw.json beside them, got "
            f"{', '.join(names) or 'no draw'}. Name sheets like their draw."
        )
    (file,) = files
    try:
        return Draw.model_validate_json(read_limited_json(file, RESULTS_MB))
    except ValueError as error:
        raise ConfigError(
            f"{file}: expected the file that `fin-tasks label draw` wrote, got {error}."
        ) from error


def _read_cells(
    draw: Draw, path: Path, problems: list[Problem]
) -> dict[tuple[str, str], str]:
    """Return the usable values of a sheet by row and column, and add its problems to the list."""
    open_cells = draw.open_cells()
    records = read_table(path, ("row", *draw.study.columns()))
    if not records:
        raise DataError(f"{path}: expected rows with labels, found none.")
    counts = Counter(record.cells["row"].strip() for record in records)
    values = {}
    for record in records:
        row_id = record.cells["row"].strip()
        messages = {}
        if row_id not in open_cells:
            messages["row"] = f"{row_id[:_MAX_SHOWN]!r} is not in this draw"
        elif counts[row_id] > 1:
            messages["row"] = f"{row_id} comes {counts[row_id]} times, so none counts"
        else:
            for column, rule in open_cells[row_id].items():
                text = record.cells[column].strip()
                value = rule.read(text)
                if value is None:
                    messages[column] = f"expected {rule}, got {text[:_MAX_SHOWN]!r}"
                else:
                    values[row_id, column] = value
        for column, message in messages.items():
            problems.append(Problem(path.name, record.line, row_id, column, message))
    for row_id in open_cells.keys() - counts.keys():
        problems.append(Problem(path.name, 0, row_id, "row", f"{row_id} is missing"))
    return values
