"""Confidence intervals of shares and means.

Rows may depend on each other, because they share a figure, an exercise, a picture or a ticker. Such
rows are a cluster.
"""

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.special import stdtrit

Floats = npt.NDArray[np.float64]
Codes = npt.NDArray[np.integer]
NORMAL_QUANTILE = 1.959963984540054
"""The quantile of the normal distribution at 97.5 %."""
_N_RESAMPLES = 10_000


class Interval(NamedTuple):
    """A 95 % confidence interval in the unit of its value. Both ends are NaN if no interval exists."""

    low: float
    high: float


@dataclass(frozen=True, kw_only=True)
class Estimate:
    """A mean with its 95 % interval; NaN, and no `method`, if not defined."""

    mean: float
    low: float
    high: float
    stderr: float
    n: int
    clusters: int
    method: str


def wilson(successes: int, n: int) -> Interval:
    """Return Wilson's score interval of a share of independent documents; [0, 1] for n = 0.

    References:
        Wilson (1927), Probable inference, the law of succession, and statistical inference,
        JASA 22.
    """
    # By hand, as importing scipy.stats takes a second in each process of a report.
    if n == 0:
        return Interval(0.0, 1.0)
    share = successes / n
    square = NORMAL_QUANTILE**2
    size = 2 * (n + square)
    center = (2 * n * share + square) / size
    spread = math.sqrt(4 * n * share * (1 - share) + square)
    reach = NORMAL_QUANTILE / size * spread
    low = 0.0 if successes == 0 else center - reach
    high = 1.0 if successes == n else center + reach
    return Interval(low, high)


def bias_index_interval(
    *,
    correct: int,
    led: int,
    other: int,
) -> Interval:
    """Return the percentile bootstrap interval of the bias index, led / (led + other).

    The documents are independent. Right documents are resampled too, because the number of wrong
    ones is random. If all wrong answers are led, or none, every resample has the same index. Then
    Wilson's interval of led among wrong is returned.

    Args:
        correct: Right answers.
        led: Wrong answers that equal the signal.
        other: All other wrong answers, missing ones included.
    """
    if led == 0 or other == 0:
        return wilson(led, led + other)
    counts = np.array([correct, led, other])
    n = counts.sum()
    generator = np.random.default_rng(42)
    resamples = generator.multinomial(n, counts / n, size=_N_RESAMPLES)
    n_led = resamples[:, 1]
    n_wrong = n_led + resamples[:, 2]
    has_wrong = n_wrong > 0
    indices = n_led[has_wrong] / n_wrong[has_wrong]
    bounds = np.quantile(indices, [0.025, 0.975])
    return Interval(*bounds.tolist())


