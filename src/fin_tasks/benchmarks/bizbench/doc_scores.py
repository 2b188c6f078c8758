"""Scores responses and outcomes of programs against lm-eval documents, one variant at a time."""

from collections.abc import Mapping, Sequence
from typing import Any

from fin_tasks.answers.score import Score
from fin_tasks.benchmarks.bizbench import scoring
from fin_tasks.benchmarks.bizbench.formulas import score_function
from fin_tasks.benchmarks.bizbench.truths import Truth, letter_truth, number_truth
from fin_tasks.sandbox import Outcome, Status

__all__ = ["score_attempt", "score_outcome", "score_response", "truth_of"]


def truth_of(doc: Mapping[str, Any]) -> Truth:
    """Read the truth of a document, of kind `choice` or `number`."""
    return letter_truth(doc["letter"]) if doc["kind"] == "choice" else number_truth(doc["ground_truth"])


def score_response(doc: Mapping[str, Any], response: str, *, variant: str) -> dict[str, Any]:
    """Read and score a response.

    Args:
        doc: A document of `data.load`, of kind `choice` or `number`.
        response: What the model wrote.
        variant: `paper` or `robust`.

    Returns:
        `answer`, `correct`, `correct_err` and `reason`, see `answers.score.Score`.
    """
    truth = truth_of(doc)
    if doc["kind"] == "choice":
        scores = scoring.score_choice(response, truth, doc["options"])
    else:
        scores = scoring.score_number(response, truth)
    return scoring.variant_of(scores, variant).told


def score_outcome(doc: Mapping[str, Any], outcome: Outcome, *, variant: str) -> dict[str, Any]:
    """Score what became of a program that computes a number.

    Every end without a value is no answer, unless it says nothing about the program: a runner that broke, and a program
    this tier cannot run, leave the row unscored.

    Args:
        doc: A document of `data.load`, of kind `number`.
        outcome: From the sandbox.
        variant: `paper` or `robust`.

    Returns:
        As `score_response`, and `status`, `value` and `detail` of the outcome.
    """
    if outcome.status in (Status.broken, Status.unsupported):
        scores = scoring.unscored(outcome.detail)
    elif outcome.ran:
        scores = scoring.score_result(outcome.number, outcome.value, truth_of(doc))
    else:
        scores = scoring.score_result(None, None, truth_of(doc), reason=outcome.detail)
    return _with_outcome(scoring.variant_of(scores, variant), outcome)


def score_attempt(doc: Mapping[str, Any], attempt: tuple[str, Sequence[Outcome]], *, variant: str) -> dict[str, Any]:
    """Score a response of a task that asks for functions in some rows and for choices in others.

    No authors' way to score functions is known, so both variants score them alike.

    Args:
        doc: A document of `data.load`.
        attempt: The response, and the outcomes of `formulas.programs_of`.
        variant: `paper` or `robust`.

    Returns:
        As `score_response` for choices, as `score_outcome` for functions.
    """
    response, outcomes = attempt
    if doc["kind"] != "code":
        return score_response(doc, response, variant=variant)
    score, outcome = score_function(doc, outcomes)
    return _with_outcome(score, outcome)


def _with_outcome(score: Score, outcome: Outcome) -> dict[str, Any]:
    return {**score.told, **outcome.told}
