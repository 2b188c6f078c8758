"""Scores responses and program outcomes against lm-eval documents, one variant at a time."""

from collections.abc import Mapping
from typing import Any

from fin_tasks.answers.numbers import Number, number_from_float
from fin_tasks.benchmarks.financemath.extraction import as_written
from fin_tasks.benchmarks.financemath.reading import Reading
from fin_tasks.benchmarks.financemath.scoring import paper_equal, robust_equal
from fin_tasks.sandbox import Outcome, Status

__all__ = ["score_outcome", "score_reading"]


def score_reading(doc: Mapping[str, Any], reading: Reading, *, variant: str) -> dict[str, Any]:
    """Score what was read in a response.

    Args:
        doc: A document of `data.load`.
        reading: From `reading.read_with`.
        variant: `paper` compares the number as written with the file's truth, as the authors did; `robust` what it
            stands for with the truth at full precision.

    Returns:
        `answer` (a number or None), `correct` (None where neither rules nor judge could read the response), `reason`,
        `read_by` and `judge_error`.
    """
    told = {"read_by": reading.read_by, "judge_error": reading.judge_error}
    number = reading.number
    if reading.read_by is None:
        return {"answer": None, "correct": None, "reason": f"unscored: {reading.judge_error}", **told}
    if number is None:
        return {"answer": None, "correct": False, "reason": "no answer", **told}
    answer = number.value if variant == "robust" else as_written(number)
    correct = _correct(number, answer, doc["exact_truth" if variant == "robust" else "ground_truth"], variant)
    return {"answer": answer, "correct": correct, "reason": "right" if correct else "wrong", **told}


def score_outcome(doc: Mapping[str, Any], outcome: Outcome, *, variant: str) -> dict[str, Any]:
    """Score what became of a program; both variants compare with the truth at full precision.

    A runner that broke, and a program this tier cannot run, leave the row unscored.

    Args:
        doc: A document of `data.load`.
        outcome: From the sandbox.
        variant: `paper` or `robust`.

    Returns:
        `answer`, `correct` and `reason` as `score_reading`, and `status`, `value` and `detail` of the outcome.
    """
    if outcome.status in (Status.broken, Status.unsupported):
        return {"answer": None, "correct": None, "reason": f"unscored: {outcome.detail}", **outcome.told}
    number = None if outcome.number is None or not outcome.ran else number_from_float(outcome.number)
    if number is None:
        return {"answer": None, "correct": False, "reason": "no finite number returned", **outcome.told}
    correct = _correct(number, number.value, doc["exact_truth"], variant)
    return {"answer": number.value, "correct": correct, "reason": "right" if correct else "wrong", **outcome.told}


def _correct(number: Number, answer: float, truth: float, variant: str) -> bool:
    return robust_equal(number, truth) if variant == "robust" else paper_equal(answer, truth)
