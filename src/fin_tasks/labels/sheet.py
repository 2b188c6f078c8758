"""Write sheets, as spreadsheets or CSV files, and read them again with a list of their problems."""

import csv
import re
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from openpyxl import Workbook
from openpyxl.cell.cell import ILLEGAL_CHARACTERS_RE
from openpyxl.styles import Alignment, Font, PatternFill
from openpyxl.worksheet.datavalidation import DataValidation

from fin_tasks.benchmarks.xfinbench.data import lettered
from fin_tasks.benchmarks.xfinbench.score import parse_truth
from fin_tasks.errors import ConfigError, DataError
from fin_tasks.labels.draw import Draw, Row
from fin_tasks.labels.study import Study

__all__ = ["Cells", "read_sheets", "write_sheets"]

_FORMULA = re.compile(r"[=@\t]|[+-](?![\d.,]+$)")
_WIDTHS = {"question": 70, "prompt": 90, "response": 90, "gold": 40, "choices": 40, "terms": 30, "picture": 30}

Cells = dict[str, dict[str, dict[str, str]]]
"""The value of each filled cell, by row, column and person."""


def write_sheets(draw: Draw, out: Path) -> list[Path]:
    """Write a sheet for each person, `.xlsx` or `.csv` by the ending of `out`, and the draw for merging."""
    paths = [out.with_name(f"{out.stem}_{number}{out.suffix}") for number in range(1, draw.study.annotators + 1)]
    if out.suffix not in (".xlsx", ".csv") or any(path.exists() for path in paths):
        raise ConfigError(f"--out {out}: expected a new name that ends in .xlsx or .csv, so that no labels are lost.")
    header = ["row", *draw.study.show, *draw.study.columns()]
    rows = [[row.id, *(_shown(row, name) for name in draw.study.show)] for row in draw.rows]
    try:
        out.parent.mkdir(parents=True, exist_ok=True)
        for path in paths:
            if path.suffix == ".xlsx":
                _workbook(draw, header, rows).save(path)
                continue
            with path.open("w", encoding="utf-8-sig", newline="") as file:
                # A spreadsheet program would run a response that begins like a formula.
                safe = [[f"'{cell}" if _FORMULA.match(cell) else cell for cell in row] for row in rows]
                csv.writer(file).writerows([header, *safe])
        if out.suffix == ".csv":
            out.with_suffix(".txt").write_text("\n".join(_instructions(draw.study)), encoding="utf-8")
        out.with_name(f"{out.stem}.draw.json").write_text(draw.model_dump_json(indent=1), encoding="utf-8")
    except OSError as error:
        raise DataError(f"--out {out}: expected a folder that can be written, got {error.strerror}.") from error
    return paths


