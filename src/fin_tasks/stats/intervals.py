"""Confidence intervals from counts, and of means of several sets."""

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.stats import binomtest

__all__ = ["Interval", "bias_index_interval", "bootstrap_mean", "pooled_interval", "wilson"]


_Floats = npt.NDArray[np.float64]
_CELLS_AT_ONCE = 4_000_000


@dataclass(frozen=True)
class Interval:
    """A 95 % confidence interval in the unit of its value; NaN if none can be given."""

    low: float
    high: float


def wilson(successes: int, n: int, *, confidence: float = 0.95) -> Interval:
    """Return Wilson's score interval of a share of independent documents; [0, 1] for n = 0.

    References:
        Wilson (1927), Probable inference, the law of succession, and statistical inference, JASA 22.

    Example:
        >>> interval = wilson(58, 100)
        >>> round(interval.low, 4), round(interval.high, 4)
        (0.4821, 0.672)
    """
    if n == 0 and successes == 0:
        return Interval(0.0, 1.0)
    # binomtest is fast if it tests the observed share itself
    bounds = binomtest(successes, n, successes / max(n, 1)).proportion_ci(confidence, method="wilson")
    return Interval(float(bounds.low), float(bounds.high))


def pooled_interval(parts: Sequence[tuple[int, float, Interval]]) -> Interval:
    """Return the interval of the mean over independent sets, from rows, mean and interval of each (MOVER).

    References:
        Zou, Donner (2008), Construction of confidence limits about effect measures, Statistics in Medicine 27.

    Example:
        >>> halves = [(50, 0.58, wilson(29, 50)), (50, 0.58, wilson(29, 50))]
        >>> [round(bound, 2) for bound in (pooled_interval(halves).low, pooled_interval(halves).high)]
        [0.48, 0.67]
    """
    rows = sum(n for n, _, _ in parts)
    if rows <= 0:
        raise ValueError(f"expected parts with rows, got {rows}")
    mean = math.fsum(n * value for n, value, _ in parts) / rows
    below = math.hypot(*(n / rows * (value - interval.low) for n, value, interval in parts))
    above = math.hypot(*(n / rows * (interval.high - value) for n, value, interval in parts))
    return Interval(mean - below, mean + above)


def bias_index_interval(
    *, correct: int, led: int, other: int, seed: int = 42, resamples: int = 10_000, confidence: float = 0.95
) -> Interval:
    """Return the percentile bootstrap interval of the bias index, led / (led + other), over independent documents.

    Right documents are resampled too, as the number of wrong ones is random. If all wrong answers are led, or none,
    every resample has the same index: then Wilson's interval of led among wrong is returned, [0, 1] if none is wrong.

    Args:
        correct: Right answers.
        led: Wrong answers equal to the signal.
        other: All other wrong answers, missing ones included.
        seed: The same seed gives the same interval.
        resamples: Number of resamples.
        confidence: Share of such intervals that hold the true index.

    Example:
        >>> interval = bias_index_interval(correct=58, led=10, other=32, seed=1)
        >>> round(interval.low, 2), round(interval.high, 2)
        (0.11, 0.38)
    """
    counts = np.array([correct, led, other])
    if (counts < 0).any():
        raise ValueError(f"expected counts of 0 or more, got correct={correct}, led={led}, other={other}")
    if led == 0 or other == 0:
        return wilson(led, led + other, confidence=confidence)
    drawn = np.random.default_rng(seed).multinomial(counts.sum(), counts / counts.sum(), size=resamples)
    wrong = drawn[:, 1] + drawn[:, 2]
    low, high = np.quantile(drawn[wrong > 0, 1] / wrong[wrong > 0], [(1 - confidence) / 2, (1 + confidence) / 2])
    return Interval(float(low), float(high))


def bootstrap_mean(
    values: Sequence[float],
    *,
    clusters: Sequence[Hashable] | None = None,
    confidence: float = 0.95,
    resamples: int = 10_000,
    seed: int = 42,
) -> Interval:
    """Give the percentile bootstrap interval of a mean.

    Without clusters every resample draws n documents out of n with replacement. With clusters it draws whole clusters,
    as many as there are, and takes the mean over all their documents: documents of a cluster may depend on each other
    in any way. Percentile intervals are too narrow for few clusters, markedly below about 20.

    Args:
        values: One finite number per document, any unit.
        clusters: The cluster of each document, such as its ticker; None if documents are independent.
        confidence: Share of such intervals that hold the true mean, between 0 and 1.
        resamples: Number of resamples.
        seed: The same seed gives the same interval.

    Returns:
        Bounds in the unit of the values. NaN for fewer than two documents, or fewer than two clusters, of which no
        spread can be seen. All values alike give an interval of no width.

    Raises:
        ValueError: `clusters` has another length than `values`.

    References:
        Efron, Tibshirani (1993), An Introduction to the Bootstrap, chapter 13;
        Field, Welsh (2007), Bootstrapping clustered data, JRSS B 69.

    Example:
        >>> bootstrap_mean([0, 0, 1, 1] * 25, seed=1)
        Interval(low=0.4, high=0.6)
        >>> bootstrap_mean([0, 0, 1, 1] * 25, clusters=["A", "A", "B", "B"] * 25, seed=1)
        Interval(low=0.0, high=1.0)
    """
    numbers = np.asarray(values, dtype=np.float64)
    sums, counts = numbers, np.ones_like(numbers)
    if clusters is not None:
        if len(clusters) != len(numbers):
            raise ValueError(f"clusters: expected one per value ({len(numbers)}), got {len(clusters)}")
        index = {cluster: place for place, cluster in enumerate(dict.fromkeys(clusters))}
        places = np.array([index[cluster] for cluster in clusters], dtype=np.intp)
        counts = np.bincount(places).astype(np.float64)
        sums = np.bincount(places, weights=numbers).astype(np.float64)
    if len(sums) < 2:
        return Interval(math.nan, math.nan)
    units = np.column_stack([sums, counts])
    kinds, sizes = np.unique(units, axis=0, return_counts=True)
    return _percentiles(_resampled_ratios(kinds, sizes, resamples, seed), confidence)


def _resampled_ratios(kinds: _Floats, sizes: npt.NDArray[Any], resamples: int, seed: int) -> _Floats:
    """Resample sum of numerators / sum of denominators.

    `kinds` has a row (numerator, denominator) per kind of unit, `sizes` how many units there are of each.
    """
    generator = np.random.default_rng(seed)
    n = int(sizes.sum())
    at_once = max(1, _CELLS_AT_ONCE // len(sizes))
    totals = [
        generator.multinomial(n, sizes / n, size=min(at_once, resamples - start)) @ kinds
        for start in range(0, resamples, at_once)
    ]
    numerators, denominators = np.concatenate(totals).T
    there = denominators > 0
    return np.asarray(numerators[there] / denominators[there], dtype=np.float64)


def _percentiles(resampled: _Floats, confidence: float) -> Interval:
    tail = (1 - confidence) / 2
    low, high = np.quantile(resampled, [tail, 1 - tail])
    return Interval(float(low), float(high))
