"""The metrics of `metrics.csv`: label, unit, direction, and the part of the questions that a metric is about."""

import csv
import math
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from fin_tasks.report.model import TaskResult

_LARGEST = {"fraction": 1.0, "points": 100.0, "number": math.inf}
_BETTER = {"more": True, "less": False, "": None}


@dataclass(frozen=True)
class Metric:
    """What a report says of a metric, as `metrics` of a leaderboard has it."""

    label: str
    unit: str  # `fraction`, `points` of 100, or `number`
    higher_is_better: bool | None  # None if neither
    by: str  # the column that it breaks down by; empty for metrics over all rows
    of: str  # the part


def metric_of(name: str) -> Metric:
    """Return a metric; one that is not in the table has the unit and direction of its first word.

    Example:
        >>> metric_of("acc_TU").label, metric_of("score_OCR").unit, metric_of("acc_new").label
        ('Terminology understanding', 'points', 'Acc new')
    """
    known = _known()
    if name in known:
        return known[name]
    like = known.get(name.split("_")[0], known["acc"])
    return Metric(name.replace("_", " ").capitalize(), like.unit, like.higher_is_better, "", "")


def largest(metric: str) -> float:
    """Return the largest value of a metric: 1 for shares, 100 for a judge's points, infinity for other numbers."""
    return _LARGEST[metric_of(metric).unit]


def headline(result: TaskResult) -> str:
    """Return the metric that models are ranked by: a judge's `score`, or `acc` if nobody judges."""
    known = {metric for of_variant in result.totals.values() for metric in of_variant}
    return "score" if result.benchmark == "mme_finance" and ("score" in known or "acc" not in known) else "acc"


@cache
def _known() -> dict[str, Metric]:
    text = files("fin_tasks.report").joinpath("metrics.csv").read_text(encoding="utf-8")
    return {
        row["metric"]: Metric(row["label"], row["unit"], _BETTER[row["better"]], row["by"], row["of"])
        for row in csv.DictReader(text.splitlines())
    }
