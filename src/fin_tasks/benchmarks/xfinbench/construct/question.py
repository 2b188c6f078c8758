"""Exercises, and the questions that a model makes of them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from fin_tasks.benchmarks.xfinbench.document import Task
from fin_tasks.benchmarks.xfinbench.rows import items_of
from fin_tasks.data.tables import Record, read_csv
from fin_tasks.errors import DataError

Kind = Literal["statement_true", "statement_false", "mcq", "calcu"]

KINDS: Mapping[Task, Sequence[Kind]] = {
    "bool": ("statement_true", "statement_false"),
    "mcq": ("mcq",),
    "calcu": ("calcu",),
}
"""The kinds of questions of each task. The model makes one kind at a time."""


@dataclass(frozen=True, kw_only=True)
class Exercise:
    """An exercise of a textbook with its solution."""

    id: str
    question: str
    answer: str
    tasks: Sequence[Task]
    """What to make of it."""


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
    """The reply that decided this."""
    id: str = ""

    @property
    def task(self) -> Task:
        """The value of the file's `task` column."""
        if self.kind == "statement_true" or self.kind == "statement_false":
            return "bool"
        return self.kind

    @property
    def whole(self) -> str:
        """Context and question."""
        return f"{self.context} {self.text}".strip()


def kept_questions(questions: Sequence[Question], kind: Kind | None = None) -> list[Question]:
    """Return the questions that no rule dropped, of one kind or of all."""
    if kind is not None:
        questions = [question for question in questions if question.kind == kind]
    return [question for question in questions if not question.dropped]


def read_exercises(path: Path) -> list[Exercise]:
    """Read exercises from a CSV file with the columns `id`, `question`, `answer` and `kinds`."""
    exercises: dict[str, Exercise] = {}
    for record in read_csv(path, ("id", "question", "answer", "kinds")):
        exercise = _exercise_of(record)
        if exercise is None or exercise.id in exercises:
            raise DataError(
                f"{path}, line {record.line}: expected an id of its own, question, answer, and as "
                f"kinds some of {', '.join(KINDS)}, got {record.cells!r:.200}."
            )
        exercises[exercise.id] = exercise
    if not exercises:
        raise DataError(f"{path}: expected at least one exercise, got none.")
    return list(exercises.values())


def _exercise_of(record: Record) -> Exercise | None:
    """Return the exercise in a row; None if the row is incomplete or names an unknown kind."""
    cells = {column: cell.strip() for column, cell in record.cells.items()}
    names = items_of(cells["kinds"])
    is_complete = cells["id"] and cells["question"] and cells["answer"]
    if not is_complete or not set(names) <= KINDS.keys():
        return None
    return Exercise(
        id=cells["id"],
        question=cells["question"],
        answer=cells["answer"],
        tasks=[task for task in KINDS if task in names or not names],
    )
