"""How one answer fares, and what a program's result says, for the benchmarks that score both ways."""

import json
import math
from dataclasses import asdict, dataclass

from fin_tasks.answers.numbers import Number, number_from_float
from fin_tasks.answers.quantities import quantity_in

__all__ = ["Reading", "Score", "Scores", "number_of_result", "scored"]


@dataclass(frozen=True, kw_only=True)
class Reading:
    """What one variant reads in a response; lm-eval writes its text, JSON, into the samples file."""

    variant: str
    answer: int | str | float | Number | None
    """1 or 0 for a verdict, a letter, a number; None if there is no answer."""
    reason: str = ""
    """Why there is no answer, or why the response cannot be scored."""
    unscored: bool = False
    """The judge or the sandbox failed, so nothing is known about the answer."""
    status: str | None = None
    """How the program ended, as `sandbox.Status` has it."""

    def __str__(self) -> str:
        answer = self.answer.value if isinstance(self.answer, Number) else self.answer
        return json.dumps({**asdict(self), "answer": answer}, ensure_ascii=False)


@dataclass(frozen=True, kw_only=True)
class Score:
    """How one answer fares in one variant.

    Attributes:
        answer: What was read; None where there is no answer.
        correct: Whether it is right; None where the row cannot be scored because its truth is unusable.
        correct_err: Whether a number is right within 0.5 %; None for other tasks and unscored rows.
        reason: In a few words, why.
    """

    answer: int | str | float | None
    correct: bool | None
    correct_err: bool | None
    reason: str
    status: str | None = None
    """How the program ended, as `sandbox.Status` has it; None for text."""

    @property
    def told(self) -> dict[str, int | str | float | bool | None]:
        """What the samples of a run show of it, and metrics are made of."""
        return asdict(self)


@dataclass(frozen=True, kw_only=True)
class Scores:
    """The scores of one answer in both variants."""

    paper: Score
    robust: Score


def scored(
    answer: int | str | float | None, *, correct: bool, near: bool | None, reason: str = "", flaw: str = ""
) -> Score:
    """Put a comparison into words.

    Args:
        answer: What was read; None is wrong whatever `correct` says.
        correct: Whether it equals the truth.
        near: Whether it is near the truth; None where nearness means nothing.
        reason: Why there is no answer.
        flaw: What makes the truth unusable, where it is counted wrong all the same.

    Example:
        >>> scored(143.0, correct=False, near=True).reason, scored(None, correct=False, near=False).reason
        ('near, not equal', 'no answer')
    """
    if answer is None:
        return Score(answer=None, correct=False, correct_err=near, reason=reason or "no answer")
    if flaw:
        told = f"wrong: the truth is {flaw}"
    elif correct:
        told = "right"
    else:
        told = "near, not equal" if near else "wrong"
    return Score(answer=answer, correct=correct, correct_err=near, reason=told)


def number_of_result(value: float | None, text: str | None) -> Number | None:
    r"""Read what a program returned as a careful reader does.

    Args:
        value: The result as a float; None where it is no number.
        text: The result as text, read where there is no value and the text says a number and nothing else.

    Example:
        >>> number_of_result(142.9, None).value, number_of_result(None, "7.66%").value
        (142.9, 0.0766)
        >>> number_of_result(None, "(1, 2)") is None, number_of_result(None, "integer of 1329 bits") is None
        (True, True)
    """
    if value is not None:
        return number_from_float(value) if math.isfinite(value) else None
    # As a response, so that a number inside a description (`integer of 1329 bits`) or an escape is none.
    return quantity_in(text[:200], "alone") if text is not None and "\\" not in text else None
