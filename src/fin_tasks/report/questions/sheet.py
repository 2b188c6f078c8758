"""The list of suspicious questions as a sheet: what was asked, what models answer, and cells for a decision."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from openpyxl.cell.cell import ILLEGAL_CHARACTERS_RE
from openpyxl.styles import Alignment, PatternFill
from openpyxl.worksheet.datavalidation import DataValidation
from openpyxl.worksheet.worksheet import Worksheet
from pandas import DataFrame, ExcelWriter

from fin_tasks.data.tables import quote_formulas
from fin_tasks.errors import ConfigError

from ..model import Report
from ..samples import Sample, read_samples
from ..tables import write_csv

SHEET = "Questions"
TO_FILL = ("decision", "new_truth", "reason", "by", "date")
"""The cells for a person; `corrections_in` reads them."""
DECISIONS = ("keep", "exclude", "truth")
"""What a person may decide: the question is sound, leaves, or has the truth `new_truth`."""

_MAX_CELL = 32_000  # characters; Excel has no longer cells
_WIDE = ("asked", "tables", "gold_program", "response_1", "response_2")
_WIDTH = 16  # of a column, in characters
_WIDTH_OF_TEXTS = 60
_YELLOW = PatternFill("solid", fgColor="FFF2CC")
_WRAPPED = Alignment(wrap_text=True, vertical="top")


def check_name(path: Path) -> None:
    """Raise ConfigError if a sheet cannot get this name."""
    if path.suffix not in (".xlsx", ".csv") or path.exists():
        raise ConfigError(
            f"--out {path}: expected a new name that ends in .xlsx or .csv, so that no decisions are lost."
        )


def write_sheet(report: Report, questions: DataFrame, path: Path, scoring: str) -> None:
    """Write rows of `question_table` with their questions and two responses each, as .xlsx or .csv."""
    check_name(path)
    table = _sheet_of(report, questions, scoring)
    path.parent.mkdir(parents=True, exist_ok=True)
    if path.suffix == ".csv":
        write_csv(table, path)
        return
    safe_table = table.map(_cell_text)
    with ExcelWriter(path, engine="openpyxl") as writer:
        safe_table.to_excel(writer, sheet_name=SHEET, index=False, freeze_panes=(1, 2))
        _format(writer.sheets[SHEET])


def _sheet_of(report: Report, questions: DataFrame, scoring: str) -> DataFrame:
    """Return the sheet: a line for each question, with the cells to fill last."""
    models = {run.id: run.model for run in report.runs}
    samples = _example_samples(report, questions, scoring)
    lines = []
    for question in questions.to_dict("records"):
        examples = []
        for run, task in question["examples"]:
            sample = samples.get((run, task, question["question"]))
            if sample is not None:
                examples.append((models[run], sample))
        lines.append(_line_of(question, examples) | dict.fromkeys(TO_FILL, ""))
    names = dict.fromkeys(name for line in lines for name in line)
    columns = [name for name in names if name not in TO_FILL]
    return DataFrame(lines, columns=[*columns, *TO_FILL]).fillna("")


def _line_of(
    question: Mapping[str, Any], examples: Sequence[tuple[str, Sample]]
) -> dict[str, Any]:
    """Return the cells of a question; an example is a model and its sample."""
    line = {
        "benchmark": question["benchmark"],
        "id": question["question"],
        "lead": round(question["lead"], 3),
        "truth": question["truth"],
        "rival_answer": question["rival"],
        "distance": question["distance"],
        "given_by": f"{question['given_by']:.0f} of {question['responses']}",
        "share_right": round(question["right"], 3),
    }
    if examples:
        _, sample = examples[0]
        line |= _texts_of(sample.doc)
    for number, (model, sample) in enumerate(examples, start=1):
        responses = "\n\n".join(map(str, sample.responses))
        line[f"response_{number}"] = f"{model}:\n{responses}"
    return line


def _example_samples(
    report: Report, questions: DataFrame, scoring: str
) -> dict[tuple[str, str, str], Sample]:
    """Return the samples of the responses that the rows name, by run, task and question."""
    wanted = defaultdict[tuple[str, str], set[str]](set)
    for question, examples in zip(
        questions["question"], questions["examples"], strict=True
    ):
        for example in examples:
            wanted[tuple(example)].add(question)
    samples = {}
    for run, result in report.results:
        ids = wanted.get((run.id, result.task))
        if not ids:
            continue
        for sample in read_samples(result.samples):
            if sample.id in ids and sample.scoring == scoring:
                samples[run.id, result.task, sample.id] = sample
    return samples


def _texts_of(doc: Mapping[str, Any]) -> dict[str, str]:
    """Return what was asked, with the tables and the gold program of a document."""
    tables = doc.get("tables") or doc.get("context") or ""
    if isinstance(tables, Sequence) and not isinstance(tables, str):
        tables = "\n\n".join(map(str, tables))
    # The prompt holds the tables, too.
    prompt = doc.get("prompt") or doc.get("question")
    asked = doc.get("question") if tables else prompt
    texts = {"asked": asked, "tables": tables, "choices": doc.get("choices")}
    texts["gold_program"] = doc.get("python_solution")
    if isinstance(texts["choices"], list):
        texts["choices"] = "\n".join(map(str, texts["choices"]))
    return {name: str(text) for name, text in texts.items() if text}


def _cell_text(cell: Any) -> Any:
    """Return what a cell holds so that Excel can show it and calculates nothing."""
    if not isinstance(cell, str):
        return cell
    text = ILLEGAL_CHARACTERS_RE.sub("�", cell)[:_MAX_CELL]
    return quote_formulas(text)


def _format(sheet: Worksheet) -> None:
    """Wrap texts, and color the cells to fill in."""
    header = {cell.value: cell.column_letter for cell in sheet[1]}
    for name, letter in header.items():
        is_wide = name in _WIDE
        sheet.column_dimensions[letter].width = _WIDTH_OF_TEXTS if is_wide else _WIDTH
    words = DataValidation("list", formula1=f'"{",".join(DECISIONS)}"')
    words.add(f"{header['decision']}2:{header['decision']}{sheet.max_row}")
    sheet.add_data_validation(words)
    for cells in sheet.iter_rows(min_row=2):
        for cell in cells:
            cell.alignment = _WRAPPED
            if sheet.cell(1, cell.column).value in TO_FILL:
                cell.fill = _YELLOW
