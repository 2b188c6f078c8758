"""From a response or a program's result to scores, in two variants.

`paper` reads and compares as XFinBench's authors do for their BizBench columns, defects included. `robust` takes what
a careful reader would take for the answer. Code of functions is scored in `formulas`.
"""

import math
from collections.abc import Iterable, Sequence

from fin_tasks.answers.choices import bare_choice, read_choice
from fin_tasks.answers.comparison import equal_reading, near_reading
from fin_tasks.answers.marked import marked_letter, marked_number, near_marked
from fin_tasks.answers.marker import committed_text
from fin_tasks.answers.numbers import Number
from fin_tasks.answers.quantities import read_bare, read_quantity
from fin_tasks.answers.reasoning import strip_reasoning
from fin_tasks.answers.score import Score, Scores, number_of_result, scored
from fin_tasks.benchmarks.bizbench.truths import Truth
from fin_tasks.errors import ConfigError

__all__ = ["score_choice", "score_number", "score_result", "unscored", "variant_of"]

_NO_SINGLE = "no single answer behind the marker"


def score_choice(response: str, truth: Truth, options: Sequence[str]) -> Scores:
    """Score a response to a question with options.

    The authors look for A to D only, so `paper` never gives a right answer beyond the fourth option.

    Args:
        response: What the model wrote.
        truth: From `truths.letter_truth`.
        options: The options in order, without letters.

    Example:
        >>> from fin_tasks.benchmarks.bizbench.truths import letter_truth
        >>> both = score_choice("Therefore, my answer is B, an asset.", letter_truth("B"), ["debt", "an asset"])
        >>> both.paper.answer, both.robust.answer
        ('B', 'B')
    """
    reply = strip_reasoning(response)
    letter, reason = marked_letter(reply)
    paper = scored(letter, correct=letter == truth.letter, near=None, reason=reason, flaw=truth.reason)
    letter, reason = _robust_choice(reply, options)
    robust = scored(letter, correct=letter == truth.letter, near=None, reason=reason)
    return Scores(paper=paper, robust=_unscored(letter, truth) if truth.kind == "unusable" else robust)


def score_number(response: str, truth: Truth) -> Scores:
    """Score a response to a question for a number.

    Args:
        response: What the model wrote.
        truth: From `truths.number_truth`.

    Example:
        >>> from fin_tasks.benchmarks.bizbench.truths import number_truth
        >>> both = score_number("Therefore, my answer is [$4.5 million].", number_truth("4,500,000"))
        >>> both.paper.answer, both.paper.correct, both.robust.answer, both.robust.correct
        (4.5, False, 4500000.0, True)
    """
    reply = strip_reasoning(response)
    paper, why_not = marked_number(reply)
    return Scores(
        paper=_compare_paper(paper, why_not, truth),
        robust=_compare_robust(*_robust_number(reply), truth),
    )


def score_result(value: float | None, text: str | None, truth: Truth, *, reason: str = "") -> Scores:
    """Score what a program returned.

    Args:
        value: The result as a float; None where it is no number.
        text: The result as text, read by `robust` where there is no value.
        truth: From `truths.number_truth`.
        reason: Why there is no result, where the program did not return.
    """
    reason = reason or "no finite number returned"
    finite = value if value is not None and math.isfinite(value) else None
    number = number_of_result(value, text)
    return Scores(
        paper=_compare_paper(finite, reason, truth),
        robust=_compare_robust(number, reason, truth),
    )


def unscored(detail: str) -> Scores:
    """Return the scores of a row that says nothing about the model."""
    score = Score(answer=None, correct=None, correct_err=None, reason=f"unscored: {detail}")
    return Scores(paper=score, robust=score)


def variant_of(scores: Scores, variant: str) -> Score:
    """Pick a variant.

    Raises:
        ConfigError: No such variant.
    """
    if variant not in ("paper", "robust"):
        raise ConfigError(f"variant: expected 'paper' or 'robust', got {variant!r}.")
    return scores.paper if variant == "paper" else scores.robust


def _robust_choice(reply: str, options: Sequence[str]) -> tuple[str | None, str]:
    if not reply.strip():
        return None, "no reply"
    committed = committed_text(reply)
    letter = bare_choice(reply, options) if committed is None else read_choice(committed, options)
    return letter, _why_not(letter, committed)


def _robust_number(reply: str) -> tuple[Number | None, str]:
    if not reply.strip():
        return None, "no reply"
    committed = committed_text(reply)
    number = read_bare(reply) if committed is None else read_quantity(committed)
    return number, _why_not(number, committed)


def _why_not(answer: str | Number | None, committed: str | None) -> str:
    if answer is not None:
        return ""
    return "no marker" if committed is None else _NO_SINGLE


def _compare_paper(answer: float | None, reason: str, truth: Truth) -> Score:
    usable = answer is not None and truth.written is not None
    equal = usable and answer == truth.written
    near = usable and near_marked(float(answer or 0), float(truth.written or 0))
    return scored(answer, correct=equal, near=near, reason=reason, flaw=truth.reason)


def _compare_robust(answer: Number | None, reason: str, truth: Truth) -> Score:
    """Compare every value the answer may stand for with every value the truth may stand for."""
    if truth.number is None:
        return _unscored(None if answer is None else answer.value, truth)
    if answer is None:
        return scored(None, correct=False, near=False, reason=reason)
    meant = truth.number
    equal = _first(equal_reading(answer, reading, meant.step_of(reading)) for reading in meant.readings)
    near = equal if equal is not None else _first(near_reading(answer, reading) for reading in meant.readings)
    chosen = answer.value + 0.0 if near is None else near
    return scored(chosen, correct=equal is not None, near=near is not None)


def _first(readings: Iterable[float | None]) -> float | None:
    return next((reading for reading in readings if reading is not None), None)


def _unscored(answer: str | float | None, truth: Truth) -> Score:
    return Score(answer=answer, correct=None, correct_err=None, reason=f"unscored: the truth is {truth.reason}")
