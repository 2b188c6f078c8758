"""Compare the marked last line of a response with the exact truth of a generated question; no judge is needed."""

import re
import unicodedata
from functools import lru_cache
from typing import Literal

from pydantic import BaseModel, ConfigDict, FiniteFloat, NonNegativeFloat, ValidationError

from fin_tasks.answers.notation import plain
from fin_tasks.answers.reasoning import strip_reasoning
from fin_tasks.answers.sentence_numbers import read_number
from fin_tasks.errors import DataError

PHRASES = ("not applicable", "无法回答", "不适用")
"""The phrases by which a model declines a question."""

_MARKED = re.compile(r"(?:answer|答案)[*_\s]*[:：][*_\s]*([^\n]+)", re.IGNORECASE)
_AROUND = " \t\r*_`.。,，;；\"'“”‘’「」"


class Truth(BaseModel):
    """The right answer; a number may be off by `tolerance`."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    kind: Literal["number", "text", "choice", "na"]
    value: FiniteFloat | str = ""
    tolerance: NonNegativeFloat = 0.0


@lru_cache(maxsize=8192)
def parse_truth(text: str) -> Truth | None:
    """Read a cell of the `truth` column; None if it is empty."""
    try:
        return Truth.model_validate_json(text) if text.strip() else None
    except ValidationError as error:
        raise DataError(
            f"truth: expected JSON with kind, value and tolerance, got {text[:200]!r}."
        ) from error


def is_exact(truth: Truth, response: str) -> bool:
    """Return whether the marked answer is the truth."""
    marked = _MARKED.findall(strip_reasoning(response))
    if not marked:
        return False
    answer = marked[-1].strip(_AROUND)
    if truth.kind == "na":
        return _normal(answer) in PHRASES
    if isinstance(truth.value, str):
        return _normal(answer) == _normal(truth.value)
    spaced = re.sub(r"(?<=[\u4e00-\u9fff])(?=[-+.\d])", " ", plain(answer))
    candidate, value = read_number(spaced, rule="number"), truth.value
    margin = truth.tolerance + 1e-9 * max(1.0, abs(value))
    readings = candidate.answer.readings if candidate else ()
    return any(abs(reading - value) <= margin for reading in readings)


def declines(response: str) -> bool:
    """Return whether a response contains the phrase that declines a question."""
    text = _normal(strip_reasoning(response))
    return any(phrase in text for phrase in PHRASES)


def _normal(text: str) -> str:
    return " ".join(unicodedata.normalize("NFKC", text).casefold().split()).strip(_AROUND)
