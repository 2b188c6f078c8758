"""Write the sheets that people fill in, as spreadsheets or CSV files."""

import re
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from string import ascii_uppercase
from typing import Any

import pandas as pd
from openpyxl import Workbook
from openpyxl.cell.cell import ILLEGAL_CHARACTERS_RE
from openpyxl.styles import Alignment, PatternFill
from openpyxl.utils import get_column_letter
from openpyxl.worksheet.datavalidation import DataValidation
from openpyxl.worksheet.worksheet import Worksheet

from fin_tasks.data.formulas import quote_formulas
from fin_tasks.errors import ConfigError, DataError
from fin_tasks.labels.draw import Draw, Row

SHEET = "Labels"

_FIELDS: Mapping[str, Sequence[str]] = {
    "question": ("question", "prompt"),
    "prompt": ("prompt",),
    "picture": ("figure_path", "image_path"),
    "gold": ("python_solution", "answer", "target"),
}
"""The fields of a document that a column shows: the first that it has."""
_WIDTHS = {name: 70 for name in ("question", "prompt", "response", "gold", "choices")}
_USUAL_WIDTH = 25  # characters
_LINE_HEIGHT = 15  # points
_MAX_HEIGHT = 409  # points; Excel has no higher rows
_MAX_LIST = 255  # characters; Excel refuses files with longer lists in a rule
_YELLOW = PatternFill("solid", fgColor="FFF2CC")


def write_sheets(draw: Draw, out: Path, *, bundle: bool = False) -> list[Path]:
    """Write a sheet for each person, .xlsx or .csv, and the draw, which merging needs.

    With `bundle`, copies of the pictures stand in a folder beside the sheets.
    """
    numbers = range(1, draw.study.annotators + 1)
    paths = [out.with_name(f"{out.stem}_{number}{out.suffix}") for number in numbers]
    if out.suffix not in (".xlsx", ".csv") or any(path.exists() for path in paths):
        expected = "expected a new name that ends in .xlsx or .csv"
        raise ConfigError(f"--out {out}: {expected}, so that no labels are lost.")
    out.parent.mkdir(parents=True, exist_ok=True)
    pictures = out.with_name(f"{out.stem}_pictures") if bundle else None
    table = _table(draw, pictures)
    instructions = _instructions(draw)
    for path in paths:
        if path.suffix == ".csv":
            safe_table = table.map(quote_formulas)
            safe_table.to_csv(path, index=False, encoding="utf-8-sig")
        else:
            _write_workbook(path, draw, instructions, table)
    if out.suffix == ".csv":
        out.with_suffix(".txt").write_text("\n".join(instructions), encoding="utf-8")
    draw_file = out.with_name(f"{out.stem}.draw.json")
    draw_file.write_text(draw.model_dump_json(indent=1), encoding="utf-8")
    return paths


def _table(draw: Draw, pictures: Path | None) -> pd.DataFrame:
    columns = list(draw.study.columns())
    lines = []
    for row in draw.open_rows():
        line = {"row": row.id}
        for name in draw.study.show:
            line[name] = _cell_of(row, name)
        if "picture" in line and pictures is not None:
            line["picture"] = _copy_picture(row, line["picture"], pictures)
        for column in columns:
            line[column] = str(row.labels.get(column, ""))
        lines.append(line)
    return pd.DataFrame(lines, columns=["row", *draw.study.show, *columns])


def _cell_of(row: Row, name: str) -> str:
    if name == "task":
        value: Any = row.kind
    elif name == "response":
        value = row.response
    elif name == "choices":
        pairs = zip(ascii_uppercase, row.doc.get("choices") or (), strict=False)
        value = "\n".join(f"{letter}. {choice}" for letter, choice in pairs)
    elif name == "terms":
        value = "\n".join(term["name"] for term in row.doc.get("terms") or ())
    else:
        values = [row.doc.get(field) for field in _FIELDS[name]]
        value = next(filter(None, values), "")
    return re.sub(ILLEGAL_CHARACTERS_RE, "�", str(value))


def _copy_picture(row: Row, name: str, folder: Path) -> str:
    """Copy a picture into a folder, and return its path from the sheets."""
    if not name:
        return ""
    target = folder / f"{row.id}{Path(name).suffix}"
    try:
        folder.mkdir(exist_ok=True)
        shutil.copyfile(name, target)
    except OSError as error:
        raise DataError(f"--bundle: expected to copy {name}, got {error}.") from error
    return f"{folder.name}/{target.name}"


def _instructions(draw: Draw) -> list[str]:
    study = draw.study
    lines = [study.title, *study.instructions.strip().split("\n"), "", "Cells to fill in:"]
    for column, question in study.columns().items():
        lines.append(f"{column}: {question}")
    return lines


def _write_workbook(
    path: Path, draw: Draw, instructions: Sequence[str], table: pd.DataFrame
) -> None:
    book = Workbook()
    first_page = book.active
    first_page.title = "Instructions"
    first_page.column_dimensions["A"].width = 130
    for line in instructions:
        first_page.append([line])
    sheet = book.create_sheet(SHEET)
    sheet.freeze_panes = "B2"
    for values in [list(table.columns), *table.to_numpy().tolist()]:
        sheet.append([value or None for value in values])
    for column in sheet.columns:
        for cell in column:
            if cell.data_type == "f":
                cell.data_type = "s"  # a text, even with =
            cell.alignment = Alignment(wrap_text=True, vertical="top")
    for number, name in enumerate(table.columns, start=1):
        width = _WIDTHS.get(name, _USUAL_WIDTH)
        sheet.column_dimensions[get_column_letter(number)].width = width
    _set_heights(sheet)
    _add_rules(book, sheet, draw)
    book.save(path)


def _set_heights(sheet: Worksheet) -> None:
    """Make rows as high as their longest text, because LibreOffice does not."""
    for number, values in enumerate(sheet.iter_rows(min_row=2, values_only=True), start=2):
        n_lines = 1
        for text in map(str, values):
            n_lines = max(n_lines, 1 + len(text) // _WIDTHS["question"] + text.count("\n"))
        sheet.row_dimensions[number].height = min(_MAX_HEIGHT, _LINE_HEIGHT * n_lines)


def _add_rules(book: Workbook, sheet: Worksheet, draw: Draw) -> None:
    """Color the cells to fill in, and let each offer the words that it may hold."""
    rules: dict[tuple[str, ...], DataValidation] = {}
    first_column = len(draw.study.show) + 2
    for line, row in enumerate(draw.open_rows(), start=2):
        for number, column in enumerate(draw.study.columns(), start=first_column):
            if column in row.labels:
                continue
            cell = sheet.cell(line, number)
            cell.fill = _YELLOW
            allowed = draw.allowed(column, row)
            if allowed.largest is not None:
                continue
            words = tuple(allowed.words)
            if words not in rules:
                rules[words] = _rule(book, words, f"Words{len(rules)}")
                sheet.add_data_validation(rules[words])
            rules[words].add(cell)


def _rule(book: Workbook, words: Sequence[str], name: str) -> DataValidation:
    """Return a rule that allows some words; long lists stand on a hidden sheet of that name."""
    listed = ",".join(words)
    formula = f'"{listed}"'
    if len(listed) > _MAX_LIST:
        hidden_sheet = book.create_sheet(name)
        hidden_sheet.sheet_state = "hidden"
        for word in words:
            hidden_sheet.append([word])
        formula = f"{name}!$A$1:$A${len(words)}"
    return DataValidation("list", formula1=formula, showErrorMessage=True)
