"""Standard errors of means where documents share a source: a figure, a ticker, a textbook exercise."""

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.stats import t

from fin_tasks.stats.intervals import Interval

__all__ = ["ClusteredMean", "clustered_mean", "numbered"]


@dataclass(frozen=True, kw_only=True)
class ClusteredMean:
    """A mean with what its clusters leave uncertain.

    Attributes:
        mean: In the values' unit; NaN without values.
        stderr: Its standard error; NaN below two clusters.
        interval: mean -+ quantile * stderr, by Student's t with clusters - 1 degrees of freedom; NaN likewise.
        n: Values.
        clusters: Clusters among them.
        design_effect: Variance over that of as many independent values; 1 without clusters, NaN where not defined.
            Below 1 where values differ less between clusters than chance would have it.
    """

    mean: float
    stderr: float
    interval: Interval
    n: int
    clusters: int
    design_effect: float


def clustered_mean(
    values: Sequence[float] | npt.NDArray[np.float64],
    *,
    clusters: Sequence[Hashable] | npt.NDArray[np.int64] | None = None,
    confidence: float = 0.95,
) -> ClusteredMean:
    """Average values of which those of one cluster may depend on each other in any way.

    stderr^2 = G / (G - 1) * sum over clusters of (sum of (v - mean) within the cluster)^2 / n^2: the cluster-robust
    variance (CR1) of a regression on a constant. Without clusters it is that of independent values, s^2 / n.

    Args:
        values: One finite number per document.
        clusters: The cluster of each, numbers from 0 on where it is an array; None where each document is one.
        confidence: Share of such intervals that hold the true mean; somewhat less do below 20 clusters.

    Raises:
        ValueError: `clusters` has another length than `values`, or a value is not finite.

    References:
        Cameron, Miller (2015), A Practitioner's Guide to Cluster-Robust Inference, section II; Miller (2024),
        arXiv:2411.00640, section 2.2, for evaluations of language models.

    Example:
        >>> found = clustered_mean([1, 1, 0, 0, 1, 0], clusters=["a", "a", "b", "b", "c", "c"])
        >>> found.mean, found.clusters, round(found.stderr, 4)
        (0.5, 3, 0.2887)
    """
    if clusters is not None and len(clusters) != len(values):
        raise ValueError(f"expected a cluster per value, got {len(clusters)} for {len(values)}")
    numbers = np.asarray(values, dtype=np.float64)
    if not np.isfinite(numbers).all():
        raise ValueError(f"expected finite numbers, got {numbers[~np.isfinite(numbers)][0]}")
    n = len(numbers)
    mean = math.fsum(numbers.tolist()) / n if n else math.nan
    residuals = numbers - mean
    sums = residuals if clusters is None else _sums(residuals, clusters)
    held = len(sums)
    if held < 2:
        nothing = Interval(math.nan, math.nan)
        return ClusteredMean(mean=mean, stderr=math.nan, interval=nothing, n=n, clusters=held, design_effect=math.nan)
    stderr = math.sqrt(held / (held - 1) * float(sums @ sums)) / n
    independent = math.sqrt(float(residuals @ residuals) / (n - 1) / n)
    reach = float(t.ppf(0.5 + confidence / 2, held - 1)) * stderr
    return ClusteredMean(
        mean=mean,
        stderr=stderr,
        interval=Interval(mean - reach, mean + reach),
        n=n,
        clusters=held,
        design_effect=(stderr / independent) ** 2 if independent else math.nan,
    )


def _sums(
    residuals: npt.NDArray[np.float64], clusters: Sequence[Hashable] | npt.NDArray[np.int64]
) -> npt.NDArray[np.float64]:
    codes = clusters if isinstance(clusters, np.ndarray) else numbered(clusters)
    sums = np.bincount(codes, weights=residuals)
    return np.asarray(sums[np.bincount(codes) > 0], dtype=np.float64)


def numbered(clusters: Sequence[Hashable]) -> npt.NDArray[np.int64]:
    """Number clusters from 0 on, in the order they come.

    Example:
        >>> numbered(["b", "a", "b"]).tolist()
        [0, 1, 0]
    """
    codes = {name: code for code, name in enumerate(dict.fromkeys(clusters))}
    return np.array([codes[name] for name in clusters], dtype=np.int64)
