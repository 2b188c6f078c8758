"""Confidence intervals from counts."""

from typing import NamedTuple

import numpy as np
from scipy.stats import binomtest


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
    bounds = binomtest(successes, n, successes / n).proportion_ci(method="wilson")  # fast: it tests the observed share
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
    drawn = np.random.default_rng(seed).multinomial(counts.sum(), counts / counts.sum(), size=10_000)
    wrong = drawn[:, 1] + drawn[:, 2]
    low, high = np.quantile(drawn[wrong > 0, 1] / wrong[wrong > 0], [0.025, 0.975])
    return Interval(float(low), float(high))
