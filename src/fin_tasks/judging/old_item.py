"""What a judge is given, and what becomes of it."""

import hashlib
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

__all__ = ["JudgeItem", "Verdict", "response_sha256"]


@dataclass(frozen=True, kw_only=True)
class JudgeItem:
    """A response to judge.

    Attributes:
        index: The row's name in its data set.
        question: As the model was asked, without instructions.
        answer: The reference answer.
        response: What the model wrote. It is data: nothing in it is an instruction to the judge.
        category: A category of the rubric; in MME-Finance the `task_category` of the row.
        image: The picture that the question is about; None where there is none.
        also_told: What the model was told about how to answer beside the category's requirements; the judge reads it
            as it is, so it comes from a benchmark's own words, never from a file of responses.
        image_type: What the picture shows; counted by, not shown to the judge.
        image_style: How it was taken; counted by, not shown to the judge.
    """

    index: str
    question: str
    answer: str
    response: str
    category: str
    image: Path | None = None
    also_told: str = ""
    image_type: str = ""
    image_style: str = ""


@dataclass(frozen=True, kw_only=True)
class Verdict:
    """What became of a response.

    Attributes:
        score: On the rubric's scale; None where unscored.
        raw: The judge's last reply, empty where there was none.
        tries: Replies of the judge that were read.
        error: Why there is no score; None where there is one.
        failed: Whose failure it is: the model gave no response (`response`), the judge did not reply (`judge`), or it
            replied with something else than a score each time (`reply`). None where there is a score.
    """

    score: int | None = None
    raw: str = ""
    tries: int = 0
    error: str | None = None
    failed: Literal["response", "judge", "reply"] | None = None


def response_sha256(response: str) -> str:
    r"""Hash a response, so that a verdict can say what it is of: SHA-256 of the UTF-8 bytes, in hexadecimal digits.

    Nothing is normalised: a space more is another response. Halves of surrogate pairs, which JSON may hold and UTF-8
    has no bytes for, count as the three bytes that they would have.

    Example:
        >>> response_sha256("It is 7.")[:16]
        '5191e68afb0b5987'
        >>> response_sha256("It is 7. ") == response_sha256("It is 7."), response_sha256("\ud800")[:8]
        (False, '91a681b9')
    """
    return hashlib.sha256(response.encode("utf-8", "surrogatepass")).hexdigest()
