"""Read XFinBench's tables of questions, whose cells have several defects, and the truths in them."""

import json
import math
import re
from collections.abc import Iterable, Mapping
from decimal import Decimal, InvalidOperation
from functools import lru_cache
from pathlib import Path
from string import ascii_uppercase
from typing import Any, Literal, NamedTuple

from pydantic import Field, model_validator

from fin_tasks.data.tables import read_table
from fin_tasks.errors import DataError

from ..request import QuestionRow, rows_of

Task = Literal["bool", "mcq", "calcu"]
"""The file's column `task`."""
Subset = Literal["bool", "mcq", "mcq_visual", "calc"]
"""What a task of lm-eval asks."""
Mode = Literal["cot", "da", "pot"]
"""How the model answers: it reasons, answers directly, or writes a program."""

TASKS: Mapping[str, Task] = {
    "bool": "bool",
    "mcq": "mcq",
    "mcq_visual": "mcq",
    "calc": "calcu",
}
"""The file's word for each subset."""
CAPABILITIES = ("TU", "TR", "FF", "SP", "NM")
"""Terminology understanding, temporal reasoning, future forecasting, scenario planning, numerical modelling."""
MATH_TYPES = (
    "arithmetic",
    "statistical",
    "algebraic",
    "numeric_commonsense",
    "logical",
)
"""The five types of the paper's tables."""
SPLITS: Mapping[str, str] = {
    "test": "dataset/test_set.csv",
    "validation": "dataset/validation_set.csv",
}
"""The file of each split."""
BANK = "dataset/knowledge_bank.csv"
"""The file with the finance terms."""
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

_COLUMNS_BY_FIELD = {
    "capabilities": "fin_capability",
    "gold_terms": "gold_fin_term_id",
}
"""The columns whose fields have another name."""
_LATEX_TABLE = re.compile(r"\\begin\{(?:table|tabular)")
_SEPARATORS = ";:,"

_DASHES = str.maketrans(dict.fromkeys("‐‑‒–—−﹣-", "-"))
_IN_PARENTHESES = re.compile(r"\A\(([^-+]*)\)\Z")
# A unit, a blank behind a sign, or a comma between thousands.
_NO_DIGIT = re.compile(r"[$€£¥%]\s*|(?<=[-+])\s|(?<=\d),(?=\d{3}(?!\d))")
_LETTER = re.compile(
    r"""
    \**\(? (?P<letter> [A-Za-z] )
    (?: [).:]?\** | [).:]\s.* )  # nothing more, or the text of the choice
    """,
    re.DOTALL | re.VERBOSE,
)
_VERDICTS = {"true": 1, "false": 0}


class Row(QuestionRow):
    """A row of the file, or a question of which a response was saved."""

    id: str
    task: str = ""
    """`bool`, `mcq` or `calcu`; a row that is none of them has a flaw."""
    question: str = ""
    choice: str = ""
    """The cell as it is."""
    choices: list[str] = Field(default=[])
    """The texts of the choices without their letters."""
    ground_truth: str
    figure: str = ""
    """The name of a figure, without a suffix; empty without one."""
    figure_path: str = ""
    capabilities: list[str] = Field(default=[])
    has_table: bool | None = None
    """None if nobody knows."""
    gold_terms: list[str] = Field(default=[])
    """Ids of the finance terms that help."""
    flaw: str = ""
    """Why the row cannot be asked; empty if it can."""

    @model_validator(mode="before")
    @classmethod
    def _read_cells(cls, record: dict[str, Any]) -> dict[str, Any]:
        """Read the cells of a table, or values of JSON, as texts and lists of texts."""
        values = dict(record)
        for field, column in _COLUMNS_BY_FIELD.items():
            cell = values.pop(column, None)
            listed = values.get(field, cell) or []
            values[field] = items_of(listed) if isinstance(listed, str) else listed
        for field in ("id", "task", "question", "choice", "ground_truth", "figure"):
            value = values.get(field, "")
            if value is None:
                values[field] = ""
            elif isinstance(value, bool | int | float):
                values[field] = json.dumps(value)
            elif isinstance(value, str) and field in ("id", "task", "figure"):
                values[field] = value.strip()
        if isinstance(values["capabilities"], list):
            # Unknown names are left out. Anything but a name is an error.
            values["capabilities"] = [
                name
                for name in values["capabilities"]
                if not isinstance(name, str) or name in CAPABILITIES
            ]
        choice = values.get("choice")
        if isinstance(choice, str) and not values.get("choices"):
            values["choices"] = parse_choices(choice) or items_of(choice, "\n")
        return values


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
        label = re.search(rf"(?:\n|\\n)[ \t]*\(?{letter}[.):][ \t]*", rest)
        if label is None:
            break
        parts.append(rest[: label.start()].strip())
        rest = rest[label.end() :]
    parts.append(rest.strip())
    before_first_letter, *texts = parts
    is_lettered = len(texts) > 1 and all(texts) and not before_first_letter
    return texts if is_lettered else []


def items_of(cell: str, separators: str = _SEPARATORS) -> list[str]:
    """Split a cell into its items, and return each once."""
    items = map(str.strip, re.split(f"[{separators}]", cell))
    return list(dict.fromkeys(filter(None, items)))


def read_labels(path: Path, ids: Iterable[str]) -> dict[str, list[str]]:
    """Read the mathematical types of these questions from a CSV file with the columns `id` and `math_types`."""
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


class Truth(NamedTuple):
    """A ground truth: 1 or 0, a letter, or a number; the flaw says why a cell is none of these."""

    value: float | str | None
    flaw: str = ""
    step: float = 0.0
    """The last written place of a number, such as 0.01."""


@lru_cache(maxsize=8192)
def parse_truth(task: Task, cell: str) -> Truth:
    """Read a cell; a currency or percent sign does not change the value, and ($6) and $-6 are -6."""
    text = cell.strip().translate(_DASHES)
    if task == "mcq":
        letter = _LETTER.fullmatch(text)
        return Truth(letter["letter"].upper()) if letter else Truth(None, "no letter")
    try:
        number = Decimal(_IN_PARENTHESES.sub(r"-\1", _NO_DIGIT.sub("", text)))
    except InvalidOperation:
        number = Decimal("NaN")
    if not number.is_finite():
        number = Decimal("NaN")
    if task == "calcu":
        if number.is_nan() or math.isinf(float(number)):
            return Truth(None, "not one number")
        return Truth(float(number), step=float(f"1e{number.as_tuple().exponent}"))
    if number in (0, 1):
        return Truth(int(number))
    verdict = _VERDICTS.get(text.lower())
    return Truth(None, "no verdict") if verdict is None else Truth(verdict)
