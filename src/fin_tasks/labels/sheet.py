"""Sheets: spreadsheets or CSV files that people fill, and what is wrong with filled ones."""

import csv
import re
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from string import ascii_uppercase
from typing import Any

import numpy as np
import pandas as pd
from openpyxl import Workbook
from openpyxl.cell.cell import ILLEGAL_CHARACTERS_RE
from openpyxl.styles import Alignment, Font, PatternFill
from openpyxl.worksheet.datavalidation import DataValidation

from fin_tasks.benchmarks.xfinbench.score import parse_truth
from fin_tasks.errors import ConfigError, DataError
from fin_tasks.labels.draw import Draw, Row
from fin_tasks.labels.study import Study

__all__ = ["Cells", "read_sheets", "write_sheets"]

_FORMULA = re.compile(r"[=@\t]|[+-](?![\d.,]+$)")
_LONGEST = 32_000  # letters that a cell holds
_WIDE = {"question": 70, "prompt": 90, "response": 90, "gold": 40, "choices": 40, "terms": 30, "picture": 30}

Cells = dict[str, dict[str, dict[str, str]]]
"""Row to column to person to what the cell holds."""


def write_sheets(draw: Draw, out: Path, annotators: int) -> list[Path]:
    """Write a sheet for each annotator, `.xlsx` or `.csv` as in the name given, and the draw for merging."""
    paths = [out.with_name(f"{out.stem}_{number}{out.suffix}") for number in range(1, annotators + 1)]
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
                # a spreadsheet program would run a response that begins like a formula
                safe = [["'" * bool(_FORMULA.match(cell)) + cell for cell in row] for row in rows]
                csv.writer(file).writerows([header, *safe])
        if out.suffix == ".csv":
            out.with_suffix(".txt").write_text("\n".join(_instructions(draw.study)), encoding="utf-8")
        out.with_name(f"{out.stem}.draw.json").write_text(draw.model_dump_json(indent=1), encoding="utf-8")
    except OSError as error:
        raise DataError(f"--out {out}: expected a folder that can be written, got {error.strerror}.") from error
    return paths


def _workbook(draw: Draw, header: Sequence[str], rows: Sequence[Sequence[str]]) -> Workbook:
    study, book = draw.study, Workbook()
    first, sheet = book.active, book.create_sheet("Labels")
    first.title = "Instructions"
    first.column_dimensions["A"].width = 110
    for text in _instructions(study):
        first.append([text])
        first.cell(first.max_row, 1).alignment = Alignment(wrap_text=True)
    first["A1"].font = Font(bold=True)
    sheet.append(header)
    sheet.freeze_panes = "B2"
    for cell in sheet[1]:
        cell.font = Font(bold=True)
        sheet.column_dimensions[cell.column_letter].width = _WIDE.get(cell.value, 18)
    rules: dict[tuple[str, str], DataValidation] = {}
    for row, texts in zip(draw.rows, rows, strict=True):
        sheet.append(texts)
        line = sheet.max_row
        for cell in sheet[line][: len(texts)]:
            cell.data_type, cell.alignment = "s", Alignment(wrap_text=True, vertical="top")  # no formula, even with =
        for place, (name, prompt) in enumerate(_asked(study).items(), len(texts) + 1):
            cell = sheet.cell(line, place)
            cell.fill, cell.alignment = PatternFill("solid", fgColor="FFF2CC"), Alignment(vertical="top")
            values, limit = _allowed(study, name, row)
            key = (name, f"{values} {limit}")
            if key not in rules:
                said: dict[str, Any] = {"type": "list", "formula1": f'"{",".join(values)}"'}
                if limit is not None:
                    said = {"type": "decimal", "operator": "between", "formula1": 0, "formula2": limit}
                elif values == ["none"]:
                    at = f"{cell.column_letter}{line}"
                    said = {"type": "custom", "formula1": f'OR(ISNUMBER({at}),{at}="none")'}
                rules[key] = DataValidation(**said, prompt=prompt[:250], showErrorMessage=True, showInputMessage=True)
                sheet.add_data_validation(rules[key])
            rules[key].add(cell)
    return book


def _instructions(study: Study) -> list[str]:
    asked = [f"{name}: {text}" for name, text in _asked(study).items()]
    return [study.title, *study.instructions.strip().split("\n"), "", "Cells to fill in:", *asked]


def _asked(study: Study) -> dict[str, str]:
    """Return what people are told about each column that they fill."""
    if study.minutes:
        limits = ", ".join(f"{task} {limit:g}" for task, limit in study.minutes.items())
        answer = "Your answer: true or false, the letter of a choice, or a number; none if you have none in time"
        return {"answer": answer, "minutes": f"The minutes that you took, at most: {limits}"}
    asked = {column: study.questions[name] for column, name in study.columns().items()}
    texts = {column: f"{one.ask} ({', '.join(one.allowed)})" for column, one in asked.items()}
    return {column: text + " May stay empty." * column.endswith(" 2") for column, text in texts.items()}


