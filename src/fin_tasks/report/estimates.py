"""A metric over rows: its mean, in the unit it has, with the interval that fits its values."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

import numpy as np
import numpy.typing as npt
from scipy.stats import t

from fin_tasks.stats.averages import standard_error
from fin_tasks.stats.bounded import bounded_mean
from fin_tasks.stats.clustered import clustered_mean, numbered
from fin_tasks.stats.intervals import Interval, wilson
from fin_tasks.stats.stratified import collapsed, stratified_mean

__all__ = ["Estimate", "Unit", "Weighted", "estimate", "estimate_weighted", "from_stderr", "largest", "unit_of"]

Unit = Literal["fraction", "points", "number"]

_NUMBERS = frozenset({"brier", "log_loss", "n_scored"})
_AT_MOST_ONE = frozenset({"brier"})  # squared distances of a probability from 0 or 1
_NORMAL = 1.959963984540054  # quantile of 0.975
_NONE = Interval(math.nan, math.nan)
_wilson = lru_cache(maxsize=2**16)(wilson)  # models over the same rows have the same counts again and again
_numbered = lru_cache(maxsize=64)(numbered)  # and every metric of a task has the sources of its rows


@dataclass(frozen=True)
class Estimate:
    """A mean over `n` rows with its 95 % interval, NaN where there is none."""

    mean: float
    interval: Interval
    n: int


@dataclass(frozen=True, kw_only=True, eq=False)
class Weighted:
    """A metric that is a mean over rows which do not count alike, or are of several tasks.

    Such is a ratio of sums, as the bias index of questions that were asked several times, and a group's mean over its
    tasks, whose rows differ from each task's own mean alone.

    Attributes:
        values: One per row, NaN where it does not apply.
        weights: What each counts for, in any unit.
        clusters: As in `Scores`.
        tasks: Number of the task of each row, from 0 on; None where all are of one.
    """

    values: npt.NDArray[np.floating]
    weights: npt.NDArray[np.float64]
    clusters: tuple[str, ...] | None
    tasks: npt.NDArray[np.int64] | None = None

    @property
    def mean(self) -> float:
        """sum(weights * values) / sum(weights) over the rows that have a value; NaN where none has."""
        there = ~np.isnan(self.values)
        total = math.fsum(self.weights[there].tolist())
        return math.fsum((self.weights * self.values)[there].tolist()) / total if total else math.nan


def unit_of(benchmark: str, metric: str) -> Unit:
    """Return the unit of a metric.

    Example:
        >>> unit_of("mme_finance", "score_OCR"), unit_of("mme_finance", "exact"), unit_of("dynostock", "log_loss")
        ('points', 'fraction', 'number')
    """
    if metric in _NUMBERS:
        return "number"
    return "points" if benchmark == "mme_finance" and metric.split("_")[0] == "score" else "fraction"


def largest(unit: Unit, metric: str = "") -> float:
    """Return the largest value there is in a unit, or of a metric that has less; all of them are 0 or more.

    Example:
        >>> largest("points"), largest("number"), largest("number", "brier")
        (100.0, inf, 1.0)
    """
    return 1.0 if metric in _AT_MOST_ONE else {"fraction": 1.0, "points": 100.0, "number": math.inf}[unit]


def estimate(
    values: npt.NDArray[np.floating], *, clusters: Sequence[str] | None, unit: Unit, metric: str = ""
) -> Estimate:
    """Average the values that are there.

    The interval of shares and points is Wilson's: over the rows where they are independent and 0 or 1, otherwise over
    as many as they are worth (`stats.bounded.bounded_mean`), where rows that share a source are worth no more than as
    many independent ones. That of other numbers, and of any beyond their unit, is a t-interval, which allows for
    sources likewise. There is none where one source has all rows, or where other numbers are all alike.

    Args:
        values: One per row, NaN where it does not apply.
        clusters: What each row shares with others; None where rows are independent.
        unit: Of the values; bounds are kept within it.
        metric: What they are, where it has a largest value of its own.

    Example:
        >>> found = estimate(np.array([1, 0, 1, math.nan]), clusters=None, unit="fraction")
        >>> round(found.mean, 3), found.n, round(found.interval.low, 3), round(found.interval.high, 3)
        (0.667, 3, 0.208, 0.939)
    """
    there = ~np.isnan(values)
    present = values[there].astype(np.float64)
    n = len(present)
    if not n:
        return Estimate(math.nan, _NONE, 0)
    codes = _codes(clusters, there)
    most = largest(unit, metric)
    if not math.isfinite(most) or present.min() < 0 or present.max() > most:
        interval = _of_numbers(present, codes)
    elif unit == "fraction" and codes is None and ((present == 0) | (present == 1)).all():
        interval = _wilson(int(present.sum()), n)
    else:
        interval = bounded_mean(present, most=most, clusters=codes)
    return Estimate(math.fsum(present.tolist()) / n, interval, n)


def estimate_weighted(found: Weighted, *, unit: Unit, metric: str = "") -> Estimate:
    """Average values that do not count alike; the interval is that of `estimate` for shares and points.

    That of several tasks adds up what each of them leaves uncertain (`stats.stratified.stratified_mean`). There is none
    for other numbers, and none where one source has all rows.

    Example:
        >>> values, weights = np.array([1.0, 0.0, math.nan]), np.array([0.5, 1.0, 0.0])
        >>> found = estimate_weighted(Weighted(values=values, weights=weights, clusters=None), unit="fraction")
        >>> round(found.mean, 3), found.n, round(found.interval.high, 2)
        (0.333, 2, 1.0)
    """
    there = ~np.isnan(found.values) & (found.weights > 0)
    most = largest(unit, metric)
    n = int(there.sum())
    if not n or not math.isfinite(most):
        return Estimate(found.mean, _NONE, n)
    values, weights = np.clip(found.values[there].astype(np.float64), 0, most), found.weights[there]
    codes = _codes(found.clusters, there)
    tasks = None if found.tasks is None else collapsed(found.tasks[there], codes)
    if tasks is not None and tasks.min() < tasks.max():
        interval = stratified_mean(values, strata=tasks, most=most, clusters=codes, weights=weights)
    elif weights.min() == weights.max():
        alike = np.where(there, found.values, math.nan)
        interval = estimate(alike, clusters=found.clusters, unit=unit, metric=metric).interval
    else:
        interval = bounded_mean(values, most=most, clusters=codes, weights=weights)
    return Estimate(found.mean, interval, n)


def _codes(clusters: Sequence[str] | None, there: npt.NDArray[np.bool_]) -> npt.NDArray[np.int64] | None:
    """Number the sources of the rows that are there; None where each stands alone."""
    if clusters is None:
        return None
    codes = _numbered(tuple(clusters))[there]
    return codes if np.bincount(codes).max() > 1 else None


def _of_numbers(values: npt.NDArray[np.float64], codes: npt.NDArray[np.int64] | None) -> Interval:
    """Give a t-interval, at least as wide as that of independent values; none where all are alike."""
    found = clustered_mean(values, clusters=codes)
    if not found.design_effect >= 0:  # nothing differs, or there is one source
        return _NONE
    stderr = max(found.stderr, standard_error(values.tolist()))
    reach = float(t.ppf(0.975, found.clusters - 1)) * stderr
    return _within(Interval(found.mean - reach, found.mean + reach), math.inf)


def from_stderr(mean: float, stderr: float | None, *, unit: Unit, metric: str = "") -> Interval:
    """Give the normal interval of a mean of which only the standard error is known; NaN where that says nothing."""
    if not stderr or not math.isfinite(stderr):  # 0 where all rows are alike, or there is but one
        return _NONE
    return _within(Interval(mean - _NORMAL * stderr, mean + _NORMAL * stderr), largest(unit, metric))


def _within(interval: Interval, most: float) -> Interval:
    return Interval(max(0.0, interval.low), min(most, interval.high)) if not math.isnan(interval.low) else interval
