"""Confidence intervals from counts, and of means of several sets."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.stats import binomtest

__all__ = ["Interval", "bias_index_interval", "pooled_interval", "wilson"]


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
