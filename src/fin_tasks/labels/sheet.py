"""Write the sheets that people fill in, as spreadsheets or CSV files."""

import shutil
from collections.abc import Mapping
from pathlib import Path
from string import ascii_uppercase

import pandas as pd
from openpyxl.cell.cell import ILLEGAL_CHARACTERS_RE
from openpyxl.styles import Alignment, PatternFill
from openpyxl.worksheet.datavalidation import DataValidation
from openpyxl.worksheet.worksheet import Worksheet
from PIL import Image

from fin_tasks.benchmarks.task_file import pictures_of
from fin_tasks.data.pictures import BROKEN, FORMATS
from fin_tasks.data.tables import quote_formulas
from fin_tasks.errors import ConfigError, DataError

from .draw import Draw
from .row import Row

SHEET = "Labels"
_WIDTH = 45  # of a column, in characters
_LINE_HEIGHT = 15  # points
_MAX_HEIGHT = 409  # points; Excel has no higher rows
_MAX_LIST = 255  # characters; Excel refuses files with longer lists in a rule
_MAX_TERM = 1500  # characters of a finance term; Excel cuts a cell at 32,767
_FIELDS = {
    "gold": ("python_solution", "answer", "target"),
}
"""Fields of documents that a column may show; it shows the first one that is not empty."""

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
    draw_file = out.with_name(f"{out.stem}.draw.json")
    is_used = any(path.exists() for path in [*paths, draw_file])
    if out.suffix not in (".xlsx", ".csv") or is_used:
        raise ConfigError(
            f"--out {out}: expected a new name that ends in .xlsx or .csv, so that no labels are lost."
        )
    out.parent.mkdir(parents=True, exist_ok=True)
    table = _table(draw)
    if bundle and "picture" in table:
        _copy_pictures(table, out.with_name(f"{out.stem}_pictures"))
    safe_table = table.map(quote_formulas)
    study = draw.study
    instructions = [
        study.title,
        *study.instructions.splitlines(),
        "",
        "Cells to fill in:",
    ]
    instructions += map(": ".join, study.columns().items())
    if out.suffix == ".csv":
        out.with_suffix(".txt").write_text("\n".join(instructions), "utf-8")
    for path in paths:
        if out.suffix == ".csv":
            safe_table.to_csv(path, index=False, encoding="utf-8-sig")
            continue
        with pd.ExcelWriter(path, engine="openpyxl") as writer:
            pd.Series(instructions).to_excel(
                writer,
                sheet_name="Instructions",
                index=False,
                header=False,
            )
            safe_table.to_excel(
                writer,
                sheet_name=SHEET,
                index=False,
                freeze_panes=(1, 1),
            )
            writer.sheets["Instructions"].column_dimensions["A"].width = 130
            _format(writer.sheets[SHEET], draw)
    draw_file.write_text(draw.model_dump_json(indent=1), "utf-8")
    return paths


def _table(draw: Draw) -> pd.DataFrame:
    open_cells = draw.open_cells()
    lines = []
    for row in draw.rows:
        if row.id in open_cells:
            line = {"row": row.id}
            for name in draw.study.show:
                line[name] = _text_of(row, name)
            for column in draw.study.columns():
                line[column] = str(row.labels.get(column, ""))
            lines.append(line)
    return pd.DataFrame(lines).replace(ILLEGAL_CHARACTERS_RE, "�")


def _text_of(row: Row, name: str) -> str:
    """Return the text of a row in a column."""
    doc = row.doc
    match name:
        case "task":
            return row.kind
        case "response":
            return row.response
        case "terms":
            return "\n".join(term["name"] for term in doc.get("terms") or ())
        case "gold_terms":
            return "\n\n".join(map(_term_text, doc.get("shown_gold_terms") or ()))
        case "candidates":
            numbered = []
            for number, term in enumerate(doc.get("candidates") or (), start=1):
                numbered.append(f"{number}. {_term_text(term)}")
            return "\n\n".join(numbered)
        case "choices":
            pairs = zip(ascii_uppercase, doc.get("choices") or (), strict=False)
            return "\n".join(map(". ".join, pairs))
        case "picture":
            return "\n".join(pictures_of(doc))
    for field in _FIELDS.get(name, (name, "prompt")):
        if doc.get(field):
            return str(doc[field])
    return ""


def _term_text(term: Mapping[str, str]) -> str:
    text = f"{term['name']}: {term['definition']}"
    return text if len(text) <= _MAX_TERM else f"{text[: _MAX_TERM - 1]}…"


def _copy_pictures(table: pd.DataFrame, folder: Path) -> None:
    """Copy pictures into a folder, and name in the table the paths of the copies, as seen from the sheets."""
    try:
        folder.mkdir(exist_ok=True)
        for line, names in table["picture"].items():
            copies = []
            for number, name in enumerate(names.splitlines(), start=1):
                # A run of a stranger may name any file as a picture.
                Image.open(name, formats=FORMATS).close()
                ending = f"_{number}" if number > 1 else ""
                copy = folder / f"{table.at[line, 'row']}{ending}{Path(name).suffix}"
                shutil.copyfile(name, copy)
                copies.append(f"{folder.name}/{copy.name}")
            table.at[line, "picture"] = "\n".join(copies)
    except BROKEN as error:
        raise DataError(
            f"--bundle: expected to copy the pictures, got {error}."
        ) from error


def _format(sheet: Worksheet, draw: Draw) -> None:
    """Make cells as large as their texts; color those to fill in, and let them offer the words that they may hold."""
    lists_of_words: dict[str, DataValidation] = {}
    open_cells = draw.open_cells()
    for cells in sheet.iter_rows():
        n_lines = 1
        rules = open_cells.get(cells[0].value, {})
        for cell in cells:
            cell.alignment = _WRAPPED
            sheet.column_dimensions[cell.column_letter].width = _WIDTH
            text = str(cell.value)
            n_lines = max(n_lines, 1 + len(text) // _WIDTH + text.count("\n"))
            name = sheet.cell(1, cell.column).value
            if name in rules:
                cell.fill = _YELLOW
                words = ",".join(rules[name].words)
                if rules[name].largest is None and len(words) <= _MAX_LIST:
                    list_of_words = DataValidation(
                        "list", formula1=f'"{words}"', showErrorMessage=True
                    )
                    lists_of_words.setdefault(words, list_of_words).add(cell)
        # LibreOffice does not make a row as high as its text.
        height = min(_LINE_HEIGHT * n_lines, _MAX_HEIGHT)
        sheet.row_dimensions[cells[0].row].height = height
    for list_of_words in lists_of_words.values():
        sheet.add_data_validation(list_of_words)
