"""Write the sheets that people fill in, as spreadsheets or CSV files."""

import csv
import shutil
from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import chain
from pathlib import Path
from string import ascii_uppercase

from openpyxl import Workbook
from openpyxl.cell.cell import ILLEGAL_CHARACTERS_RE, Cell
from openpyxl.styles import Alignment, Font, PatternFill
from openpyxl.utils import get_column_letter
from openpyxl.worksheet.datavalidation import DataValidation
from openpyxl.worksheet.hyperlink import Hyperlink

from fin_tasks.data.tables import quote_formulas
from fin_tasks.errors import ConfigError

from .cells import CellRule
from .draw import Draw
from .readable import Readable, readable
from .rows import Row
from .sheet_pictures import (
    COLUMN,
    folders_of_pictures,
    is_picture_column,
    picture_cells,
    show_picture,
)
from .study import Study

SHEET = "Labels"
_TABLES = "Tables"
"""The tab with the tables of all texts."""
_WIDTH = 45  # of a column, in characters
_WIDTH_OF_INSTRUCTIONS = 130
_LINE_HEIGHT = 15  # points
_MAX_HEIGHT = 409  # points; Excel has no higher rows
_MAX_LIST = 255  # characters; Excel refuses files with longer lists in a rule
_MAX_TERM = 1500  # characters of a finance term; Excel cuts a cell at 32,767
_GOLD = ("python_solution", "answer", "target")
"""Fields of documents that hold the right answer; a sheet shows the first one that is not empty."""
_YELLOW = PatternFill("solid", fgColor="FFF2CC")
_WRAPPED = Alignment(wrap_text=True, vertical="top")

Line = dict[str, Readable]
"""The texts of a row by column."""


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
    pictures = out.with_name(f"{out.stem}_pictures")
    open_cells = draw.open_cells()
    lines = []
    for row in draw.rows:
        if row.id in open_cells:
            lines.append(_line_of(row, draw.study, pictures if bundle else None))
    instructions = _instructions(draw.study)
    questions = draw.study.columns()
    # A row with more pictures than the first one adds columns before those to fill in.
    names = [name for name in dict.fromkeys(chain(*lines)) if name not in questions]
    columns = [*names, *questions]
    if out.suffix == ".csv":
        out.with_suffix(".txt").write_text("\n".join(instructions), "utf-8")
        _write_csv(paths[0], columns, lines)
    else:
        trusted = folders_of_pictures(draw.study.benchmark, pictures)
        book = _Book(instructions, columns, out.parent, trusted)
        for number, line in enumerate(lines, start=2):
            book.add(number, line, open_cells[line["row"].text])
        book.save(paths[0])
    for path in paths[1:]:
        shutil.copyfile(paths[0], path)
    draw_file.write_text(draw.model_dump_json(indent=1), "utf-8")
    return paths


def _instructions(study: Study) -> list[str]:
    lines = [study.title, *study.instructions.splitlines(), "", "Cells to fill in:"]
    for column, question in study.columns().items():
        lines.append(f"{column}: {question}")
    return lines


def _line_of(row: Row, study: Study, bundle: Path | None) -> Line:
    """Return what a sheet shows of a row, and what was decided about it earlier."""
    line = {"row": Readable(row.id, [])}
    for name in study.show:
        if name == COLUMN:
            for column, file in picture_cells(row, bundle).items():
                line[column] = Readable(file, [])
        else:
            line[name] = readable(_text_of(row, name))
    for column in study.columns():
        label = row.labels.get(column, "")
        line[column] = Readable(str(label), [])
    return line


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
            terms = map(_term_text, doc.get("candidates") or ())
            return "\n\n".join(f"{n}. {term}" for n, term in enumerate(terms, start=1))
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


def _safe(text: str) -> str:
    """Return a text that a spreadsheet can hold and does not run."""
    return quote_formulas(ILLEGAL_CHARACTERS_RE.sub("�", text))


def _write_csv(
    path: Path,
    columns: Sequence[str],
    lines: Sequence[Line],
) -> None:
    with path.open("w", encoding="utf-8-sig", newline="") as file:
        writer = csv.DictWriter(file, columns, lineterminator="\n")
        writer.writeheader()
        for line in lines:
            cells = {}
            for name, text in line.items():
                cells[name] = _safe(text.inline())
            writer.writerow(cells)


