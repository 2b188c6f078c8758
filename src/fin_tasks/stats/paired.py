"""Comparisons of two conditions on the same documents."""

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.stats import binomtest

from fin_tasks.stats.intervals import Interval, bootstrap_mean

__all__ = ["PairedDifference", "mcnemar", "paired_difference"]


@dataclass(frozen=True, kw_only=True)
class PairedDifference:
    """By how much one condition exceeds another on the same documents.

    Attributes:
        mean: Mean of first less second, in the unit of the values; NaN without a pair.
        interval: Bootstrap interval of `mean`.
        n: Number of pairs.
        clusters: Number of clusters among them; `n` where documents count as independent.
        only_first: Pairs in which the first is 1 and the second 0; None unless all values are 0 or 1.
        only_second: Pairs in which the second is 1 and the first 0; None likewise.
        p: McNemar's p-value of the two counts, which takes pairs for independent whatever their clusters; None
            likewise. For a test that allows for clusters see `ranks.compare_all`.
    """

    mean: float
    interval: Interval
    n: int
    clusters: int
    only_first: int | None = None
    only_second: int | None = None
    p: float | None = None


def mcnemar(only_first: int, only_second: int) -> float:
    """Return the two-sided exact p-value of McNemar's test.

    Under the null hypothesis a discordant pair is as likely to go one way as the other, so the smaller count is
    binomial with n = only_first + only_second and probability one half. No approximation is needed at any size.

    Args:
        only_first: Pairs in which only the first condition has the property.
        only_second: Pairs in which only the second has it.

    Returns:
        Within (0, 1]; 1 where no pair is discordant. It takes the pairs for independent.

    Raises:
        ValueError: A count is negative.

    References:
        McNemar (1947), Note on the sampling error of the difference between correlated proportions, Psychometrika 12.

    Example:
        >>> mcnemar(8, 1)
        0.0390625
    """
    if min(only_first, only_second) < 0:
        raise ValueError(f"expected counts of 0 or more, got {only_first} and {only_second}")
    n = only_first + only_second
    return float(binomtest(only_first, n).pvalue) if n else 1.0


def paired_difference(
    first: Sequence[float],
    second: Sequence[float],
    *,
    clusters: Sequence[Hashable] | None = None,
    confidence: float = 0.95,
    resamples: int = 10_000,
    seed: int = 42,
) -> PairedDifference:
    """Compare two conditions document by document.

    Args:
        first: One value per document under the first condition: 0 and 1 for a property, or any other numbers.
        second: The same documents, in the same order, under the second condition.
        clusters: The cluster of each document, such as its ticker; see `stats.intervals.bootstrap_mean`.
        confidence: Of the interval, between 0 and 1.
        resamples: Number of bootstrap resamples.
        seed: The same seed gives the same interval.

    Returns:
        The mean of first less second with its interval; for shares also the discordant pairs and McNemar's p-value.

    Raises:
        ValueError: The lengths differ.

    Example:
        >>> difference = paired_difference([1, 1, 1, 0], [0, 1, 0, 0])
        >>> difference.mean, difference.only_first, difference.only_second, difference.p
        (0.5, 2, 0, 0.5)
    """
    a, b = np.asarray(first, dtype=np.float64), np.asarray(second, dtype=np.float64)
    if len(a) != len(b):
        raise ValueError(f"expected pairs, got {len(a)} first and {len(b)} second values")
    n = len(a)
    interval = bootstrap_mean(
        (a - b).tolist(), clusters=clusters, confidence=confidence, resamples=resamples, seed=seed
    )
    difference = PairedDifference(
        mean=float(np.mean(a - b)) if n else math.nan,
        interval=interval,
        n=n,
        clusters=n if clusters is None else len(set(clusters)),
    )
    if not np.isin(np.concatenate([a, b]), (0, 1)).all():
        return difference
    only_first, only_second = int(np.sum(a > b)), int(np.sum(b > a))
    return PairedDifference(
        mean=difference.mean,
        interval=interval,
        n=n,
        clusters=difference.clusters,
        only_first=only_first,
        only_second=only_second,
        p=mcnemar(only_first, only_second),
    )