def estimate(
    values: Floats,
    *,
    clusters: Codes | None = None,
    weights: Floats | None = None,
    maximum: float = 1.0,
) -> Estimate:
    """Average values and give the 95 % interval of the mean.

    Independent values of 0 and `maximum` have Wilson's interval. All others have a t interval with the
    cluster-robust standard error (CR1) and clusters - 1 degrees of freedom, cut at 0 and `maximum`. If
    all values are 0, or all are `maximum`, each cluster counts as one row in Wilson's interval. Other
    values without any spread have no interval.

    Args:
        values: One for each row; NaN is left out.
        clusters: A number for each value. Equal numbers are one cluster; each negative number
            stands alone.
        weights: What each value counts in the mean; equal if None. Values without weight are left
            out.
        maximum: The largest possible value, 0 being the smallest; infinity if there is none.

    References:
        Wilson (1927), JASA 22; Cameron, Miller (2015), A Practitioner's Guide to Cluster-Robust
        Inference, section II.

    Example:
        >>> answers = np.array([1, 1, 0, 0, 1, 0.0])
        >>> accuracy = estimate(answers, clusters=np.array([0, 0, 1, 1, 2, 2]))
        >>> accuracy.mean, accuracy.clusters, round(accuracy.stderr, 4), accuracy.method
        (0.5, 3, 0.2887, 'clustered t')
    """
    clusters = cluster_codes(clusters, len(values))
    if weights is None:
        weights = np.ones(len(values))
    is_counted = ~np.isnan(values) & (weights > 0)
    values = values[is_counted]
    weights = weights[is_counted]
    clusters = clusters[is_counted]
    mean, stderr, n_clusters = clustered_mean(values, clusters, weights)
    n = len(values)
    is_independent = n_clusters == n
    is_constant = (values == values[:1]).all()
    is_equally_weighted = (weights == weights[:1]).all()
    is_bound = (values == 0) | (values == maximum)
    is_binary = n > 0 and math.isfinite(maximum) and is_bound.all()
    method = ""
    low = math.nan
    high = math.nan
    if is_binary and (is_constant or (is_independent and is_equally_weighted)):
        method = "Wilson" if is_independent else "Wilson, each cluster as one row"
        n_right = round(mean / maximum * n_clusters)
        interval = wilson(n_right, n_clusters)
        low = maximum * interval.low
        high = maximum * interval.high
    elif n_clusters > 1 and not is_constant:
        method = "t" if is_independent else "clustered t"
        reach = float(stdtrit(n_clusters - 1, 0.975)) * stderr
        low = mean - reach
        if values.min() >= 0:
            low = max(0.0, low)
        high = min(maximum, mean + reach)
    return Estimate(
        mean=mean,
        low=low,
        high=high,
        stderr=stderr,
        n=n,
        clusters=n_clusters,
        method=method,
    )


def mean_difference(differences: Floats, clusters: Codes) -> Estimate:
    """Average differences, and give the 95 % interval of the mean.

    It is a t interval with the cluster-robust standard error (CR1) and clusters - 1 degrees of freedom. With one
    cluster, or if all differences are equal, there is none. The arguments are those of `estimate`.

    Reference: Cameron, Miller (2015), A Practitioner's Guide to Cluster-Robust Inference, section II.
    """
    is_counted = ~np.isnan(differences)
    values = differences[is_counted]
    weights = np.ones(len(values))
    mean, stderr, n_clusters = clustered_mean(values, clusters[is_counted], weights)
    reach = math.nan
    if n_clusters > 1 and np.ptp(values) > 0:
        reach = float(stdtrit(n_clusters - 1, 0.975)) * stderr
    return Estimate(
        mean=mean,
        low=mean - reach,
        high=mean + reach,
        stderr=stderr,
        n=len(values),
        clusters=n_clusters,
        method="" if math.isnan(reach) else "clustered t",
    )


def clustered_mean(
    values: Floats,
    clusters: Codes,
    weights: Floats,
) -> tuple[float, float, int]:
    """Return the mean of values, its standard error and the number of clusters; the arguments are those of `estimate`.

    stderr^2 = G / (G - 1) * sum over the G clusters of (sum of w (v - mean))^2 / (sum of w)^2.
    Values are not NaN. Without values the mean is NaN, with one cluster the standard error is.
    """
    if not len(values):
        return math.nan, math.nan, 0
    total = math.fsum(weights.tolist())
    weighted = weights * values
    mean = math.fsum(weighted.tolist()) / total
    codes = cluster_codes(clusters, len(values))
    residuals = weights * (values - mean)
    sums = np.bincount(codes, weights=residuals)
    n_clusters = int(np.count_nonzero(np.bincount(codes)))
    if n_clusters < 2:
        return mean, math.nan, n_clusters
    correction = n_clusters / (n_clusters - 1)
    variance = correction * float(sums @ sums)
    stderr = math.sqrt(variance) / total
    return mean, stderr, n_clusters


def cluster_codes(clusters: Codes | None, n: int) -> Codes:
    """Return clusters without negative numbers; each row that stands alone gets a number of its own."""
    own_codes = np.arange(n)
    if clusters is None:
        return own_codes
    own_codes += clusters.max(initial=-1) + 1
    return np.where(clusters < 0, own_codes, clusters)
