"""Read the authors' tables of questions, whose cells have several defects."""

import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from string import ascii_uppercase
from typing import Literal, TypedDict

from fin_tasks.benchmarks.xfinbench.document import CAPABILITIES, TASKS, Task
from fin_tasks.data.tables import Record, read_csv

SPLITS: Mapping[str, str] = {
    "test": "dataset/test_set.csv",
    "validation": "dataset/validation_set.csv",
}
"""The file of each split."""
COLUMNS = (
    "id",
    "task",
    "question",
    "choice",
    "ground_truth",
    "figure",
    "fin_capability",
    "gold_fin_term_id",
)

_TASK_NAMES: Mapping[str, Task] = {task: task for task in TASKS.values()}
_CHOICE_LETTER = re.compile(r"(?:^|\n|\\n)[ \t]*\(?([A-Z])[.):][ \t]*")
_LATEX_TABLE = re.compile(r"\\begin\{(?:table|tabular)")
_SEPARATORS = ";:,"


class Row(TypedDict):
    """A row of the file."""

    id: str
    task: Task | Literal[""]
    """Empty if it is none of the three."""
    question: str
    choice: str
    """The cell as it is."""
    choices: list[str]
    """The texts of the choices without their letters."""
    ground_truth: str
    figure: str
    """The name of a figure, without a suffix; empty without one."""
    figure_path: str
    capabilities: list[str]
    has_table: bool
    gold_terms: list[str]
    """Ids of the finance terms that help."""
    flaw: str
    """Why the row cannot be asked; empty if it can."""


def read_rows(path: Path) -> list[Row]:
    """Read a table of questions."""
    rows = list(map(_row_of, read_csv(path, COLUMNS)))
    ids: set[str] = set()
    for row in rows:
        if row["id"] in ids:
            row["flaw"] = "malformed"
        ids.add(row["id"])
    return rows


def _row_of(record: Record) -> Row:
    cells = {column: record.cells[column].strip() for column in COLUMNS}
    task: Task | Literal[""] = _TASK_NAMES.get(cells["task"], "")
    choices = parse_choices(cells["choice"]) or items_of(cells["choice"], "\n")
    is_whole = cells["id"] and cells["question"] and task and not record.surplus
    flaw = "" if is_whole else "malformed"
    if is_whole and task == "mcq" and not choices:
        flaw = "mcq-without-choices"
    return {
        "id": cells["id"],
        "task": task,
        "question": record.cells["question"],
        "choice": record.cells["choice"],
        "choices": choices,
        "ground_truth": record.cells["ground_truth"],
        "figure": cells["figure"],
        "figure_path": "",
        "capabilities": list(filter(CAPABILITIES.get, items_of(cells["fin_capability"]))),
        "has_table": _LATEX_TABLE.search(cells["question"]) is not None,
        "gold_terms": items_of(cells["gold_fin_term_id"]),
        "flaw": flaw,
    }


def parse_choices(cell: str) -> list[str]:
    """Return the texts of lettered choices without their letters; empty if they are not lettered A, B, C in order."""
    starts: list[re.Match[str]] = []
    for match in _CHOICE_LETTER.finditer(cell):
        next_letter = ascii_uppercase[len(starts) : len(starts) + 1]
        if match[1] == next_letter:
            starts.append(match)
    if len(starts) < 2 or cell[: starts[0].start()].strip():
        return []
    ends = [match.start() for match in starts[1:]]
    ends.append(len(cell))
    texts = [cell[match.end() : end].strip() for match, end in zip(starts, ends, strict=True)]
    return texts if all(texts) else []


def lettered(choices: Iterable[str]) -> str:
    """Return choices with their letters, a line each."""
    letters = zip(ascii_uppercase, choices, strict=False)
    return "\n".join(f"{letter}. {text}" for letter, text in letters)


def items_of(cell: str, separators: str = _SEPARATORS) -> list[str]:
    """Split a cell into its items, and return each once."""
    items = map(str.strip, re.split(f"[{separators}]", cell))
    return list(dict.fromkeys(filter(None, items)))
