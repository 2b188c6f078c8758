r"""XFinBench's questions as typed rows, with everything that is odd about them counted.

A row is left out of its task only where it cannot be asked at all: a second row with the same id, no question, too few
or too many cells, multiple choice without choices, an unknown task. A truth that cannot be compared with stays in: the
scorers know what to do with it. A question whose figure does not exist stays out of the figure task only.
"""

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from fin_tasks.benchmarks.xfinbench.cells import capability_codes, parse_choices, term_ids
from fin_tasks.benchmarks.xfinbench.defects import DEFECTS, row_defects
from fin_tasks.benchmarks.xfinbench.files import (
    SPLITS,
    Files,
    Revision,
    locate,
    prompt_templates,
    revision_of,
)
from fin_tasks.benchmarks.xfinbench.knowledge import Term, knowledge_bank
from fin_tasks.benchmarks.xfinbench.metrics import CAPABILITIES
from fin_tasks.benchmarks.xfinbench.truths import TASKS, Task, Truth, parse_truth
from fin_tasks.data.schema import Defect, Record, read_csv
from fin_tasks.errors import DataError
from fin_tasks.settings import Settings

__all__ = [
    "CAPABILITIES",
    "COLUMNS",
    "DEFECTS",
    "Files",
    "Revision",
    "Row",
    "Rows",
    "Term",
    "knowledge_bank",
    "locate",
    "parse_choices",
    "prompt_templates",
    "read_rows",
    "read_table",
    "revision_of",
    "rows_by_id",
]

COLUMNS = ("id", "task", "question", "choice", "ground_truth", "figure", "fin_capability", "gold_fin_term_id")

_TABLE = re.compile(r"\\begin\{(?:table|tabular)")


@dataclass(frozen=True, kw_only=True)
class Row:
    r"""One question.

    Attributes:
        id: Unique among the rows that are not left out.
        task: `bool`, `mcq` or `calcu`.
        question: As it stands in the file.
        choice_text: The `choice` cell as it stands in the file.
        choices: Texts of the choices, A first, without their letters.
        truth_text: The `ground_truth` cell as it stands in the file.
        truth: What it means.
        figure: Name of the figure, without extension; None where the question has none.
        figure_path: Its file; None where there is no figure or no file.
        capabilities: Codes of `CAPABILITIES`, as ordered in the cell.
        gold_terms: Ids of the terms of the knowledge bank that help.
        has_table: Whether the question holds a LaTeX table.
        left_out: Kind of the defect for which the row cannot be asked; empty for a good row.
    """

    id: str
    task: Task
    question: str
    choice_text: str
    choices: tuple[str, ...]
    truth_text: str
    truth: Truth
    figure: str | None
    figure_path: Path | None
    capabilities: tuple[str, ...]
    gold_terms: tuple[str, ...]
    has_table: bool
    left_out: str

    @property
    def usable(self) -> bool:
        """Whether the row can be asked; a figure question needs `figure_path` besides."""
        return not self.left_out


@dataclass(frozen=True, kw_only=True)
class Rows:
    """A split as read.

    Attributes:
        rows: All rows of a known task, those to be left out as well, in the file's order.
        defects: All that is odd.
    """

    rows: tuple[Row, ...]
    defects: tuple[Defect, ...]

    def usable(self, task: Task, *, figure: bool | None = None) -> tuple[Row, ...]:
        """Return the rows to ask.

        Args:
            task: `bool`, `mcq` or `calcu`.
            figure: True for questions with a figure that exists, False for those without any figure, None for both.
        """
        chosen = (row for row in self.rows if row.task == task and row.usable)
        if figure is None:
            return tuple(row for row in chosen if row.figure is None or row.figure_path is not None)
        if figure:
            return tuple(row for row in chosen if row.figure_path is not None)
        return tuple(row for row in chosen if row.figure is None)

    def left_out(self, task: Task, *, figure: bool | None = None) -> dict[str, tuple[str, ...]]:
        """Return the ids `usable` leaves out of a task, by kind of defect."""
        ids: dict[str, list[str]] = {}
        for row in self.rows:
            if row.task == task and figure in (None, row.figure is not None):
                reason = row.left_out or ("missing-figure" if row.figure and row.figure_path is None else "")
                if reason:
                    ids.setdefault(reason, []).append(row.id)
        return {kind: tuple(ids[kind]) for kind in sorted(ids)}


