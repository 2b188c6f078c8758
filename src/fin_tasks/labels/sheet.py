"""Write the sheets that people fill in, as spreadsheets or CSV files."""

import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from string import ascii_uppercase
from typing import NamedTuple

import pandas as pd
from openpyxl.cell.cell import ILLEGAL_CHARACTERS_RE
from openpyxl.styles import Alignment, PatternFill
from openpyxl.worksheet.datavalidation import DataValidation
from openpyxl.worksheet.hyperlink import Hyperlink
from openpyxl.worksheet.worksheet import Worksheet

from fin_tasks.benchmarks.task_file import pictures_of
from fin_tasks.data.tables import quote_formulas
from fin_tasks.errors import ConfigError

from .draw import Draw
from .readable import readable
from .row import Row
from .sheet_pictures import (
    COLUMN,
    copy_pictures,
    folders_of_pictures,
    is_picture_column,
    picture_columns,
    show_picture,
)

SHEET = "Labels"
_WIDTH = 45  # of a column, in characters
_LINE_HEIGHT = 15  # points
_MAX_HEIGHT = 409  # points; Excel has no higher rows
_MAX_LIST = 255  # characters; Excel refuses files with longer lists in a rule
_MAX_TERM = 1500  # characters of a finance term; Excel cuts a cell at 32,767
_GOLD = ("python_solution", "answer", "target")
"""Fields of documents that hold the right answer; a sheet shows the first one that is not empty."""
_TABLES = "Tables"
"""The tab with the tables of all texts."""

_YELLOW = PatternFill("solid", fgColor="FFF2CC")
_WRAPPED = Alignment(wrap_text=True, vertical="top")


class _Tables(NamedTuple):
    """The lines of the tab of tables."""

    lines: list[list[str]]
    lines_by_cell: dict[tuple[str, str], int]
    """The line on which the tables of a text begin, by the row and the column of the text."""


def write_sheets(
    draw: Draw,
    out: Path,
    *,
    bundle: bool = False,
) -> list[Path]:
    """Write a sheet for each person, .xlsx or .csv, and the draw, which merging needs.

    A spreadsheet shows pictures small in their cells, and has the tables of texts in a tab of their own. With
    `bundle`, copies of the pictures are in a folder beside the sheets.
    """
    numbers = range(1, draw.study.annotators + 1)
    paths = [out.with_name(f"{out.stem}_{number}{out.suffix}") for number in numbers]
    draw_file = out.with_name(f"{out.stem}.draw.json")
    is_used = any(path.exists() for path in [*paths, draw_file])
    if out.suffix not in (".xlsx", ".csv") or is_used:
        raise ConfigError(
            f"--out {out}: expected a new name that ends in .xlsx or .csv, so that no labels are lost."
        )
    out.parent.mkdir(parents=True, exist_ok=True)
    tables = None if out.suffix == ".csv" else _Tables([], {})
    table = _table(draw, tables).map(quote_formulas)
    trusted = folders_of_pictures(draw.study.benchmark)
    if bundle and COLUMN in table:
        pictures = out.with_name(f"{out.stem}_pictures")
        copy_pictures(table, pictures)
        trusted.append(pictures.resolve())
    instructions = _instructions(draw)
    if tables is None:
        out.with_suffix(".txt").write_text("\n".join(instructions), "utf-8")
        for path in paths:
            table.to_csv(path, index=False, encoding="utf-8-sig")
    else:
        _write_workbook(paths[0], instructions, table, tables, draw, trusted)
        for path in paths[1:]:
            shutil.copyfile(paths[0], path)
    draw_file.write_text(draw.model_dump_json(indent=1), "utf-8")
    return paths


def _instructions(draw: Draw) -> list[str]:
    study = draw.study
    lines = [study.title, *study.instructions.splitlines(), "", "Cells to fill in:"]
    lines += map(": ".join, study.columns().items())
    return lines


def _write_workbook(
    path: Path,
    instructions: Sequence[str],
    table: pd.DataFrame,
    tables: _Tables,
    draw: Draw,
    trusted: Sequence[Path],
) -> None:
    """Write instructions, rows, and the tables of all texts into the tabs of a spreadsheet."""
    with pd.ExcelWriter(path, engine="openpyxl") as writer:
        first_tab = pd.Series(instructions)
        first_tab.to_excel(writer, sheet_name="Instructions", index=False, header=False)
        writer.sheets["Instructions"].column_dimensions["A"].width = 130
        table.to_excel(writer, sheet_name=SHEET, index=False, freeze_panes=(1, 1))
        if tables.lines:
            tab = writer.book.create_sheet(_TABLES)
            for line in tables.lines:
                tab.append([quote_formulas(_printable(cell)) for cell in line])
        _format(writer.sheets[SHEET], draw, tables, path.parent, trusted)