def _height_of(text: str, width: int) -> float:
    """Return the height of a text; LibreOffice does not make a row as high as its text."""
    n_lines = 1 + len(text) // width + text.count("\n")
    return min(_LINE_HEIGHT * n_lines, _MAX_HEIGHT)


class _Book:
    """A workbook with instructions, the rows to fill in, and the tables of their texts."""

    def __init__(
        self,
        instructions: Sequence[str],
        columns: Sequence[str],
        folder: Path,
        trusted: Sequence[Path],
    ) -> None:
        self._columns = columns
        self._folder = folder
        self._trusted = trusted
        self._tables: list[list[str]] = []
        self._lists_of_words: dict[str, DataValidation] = {}
        self._book = Workbook()
        first = self._book.active
        first.title = "Instructions"
        first.column_dimensions["A"].width = _WIDTH_OF_INSTRUCTIONS
        for number, text in enumerate(instructions, start=1):
            cell = first.cell(number, 1, text)
            cell.alignment = _WRAPPED
            height = _height_of(text, _WIDTH_OF_INSTRUCTIONS)
            first.row_dimensions[number].height = height
        self._sheet = self._book.create_sheet(SHEET)
        self._sheet.freeze_panes = "B2"
        self._sheet.append(columns)
        for cell in self._sheet[1]:
            cell.font = Font(bold=True)
            cell.alignment = _WRAPPED
            self._sheet.column_dimensions[cell.column_letter].width = _WIDTH
        self._sheet.row_dimensions[1].height = _LINE_HEIGHT

    def add(
        self,
        number: int,
        line: Line,
        rules: Mapping[str, CellRule],
    ) -> None:
        """Add a row, which is as high as its longest text or picture.

        Its first cell leads to the tables of its texts. A text that is a link itself would stay on one line in
        LibreOffice.
        """
        heights = []
        tables_begin = len(self._tables) + 1
        for column, name in enumerate(self._columns, start=1):
            cell = self._sheet.cell(number, column)
            cell.alignment = _WRAPPED
            text, tables = line.get(name, Readable("", []))
            for place, table in enumerate(tables, start=1):
                title = f"{line['row'].text}, {name}, table {place}"
                self._tables += [[title], *table, []]
            if tables:
                text = text.replace("[table ", f"[tab {_TABLES}: table ")
            cell.value = _safe(text)
            heights.append(_height_of(cell.value, _WIDTH))
            if name in rules:
                self._ask(cell, rules[name])
            elif text and is_picture_column(name):
                heights.append(show_picture(cell, self._folder, self._trusted))
        if len(self._tables) >= tables_begin:
            location = f"{_TABLES}!A{tables_begin}"
            first = self._sheet.cell(number, 1)
            first.hyperlink = Hyperlink(ref=first.coordinate, location=location)
        self._sheet.row_dimensions[number].height = max(heights)

    def _ask(self, cell: Cell, rule: CellRule) -> None:
        """Color a cell to fill in, and let it offer the words that it may hold."""
        cell.fill = _YELLOW
        words = ",".join(rule.words)
        if rule.largest is not None or len(words) > _MAX_LIST:
            return
        if words not in self._lists_of_words:
            list_of_words = DataValidation(
                "list", formula1=f'"{words}"', showErrorMessage=True
            )
            self._sheet.add_data_validation(list_of_words)
            self._lists_of_words[words] = list_of_words
        self._lists_of_words[words].add(cell)

    def save(self, path: Path) -> None:
        """Write the file."""
        if self._tables:
            tab = self._book.create_sheet(_TABLES)
            widths = Counter[int]()
            for number, texts in enumerate(self._tables, start=1):
                heights: list[float] = [_LINE_HEIGHT]
                for column, text in enumerate(texts, start=1):
                    cell = tab.cell(number, column, _safe(text))
                    cell.alignment = _WRAPPED
                    heights.append(_height_of(text, _WIDTH))
                    widths[column] = max(widths[column], len(text) + 2)
                tab.row_dimensions[number].height = max(heights)
            for column, width in widths.items():
                letter = get_column_letter(column)
                tab.column_dimensions[letter].width = min(width, _WIDTH)
        self._book.save(path)