def read_rows(files: Files, *, fetch_figures: bool = True) -> Rows:
    """Read the questions of a split.

    Args:
        files: From `locate`.
        fetch_figures: Download the figures the questions name, where they are downloaded at all. Without, `figure_path`
            is where they would lie, which is all that text questions need.

    Raises:
        FetchError: A figure cannot be downloaded.
        DataError: The file cannot be read or lacks a column, or a figure is not the pinned one.
    """
    return read_table(files.questions, figures=lambda names: files.figures(names, fetch=fetch_figures))


def read_table(path: Path, *, figures: Callable[[Iterable[str]], Mapping[str, Path]]) -> Rows:
    """Read a table of questions.

    Args:
        path: The CSV file.
        figures: Takes the names of all figures in it, gives those that exist with their files.

    Raises:
        DataError: The file cannot be read or lacks a column.
    """
    table = read_csv(path, columns=COLUMNS)
    pictures = figures({name for record in table.records if (name := record.cells["figure"].strip())})
    defects = [Defect("bom", "", path.name)] if table.has_bom else []
    rows: list[Row] = []
    ids: set[str] = set()
    asked: dict[str, str] = {}
    for record in table.records:
        row_id = record.cells["id"].strip()
        task = next((task for task in TASKS if task == record.cells["task"].strip()), None)
        if task is None:
            defects.append(Defect("unknown-task", row_id, f"line {record.line}: {record.cells['task']!r}"))
            continue
        left_out = _why_left_out(record, task, ids)
        row = _row(record, task, pictures, left_out)
        rows.append(row)
        ids.add(row.id)
        defects += row_defects(record, row)
        question = " ".join(row.question.split())
        first = asked.setdefault(question, row.id)
        if question and first != row.id:
            defects.append(Defect("duplicate-question", row.id, f"asked by {first} as well"))
    return Rows(rows=tuple(rows), defects=tuple(defects))


def rows_by_id(*, data_dir: str | Path | None = None, settings: Settings) -> dict[str, Row]:
    """Read every split that a data folder has: id to row. No figure is needed.

    Args:
        data_dir: The folder; `FIN_TASKS_DATA` where None.
        settings: The environment.

    Raises:
        ConfigError: No folder is named.
        DataError: It has no split, or one that cannot be read.
    """
    found: dict[str, Row] = {}
    missing: list[DataError] = []
    for split in SPLITS:
        try:
            files = locate(source="data_dir", data_dir=data_dir, settings=settings, split=split)
        except DataError as error:
            missing.append(error)
            continue
        found |= {row.id: row for row in read_rows(files).rows if row.usable}
    if len(missing) == len(SPLITS):
        raise missing[0]
    return found


def _why_left_out(record: Record, task: Task, ids: set[str]) -> str:
    row_id = record.cells["id"].strip()
    if record.surplus:
        return "cell-count"
    if not row_id:
        return "empty-id"
    if row_id in ids:
        return "duplicate-id"
    if not record.cells["question"].strip():
        return "empty-question"
    if task == "mcq" and not record.cells["choice"].strip():
        return "mcq-without-choices"
    return ""


def _row(record: Record, task: Task, pictures: Mapping[str, Path], left_out: str) -> Row:
    cells = record.cells
    figure = cells["figure"].strip() or None
    choices = parse_choices(cells["choice"]) or tuple(
        line.strip() for line in cells["choice"].splitlines() if line.strip()
    )
    return Row(
        id=cells["id"].strip(),
        task=task,
        question=cells["question"],
        choice_text=cells["choice"],
        choices=choices,
        truth_text=cells["ground_truth"],
        truth=parse_truth(task, cells["ground_truth"]),
        figure=figure,
        figure_path=pictures.get(figure) if figure else None,
        capabilities=tuple(code for code in capability_codes(cells["fin_capability"]) if code in CAPABILITIES),
        gold_terms=term_ids(cells["gold_fin_term_id"]),
        has_table=_TABLE.search(cells["question"]) is not None,
        left_out=left_out,
    )
