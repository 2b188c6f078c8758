"""Confidence intervals for means of several sets' means, as of the tasks of a group, which may share clusters."""

import math

import numpy as np
import numpy.typing as npt

from fin_tasks.stats.bounded import bounded_mean
from fin_tasks.stats.intervals import Interval

__all__ = ["collapsed", "stratified_mean"]

_FEW = 10  # clusters below which intervals about shares of 0.9 or more, added up, hold too little


def stratified_mean(
    values: npt.NDArray[np.float64],
    *,
    strata: npt.NDArray[np.int64],
    most: float = 1.0,
    clusters: npt.NDArray[np.int64] | None = None,
    weights: npt.NDArray[np.float64] | None = None,
    confidence: float = 0.95,
) -> Interval:
    """Give an interval for a mean over sets that are given: how far these are from each other makes nothing uncertain.

    Each set h has its own interval (l_h, u_h) about its mean p_h, that of `bounded_mean`, so that sets which show
    nothing but 0 or full marks are not certain either. Sets of fewer than 10 clusters, or rows, are taken for one
    together, as so few do not show how much they vary (collapsed strata). The intervals add up by the method of
    variance estimates recovery (MOVER): with W_h what a set counts for and r_hk the correlation of two sets' means,
    low = mean - sqrt(sum over h, k of r_hk W_h (p_h - l_h) W_k (p_k - l_k)), and `high` likewise. r_hk is that of
    the clusters' sums, 0 without clusters in both; where correlations leave less in all than none would, they are
    taken for none.

    Args:
        values: At least one, from 0 to `most`, none of them missing.
        strata: The set of each, numbers from 0 on.
        most: The largest value there can be.
        clusters: The cluster of each, from 0 on, which may have values in several sets; None where they are
            independent.
        weights: As of `bounded_mean`: W_h is a set's share of their sum.
        confidence: Share of such intervals that hold the true mean.

    Returns:
        Bounds within [0, most]. A set that leaves its own open, with one cluster, may have any mean; NaN where all do.

    Raises:
        ValueError: As `bounded_mean`.

    References:
        Cochran (1977), Sampling Techniques, section 5A.12, of collapsed strata; Zou, Donner (2008), Construction of
        confidence limits about effect measures, Statistics in Medicine 27; Zou, Huang, Zhang (2009), A note on
        confidence interval estimation for a linear function of binomial proportions, Computational Statistics and
        Data Analysis 53.

    Example:
        >>> right = np.array([1.0] * 19 + [0.0] * 20 + [1.0])
        >>> found, apart = stratified_mean(right, strata=np.arange(40) // 20), bounded_mean(right)
        >>> round(found.low, 2), round(found.high, 2), round(apart.low, 2), round(apart.high, 2)
        (0.39, 0.61, 0.35, 0.65)
    """
    strata = collapsed(strata, clusters)
    counts = np.ones(len(values)) if weights is None else weights
    found = [Interval(math.nan, math.nan)] * (int(strata.max()) + 1)
    sums = np.zeros((len(found), len(values) if clusters is None else int(clusters.max()) + 1))
    below, above, means = np.zeros((3, len(found)))
    total = math.fsum(counts.tolist())
    for at in np.flatnonzero(np.bincount(strata)):
        rows = np.flatnonzero(strata == at)
        of, own = None if clusters is None else clusters[rows], counts[rows]
        found[at] = bounded_mean(values[rows], most=most, clusters=of, weights=own, confidence=confidence)
        low, high = (0.0, most) if math.isnan(found[at].low) else (found[at].low, found[at].high)
        weight = math.fsum(own.tolist())
        mean = math.fsum((own * values[rows]).tolist()) / weight
        means[at], below[at], above[at] = np.array([mean, mean - low, high - mean]) * weight / total
        sums[at] = np.bincount(rows if of is None else of, own * (values[rows] - mean), minlength=sums.shape[1])
    if all(math.isnan(one.low) for one in found):
        return Interval(math.nan, math.nan)
    together = _correlations(sums)
    mean = math.fsum(means.tolist())
    low, high = mean - _reach(below, together), mean + _reach(above, together)
    return Interval(min(max(0.0, low), mean), max(min(most, high), mean))


def collapsed(strata: npt.NDArray[np.int64], clusters: npt.NDArray[np.int64] | None) -> npt.NDArray[np.int64]:
    """Give all sets of fewer than 10 clusters, or rows, the number of the first of them.

    Args:
        strata: The set of each row.
        clusters: The cluster of each; None where they are independent.

    Example:
        >>> collapsed(np.array([0] * 12 + [1] * 3 + [2] * 2), None)[-6:].tolist()
        [0, 1, 1, 1, 1, 1]
    """
    held = np.bincount(strata)
    if clusters is not None:
        most = int(clusters.max()) + 1
        rows = np.bincount(strata * most + clusters, minlength=len(held) * most)
        held = np.count_nonzero(rows.reshape(len(held), most), axis=1)
    few = np.flatnonzero((held > 0) & (held < _FEW))
    return np.where(np.isin(strata, few), few[0], strata) if len(few) > 1 else strata


def _correlations(sums: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Correlate rows of sums about 0; those without any spread with none but themselves."""
    sizes = np.sqrt((sums**2).sum(axis=1))
    scaled = sums / np.where(sizes > 0, sizes, 1.0)[:, np.newaxis]
    found = scaled @ scaled.T
    np.fill_diagonal(found, 1.0)
    return np.asarray(found, dtype=np.float64)


def _reach(distances: npt.NDArray[np.float64], together: npt.NDArray[np.float64]) -> float:
    return math.sqrt(max(float(distances @ distances), float(distances @ together @ distances)))
