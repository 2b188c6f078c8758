"""Differences of two means of which each is over rows of its own, as far as they go, of the same documents."""

import math
from collections.abc import Hashable, Sequence

import numpy as np
import numpy.typing as npt
from scipy.stats import t

from fin_tasks.stats.clustered import numbered
from fin_tasks.stats.intervals import Interval
from fin_tasks.stats.ranks import PairTest

__all__ = ["compare_own_rows", "mean_of_own_rows"]


def compare_own_rows(
    first: Sequence[float | None],
    second: Sequence[float | None],
    *,
    weights: tuple[Sequence[float], Sequence[float]] | None = None,
    clusters: Sequence[Hashable] | None = None,
    confidence: float = 0.95,
) -> PairTest:
    """Compare a metric that applies to other rows of each condition, such as a bias index, which is over wrong answers.

    With A and B the means over the rows that have a value, v and w what a row counts for in either and V and W their
    sums, a row adds v (a - A) / V - w (b - B) / W to the error of A - B, each part only where it has that value. The
    variance is that of the sum of what clusters add: G / (G - 1) * sum over clusters of (sum within)^2. It allows for
    rows that have both.

    Args:
        first: One value per document, None where the metric does not apply.
        second: The same documents under the second condition.
        weights: What each value counts for, such as the wrong answers to a document that was asked several times; one
            list for `first` and one for `second`. None where all count alike.
        clusters: The cluster of each; None where they are independent.
        confidence: Of the interval, by Student's t with one degree of freedom less than there are clusters.

    Returns:
        Named `first` and `second`; `n` are the documents with a value in either. Without a spread, or below two
        clusters, there is no interval and p is 1.

    References:
        Särndal, Swensson, Wretman (1992), Model Assisted Survey Sampling, section 5.6 (linearised ratios).

    Example:
        >>> found = compare_own_rows([1, 0, None, 1] * 20, [0, 0, 1, None] * 20)
        >>> found.n, round(found.difference, 3), round(found.p, 4)
        (80, 0.333, 0.0001)
    """
    a, b = (np.array([math.nan if value is None else value for value in values]) for values in (first, second))
    there = ~(np.isnan(a) & np.isnan(b))
    codes = np.arange(len(a)) if clusters is None else numbered(clusters)
    held = len(set(codes[there].tolist()))
    given = weights or ([1.0] * len(a), [1.0] * len(b))
    counts = [np.where(np.isnan(values), 0.0, np.array(of)) for values, of in zip((a, b), given, strict=True)]
    means = [mean_of_own_rows(values, of) for values, of in zip((first, second), counts, strict=True)]
    difference = means[0] - means[1]
    stderr = math.nan
    if held > 1 and not math.isnan(difference):
        errors = [
            np.nan_to_num(of * (values - mean) / math.fsum(of.tolist()))
            for values, mean, of in zip((a, b), means, counts, strict=True)
        ]
        sums = np.bincount(codes, weights=errors[0] - errors[1])
        stderr = math.sqrt(held / (held - 1) * float(sums @ sums))
    told = stderr > 0
    reach = float(t.ppf(0.5 + confidence / 2, held - 1)) * stderr if told else math.nan
    p = float(2 * t.sf(abs(difference) / stderr, held - 1)) if told else 1.0
    return PairTest(
        first="first",
        second="second",
        n=int(there.sum()),
        difference=difference,
        stderr=stderr,
        interval=Interval(difference - reach, difference + reach),
        p=p,
        p_holm=p,
        exact=False,
        clusters=held,
    )


def mean_of_own_rows(values: Sequence[float | None], weights: Sequence[float] | npt.NDArray[np.float64]) -> float:
    """Return sum(weights * values) / sum(weights) over the values that are there; NaN where they count for nothing.

    Example:
        >>> mean_of_own_rows([1.0, 0.0, None], [2.0, 1.0, 0.0])
        0.6666666666666666
    """
    there = [(float(weight), value) for value, weight in zip(values, weights, strict=True) if value is not None]
    total = math.fsum(weight for weight, _ in there)
    return math.fsum(weight * value for weight, value in there) / total if total else math.nan
