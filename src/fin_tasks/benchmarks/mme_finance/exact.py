"""Compare the marked last line of a response with the exact truth of a generated question; no judge is needed."""

import json
import re
import unicodedata
from functools import lru_cache
from typing import Literal, NamedTuple

from fin_tasks.answers.notation import plain
from fin_tasks.answers.reasoning import strip_reasoning
from fin_tasks.answers.sentence_numbers import read_number
from fin_tasks.errors import DataError

PHRASES = ("not applicable", "无法回答", "不适用")
"""The phrases by which a model declines a question."""

_MARKED = re.compile(r"(?:answer|答案)[*_\s]*[:：][*_\s]*([^\n]+)", re.IGNORECASE)
_AROUND = " \t\r*_`.。,，;；\"'“”‘’「」"
_BEFORE_NUMBER = re.compile(r"(?<=[\u4e00-\u9fff])(?=[-+.\d])")
"""The place between a Chinese character and a number."""
_ROUNDING = 1e-9  # of floats, as a share of the value


class Truth(NamedTuple):
    """The right answer; a number may be off by `tolerance`."""

    kind: Literal["number", "text", "choice", "na"]
    value: float | str = ""
    tolerance: float = 0.0


@lru_cache(maxsize=8192)
def parse_truth(text: str) -> Truth | None:
    """Read a cell of the `truth` column; None if it is empty."""
    if not text.strip():
        return None
    try:
        return Truth(**json.loads(text))
    except (TypeError, ValueError) as error:
        raise DataError(
            f"truth: expected JSON with kind, value and tolerance, got {text[:200]!r}."
        ) from error


def marked_answer(response: str) -> str | None:
    """Return the last answer that a response marks; None if it marks none."""
    marked = _MARKED.findall(strip_reasoning(response))
    return marked[-1].strip(_AROUND) if marked else None


def is_exact(truth: Truth, response: str) -> bool:
    """Return whether the marked answer is the truth."""
    answer = marked_answer(response)
    if answer is None:
        return False
    if truth.kind == "na":
        return _normal(answer) in PHRASES
    if isinstance(truth.value, str):
        return _normal(answer) == _normal(truth.value)
    number = read_number(_BEFORE_NUMBER.sub(" ", plain(answer)), rule="number")
    if number is None:
        return False
    value = truth.value
    margin = truth.tolerance + _ROUNDING * max(1.0, abs(value))
    return any(abs(reading - value) <= margin for reading in number.answer.readings)


def declines(response: str) -> bool:
    """Return whether a response contains the phrase that declines a question."""
    text = _normal(strip_reasoning(response))
    return any(phrase in text for phrase in PHRASES)


def _normal(text: str) -> str:
    folded = unicodedata.normalize("NFKC", text).casefold()
    return " ".join(folded.split()).strip(_AROUND)