def _workbook(draw: Draw, header: Sequence[str], rows: Sequence[Sequence[str]]) -> Workbook:
    book = Workbook()
    first, sheet = book.active, book.create_sheet("Labels")
    first.title = "Instructions"
    first.column_dimensions["A"].width = 110
    for text in _instructions(draw.study):
        first.append([text])
        first.cell(first.max_row, 1).alignment = Alignment(wrap_text=True)
    first["A1"].font = Font(bold=True)
    sheet.append(header)
    sheet.freeze_panes = "B2"
    widths = [_WIDTHS.get(name, 18) for name in header]
    for cell, width in zip(sheet[1], widths, strict=True):
        cell.font = Font(bold=True)
        sheet.column_dimensions[cell.column_letter].width = width
    for line, (row, texts) in enumerate(zip(draw.rows, rows, strict=True), 2):
        sheet.append(texts)
        # LibreOffice does not make rows fit their texts, and no row can be higher than 409 points.
        lines = 1
        for text, width in zip(texts, widths, strict=False):
            lines = max(lines, sum(1 + len(part) // width for part in text.split("\n")))
        sheet.row_dimensions[line].height = min(409, 15 * lines)
        for cell in sheet[line]:
            cell.data_type, cell.alignment = "s", Alignment(wrap_text=True, vertical="top")  # no formula, even with =
        for place, (column, prompt) in enumerate(draw.study.columns().items(), len(texts) + 1):
            cell = sheet.cell(line, place)
            cell.fill, cell.alignment = PatternFill("solid", fgColor="FFF2CC"), Alignment(vertical="top")
            words, most = draw.study.allowed(column, row.doc)
            rule = DataValidation("list", formula1=f'"{",".join(words)}"', prompt=prompt[:250])
            if most is not None:
                at = cell.coordinate
                formula = f'OR({at}="none",AND(ISNUMBER({at}),ABS({at})<={most:g}))'
                rule = DataValidation("custom", formula1=formula, prompt=prompt[:250])
            rule.showInputMessage = rule.showErrorMessage = True
            sheet.add_data_validation(rule)
            rule.add(cell)
    return book


def _instructions(study: Study) -> list[str]:
    asked = [f"{column}: {text}" for column, text in study.columns().items()]
    return [study.title, *study.instructions.strip().split("\n"), "", "Cells to fill in:", *asked]


def _shown(row: Row, name: str) -> str:
    doc = row.doc
    truth = doc.get("ground_truth")
    if doc.get("task") == "bool":
        truth = "true" if parse_truth("bool", str(truth)).value else "false"
    terms = [term["name"] for term in doc.get("terms") or ()] or doc.get("gold_terms") or ()
    shown: dict[str, Any] = {
        "task": doc.get("task") or row.task,
        "question": doc.get("question") or doc.get("prompt"),
        "prompt": doc.get("prompt"),
        "choices": lettered(doc.get("choices") or ()),
        "picture": doc.get("figure_path") or doc.get("image_path"),
        "terms": "\n".join(terms),
        "gold": doc.get("python_solution") or doc.get("answer") or truth,
        "response": row.response,
    }
    return str(ILLEGAL_CHARACTERS_RE.sub("�", str(shown[name] or "")))


def read_sheets(draw: Draw, paths: Sequence[Path]) -> tuple[Cells, list[str], pd.DataFrame]:
    """Return the filled cells, the names of the people, and a table of the cells and rows that cannot be used."""
    people, columns = [path.stem for path in paths], list(draw.study.columns())
    if len(set(people)) < len(people):
        raise ConfigError(f"sheets: expected a file name for each person, got {', '.join(people)}. Rename a sheet.")
    rows = {row.id: row for row in draw.rows}
    cells: Cells = {name: {column: {} for column in columns} for name in rows}
    problems: list[tuple[str, int, str, str, str]] = []
    for path, person in zip(paths, people, strict=True):
        table = _table(path, ["row", *columns])
        counts = Counter(table["row"])
        for line, (name, *texts) in enumerate(table.itertuples(index=False), 2):
            if name in rows and counts[name] == 1:
                for column, text in zip(columns, texts, strict=True):
                    words, most = draw.study.allowed(column, rows[name].doc)
                    if (value := _read(text, words, most)) is not None:
                        cells[name][column][person] = value
                    else:
                        expected = ", ".join(words if most is None else [*words, f"a number up to {most:g}"])
                        why = f"expected {expected}, got {text!r:.80}"
                        problems.append((path.name, line, name, column, why))
            elif name or any(texts):
                why = f"comes {counts[name]} times, so none counts" if name in rows else "is not in this draw"
                problems.append((path.name, line, name, "row", f"{name!r:.80} {why}"))
        problems += [(path.name, 0, name, "row", f"{name} is missing") for name in rows if name not in counts]
    return cells, people, pd.DataFrame(problems, columns=["sheet", "line", "row", "column", "message"])


def _table(path: Path, columns: Sequence[str]) -> pd.DataFrame:
    """Read a sheet as texts; empty cells are empty texts."""
    try:
        if path.suffix == ".csv":
            table = pd.read_csv(path, dtype=str, na_filter=False, skip_blank_lines=False)
        else:
            table = pd.read_excel(path, "Labels", dtype=str, na_filter=False)
    except Exception as error:  # a broken spreadsheet raises anything
        raise DataError(f"{path}: expected a filled sheet, .xlsx or .csv, could not read it ({error}).") from error
    if missing := {*columns} - {*table}:
        raise DataError(f"{path}: expected the columns {', '.join(columns)}, found no {', '.join(sorted(missing))}.")
    return table[columns].map(lambda one: str(one or "").strip())


def _read(text: str, words: Sequence[str], most: float | None) -> str | None:
    """Return a cell's value in its usual spelling; None if it is not allowed."""
    plain = re.sub(r"\A(\d+)\.0\Z", r"\1", text.casefold())  # a spreadsheet's whole numbers
    if plain in map(str.casefold, words):
        return next(word for word in words if word.casefold() == plain)
    number = parse_truth("calcu", text).value
    if most is None or not isinstance(number, float) or abs(number) > most:
        return None
    return np.format_float_positional(number, trim="-")