def _table(draw: Draw, tables: _Tables | None) -> pd.DataFrame:
    """Return a line for each row; tables of its texts go to their tab, or stay in the text if there is none."""
    open_cells = draw.open_cells()
    lines = []
    for row in draw.rows:
        if row.id not in open_cells:
            continue
        line = {"row": row.id}
        for name in draw.study.show:
            if name == COLUMN:
                line |= {COLUMN: "", **picture_columns(pictures_of(row.doc))}
            else:
                text = _text_of(row, name)
                line[name] = _shown(row.id, name, text, tables)
        for column in draw.study.columns():
            line[column] = str(row.labels.get(column, ""))
        lines.append(line)
    table = pd.DataFrame(lines).fillna("").map(_printable)
    # A row with more pictures than the first one has added columns at the end.
    asked = list(draw.study.columns())
    shown = [name for name in table if name not in asked]
    return table[shown + asked]


def _printable(text: str) -> str:
    return str(ILLEGAL_CHARACTERS_RE.sub("�", text))


def _shown(row_id: str, name: str, text: str, tables: _Tables | None) -> str:
    text_to_read = readable(text)
    if tables is None or not text_to_read.tables:
        return text_to_read.inline()
    tables.lines_by_cell[row_id, name] = len(tables.lines) + 1
    for number, rows in enumerate(text_to_read.tables, start=1):
        title = [f"{row_id}, {name}, table {number}"]
        tables.lines.extend([title, *rows, []])
    return text_to_read.text.replace("[table ", f"[tab {_TABLES}: table ")


def _text_of(row: Row, name: str) -> str:
    """Return the text of a row in a column."""
    doc = row.doc
    match name:
        case "task":
            return row.kind
        case "response":
            return row.response
        case "terms":
            names = [term["name"] for term in doc.get("terms") or ()]
            return "\n".join(names)
        case "gold_terms":
            return "\n\n".join(map(_term_text, doc.get("shown_gold_terms") or ()))
        case "candidates":
            numbered = []
            candidates = doc.get("candidates") or ()
            for number, term in enumerate(candidates, start=1):
                numbered.append(f"{number}. {_term_text(term)}")
            return "\n\n".join(numbered)
        case "choices":
            pairs = zip(ascii_uppercase, doc.get("choices") or (), strict=False)
            return "\n".join(map(". ".join, pairs))
    for field in _GOLD if name == "gold" else (name, "prompt"):
        if doc.get(field):
            return str(doc[field])
    return ""


def _term_text(term: Mapping[str, str]) -> str:
    text = f"{term['name']}: {term['definition']}"
    return text if len(text) <= _MAX_TERM else f"{text[: _MAX_TERM - 1]}…"


def _format(
    sheet: Worksheet, draw: Draw, tables: _Tables, folder: Path, trusted: Sequence[Path]
) -> None:
    """Make cells as large as their texts; color those to fill in, and let them offer the words that they may hold.

    Pictures are shown, and texts with tables are linked to these.
    """
    lists_of_words: dict[str, DataValidation] = {}
    open_cells = draw.open_cells()
    for cells in sheet.iter_rows():
        n_lines = 1
        picture_height = 0.0
        row_id = cells[0].value
        rules = open_cells.get(row_id, {})
        for cell in cells:
            cell.alignment = _WRAPPED
            sheet.column_dimensions[cell.column_letter].width = _WIDTH
            text = str(cell.value)
            n_lines_of_cell = 1 + len(text) // _WIDTH + text.count("\n")
            n_lines = max(n_lines, n_lines_of_cell)
            name = sheet.cell(1, cell.column).value
            if is_picture_column(name) and cell.value and cell.row > 1:
                height = show_picture(cell, folder, trusted)
                picture_height = max(picture_height, height)
            line = tables.lines_by_cell.get((row_id, name))
            if line:
                place = f"{_TABLES}!A{line}"
                cell.hyperlink = Hyperlink(ref=cell.coordinate, location=place)
            if name in rules:
                cell.fill = _YELLOW
                words = ",".join(rules[name].words)
                if rules[name].largest is None and len(words) <= _MAX_LIST:
                    list_of_words = DataValidation(
                        "list", formula1=f'"{words}"', showErrorMessage=True
                    )
                    lists_of_words.setdefault(words, list_of_words).add(cell)
        # LibreOffice does not make a row as high as its text.
        height = max(_LINE_HEIGHT * n_lines, picture_height)
        sheet.row_dimensions[cells[0].row].height = min(height, _MAX_HEIGHT)
    for list_of_words in lists_of_words.values():
        sheet.add_data_validation(list_of_words)
