"""Score saved predictions by the replies of a judge, for `fin-tasks judge`."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

from fin_tasks.answers.cut_off import mark_reading
from fin_tasks.benchmarks.scored_task import VARIANTS, ScoredTask
from fin_tasks.judging.item import Judged
from fin_tasks.judging.rubric import Rubric

from . import BENCHMARK
from .score import (
    JudgedReading,
    Values,
    read_points,
)


def score_judged(
    rubric: Rubric,
    docs: Sequence[Mapping[str, Any]],
    judged: Sequence[Judged],
    *,
    task: str,
) -> ScoredTask:
    """Read a judge's replies under both variants; scores are percent of the rubric's scale."""
    readings: dict[str, list[list[JudgedReading]]] = defaultdict(list)
    values: dict[str, list[Values]] = defaultdict(list)
    for variant in VARIANTS:
        for answer in judged:
            reading = read_points(rubric, answer, variant)
            reading = mark_reading(reading, answer.response)
            readings[variant].append([reading])
            values[variant].append(_values(rubric, reading))
    return ScoredTask(
        name=task,
        benchmark=BENCHMARK,
        docs=docs,
        responses=[[answer.response] for answer in judged],
        readings=readings,
        values=values,
        metrics={"score": True, "cut_off": False, "unscored": False},
    )


def _values(rubric: Rubric, reading: JudgedReading) -> Values:
    score = None
    if not reading.unscored:
        # A conversation without an overall score has the lowest.
        points: Any = rubric.lowest if reading.answer is None else reading.answer
        score = 100 * (points - rubric.lowest) / (rubric.highest - rubric.lowest)
    return {
        "score": score,
        "cut_off": float(reading.cut_off),
        "unscored": float(reading.unscored),
    }
