"""Write the sheets that people fill in, as spreadsheets or CSV files."""

import re
import shutil
from collections.abc import Sequence
from pathlib import Path
from string import ascii_uppercase

import pandas as pd
from openpyxl.cell.cell import ILLEGAL_CHARACTERS_RE
from openpyxl.styles import Alignment, PatternFill
from openpyxl.utils import get_column_letter
from openpyxl.workbook import Workbook
from openpyxl.worksheet.datavalidation import DataValidation

from fin_tasks.data.formulas import quote_formulas
from fin_tasks.errors import ConfigError, DataError
from fin_tasks.labels.draw import Draw, Row

SHEET = "Labels"
_SHORT_COLUMNS = ("row", "task", "picture", "terms")
_WIDTH = 25  # characters
_LARGE_WIDTH = 70
_LINE_HEIGHT = 15  # points
_MAX_LIST = 255  # characters; Excel refuses files with longer lists in a rule
_MAX_HEIGHT = 409  # points; Excel has no higher rows
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
        _copy_pictures(table, out.with_name(f"{out.stem}_pictures"))
    safe_table = table.map(quote_formulas)
    instructions = [draw.study.title, *draw.study.instructions.splitlines(), ""]
    instructions.append("Cells to fill in:")
    instructions += [": ".join(column) for column in draw.study.columns().items()]
    if out.suffix == ".csv":
        out.with_suffix(".txt").write_text("\n".join(instructions), encoding="utf-8")
    for path in paths:
        if out.suffix == ".csv":
            safe_table.to_csv(path, index=False, encoding="utf-8-sig")
        else:
            _write_workbook(path, draw, instructions, safe_table)
    draw_file = out.with_name(f"{out.stem}.draw.json")
    draw_file.write_text(draw.model_dump_json(indent=1), encoding="utf-8")
    return paths


def _table(draw: Draw) -> pd.DataFrame:
    open_cells = draw.open_cells()
    lines = []
    for row in draw.rows:
        if row.id in open_cells:
            line = {"row": row.id}
            for name in draw.study.show:
                line[name] = re.sub(ILLEGAL_CHARACTERS_RE, "�", _text_of(row, name))
            for column in draw.study.columns():
                line[column] = str(row.labels.get(column, ""))
            lines.append(line)
    return pd.DataFrame(lines)


def _text_of(row: Row, name: str) -> str:
    """Return what a column shows of a row."""
    doc = row.doc
    match name:
        case "task":
            return row.kind
        case "response":
            return row.response
        case "terms":
            return "\n".join(term["name"] for term in doc.get("terms") or ())
        case "choices":
            pairs = zip(ascii_uppercase, doc.get("choices") or (), strict=False)
            return "\n".join(map(". ".join, pairs))
        case "picture":
            text = doc.get("figure_path") or doc.get("image_path")
        case "gold":
            text = doc.get("python_solution") or doc.get("answer") or doc.get("target")
        case _:
            text = doc.get(name) or doc.get("prompt")
    return str(text or "")


def _copy_pictures(table: pd.DataFrame, folder: Path) -> None:
    """Copy pictures into a folder, and let the table name the copies by their paths from the sheets."""
    try:
        folder.mkdir(exist_ok=True)
        for line, name in table["picture"].items():
            if name:
                copy = folder / f"{table.at[line, 'row']}{Path(name).suffix}"
                shutil.copyfile(name, copy)
                table.at[line, "picture"] = f"{folder.name}/{copy.name}"
    except OSError as error:
        raise DataError(f"--bundle: expected to copy the pictures, got {error}.") from error


def _write_workbook(
    path: Path,
    draw: Draw,
    instructions: Sequence[str],
    table: pd.DataFrame,
) -> None:
    n_lines = table.map(lambda text: 1 + len(text) // _LARGE_WIDTH + text.count("\n"))
    heights = _LINE_HEIGHT * n_lines.max(axis=1)
    with pd.ExcelWriter(path, engine="openpyxl") as writer:
        page = pd.Series(instructions)
        page.to_excel(
            writer,
            sheet_name="Instructions",
            index=False,
            header=False,
        )
        table.to_excel(
            writer,
            sheet_name=SHEET,
            index=False,
            freeze_panes=(1, 1),
        )
        writer.sheets["Instructions"].column_dimensions["A"].width = 130
        sheet = writer.sheets[SHEET]
        for number, name in enumerate(table, start=1):
            is_large = name in draw.study.show and name not in _SHORT_COLUMNS
            column = sheet.column_dimensions[get_column_letter(number)]
            column.width = _LARGE_WIDTH if is_large else _WIDTH
        for line, height in enumerate(heights, start=2):
            # LibreOffice does not make a row as high as its text.
            sheet.row_dimensions[line].height = min(height, _MAX_HEIGHT)
            for cell in sheet[line]:
                cell.alignment = _WRAPPED
        _mark_open_cells(writer.book, draw, list(table))


def _mark_open_cells(book: Workbook, draw: Draw, columns: Sequence[str]) -> None:
    """Color the cells to fill in, and let each offer the words that it may hold."""
    sheet = book[SHEET]
    rules: dict[str, DataValidation] = {}
    for line, cells in enumerate(draw.open_cells().values(), start=2):
        for name, allowed in cells.items():
            cell = sheet.cell(line, 1 + columns.index(name))
            cell.fill = _YELLOW
            words = ",".join(allowed.words)
            if allowed.largest is None and words not in rules:
                rules[words] = _rule(book, words, f"Words{len(rules)}")
                sheet.add_data_validation(rules[words])
            if words in rules:
                rules[words].add(cell)


def _rule(book: Workbook, words: str, name: str) -> DataValidation:
    """Return a rule that allows some words; long lists stand on a hidden sheet of that name."""
    formula = f'"{words}"'
    if len(words) > _MAX_LIST:
        sheet = book.create_sheet(name)
        sheet.sheet_state = "hidden"
        for word in words.split(","):
            sheet.append([word])
        formula = f"{name}!$A$1:$A${sheet.max_row}"
    return DataValidation("list", formula1=formula, showErrorMessage=True)
