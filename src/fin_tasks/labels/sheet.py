"""Write the sheets that people fill in, as spreadsheets or CSV files."""

import re
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from string import ascii_uppercase

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
_SHORT_COLUMNS = ("row", "task", "picture", "terms")
_WIDTH = 25  # characters
_LARGE_WIDTH = 70
_LINE_HEIGHT = 15  # points
_MAX_HEIGHT = 409  # points; Excel has no higher rows
_MAX_LIST = 255  # characters; Excel refuses files with longer lists in a rule
_YELLOW = PatternFill("solid", fgColor="FFF2CC")
_WRAPPED = Alignment(wrap_text=True, vertical="top")


def write_sheets(
    draw: Draw,
    out: Path,
    *,
    bundle: bool = False,
) -> list[Path]:
    """Write a sheet for each person, .xlsx or .csv, and the draw, which merging needs.

    With `bundle`, copies of the pictures stand in a folder beside the sheets.
    """
    numbers = range(1, draw.study.annotators + 1)
    paths = [out.with_name(f"{out.stem}_{number}{out.suffix}") for number in numbers]
    is_new = not any(path.exists() for path in paths)
    if out.suffix not in (".xlsx", ".csv") or not is_new:
        expected = "expected a new name that ends in .xlsx or .csv"
        raise ConfigError(f"--out {out}: {expected}, so that no labels are lost.")
    out.parent.mkdir(parents=True, exist_ok=True)
    table = _table(draw)
    if bundle and "picture" in table:
        pictures = out.with_name(f"{out.stem}_pictures")
        table["picture"] = _copy_pictures(table, pictures)
    instructions = _instructions(draw)
    if out.suffix == ".csv":
        text_file = out.with_suffix(".txt")
        text_file.write_text("\n".join(instructions), encoding="utf-8")
        safe_table = table.map(quote_formulas)
        for path in paths:
            safe_table.to_csv(path, index=False, encoding="utf-8-sig")
    else:
        book = _workbook(draw, instructions, table)
        for path in paths:
            book.save(path)
    draw_file = out.with_name(f"{out.stem}.draw.json")
    draw_file.write_text(draw.model_dump_json(indent=1), encoding="utf-8")
    return paths


def _table(draw: Draw) -> pd.DataFrame:
    study = draw.study
    lines = []
    for row in draw.open_rows():
        line = {"row": row.id}
        for name in study.show:
            text = _text_of(row, name)
            line[name] = re.sub(ILLEGAL_CHARACTERS_RE, "�", text)
        for column in study.columns():
            line[column] = str(row.labels.get(column, ""))
        lines.append(line)
    return pd.DataFrame(lines)


def _text_of(row: Row, name: str) -> str:
    """Return what a column shows of a row."""
    if name == "task":
        return row.kind
    if name == "response":
        return row.response
    if name == "terms":
        terms = row.doc.get("terms") or []
        return "\n".join(term["name"] for term in terms)
    if name == "choices":
        choices = row.doc.get("choices") or []
        pairs = zip(ascii_uppercase, choices, strict=False)
        return "\n".join(f"{letter}. {choice}" for letter, choice in pairs)
    for field in _FIELDS[name]:
        if row.doc.get(field):
            return str(row.doc[field])
    return ""


def _copy_pictures(table: pd.DataFrame, folder: Path) -> list[str]:
    """Copy pictures into a folder, and return their paths from the sheets."""
    copies = []
    try:
        folder.mkdir(exist_ok=True)
        for row_id, name in zip(table["row"], table["picture"], strict=True):
            copy = folder / f"{row_id}{Path(name).suffix}"
            if name:
                shutil.copyfile(name, copy)
            copies.append(f"{folder.name}/{copy.name}" if name else "")
    except OSError as error:
        raise DataError(f"--bundle: expected to copy the pictures, got {error}.") from error
    return copies


def _instructions(draw: Draw) -> list[str]:
    study = draw.study
    lines = [study.title, *study.instructions.splitlines(), ""]
    lines.append("Cells to fill in:")
    for column, question in study.columns().items():
        lines.append(f"{column}: {question}")
    return lines


def _workbook(
    draw: Draw,
    instructions: Sequence[str],
    table: pd.DataFrame,
) -> Workbook:
    book = Workbook()
    first_page = book.active
    first_page.title = "Instructions"
    first_page.column_dimensions["A"].width = 130
    for instruction in instructions:
        first_page.append([instruction])
    sheet = book.create_sheet(SHEET)
    sheet.freeze_panes = "B2"
    sheet.append(list(table.columns))
    for number, name in enumerate(table.columns, start=1):
        is_large = name in draw.study.show and name not in _SHORT_COLUMNS
        column = sheet.column_dimensions[get_column_letter(number)]
        column.width = _LARGE_WIDTH if is_large else _WIDTH
    for line, texts in enumerate(table.to_numpy(), start=2):
        _append_row(sheet, line, texts)
    _mark_open_cells(book, sheet, draw)
    return book


def _append_row(
    sheet: Worksheet,
    line: int,
    texts: Sequence[str],
) -> None:
    """Add a row, as high as its longest text because LibreOffice does not make it so."""
    sheet.append([text or None for text in texts])
    n_lines = 1
    for cell, text in zip(sheet[line], texts, strict=True):
        cell.alignment = _WRAPPED
        if cell.data_type == "f":
            cell.data_type = "s"  # a text, even with =
        n_wrapped = len(text) // _LARGE_WIDTH
        n_lines = max(n_lines, 1 + n_wrapped + text.count("\n"))
    height = _LINE_HEIGHT * n_lines
    sheet.row_dimensions[line].height = min(height, _MAX_HEIGHT)


def _mark_open_cells(
    book: Workbook,
    sheet: Worksheet,
    draw: Draw,
) -> None:
    """Color the cells to fill in, and let each offer the words that it may hold."""
    rules: dict[str, DataValidation] = {}
    numbers = {cell.value: cell.column for cell in sheet[1]}
    for line, row in enumerate(draw.open_rows(), start=2):
        for column in draw.open_columns(row):
            cell = sheet.cell(line, numbers[column])
            cell.fill = _YELLOW
            allowed = draw.allowed(column, row)
            if allowed.largest is not None:
                continue
            words = ",".join(allowed.words)
            if words not in rules:
                rules[words] = _rule(book, words, f"Words{len(rules)}")
                sheet.add_data_validation(rules[words])
            rules[words].add(cell)


def _rule(
    book: Workbook,
    words: str,
    name: str,
) -> DataValidation:
    """Return a rule that allows some words; long lists stand on a hidden sheet of that name."""
    formula = f'"{words}"'
    if len(words) > _MAX_LIST:
        hidden_sheet = book.create_sheet(name)
        hidden_sheet.sheet_state = "hidden"
        for word in words.split(","):
            hidden_sheet.append([word])
        formula = f"{name}!$A$1:$A${hidden_sheet.max_row}"
    return DataValidation("list", formula1=formula, showErrorMessage=True)
