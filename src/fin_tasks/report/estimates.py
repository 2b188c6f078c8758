"""A metric over rows: its mean, in the unit it has, with the interval that fits its values."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

import numpy as np
import numpy.typing as npt

from fin_tasks.stats.clustered import clustered_mean
from fin_tasks.stats.intervals import Interval, bootstrap_mean, wilson

__all__ = ["Estimate", "Unit", "estimate", "from_stderr", "largest", "unit_of"]

Unit = Literal["fraction", "points", "number"]

_NUMBERS = frozenset({"brier", "log_loss", "n_scored"})
_NORMAL = 1.959963984540054  # quantile of 0.975
_NONE = Interval(math.nan, math.nan)
_wilson = lru_cache(maxsize=2**16)(wilson)  # models over the same rows have the same counts again and again


@dataclass(frozen=True)
class Estimate:
    """A mean over `n` rows with its 95 % interval, NaN where there is none."""

    mean: float
    interval: Interval
    n: int


def unit_of(benchmark: str, metric: str) -> Unit:
    """Return the unit of a metric.

    Example:
        >>> unit_of("mme_finance", "score_OCR"), unit_of("mme_finance", "exact"), unit_of("dynostock", "log_loss")
        ('points', 'fraction', 'number')
    """
    if metric in _NUMBERS:
        return "number"
    return "points" if benchmark == "mme_finance" and metric.split("_")[0] == "score" else "fraction"


def largest(unit: Unit) -> float:
    """Return the largest value there is in a unit; all of them are 0 or more."""
    return {"fraction": 1.0, "points": 100.0, "number": math.inf}[unit]


def estimate(values: npt.NDArray[np.floating], *, clusters: Sequence[str] | None, unit: Unit) -> Estimate:
    """Average the values that are there.

    The interval is that of a clustered mean where rows share a source; else Wilson's where all values are 0 or 1, and
    the bootstrap's for all others. Values that are all alike show no spread: where they are the least or the most there
    can be, Wilson's interval is given, in which all rows of a cluster count once; otherwise there is none.

    Args:
        values: One per row, NaN where it does not apply.
        clusters: What each row shares with others; None where rows are independent.
        unit: Of the values; bounds are kept within it.

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
    mean = math.fsum(present.tolist()) / n
    names = (
        [name for name, is_there in zip(clusters, there.tolist(), strict=True) if is_there]
        if clusters is not None
        else None
    )
    held = len(set(names)) if names is not None else n
    most = largest(unit)
    if (present == present[0]).all():
        return Estimate(mean, _of_one_value(float(present[0]), held, most), n)
    if names is not None and held < n:
        interval = clustered_mean(present.tolist(), clusters=names).interval
    elif ((present == 0) | (present == 1)).all() and unit == "fraction":
        interval = _wilson(int(present.sum()), n)
    else:
        interval = bootstrap_mean(present.tolist())
    return Estimate(mean, _within(interval, most), n)


def from_stderr(mean: float, stderr: float | None, *, unit: Unit) -> Interval:
    """Give the normal interval of a mean of which only the standard error is known; NaN where that says nothing."""
    if not stderr or not math.isfinite(stderr):  # 0 where all rows are alike, or there is but one
        return _NONE
    return _within(Interval(mean - _NORMAL * stderr, mean + _NORMAL * stderr), largest(unit))


def _of_one_value(value: float, held: int, most: float) -> Interval:
    if value == 0 and math.isfinite(most):
        bounds = _wilson(0, held)
    elif value == most:
        bounds = _wilson(held, held)
    else:
        return _NONE
    return Interval(bounds.low * most, bounds.high * most)


def _within(interval: Interval, most: float) -> Interval:
    return Interval(max(0.0, interval.low), min(most, interval.high)) if not math.isnan(interval.low) else interval
