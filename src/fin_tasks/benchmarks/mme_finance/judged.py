"""Score saved predictions by the replies of a judge, for `fin-tasks judge`."""

from collections.abc import Mapping, Sequence
from typing import Any, TypedDict

from fin_tasks.answers.cut_off import is_cut_off
from fin_tasks.benchmarks.mme_finance import paper
from fin_tasks.benchmarks.scored_task import VARIANTS, ScoredTask
from fin_tasks.judging.item import Judged, response_sha256
from fin_tasks.judging.rubric import Rubric

Document = Mapping[str, Any]
Values = dict[str, float | None]


class JudgedRow(TypedDict):
    """What was read in a judge's replies, as samples files have it."""

    variant: str
    answer: int | None
    reason: str
    unscored: bool
    cut_off: bool
    replies: list[str]
    response_sha256: str


_OVERALL = "overall"
"""The dimension that counts, where a judge scores several."""


def score_judged(
    rubric: Rubric,
    docs: Sequence[Document],
    judged: Sequence[Judged],
    *,
    task: str,
) -> ScoredTask:
    """Read a judge's replies under both variants; scores are percent of the rubric's scale."""
    readings: dict[str, list[list[JudgedRow]]] = {}
    values: dict[str, list[Values]] = {}
    for variant in VARIANTS:
        rows = [_read(rubric, response, variant) for response in judged]
        readings[variant] = [[row] for row in rows]
        values[variant] = [_values(rubric, row) for row in rows]
    return ScoredTask(
        name=task,
        docs=docs,
        responses=[[response.response] for response in judged],
        readings=readings,
        values=values,
        metrics={"score": True, "cut_off": False, "unscored": False},
    )


def _read(rubric: Rubric, judged: Judged, variant: str) -> JudgedRow:
    read_verdict = paper.read_verdict if variant == "paper" else Rubric.read
    verdict = read_verdict(rubric, judged)
    points = verdict.score
    if isinstance(points, dict):
        points = points.get(_OVERALL, rubric.lowest)
    return {
        "variant": variant,
        "answer": points,
        "reason": verdict.reason,
        "unscored": points is None,
        "cut_off": is_cut_off(judged.response),
        "replies": [reply.text for reply in judged.replies],
        "response_sha256": response_sha256(judged.response),
    }


def _values(rubric: Rubric, row: JudgedRow) -> Values:
    points = row["answer"]
    values: Values = {
        "score": None,
        "cut_off": float(row["cut_off"]),
        "unscored": 1.0,
    }
    if points is None:
        return values
    scale = rubric.highest - rubric.lowest
    return values | {
        "score": 100 * (points - rubric.lowest) / scale,
        "unscored": 0.0,
    }
