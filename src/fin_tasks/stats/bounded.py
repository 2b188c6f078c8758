"""Confidence intervals for means of values that lie between 0 and a largest one, with or without clusters."""

import math
from functools import lru_cache

import numpy as np
import numpy.typing as npt
from scipy.stats import norm, t

from fin_tasks.stats.intervals import Interval

__all__ = ["bounded_mean"]

_HALF = 0.5
_NONE = Interval(math.nan, math.nan)


def bounded_mean(
    values: npt.NDArray[np.float64],
    *,
    most: float = 1.0,
    clusters: npt.NDArray[np.int64] | None = None,
    weights: npt.NDArray[np.float64] | None = None,
    confidence: float = 0.95,
) -> Interval:
    """Give an interval for the mean of values between 0 and `most`: Wilson's, for as many rows as these are worth.

    With p the mean over `most`, q Student's quantile for one less than the clusters, and an effective number of rows
    m = p(1 - p) / max(V, V0), where V is the variance of the mean that allows for clusters and V0 the one that does
    not: (p + q^2/2m -+ q sqrt(p(1 - p)/m + q^2/4m^2)) / (1 + q^2/m). A mean -+ q standard errors, and the bootstrap,
    cover far too little near 0 and `most`, where a few rows may have no other value than the largest by chance.

    Graded values may hide rarer ones that the rows do not happen to show. They count with half a cluster more at 0 and
    half a one at `most` in both variances, which weighs little from some 40 rows on. Values that differ always get an
    interval of some width, and so do equal ones in between.

    Args:
        values: At least one, none of them missing.
        most: The largest value there can be.
        clusters: Number of the cluster of each, from 0 on; None where they are independent.
        weights: What each counts for in the mean, more than 0, in any unit; None where all count alike. With them p is
            sum(w v) / sum(w), and each value's distance from it counts w times in both variances: so it is for a ratio
            of sums, sum(w v) over sum(w), and for a mean of several sets' means.
        confidence: Share of such intervals that hold the true mean. Of those for 95 % it is in simulations 93 % or
            more over independent rows and over clusters of few rows. Over clusters of some 15 rows it is 95 % on
            average, but as little as 89 % where rows have a correlation of 0.25 and 85 % where it is 0.6, both for
            means of 0.95: the few clusters that are otherwise may all be missing, and no value tells of them.

    Returns:
        Bounds within [0, most]. Where all values are 0, or `most`, each cluster counts as one row; NaN where there is
        but one cluster and its values are neither.

    Raises:
        ValueError: A value is outside [0, most], or a weight is not above 0.

    References:
        Korn, Graubard (1998), Confidence intervals for proportions with small expected number of positive counts
        estimated from survey data, Survey Methodology 24; Wilson (1927), see `intervals.wilson`.

    Example:
        >>> grades = np.array([100.0] * 11 + [80.0, 40.0])
        >>> found = bounded_mean(grades, most=100)
        >>> round(found.low, 1), round(found.high, 1)
        (70.6, 99.0)
    """
    shares = values / most
    if not ((shares >= 0) & (shares <= 1)).all():
        raise ValueError(f"expected values within [0, {most:g}], got {values.min():g} to {values.max():g}")
    if weights is not None and not (weights > 0).all():
        raise ValueError(f"expected weights above 0, got {weights.min():g}")
    counts = np.ones(len(shares)) if weights is None else weights * (len(shares) / math.fsum(weights.tolist()))
    p = math.fsum((counts * shares).tolist()) / len(shares)
    held = len(shares) if clusters is None else np.count_nonzero(np.bincount(clusters))
    extreme = bool((shares == shares[0]).all()) and shares[0] in (0.0, 1.0)
    if held < 2 and not extreme:
        return _NONE
    worth = float(held) if extreme else _worth(shares, clusters, counts)
    q = _student(confidence, held - 1) if held > 1 and not extreme else _normal(confidence)
    middle = (p + q * q / 2 / worth) / (1 + q * q / worth)
    reach = q / (1 + q * q / worth) * math.sqrt(p * (1 - p) / worth + q * q / 4 / worth**2)
    # of 0 and 1 the bounds are these, but middle and reach are rounded each for itself
    low, high = min(p, max(0.0, middle - reach)), max(p, min(1.0, middle + reach))
    return Interval(most * low, most * high)


def _worth(
    shares: npt.NDArray[np.float64], clusters: npt.NDArray[np.int64] | None, counts: npt.NDArray[np.float64]
) -> float:
    """Return how many independent values of 0 and 1 would leave the mean as uncertain; `counts` are 1 on average."""
    n = len(shares)
    codes = np.arange(n) if clusters is None else clusters
    sizes = np.bincount(codes, weights=counts)
    graded = not ((shares == 0) | (shares == 1)).all()
    # rows that a pseudo-cluster has: as many as one that a row is likely to be in
    size = float(sizes @ sizes) / n if graded else 0.0
    rows, held = n + 2 * _HALF * size, np.count_nonzero(sizes) + 2 * _HALF * graded
    mean = (float(counts @ shares) + _HALF * size) / rows
    residuals = counts * (shares - mean)
    ends = _HALF * (mean**2 + (1 - mean) ** 2)
    sums = np.bincount(codes, weights=residuals)
    clustered = held / (held - 1) * (float(sums @ sums) + ends * size**2) / rows**2
    independent = (float(residuals @ residuals) + ends * size) / (rows - 1) / rows
    return float(mean * (1 - mean) / max(clustered, independent) * n / rows)


@lru_cache(maxsize=2**12)  # sets of as many clusters come again and again
def _student(confidence: float, degrees: int) -> float:
    return float(t.ppf(0.5 + confidence / 2, degrees))


def _normal(confidence: float) -> float:
    return float(norm.ppf(0.5 + confidence / 2))
