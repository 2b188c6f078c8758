"""Exercises, and the questions that a model makes of them."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

from pydantic import BaseModel, BeforeValidator, StringConstraints

from fin_tasks.answers.choices import lettered
from fin_tasks.benchmarks.request import rows_of
from fin_tasks.data.tables import read_table
from fin_tasks.errors import DataError

from ..rows import Task, items_of

Kind = Literal["statement_true", "statement_false", "mcq", "calcu"]

KINDS: Mapping[Task, Sequence[Kind]] = {
    "bool": ("statement_true", "statement_false"),
    "mcq": ("mcq",),
    "calcu": ("calcu",),
}
"""The kinds of questions of each task. The model makes one kind at a time."""

_Text = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1)]


class Exercise(BaseModel):
    """An exercise of a textbook with its solution."""

    id: _Text
    question: _Text
    answer: _Text
    kinds: Annotated[list[Task], BeforeValidator(items_of)]
    """The tasks to make questions for; all tasks if empty."""


@dataclass
class Question:
    """A question that a model made."""

    source: str
    """The id of its exercise."""
    kind: Kind
    context: str = ""
    text: str = ""
    answer: str = ""
    """As in the file: 1.0 or 0.0, a letter, a number."""
    choices: Sequence[str] = ()
    dropped: str = ""
    """The rule that dropped it; empty if it is kept."""
    why: str = ""
    """The reply by which it was dropped or kept."""
    id: str = ""

    @property
    def task(self) -> Task:
        """The value of the file's `task` column."""
        return next(task for task, kinds in KINDS.items() if self.kind in kinds)

    def row(self) -> dict[str, str]:
        """Return the row of the file."""
        return {
            "id": self.id,
            "task": self.task,
            "question": f"{self.context} {self.text}".strip(),
            "choice": lettered(self.choices),
            "ground_truth": self.answer,
        }


def kept_questions(
    questions: Iterable[Question], kind: Kind | None = None
) -> list[Question]:
    """Return the questions that no rule dropped, of one kind or of all."""
    kept = [question for question in questions if not question.dropped]
    return [question for question in kept if kind in (None, question.kind)]


def read_exercises(path: Path) -> list[Exercise]:
    """Read exercises from a CSV file with the columns `id`, `question`, `answer` and `kinds`."""
    records = read_table(path, ("id", "question", "answer", "kinds"))
    exercises = rows_of(Exercise, path, [record.cells for record in records])
    ids = {exercise.id for exercise in exercises}
    if not exercises or len(ids) < len(exercises):
        raise DataError(
            f"{path}: expected exercises, each with an id of its own, "
            f"got {len(exercises)} with {len(ids)} ids."
        )
    return exercises
