"""What cut-off responses do to a value: its bounds, and the value among finished ones."""

import math

import numpy as np
from pandas import DataFrame, Series

from fin_tasks.stats.means import Floats

from .leaderboard_model import CutOffs
from .model import largest, metric_of

METRIC = "cut_off"
_MANY = 0.02
"""A value with a larger share of cut-off responses is shown as a lower bound."""


def cut_offs_of(
    rows: DataFrame,
    metric: str,
    weights: Floats | None = None,
) -> CutOffs | None:
    """Return what cut-off responses do to the mean of a metric over rows; None if nothing was cut off.

    Weights are those of the mean. A metric without a largest value, or of which less is better, has no bounds.
    """
    if METRIC not in rows or not _has_bounds(metric):
        return None
    scored = DataFrame(
        {
            "value": rows[metric],
            "upper": _if_right(rows, metric),
            "share": rows[METRIC].fillna(0),
            "weight": 1.0 if weights is None else weights,
        }
    ).dropna(subset="value")
    if not scored["share"].any():
        return None
    means = scored.apply(np.average, weights=scored["weight"])
    finished = scored[scored["share"] == 0]
    value = None
    if len(finished):
        value = np.average(finished["value"], weights=finished["weight"])
    is_open = _number(means["upper"], metric) != _number(means["value"], metric)
    return CutOffs(
        share=means["share"],
        upper=means["upper"],
        finished=value,
        n_finished=len(finished),
        is_lower_bound=means["share"] > _MANY and is_open,
    )


def _if_right(rows: DataFrame, metric: str) -> "Series[float]":
    """Return the values that rows would have if all cut-off responses were right.

    Each of several responses to a question counts as its share.
    """
    maximum = largest(metric)
    return (rows[metric] + maximum * rows[METRIC].fillna(0)).clip(upper=maximum)


def note_of(cut_offs: CutOffs | None, metric: str) -> str:
    """Return what to say beside a value; empty unless it is a lower bound."""
    if cut_offs is None or not cut_offs.is_lower_bound:
        return ""
    upper = _number(cut_offs.upper, metric)
    text = f"lower bound: {_percent(cut_offs.share)} of the responses were cut off; {upper} if they were all right"
    if cut_offs.finished is not None:
        finished = _number(cut_offs.finished, metric)
        text += f", {finished} over the {cut_offs.n_finished:,} finished questions"
    return text


def _has_bounds(metric: str) -> bool:
    return math.isfinite(largest(metric)) and metric_of(metric).higher_is_better is True


def _number(value: float, metric: str) -> str:
    return _percent(value) if largest(metric) == 1 else f"{value:.1f}"


def _percent(share: float) -> str:
    """Return a share in percent, spelled as on the page."""
    return f"{100 * share:.1f} %"
