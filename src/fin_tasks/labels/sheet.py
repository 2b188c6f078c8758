"""Write sheets, as spreadsheets or CSV files, and read them again with a list of their problems."""

from collections import Counter
from collections.abc import Sequence
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import Any

import pandas as pd
from openpyxl.cell.cell import ILLEGAL_CHARACTERS_RE
from openpyxl.styles import Alignment, PatternFill
from openpyxl.worksheet.datavalidation import DataValidation
from openpyxl.worksheet.worksheet import Worksheet

from fin_tasks.benchmarks.xfinbench.rows import lettered
from fin_tasks.errors import ConfigError, DataError
from fin_tasks.labels.draw import Draw, Row

_FORMULA = r"^(?=[=@\t]|[+-](?![\d.,]+$))"
_WIDE = ("question", "prompt", "response", "gold", "choices")


def write_sheets(draw: Draw, out: Path) -> list[Path]:
    """Write a sheet for each person, `.xlsx` or `.csv` by the ending of `out`, and the draw for merging."""
    study = draw.study
    paths = [
        out.with_name(f"{out.stem}_{number}{out.suffix}")
        for number in range(1, study.annotators + 1)
    ]
    if out.suffix not in (".xlsx", ".csv") or any(path.exists() for path in paths):
        raise ConfigError(
            f"--out {out}: expected a new name that ends in .xlsx or .csv, so that no labels are lost."
        )
    shown = [
        {"row": row.id, **{name: _shown(row, name) for name in study.show}} for row in draw.rows
    ]
    table = pd.DataFrame(shown, columns=["row", *study.show, *study.columns()])
    asked = [f"{column}: {text}" for column, text in study.columns().items()]
    instructions = [
        study.title,
        *study.instructions.strip().split("\n"),
        "",
        "Cells to fill in:",
        *asked,
    ]
    out.parent.mkdir(parents=True, exist_ok=True)
    for path in paths:
        if path.suffix == ".csv":
            # A spreadsheet program would run a response that begins like a formula.
            table.replace(_FORMULA, "'", regex=True).to_csv(path, index=False, encoding="utf-8-sig")
            continue
        with pd.ExcelWriter(path, engine="openpyxl") as writer:
            pd.Series(instructions).to_excel(
                writer, sheet_name="Instructions", header=False, index=False
            )
            writer.sheets["Instructions"].column_dimensions["A"].width = 130
            table.to_excel(writer, sheet_name="Labels", index=False, freeze_panes=(1, 1))
            _format(writer.sheets["Labels"], draw)
    if out.suffix == ".csv":
        out.with_suffix(".txt").write_text("\n".join(instructions), encoding="utf-8")
    out.with_name(f"{out.stem}.draw.json").write_text(
        draw.model_dump_json(indent=1), encoding="utf-8"
    )
    return paths


