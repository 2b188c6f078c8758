"""What cut-off responses do to a value: its bounds, the value among finished ones, and open ranks."""

import math
from collections.abc import Iterable, Mapping
from typing import NamedTuple

import numpy as np
import pandas as pd

from fin_tasks.report.leaderboard_model import CutOffs
from fin_tasks.report.model import TaskResult, largest, metric_of
from fin_tasks.stats.means import Floats

METRIC = "cut_off"
_MANY = 0.02
"""A value with a larger share of cut-off responses is shown as a lower bound."""
_MAX_LIMIT = 10**9
_NOISE = 1e-9


class OpenRank(NamedTuple):
    """The best and the worst rank if all cut-off responses had been finished."""

    best: int
    worst: int


def cut_offs_of(
    rows: pd.DataFrame,
    metric: str,
    *,
    weights: Floats | None = None,
    limit: int | None = None,
) -> CutOffs | None:
    """Return what cut-off responses do to the mean of a metric over rows; None if nothing was cut off.

    Weights are those of the mean. A metric without a largest value, or of which less is better, has no bounds.
    """
    if not _has_bounds(metric) or not has_cut_offs(rows):
        return None
    values = rows[metric].to_numpy()
    shares = rows[METRIC].fillna(0).to_numpy()
    if weights is None:
        weights = np.ones(len(rows))
    weights = np.where(np.isnan(values), 0.0, weights)
    if not (shares * weights).any():
        return None
    share = float(np.average(shares, weights=weights))
    raised = np.nan_to_num(if_right(rows, metric))
    upper = float(np.average(raised, weights=weights))
    weights_of_finished = np.where(shares == 0, weights, 0.0)
    n_finished = int((weights_of_finished > 0).sum())
    finished: float | None = None
    if n_finished:
        scored = np.nan_to_num(values)
        finished = float(np.average(scored, weights=weights_of_finished))
    return CutOffs(
        share=share,
        upper=upper,
        finished=finished,
        n_finished=n_finished,
        limit=limit,
        is_lower_bound=share > _MANY,
    )


def claimed_cut_offs(
    value: float,
    share: float | None,
    metric: str,
    limit: int | None,
) -> CutOffs | None:
    """Return the bounds of a value of which only the results file tells, not its rows."""
    if math.isnan(value) or not share or not _has_bounds(metric):
        return None
    maximum = largest(metric)
    return CutOffs(
        share=share,
        upper=min(maximum, value + maximum * share),
        limit=limit,
        is_lower_bound=share > _MANY,
    )


def has_cut_offs(rows: pd.DataFrame) -> bool:
    """Return whether a response of these rows was cut off."""
    return METRIC in rows and bool((rows[METRIC] > 0).any())


def if_right(rows: pd.DataFrame, metric: str) -> Floats:
    """Return the values of rows if all cut-off responses had been right; of several each counts its part."""
    values: Floats = rows[metric].to_numpy()
    if METRIC not in rows or not _has_bounds(metric):
        return values
    maximum = largest(metric)
    shares: Floats = rows[METRIC].fillna(0).to_numpy()
    raised: Floats = np.minimum(maximum, values + maximum * shares)
    return raised


def open_ranks(
    lower: Mapping[str, Floats],
    upper: Mapping[str, Floats],
) -> dict[str, OpenRank]:
    """Return the ranks that runs may have if cut-off responses are finished, from both bounds of each row.

    A row that is not scored is NaN. Two runs are compared on the rows in common.
    """
    low = np.column_stack(list(lower.values()))
    high = np.column_stack(list(upper.values()))
    is_scored = (~np.isnan(low)).astype(float)
    low = np.nan_to_num(low)
    high = np.nan_to_num(high)
    # In row j and column i: the sum of j less that of i over the rows in common.
    surely_ahead = low.T @ is_scored - is_scored.T @ high > _NOISE
    maybe_ahead = high.T @ is_scored - is_scored.T @ low > _NOISE
    np.fill_diagonal(maybe_ahead, val=False)
    best = 1 + surely_ahead.sum(axis=0)
    worst = 1 + maybe_ahead.sum(axis=0)
    ranks: dict[str, OpenRank] = {}
    for number, run in enumerate(lower):
        ranks[run] = OpenRank(
            best=int(best[number]),
            worst=int(worst[number]),
        )
    return ranks


def limit_of(tasks: Iterable[TaskResult]) -> int | None:
    """Return the limit of tokens that all tasks share; None if there is none, or if it is not known."""
    limits = set()
    for task in tasks:
        facts = task.metadata.get(METRIC)
        if isinstance(facts, Mapping):
            limits.add(facts.get("limit"))
    if len(limits) != 1:
        return None
    limit = limits.pop()
    # A limit is a stranger's: True is an int, too.
    if type(limit) is not int or not 0 < limit <= _MAX_LIMIT:
        return None
    return limit


def note_of(cut_offs: CutOffs | None, metric: str) -> str:
    """Return what to say beside a value; empty unless it is a lower bound."""
    if cut_offs is None or not cut_offs.is_lower_bound:
        return ""
    text = f"lower bound: {cut_offs.share:.1%} of the responses were cut off"
    if cut_offs.limit:
        text += f" at {cut_offs.limit:,} tokens"
    upper = _number(cut_offs.upper, metric)
    text += f"; {upper} if they were all right"
    if cut_offs.finished is not None:
        finished = _number(cut_offs.finished, metric)
        text += f", {finished} over the {cut_offs.n_finished:,} finished questions"
    return text


def _has_bounds(metric: str) -> bool:
    return math.isfinite(largest(metric)) and metric_of(metric).higher_is_better is True


def _number(value: float, metric: str) -> str:
    if largest(metric) == 1:
        return f"{value:.1%}"
    return f"{value:.1f}"
