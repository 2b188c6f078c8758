"""The types for what is read in a response and for its score."""

import json
from dataclasses import asdict, dataclass
from typing import Generic, Literal, TypeVar

from fin_tasks.answers.numbers import Number

Answer = TypeVar("Answer")


@dataclass(frozen=True)
class Candidate(Generic[Answer]):
    """An answer in a text, with the name of the wording that gives it."""

    answer: Answer
    rule: str
    start: int = 0
    """Position in the text."""


@dataclass(frozen=True, kw_only=True)
class Extraction(Generic[Answer]):
    """The answer that a reader extracted from a text, with the name of the rule that applied."""

    answer: Answer | None
    rule: str = ""
    """Name of the rule that read the answer; empty without an answer."""
    reason: str = ""
    """Why there is no answer; empty with an answer."""


@dataclass(frozen=True, kw_only=True)
class Reading:
    """The answer that one variant reads in a response; `str` gives JSON for the samples file."""

    variant: str
    answer: int | str | float | Number | None
    """1 or 0 for a verdict, a letter, or a number; None without an answer."""
    reason: str = ""
    """Why there is no answer, or why the response cannot be scored."""
    unscored: bool = False
    """The judge or the sandbox failed, so nothing is known about the answer."""
    status: str | None = None
    """How the program ended, one of the values of `sandbox.Status`."""
    rule: str = ""
    """Name of the rule that read the answer."""
    by: Literal["rules", "model"] = "rules"
    """Whether rules or a model read the answer in the response."""
    replies: tuple[str, ...] = ()
    """What the model said that read the answer, or the judge that scored it."""
    cut_off: bool = False
    """The response reached the limit of tokens before it was complete."""

    def __str__(self) -> str:
        answer = self.answer.value if isinstance(self.answer, Number) else self.answer
        return json.dumps({**asdict(self), "answer": answer}, ensure_ascii=False)


@dataclass(frozen=True, kw_only=True)
class Score:
    """The score of one answer; `correct` and `correct_err` are None if it cannot be scored."""

    answer: int | str | float | None
    correct: bool | None
    correct_err: bool | None
    """Whether a number is right within 0.5 %; None for other tasks."""
    reason: str
    status: str | None = None
