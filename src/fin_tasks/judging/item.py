"""The records of judging: an item to judge, and the judge's replies to it."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .rubric import Rubric

Messages = list[dict[str, Any]]
"""A chat in OpenAI's form."""
Facts = dict[str, Any]
"""What results say about a judge."""

# Texts that VLMEvalKit's models return in place of a response if a request failed.
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
class Judged:
    """A response with the judge's replies to it."""

    response: str
    replies: tuple[str, ...] = ()
    """In the order of the tries."""
    error: str = ""
    """Why no reply is a score."""
    rubric: "Rubric | None" = field(default=None, compare=False, repr=False)
    """The rubric by which the judge was asked; None if it was not asked."""
    is_cached: bool = False
    """Whether all replies are from an earlier run."""

    @property
    def was_asked(self) -> bool:
        """Whether the judge was asked about the response."""
        return bool(self.replies or self.error)


def missing_reason(response: str) -> str:
    """Return why a response is missing: it is empty, or the model's request failed; empty if it is not missing."""
    text = response.strip()
    if not text:
        return "the response is empty"
    return f"the model failed: {text[:200]}" if text.startswith(_FAILURES) else ""
