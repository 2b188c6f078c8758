"""Confidence intervals of shares and of means, where rows may share a figure, an exercise, a picture or a ticker."""

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.special import stdtrit
from scipy.stats import binomtest

Floats = npt.NDArray[np.float64]
Codes = npt.NDArray[np.integer]


class Interval(NamedTuple):
    """A 95 % confidence interval in the unit of its value; NaN if none can be given."""

    low: float
    high: float


def wilson(successes: int, n: int) -> Interval:
    """Return Wilson's score interval of a share of independent documents; [0, 1] for n = 0.

    References:
        Wilson (1927), Probable inference, the law of succession, and statistical inference, JASA 22.
    """
    if n == 0:
        return Interval(0.0, 1.0)
    bounds = binomtest(successes, n, successes / n).proportion_ci(
        method="wilson"
    )  # fast: it tests the observed share
    return Interval(float(bounds.low), float(bounds.high))


def bias_index_interval(*, correct: int, led: int, other: int, seed: int = 42) -> Interval:
    """Return the percentile bootstrap interval of the bias index, led / (led + other), over independent documents.

    `led` counts wrong answers equal to the signal, `other` all other wrong answers, missing ones included. Right
    documents are resampled too, as the number of wrong ones is random. If all wrong answers are led, or none, every
    resample has the same index: then Wilson's interval of led among wrong is returned.
    """
    if led == 0 or other == 0:
        return wilson(led, led + other)
    counts = np.array([correct, led, other])
    drawn = np.random.default_rng(seed).multinomial(
        counts.sum(), counts / counts.sum(), size=10_000
    )
    wrong = drawn[:, 1] + drawn[:, 2]
    low, high = np.quantile(drawn[wrong > 0, 1] / wrong[wrong > 0], [0.025, 0.975])
    return Interval(float(low), float(high))


@dataclass(frozen=True, kw_only=True)
class Estimate:
    """A mean over `n` values in `clusters` clusters with its 95 % interval; NaN, and no `method`, if not defined."""

    mean: float
    low: float
    high: float
    stderr: float
    n: int
    clusters: int
    method: str


def estimate(
    values: Floats,
    *,
    clusters: Codes | None = None,
    weights: Floats | None = None,
    most: float = 1.0,
) -> Estimate:
    """Average values and give the 95 % interval of the mean.

    Independent values of 0 and `most` have Wilson's interval. All others have a t interval with the cluster-robust
    standard error (CR1) and clusters - 1 degrees of freedom, cut at 0 and `most`. If all values are 0, or all `most`,
    each cluster counts as one row in Wilson's interval. Other values without any spread have none.

    Args:
        values: NaN is left out.
        clusters: A number for each value; equal numbers depend on each other, negative numbers stand alone.
        weights: What each value counts in the mean; equal if None. Values that weigh nothing are left out.
        most: The largest possible value, 0 being the smallest; infinity for other numbers.

    References:
        Wilson (1927), JASA 22; Cameron, Miller (2015), A Practitioner's Guide to Cluster-Robust Inference, section II.

    Example:
        >>> found = estimate(np.array([1, 1, 0, 0, 1, 0.0]), clusters=np.array([0, 0, 1, 1, 2, 2]))
        >>> found.mean, found.clusters, round(found.stderr, 4), found.method
        (0.5, 3, 0.2887, 'clustered t')
    """
    there = ~np.isnan(values) if weights is None else ~np.isnan(values) & (weights > 0)
    known = values[there]
    own = None if weights is None else weights[there]
    mean, stderr, groups = cluster_sums(known, None if clusters is None else clusters[there], own)
    n = len(known)
    low = high = math.nan
    method = ""
    alike = n > 0 and bool((known == known[0]).all())
    shares = n > 0 and math.isfinite(most) and bool(((known == 0) | (known == most)).all())
    equal = own is None or n == 0 or bool((own == own[0]).all())
    if shares and (alike or (groups == n and equal)):
        counted = n if groups == n else groups
        interval = wilson(round(mean / most * counted), counted)
        low, high = most * interval.low, most * interval.high
        method = "Wilson" if groups == n else "Wilson, each cluster as one row"
    elif groups > 1 and not alike:
        reach = float(stdtrit(groups - 1, 0.975)) * stderr
        low, high = mean - reach, min(most, mean + reach)
        low = max(0.0, low) if known.min() >= 0 else low
        method = "t" if groups == n else "clustered t"
    return Estimate(
        mean=mean, low=low, high=high, stderr=stderr, n=n, clusters=groups, method=method
    )


def cluster_sums(
    values: Floats, clusters: Codes | None = None, weights: Floats | None = None
) -> tuple[float, float, int]:
    """Return the mean of values, its cluster-robust standard error (CR1) and the number of clusters.

    stderr^2 = G / (G - 1) * sum over the G clusters of (sum of w (v - mean))^2 / (sum of w)^2. Arguments are those of
    `estimate`, without NaN.
    """
    if not len(values):
        return math.nan, math.nan, 0
    weights = np.ones(len(values)) if weights is None else weights
    total = math.fsum(weights.tolist())
    mean = math.fsum((weights * values).tolist()) / total
    sums = weights * (values - mean)
    if clusters is not None:
        alone = np.where(clusters < 0, int(clusters.max()) + 1 + np.arange(len(clusters)), clusters)
        sums = np.bincount(alone, weights=sums)[np.bincount(alone) > 0].astype(np.float64)
    held = len(sums)
    return (
        mean,
        math.sqrt(held / (held - 1) * float(sums @ sums)) / total if held > 1 else math.nan,
        held,
    )
