"""The records of judging: an item to judge, the judge's replies, and the score in them."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .rubric import Rubric

Messages = list[dict[str, Any]]
"""A chat in OpenAI's form."""
Points = float | Mapping[str, float]
"""Points, or those of each dimension."""
Facts = dict[str, Any]
"""What results say about a judge."""

# VLMEvalKit's models return these texts if a request failed; its own evaluations look for the first one.
_FAILURES = (
    "Failed to obtain answer via API",
    "Failed to obtain answer via bailingMM API",
    "Failed to obtain answer BlueLM-V API",
    "Fail to obtain answer via API",
    "Error: Bad Response Statuse Code",
    "Error: Failed to parse the response",
)


@dataclass(frozen=True, kw_only=True)
class Item:
    """A response to judge, with its question and the reference answer."""

    question: str
    answer: str
    response: str
    category: str  # a category of the rubric, such as MME-Finance's `task_category`
    picture: Path | None = None
    background: str = ""  # further text that the model was given


@dataclass(frozen=True)
class Reply:
    """One reply of the judge."""

    text: str
    temperature: float
    cached: bool = False


@dataclass(frozen=True)
class Judged:
    """A response with the judge's replies in the order of the tries; `error` says why none of them is a score."""

    response: str
    replies: tuple[Reply, ...] = ()
    error: str = ""
    rubric: "Rubric | None" = field(default=None, compare=False, repr=False)
    """The rubric by which the judge was asked; None if it was not asked."""
    judge: str = ""
    """The judge, if it belongs to a panel."""
    panel: tuple["Judged", ...] = ()
    """What each judge of a panel replied; empty if one judge was asked."""

    @property
    def was_asked(self) -> bool:
        """Whether the judge was asked about the response."""
        return bool(self.replies or self.error)


@dataclass(frozen=True)
class Verdict:
    """The score under one variant: a number, or a number for each dimension; None if unscored."""

    score: Points | None
    reason: str = ""


def no_response(response: str) -> str:
    """Return why a response counts as missing: it is empty, or the harness says that its request failed; else ""."""
    text = response.strip()
    if not text:
        return "the response is empty"
    return f"the model failed: {text[:200]}" if text.startswith(_FAILURES) else ""