def _allowed(study: Study, column: str, row: Row) -> tuple[list[str], float | None]:
    """Return the words that a cell may hold and the largest number; the word none alone goes with any number."""
    if not study.minutes:
        return study.questions[study.columns()[column]].allowed, None
    task = row.doc.get("task", "")
    if column == "minutes":
        return [], study.minutes[task]
    letters = list(ascii_uppercase[: len(row.doc.get("choices") or ())])
    return [*{"bool": ["true", "false"], "mcq": letters}.get(task, []), "none"], None


def _read(text: str, values: Sequence[str], limit: float | None) -> str | None:
    """Return a cell's value in its usual spelling; None if it is not allowed."""
    plain = re.sub(r"\A(\d+)\.0\Z", r"\1", text.casefold())  # a spreadsheet's whole numbers
    if found := [value for value in values if value.casefold() == plain]:
        return found[0]
    number = parse_truth("calcu", text).value if values in ([], ["none"]) else None
    if not isinstance(number, float) or (limit is not None and not 0 <= number <= limit):
        return None
    return np.format_float_positional(number, trim="-")


def _shown(row: Row, name: str) -> str:
    doc = row.doc
    truth = doc.get("ground_truth")
    if doc.get("task") == "bool":
        truth = "true" if parse_truth("bool", str(truth)).value else "false"
    found: Any = {
        "task": doc.get("task") or row.task,
        "question": doc.get("question") or doc.get("prompt"),
        "prompt": doc.get("prompt"),
        "choices": "\n".join(map(". ".join, zip(ascii_uppercase, doc.get("choices") or (), strict=False))),
        "picture": doc.get("figure_path") or doc.get("image_path"),
        "terms": "\n".join([one["name"] for one in doc.get("terms") or ()] or doc.get("gold_terms") or ()),
        "gold": doc.get("python_solution") or doc.get("answer") or truth,
        "response": row.response,
    }[name]
    text = ILLEGAL_CHARACTERS_RE.sub("�", "" if found is None else str(found))
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]} ... (cut, {len(text)} letters in all)"


def read_sheets(draw: Draw, paths: Sequence[Path]) -> tuple[Cells, list[str], pd.DataFrame]:
    """Return what people filled in, their names, and a table of every cell and row that cannot be used."""
    people, columns = [path.stem for path in paths], draw.study.columns()
    if len(set(people)) < len(people):
        raise ConfigError(f"sheets: expected a file name for each person, got {', '.join(people)}. Rename a sheet.")
    rows = {row.id: row for row in draw.rows}
    cells: Cells = {name: {column: {} for column in columns} for name in rows}
    problems: list[tuple[str, int, str, str, str]] = []
    for path, person in zip(paths, people, strict=True):
        table = _table(path, ["row", *columns])
        counts = Counter(table["row"])
        for line, (name, *texts) in enumerate(table.itertuples(index=False), 2):
            if not name and not any(texts):
                continue
            if name not in rows or counts[name] > 1:
                why = f"comes {counts[name]} times, so none counts" if name in rows else "is not in this draw"
                problems.append((path.name, line, name, "row", f"{name!r:.80} {why}"))
                continue
            for column, text in zip(columns, texts, strict=True):
                words, limit = _allowed(draw.study, column, rows[name])
                if text and (value := _read(text, words, limit)) is not None:
                    cells[name][column][person] = value
                elif text or not column.endswith(" 2"):
                    expected = ", ".join([*words, *([] if limit is None else [f"a number up to {limit:g}"])])
                    why = f"expected {expected}, got {text!r:.80}" if text else "is empty"
                    problems.append((path.name, line, name, column, why))
        problems += [(path.name, 0, name, "row", f"{name} is missing") for name in rows if name not in counts]
    return cells, people, pd.DataFrame(problems, columns=["sheet", "line", "row", "column", "message"])


def _table(path: Path, columns: Sequence[str]) -> pd.DataFrame:
    """Read a sheet as texts; empty cells are empty texts."""
    try:
        told: dict[str, Any] = {"dtype": str, "na_filter": False}
        csv_file = path.suffix == ".csv"
        table = pd.read_csv(path, skip_blank_lines=False, **told) if csv_file else pd.read_excel(path, "Labels", **told)
    except Exception as error:  # a broken spreadsheet raises anything
        raise DataError(f"{path}: expected a filled sheet, .xlsx or .csv, could not read it ({error}).") from error
    if missing := {*columns} - {*table}:
        raise DataError(f"{path}: expected the columns {', '.join(columns)}, found no {', '.join(sorted(missing))}.")
    return table[columns].map(lambda one: str(one or "").strip())
