"""The types for what is read in a response and for its score."""

from dataclasses import dataclass
from typing import Any, Generic, Literal, NamedTuple, TypeVar

from .numbers import Number

Answer = TypeVar("Answer")
Style = Literal[
    "marker", "label", "sentence", "prose", "working", "total", "conclusion"
]
"""How an answer is announced.

marker: by the sentence that our prompts ask for. label: the answer comes first, as in `Answer: B`.
sentence: a sentence says so, as in `Therefore, the answer is B`. prose: words may come first, as in
`the answer is clearly B`. working: by a label that may also announce a step, as in `Result: 5`.
total: in the last row of a table. conclusion: a whole sentence follows.
"""


class Candidate(NamedTuple, Generic[Answer]):
    """An answer in a text, with the name of the wording that gives it."""

    answer: Answer
    rule: str
    start: int = 0
    """Position in the text."""
    is_announced: bool = False


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
    """The answer that one scoring reads in a response."""

    scoring: str
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

    @property
    def has_answer(self) -> bool:
        """Whether an answer was read."""
        return self.answer is not None

    def to_dict(self) -> dict[str, Any]:
        """Return the fields as JSON holds them.

        A number is its value, with its values in other `units` and its last written place, `step`.
        """
        values = {**vars(self), "replies": list(self.replies)}
        if isinstance(self.answer, Number):
            values["answer"] = self.answer.value
            values["units"] = list(self.answer.values)
            values["step"] = self.answer.step
        return values


@dataclass(frozen=True, kw_only=True)
class Score:
    """The score of one answer; `correct` and `within_margin` are None if it cannot be scored."""

    answer: int | str | float | None
    correct: bool | None
    within_margin: bool | None
    """Whether a number is right within 0.5 %; None for other tasks."""
    reason: str
    status: str | None = None
