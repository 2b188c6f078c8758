"""Read the authors' tables of questions, whose cells have several defects."""

import json
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from string import ascii_uppercase
from typing import Annotated

from pydantic import AfterValidator, AliasChoices, BeforeValidator, Field

from fin_tasks.data.tables import read_table
from fin_tasks.errors import DataError

from ..request import QuestionRow, rows_of
from .document import CAPABILITIES, TASKS

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

MATH_TYPES = (
    "arithmetic",
    "statistical",
    "algebraic",
    "numeric_commonsense",
    "logical",
)
"""The five types of the paper's tables."""

_LATEX_TABLE = re.compile(r"\\begin\{(?:table|tabular)")
_SEPARATORS = ";:,"


def as_text(value: object) -> object:
    """Return a cell of JSON as a text; what is no cell stays."""
    if value is None:
        return ""
    return json.dumps(value) if isinstance(value, bool | int | float) else value


def _as_list(value: object) -> object:
    return items_of(value) if isinstance(value, str) else value or []


def _capabilities_in(names: list[str]) -> list[str]:
    return [name for name in names if name in CAPABILITIES]


Text = Annotated[str, BeforeValidator(as_text)]
Name = Annotated[Text, AfterValidator(str.strip)]
Names = Annotated[list[Text], BeforeValidator(_as_list)]


class Row(QuestionRow):
    """A row of the file, or a question of which a response was saved."""

    id: Name
    task: Name = ""
    """`bool`, `mcq` or `calcu`; a row that is none of them has a flaw."""
    question: Text = ""
    choice: Text = ""
    """The cell as it is."""
    choices: list[Text] = Field([])
    """The texts of the choices without their letters."""
    ground_truth: Text
    figure: Name = ""
    """The name of a figure, without a suffix; empty without one."""
    figure_path: str = ""
    capabilities: Annotated[Names, AfterValidator(_capabilities_in)] = Field(
        [],
        validation_alias=AliasChoices("capabilities", "fin_capability"),
    )
    has_table: bool | None = None
    """None if nobody knows."""
    gold_terms: Names = Field(
        [], validation_alias=AliasChoices("gold_terms", "gold_fin_term_id")
    )
    """Ids of the finance terms that help."""
    flaw: str = ""
    """Why the row cannot be asked; empty if it can."""

    def model_post_init(self, _: object) -> None:
        """Read the choices in their cell."""
        self.choices = (
            self.choices or parse_choices(self.choice) or items_of(self.choice, "\n")
        )


def read_rows(path: Path) -> list[Row]:
    """Read a table of questions."""
    records = read_table(path, COLUMNS)
    rows = rows_of(Row, path, [record.cells for record in records])
    ids = set()
    for row, record in zip(rows, records, strict=True):
        row.has_table = _LATEX_TABLE.search(row.question) is not None
        is_whole = row.id and row.question.strip() and not record.surplus
        if not is_whole or row.id in ids or row.task not in TASKS.values():
            row.flaw = "malformed"
        elif row.task == "mcq" and not row.choices:
            row.flaw = "mcq-without-choices"
        ids.add(row.id)
    return rows


def parse_choices(cell: str) -> list[str]:
    """Return the texts of lettered choices without their letters; empty if they are not lettered A, B, C in order."""
    parts = []
    rest = f"\n{cell}"
    for letter in ascii_uppercase:
        start = re.search(rf"(?:\n|\\n)[ \t]*\(?{letter}[.):][ \t]*", rest)
        if start is None:
            break
        parts.append(rest[: start.start()].strip())
        rest = rest[start.end() :]
    before, *texts = [*parts, rest.strip()]
    return texts if len(texts) > 1 and all(texts) and not before else []


def items_of(cell: str, separators: str = _SEPARATORS) -> list[str]:
    """Split a cell into its items, and return each once."""
    items = map(str.strip, re.split(f"[{separators}]", cell))
    return list(dict.fromkeys(filter(None, items)))


def read_labels(path: Path, ids: Iterable[str]) -> dict[str, list[str]]:
    """Read the types of these questions from a CSV file with the columns `id` and `math_types`."""
    types_by_id: dict[str, list[str]] = {question_id: [] for question_id in ids}
    for record in read_table(path, ("id", "math_types")):
        question_id = record.cells["id"].strip()
        if question_id in types_by_id:
            types_by_id[question_id] = items_of(record.cells["math_types"], ";")
    labels = set().union(*types_by_id.values())
    if labels.isdisjoint(MATH_TYPES):
        raise DataError(
            f"{path}: expected types of the questions that are asked, such as "
            f"arithmetic;logical, got none. Is it for another split?"
        )
    return types_by_id