def _format(sheet: Worksheet, draw: Draw) -> None:
    """Make texts fit their cells, and let the cells to fill in offer the words that the study allows."""
    asked = draw.study.columns()
    for column in sheet.columns:
        name, letter = str(column[0].value), column[0].column_letter
        sheet.column_dimensions[letter].width = 70 if name in _WIDE else 25
        for cell, row in zip(column[1:], draw.rows, strict=True):
            cell.alignment = Alignment(wrap_text=True, vertical="top")
            if name not in asked:
                cell.data_type = "s"  # no formula, even with =
                continue
            cell.fill = PatternFill("solid", fgColor="FFF2CC")
            words, most = draw.study.allowed(name, row.doc)
            if most is None:
                rule = DataValidation(
                    "list", formula1=f'"{",".join(words)}"', showErrorMessage=True
                )
                sheet.add_data_validation(rule)
                rule.add(cell)
    for line, texts in enumerate(sheet.iter_rows(min_row=2, values_only=True), 2):
        lines = max(1 + len(text) // 70 + text.count("\n") for text in map(str, texts))
        sheet.row_dimensions[line].height = min(
            409, 15 * lines
        )  # the most; LibreOffice does not make rows fit


def _shown(row: Row, name: str) -> str:
    doc = row.doc
    shown: dict[str, Any] = {
        "task": doc.get("task") or row.task,
        "question": doc.get("question") or doc.get("prompt"),
        "prompt": doc.get("prompt"),
        "choices": lettered(doc.get("choices") or ()),
        "picture": doc.get("figure_path") or doc.get("image_path"),
        "terms": "\n".join(term["name"] for term in doc.get("terms") or ()),
        "gold": doc.get("python_solution") or doc.get("answer") or doc.get("target"),
        "response": row.response,
    }
    return str(ILLEGAL_CHARACTERS_RE.sub("�", str(shown[name] or "")))


def read_sheets(draw: Draw, paths: Sequence[Path]) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return the values of all cells, and a table of the cells and rows that cannot be used.

    The values have a line for each row and question, and a column for each person; None if there is no usable value.
    """
    people, columns = [path.stem for path in paths], list(draw.study.columns())
    if len(set(people)) < len(people):
        raise ConfigError(
            f"sheets: expected a file name for each person, got {', '.join(people)}. Rename a sheet."
        )
    rows = {row.id: row for row in draw.rows}
    lines = pd.MultiIndex.from_product([rows, columns], names=["row", "question"])
    values = pd.DataFrame(None, index=lines, columns=people, dtype=object)
    problems: list[tuple[str, int, str, str, str]] = []
    for path in paths:
        table = _table(path, ["row", *columns])
        counts = Counter(table["row"])
        for line, (name, *texts) in enumerate(table.itertuples(index=False), 2):
            if name in rows and counts[name] == 1:
                for column, text in zip(columns, texts, strict=True):
                    words, most = draw.study.allowed(column, rows[name].doc)
                    values.loc[(name, column), path.stem] = value = _read(text, words, most)
                    if value is None:
                        expected = ", ".join(
                            words if most is None else [*words, f"a number up to {most:g}"]
                        )
                        problems.append(
                            (
                                path.name,
                                line,
                                name,
                                column,
                                f"expected {expected}, got {text!r:.80}",
                            )
                        )
            elif name or any(texts):
                why = (
                    f"comes {counts[name]} times, so none counts"
                    if name in rows
                    else "is not in this draw"
                )
                problems.append((path.name, line, name, "row", f"{name!r:.80} {why}"))
        problems += [
            (path.name, 0, name, "row", f"{name} is missing") for name in rows if name not in counts
        ]
    return values, pd.DataFrame(problems, columns=["sheet", "line", "row", "column", "message"])


def _table(path: Path, columns: Sequence[str]) -> pd.DataFrame:
    """Read a sheet as texts; empty cells are empty texts."""
    try:
        if path.suffix == ".csv":
            table = pd.read_csv(path, dtype=str, na_filter=False, skip_blank_lines=False)
        else:
            table = pd.read_excel(path, "Labels", dtype=str, na_filter=False)
    except Exception as error:  # a broken spreadsheet raises anything
        raise DataError(
            f"{path}: expected a filled sheet, .xlsx or .csv, could not read it ({error})."
        ) from error
    if missing := {*columns} - {*table}:
        raise DataError(
            f"{path}: expected the columns {', '.join(columns)}, found no {', '.join(sorted(missing))}."
        )
    return table[columns].map(lambda one: str(one or "").strip())


def _read(text: str, words: Sequence[str], most: float | None) -> str | None:
    """Return a cell's value in its usual spelling; None if it is not allowed."""
    plain = text.casefold().removesuffix(".0")  # as a spreadsheet may write a whole number
    for word in words:
        if word.casefold() == plain:
            return word
    try:
        number = Decimal(text.replace(",", ""))
        return f"{number:f}" if most is not None and abs(number) <= most else None
    except InvalidOperation:
        return None
