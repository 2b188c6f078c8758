"""Read the sheets that people filled in, and find the draw that they belong to."""

import re
from collections import Counter
from collections.abc import Sequence
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import NamedTuple

import pandas as pd

from fin_tasks.data.spreadsheets import read_sheet
from fin_tasks.errors import ConfigError, DataError
from fin_tasks.labels.draw import Draw
from fin_tasks.labels.sheet import SHEET
from fin_tasks.labels.study import Allowed

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
    cells: dict[str, dict[tuple[str, str], str]] = {}
    problems: list[Problem] = []
    for path in paths:
        cells[path.name] = _read_cells(draw, path, problems)
    rows = [row.id for row in draw.rows]
    columns = list(draw.study.columns())
    lines = pd.MultiIndex.from_product([rows, columns], names=["row", "question"])
    values = pd.DataFrame(None, index=lines, columns=names, dtype=object)
    for name, cells_by_line in cells.items():
        values[name] = [cells_by_line.get(line) for line in lines]
    return FilledSheets(draw, values, problems)


def _read_draw(sheets: Sequence[Path]) -> Draw:
    """Read the draw that is named like all sheets, else the only draw beside them."""
    named = {sheet.with_name(f"{_NUMBER.sub('', sheet.stem)}.draw.json") for sheet in sheets}
    files = {file for file in named if file.is_file()}
    if not files:
        for sheet in sheets:
            files.update(sheet.parent.glob("*.draw.json"))
    if len(files) != 1:
        expected = "expected sheets of one draw, with its .draw.json beside them"
        problem = ", ".join(sorted(file.name for file in files)) or "none"
        raise ConfigError(f"label: {expected}, got {problem}. Name sheets like their draw.")
    (file,) = files
    try:
        return Draw.model_validate_json(file.read_bytes())
    except ValueError as error:
        expected = "expected the file that `fin-tasks label draw` wrote"
        raise ConfigError(f"{file}: {expected}, got {error}.") from error


def _read_cells(draw: Draw, path: Path, problems: list[Problem]) -> dict[tuple[str, str], str]:
    """Return the usable values of a sheet by row and column, and add what is wrong with it."""
    rows_by_id = {row.id: row for row in draw.open_rows()}
    columns = list(draw.study.columns())
    records = read_sheet(path, sheet=SHEET if path.suffix == ".xlsx" else None)
    for column in ["row", *columns]:
        if records and column not in records[0].cells:
            raise DataError(f"{path}: expected a column {column}, found none.")
    counts = Counter(record.cells["row"].strip() for record in records)
    values: dict[tuple[str, str], str] = {}
    for record in records:
        row_id = record.cells["row"].strip()
        row = rows_by_id.get(row_id)
        if row is None or counts[row_id] > 1:
            reason = "is not in this draw"
            if row is not None:
                reason = f"comes {counts[row_id]} times, so none counts"
            message = f"{row_id[:_MAX_SHOWN]!r} {reason}"
            problems.append(Problem(path.name, record.line, row_id, "row", message))
            continue
        for column in columns:
            if column in row.labels:
                continue
            text = record.cells[column].strip()
            allowed = draw.allowed(column, row)
            value = _value_of(text, allowed)
            if value is not None:
                values[row_id, column] = value
                continue
            message = f"expected {_described(allowed)}, got {text[:_MAX_SHOWN]!r}"
            problems.append(Problem(path.name, record.line, row_id, column, message))
    for row_id in rows_by_id:
        if row_id not in counts:
            problems.append(Problem(path.name, 0, row_id, "row", f"{row_id} is missing"))
    return values


def _value_of(text: str, allowed: Allowed) -> str | None:
    """Return a cell's value in its usual spelling; None if it is not allowed."""
    # A spreadsheet may write a whole number with `.0`.
    plain = text.casefold().removesuffix(".0")
    for word in allowed.words:
        if word.casefold() == plain:
            return word
    if allowed.largest is None:
        return None
    try:
        number = Decimal(text.replace(",", ""))
        return f"{number:f}" if abs(number) <= allowed.largest else None
    except InvalidOperation:
        return None


def _described(allowed: Allowed) -> str:
    words = list(allowed.words)
    if allowed.largest is not None:
        words.append(f"a number up to {allowed.largest:g}")
    return ", ".join(words)
