"""What a judge is asked about, what it replies, and the score that is read in its replies."""

import hashlib
from dataclasses import dataclass
from pathlib import Path

__all__ = ["Item", "Judged", "Reply", "Verdict", "no_response", "response_sha256"]

# What VLMEvalKit's models return if a request failed; its own evaluations look for the first one.
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

    id: str
    question: str
    answer: str
    response: str
    category: str  # a category of the rubric, such as MME-Finance's `task_category`
    picture: Path | None = None
    language: str = "en"
    background: str = ""  # what the model was told beside the question


@dataclass(frozen=True, kw_only=True)
class Reply:
    """One reply of the judge."""

    text: str
    temperature: float
    prompt_tokens: int = 0
    completion_tokens: int = 0
    cached: bool = False


@dataclass(frozen=True)
class Judged:
    """A response with the judge's replies in the order of the tries; `error` says why there are none or too few."""

    response: str
    replies: tuple[Reply, ...] = ()
    error: str = ""


@dataclass(frozen=True)
class Verdict:
    """The score that one variant reads, one number or one for each dimension; None if unscored."""

    score: int | dict[str, int] | None
    reason: str = ""


def no_response(response: str) -> str:
    """Say why a response is none: it is empty, or the harness's note that the request failed; else return ""."""
    text = response.strip()
    if not text:
        return "the response is empty"
    return f"the model failed: {text[:200]}" if text.startswith(_FAILURES) else ""


def response_sha256(response: str) -> str:
    """Hash a response, so that a score can say which text it belongs to."""
    return hashlib.sha256(response.encode("utf-8", "surrogatepass")).hexdigest()
