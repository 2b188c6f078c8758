"""Score saved predictions by the replies of a judge, for `fin-tasks judge`."""

from collections.abc import Mapping, Sequence
from typing import Any

from fin_tasks.benchmarks.mme_finance import paper
from fin_tasks.benchmarks.scored_task import VARIANTS, ScoredTask
from fin_tasks.judging.item import Judged, response_sha256
from fin_tasks.judging.rubric import Rubric

_OVERALL = "overall"
"""The dimension that counts, where a judge scores several."""


def score_judged(
    rubric: Rubric, docs: Sequence[Mapping[str, Any]], judged: Sequence[Judged]
) -> ScoredTask:
    """Read a judge's replies under both variants; scores are percent of the rubric's scale."""
    readings: dict[str, list[list[dict[str, Any]]]] = {}
    values: dict[str, list[dict[str, float | None]]] = {}
    for variant in VARIANTS:
        readings[variant] = [[_read(rubric, item, variant)] for item in judged]
        values[variant] = [_values(rubric, reading) for (reading,) in readings[variant]]
    return ScoredTask(
        name=rubric.name,
        docs=docs,
        responses=[[item.response] for item in judged],
        readings=readings,
        values=values,
        metrics={"score": True, "unscored": False},
    )


def _read(rubric: Rubric, judged: Judged, variant: str) -> dict[str, Any]:
    verdict = paper.read_verdict(rubric, judged) if variant == "paper" else rubric.read(judged)
    points = verdict.score[_OVERALL] if isinstance(verdict.score, dict) else verdict.score
    return {
        "variant": variant,
        "answer": points,
        "reason": verdict.reason,
        "unscored": points is None,
        "replies": [reply.text for reply in judged.replies],
        "response_sha256": response_sha256(judged.response),
    }


def _values(rubric: Rubric, reading: Mapping[str, Any]) -> dict[str, float | None]:
    if reading["unscored"]:
        return {"score": None, "unscored": 1.0}
    points = reading["answer"] - rubric.lowest
    return {"score": 100 * points / (rubric.highest - rubric.lowest), "unscored": 0.0}
