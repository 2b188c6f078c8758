"""What people decide in a study, and of which rows; `docs/labels.md` explains the files."""

from collections.abc import Sequence
from contextlib import suppress
from decimal import Decimal, InvalidOperation
from itertools import combinations
from string import ascii_uppercase
from typing import Annotated, Any, Literal, NamedTuple

from pydantic import AfterValidator, BaseModel, BeforeValidator, Field, model_validator

from fin_tasks.benchmarks import benchmark_named
from fin_tasks.resources import folder_of
from fin_tasks.yaml_file import read_packaged


def _word_of(value: object) -> object:
    """Return the word that was written; YAML takes a bare yes for true."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    return value


# A comma would separate words in the rule of a spreadsheet's cell, and `+` separates two labels.
Word = Annotated[str, BeforeValidator(_word_of), Field(pattern=r'^[^,+"]{1,40}$')]
Column = Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]*$")]
ShownField = Literal[
    "task", "question", "prompt", "choices", "picture", "terms", "gold", "response"
]


class Allowed(NamedTuple):
    """What a cell may hold: one of some words, or a number up to a limit."""

    words: Sequence[str]
    largest: float | None = None

    def read(self, text: str) -> str | None:
        """Return a cell's value in its usual spelling; None if it is not allowed."""
        # A spreadsheet may write a whole number with `.0`.
        plain = text.casefold().removesuffix(".0")
        for word in self.words:
            if word.casefold() == plain:
                return word
        with suppress(InvalidOperation):
            number = Decimal(text.replace(",", ""))
            if self.largest is not None and abs(number) <= self.largest:
                return f"{number:f}"
        return None

    def __str__(self) -> str:
        if self.largest is None:
            return ", ".join(self.words)
        return ", ".join([*self.words, f"a number up to {self.largest:g}"])


class Question(BaseModel, extra="forbid", frozen=True):
    """A question about each row."""

    ask: str
    values: list[Word] = Field(["yes", "no"], min_length=2)
    choose: Literal[1, 2] = 1
    """How many values a label has at most; two are written as `TU+TR`."""
    types: dict[Word, str] = {}
    """The type of error that a value shows."""
    scale: tuple[int, int] | None = None
    """Lowest and highest score, in place of `values`."""
    rule: Literal["mode", "mean"] = "mode"
    """How scores are merged; without a most frequent score it is always the mean."""

    @property
    def allowed(self) -> list[str]:
        """Return the texts that a cell may hold."""
        if self.scale is not None:
            lowest, highest = self.scale
            return [str(score) for score in range(lowest, highest + 1)]
        if self.choose == 1:
            return self.values
        return self.values + ["+".join(pair) for pair in combinations(self.values, 2)]


class Answer(BaseModel, extra="forbid", frozen=True):
    """How people answer questions of one kind themselves."""

    values: list[Word] | Literal["letters"] = []
    """The words to choose from, or letters of the choices; without any, the answer is a number."""
    minutes: float
    response: str
    """How a model would say `{answer}`."""


class Study(BaseModel, extra="forbid", frozen=True):
    """A study with people."""

    name: Annotated[str, Field(pattern=r"^[\w-]+$")]
    title: str
    instructions: str
    benchmark: Annotated[str, AfterValidator(lambda name: benchmark_named(name).name)]
    tasks: dict[str, dict[str, Any]]
    """Tasks of lm-eval, each with the options of its documents."""
    wrong: bool = False
    """Whether only wrong responses are drawn."""
    strata: str = ""
    """`task`, or a breakdown of the benchmark."""
    n: int | dict[str, int]
    """Number of rows, or numbers by stratum."""
    annotators: int = Field(3, ge=1, le=50)
    show: list[ShownField]
    questions: dict[Column, Question] = {}
    answers: dict[str, Answer] = {}
    """In place of `questions`, people answer themselves; by the `task` of a question."""
    groups: dict[str, list[str]] = {}
    """Names of groups of strata, for `fin-tasks label agree`."""

    @model_validator(mode="after")
    def _check(self) -> "Study":
        known = ["task", *benchmark_named(self.benchmark).breakdowns]
        if self.strata and self.strata not in known:
            raise ValueError(f"strata: expected one of {known}, got {self.strata!r}")
        if bool(self.questions) == bool(self.answers):
            raise ValueError("expected `questions` or `answers`, and not both")
        return self

    def columns(self) -> dict[str, str]:
        """Return the columns that people fill in, each with its question."""
        if self.answers:
            return {
                "answer": "Your answer: true or false, the letter of a choice, or a number; none without an answer",
                "minutes": "The minutes that you took",
            }
        columns = {}
        for name, question in self.questions.items():
            columns[name] = f"{question.ask} ({', '.join(question.allowed)})"
        return columns

    def cells(self, kind: str, n_choices: int) -> dict[str, Allowed]:
        """Return what people may write about a question of a kind, by column."""
        if self.questions:
            return {
                name: Allowed(question.allowed)
                for name, question in self.questions.items()
            }
        answer = self.answers[kind]
        is_choice = answer.values == "letters"
        words = ascii_uppercase[:n_choices] if is_choice else answer.values
        largest = None if words else 1e15
        return {
            "answer": Allowed([*words, "none"], largest),
            "minutes": Allowed([], answer.minutes),
        }


def load_study(name: str) -> Study:
    """Read a study by the name of a packaged one or by the path of a file."""
    return read_packaged(
        folder_of("studies"), name, Study, expected="a study as in docs/labels.md"
    )
