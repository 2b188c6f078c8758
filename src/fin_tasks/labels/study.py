"""What people decide in a study, and of which rows; `docs/labels.md` explains the files."""

from collections.abc import Sequence
from itertools import combinations
from string import ascii_uppercase
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, BeforeValidator, Field, model_validator

from fin_tasks.benchmarks import benchmark_named
from fin_tasks.errors import ConfigError
from fin_tasks.resources import folder_of
from fin_tasks.yaml_file import read_yaml

from .cells import CellRule


def _word_of(value: object) -> object:
    """Return the word that was written; YAML takes a bare yes for true."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    return value


# A comma would separate words in the rule of a spreadsheet's cell, and `+` separates two labels.
Word = Annotated[str, BeforeValidator(_word_of), Field(pattern=r'^[^,+"]{1,40}$')]
Column = Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]*$")]
ShownField = Literal[
    "task",
    "question",
    "prompt",
    "choices",
    "picture",
    "terms",
    "gold_terms",
    "candidates",
    "gold",
    "response",
]


class Question(BaseModel, extra="forbid", frozen=True):
    """A question about each row."""

    ask: str
    values: Annotated[list[Word], Field(min_length=2)] | Literal["candidates"] = [
        "yes",
        "no",
    ]
    """The words to choose from, or the numbers of the row's candidates and `none`."""
    choose: Literal[1, 2, 3] = 1
    """How many values a label has at most; two are written as `TU+TR`."""
    types: dict[Word, str] = {}
    """The type of error that a value shows, by value."""
    scale: tuple[int, int] | None = None
    """Lowest and highest score, in place of `values`."""
    rule: Literal["mode", "mean"] = "mode"
    """How scores are merged; the mean is also taken if several scores are the most frequent ones."""

    def cell_rule(self, n_candidates: int = 0) -> CellRule:
        """Return what a cell may hold, in a row with so many candidates: a score, or values joined with `+`."""
        if self.scale:
            lowest, highest = self.scale
            return CellRule([str(score) for score in range(lowest, highest + 1)])
        values: Sequence[str] = self.values
        labels = []
        summary = ""
        if self.values == "candidates":
            values = [str(number) for number in range(1, n_candidates + 1)]
            labels.append("none")
            summary = f"none, or the numbers of up to {self.choose} candidates in order, such as 2+5"
            if n_candidates:
                summary += f"; the row has {n_candidates}"
        for size in range(1, self.choose + 1):
            labels += map("+".join, combinations(values, size))
        return CellRule(labels, summary=summary)


class Answer(BaseModel, extra="forbid", frozen=True):
    """How people answer questions of one kind themselves."""

    values: list[Word] | Literal["letters"] = []
    """The words to choose from, or the letters of the choices; if empty, the answer is a number."""
    minutes: float
    """The longest time that people may take."""
    response: str
    """The response of a model that gives the answer `{answer}`."""


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
    """What separates the strata: `task`, or a breakdown of the benchmark; empty for a single stratum."""
    n: int | dict[str, int]
    """Number of rows, or numbers by stratum."""
    annotators: int = Field(3, ge=1, le=50)
    show: list[ShownField]
    candidates: int = Field(0, ge=0, le=20)
    """How many finance terms a row shows that BM25 finds for its question."""
    questions: dict[Column, Question] = {}
    answers: dict[str, Answer] = {}
    """By the `task` of a document; in a study with `answers` people answer the benchmark's questions themselves."""
    groups: dict[str, list[str]] = {}
    """Groups of strata by name, which `fin-tasks label agree` compares."""

    @model_validator(mode="after")
    def _check(self) -> "Study":
        known = ["task", *benchmark_named(self.benchmark).breakdowns]
        if self.strata and self.strata not in known:
            raise ValueError(f"strata: expected one of {known}, got {self.strata!r}")
        if bool(self.questions) == bool(self.answers):
            raise ValueError("expected `questions` or `answers`, and not both")
        asks = any(one.values == "candidates" for one in self.questions.values())
        if not asks == ("candidates" in self.show) == bool(self.candidates):
            raise ValueError(
                "expected `candidates` as a number, in `show`, and as the values of a question, or nowhere"
            )
        return self

    def columns(self) -> dict[str, str]:
        """Return the columns that people fill in, each with its question."""
        if self.answers:
            return {
                "answer": "Your answer: true or false, the letter of a choice, or a number; none without an answer",
                "minutes": "The minutes that you took",
            }
        return {
            name: f"{question.ask} ({question.cell_rule()})"
            for name, question in self.questions.items()
        }

    def cell_rules(
        self, kind: str, n_choices: int, n_candidates: int = 0
    ) -> dict[str, CellRule]:
        """Return what people may write in each column about a row of a kind."""
        if self.questions:
            return {
                name: question.cell_rule(n_candidates)
                for name, question in self.questions.items()
            }
        answer = self.answers.get(kind)
        if answer is None:
            raise ConfigError(
                f"study {self.name}: expected {kind!r} among its answers, got {list(self.answers)}."
            )
        has_letters = answer.values == "letters"
        words = ascii_uppercase[:n_choices] if has_letters else answer.values
        largest = None if words else 1e15
        return {
            "answer": CellRule([*words, "none"], largest),
            "minutes": CellRule([], answer.minutes),
        }


def load_study(name: str) -> Study:
    """Read a study by the name of a packaged one or by the path of a file."""
    return read_yaml(
        name,
        Study,
        expected="a study as in docs/labels.md",
        folder=folder_of("studies"),
    )
