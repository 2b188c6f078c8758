"""Scores judged responses against documents, one variant at a time."""

from collections.abc import Mapping
from typing import Any

from fin_tasks.benchmarks.mme_finance.exact import is_exact, parse_truth
from fin_tasks.judging.judged_response import JudgedResponse

__all__ = ["score_judged"]


def score_judged(doc: Mapping[str, Any], judged: JudgedResponse, *, variant: str) -> dict[str, Any]:
    """Score a judged response.

    Args:
        doc: A document of `data.load`.
        judged: The response with its verdict.
        variant: `paper` counts responses that are missing, and those the judge failed on, as 0, as the authors do;
            `robust` leaves them unscored. Both leave everything unscored where verdicts do not stand.

    Returns:
        `percent` (0 to 100, None where unscored), `exact` (whether the response agrees with the exact truth; None where
        the row has none, or the response cannot be read), `no_response`, `judge_error` (None where the judge had
        nothing to do), and the verdict's record.
    """
    verdict = judged.verdict
    percent = judged.percent if judged.stands else None
    if variant == "paper" and judged.stands and verdict.failed is not None:
        percent = 0.0
    asked = judged.stands or verdict.failed is not None or verdict.score is not None
    return {
        "percent": percent,
        "exact": _exact(doc, judged.response),
        "no_response": verdict.failed == "response",
        "judge_error": verdict.failed in ("judge", "reply") if asked and verdict.failed != "response" else None,
        **judged.record,
    }


def _exact(doc: Mapping[str, Any], response: str) -> bool | None:
    truth = parse_truth(doc["truth"])
    return is_exact(truth, response) if truth and response.strip() else None
