"""Scores responses and program outcomes against lm-eval documents, one variant at a time."""

from collections.abc import Mapping
from typing import Any

from fin_tasks.benchmarks.xfinbench import scoring
from fin_tasks.benchmarks.xfinbench.truths import Truth, parse_truth
from fin_tasks.sandbox import Outcome, Status

__all__ = ["score_outcome", "score_program", "score_response"]


def score_response(doc: Mapping[str, Any], response: str, *, variant: str) -> dict[str, Any]:
    """Read and score a response.

    Args:
        doc: A document of `data.load`.
        response: What the model wrote.
        variant: `paper` or `robust`.

    Returns:
        `answer`, `correct`, `correct_err` and `reason`, see `scoring.Score`.
    """
    truth = parse_truth(doc["task"], doc["ground_truth"])
    answer = scoring.extract(doc["task"], response, variant, doc["choices"])
    return scoring.compare(doc["task"], answer, truth, variant).told


def score_outcome(doc: Mapping[str, Any], outcome: Outcome, *, variant: str) -> dict[str, Any]:
    """Score what became of a program.

    Args:
        doc: A document of `data.load`.
        outcome: From the sandbox.
        variant: `paper` or `robust`.

    Returns:
        As `score_response`, and `status`, `value` and `detail` of the outcome.
    """
    scores = score_program(outcome, parse_truth(doc["task"], doc["ground_truth"]))
    score = scores.paper if variant == "paper" else scores.robust
    return {**score.told, **outcome.told}


def score_program(outcome: Outcome, truth: Truth) -> scoring.Scores:
    """Score a program's result. Every end without a value is no answer, unless it says nothing about the program.

    A runner that broke, and a program this tier cannot run, leave the row unscored.
    """
    if outcome.status in (Status.broken, Status.unsupported):
        unscored = scoring.Score(answer=None, correct=None, correct_err=None, reason=f"unscored: {outcome.detail}")
        return scoring.Scores(paper=unscored, robust=unscored)
    if not outcome.ran:
        return scoring.score_value(None, None, truth)
    return scoring.score_value(outcome.number, outcome.value, truth)
