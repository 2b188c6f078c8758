"""Compare runs on the same rows: difference, interval and test of each pair, and ranks."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import NamedTuple

import numpy as np
import pandas as pd
from scipy.special import bdtr, betaincinv, stdtr, stdtrit

from fin_tasks.stats.means import Codes, Floats, Interval, clustered_mean

ALPHA = 0.05
"""Level of a significant difference, after Holm's correction."""
_NORMAL_QUANTILE = 1.959963984540054  # 97.5 %
_NOISE = 1e-12  # differences below this come from rounding


@dataclass(frozen=True, kw_only=True)
class Pair:
    """First less second on the rows that both have scored, with a 95 % interval and a test.

    The interval excludes 0 only if `p` is below 0.05; it is NaN if there is none.
    """

    first: str = ""
    second: str = ""
    n: int = 0
    """Rows that both have scored."""
    clusters: int = 0
    difference: float = math.nan
    low: float = math.nan
    high: float = math.nan
    p: float = 1.0
    """Two-sided p-value; 1 if nothing can be tested."""
    p_holm: float = 1.0
    """`p` after the correction over the pairs of one `compare_all`."""
    test: str = ""
    """`McNemar`, `t`, `clustered t` or `sign`."""


class Place(NamedTuple):
    """A run's rank, and the best and worst rank that the tests leave possible."""

    run: str
    rank: int
    best: int
    worst: int


def compare_pair(
    first: Floats,
    second: Floats,
    *,
    clusters: Codes | None = None,
) -> Pair:
    """Compare two runs row by row; the result depends on these two alone.

    Independent rows of 0 and 1 are tested by McNemar's exact test. Their interval is that of
    Agresti and Min. Where the exact conditional interval (Clopper-Pearson) is wider, the interval
    is widened to it, so that it excludes 0 only if the test rejects. Other rows are tested by a t
    test of the differences with a cluster-robust standard error, and have its interval. If all
    differences are equal, or their sums over clusters, there is no interval, and the signs are
    tested.

    Args:
        first: A value for each row; NaN if unscored.
        second: The values of the other run for the same rows.
        clusters: As in `means.estimate`.

    References:
        McNemar (1947), Psychometrika 12; Agresti and Min (2005), Statistics in Medicine 24; Clopper
        and Pearson (1934), Biometrika 26; Cameron and Miller (2015), section II.

    Example:
        >>> pair = compare_pair(np.array([1.0] * 8 + [0, 1]), np.array([0.0] * 8 + [1, 1]))
        >>> round(pair.difference, 3), round(pair.p, 3), pair.test
        (0.7, 0.039, 'McNemar')
        >>> round(pair.low, 3), round(pair.high, 3)
        (0.032, 0.981)
    """
    is_scored = ~(np.isnan(first) | np.isnan(second))
    first = first[is_scored]
    second = second[is_scored]
    n = len(first)
    if clusters is None:
        clusters = np.full(len(is_scored), -1)
    difference, stderr, n_clusters = clustered_mean(
        first - second, clusters[is_scored], np.ones(n)
    )
    low = math.nan
    high = math.nan
    p = 1.0
    test = ""
    values = np.array([first, second])
    if n and n_clusters == n and np.isin(values, (0, 1)).all():
        only_first = int((first > second).sum())
        only_second = int((first < second).sum())
        low, high = _binary_interval(only_first, only_second, n)
        p = mcnemar(only_first, only_second)
        test = "McNemar"
    elif n_clusters > 1 and stderr > _NOISE * max(1.0, np.abs(values).max()):
        freedom = n_clusters - 1
        reach = float(stdtrit(freedom, 0.975)) * stderr
        low = difference - reach
        high = difference + reach
        p = 2 * float(stdtr(freedom, -abs(difference) / stderr))
        test = "t" if n_clusters == n else "clustered t"
    elif n:
        test = "sign"
        if abs(difference) > _NOISE:
            p = min(1.0, 2 * 0.5**n_clusters)
    return Pair(
        n=n,
        clusters=n_clusters,
        difference=difference,
        low=low,
        high=high,
        p=p,
        test=test,
    )


def _binary_interval(
    only_first: int,
    only_second: int,
    n: int,
) -> Interval:
    untied = only_first + only_second
    size = n + 2  # Agresti and Min add half a row to each of the four kinds
    middle = (only_first - only_second) / size
    variance = (untied + 1) / size - middle**2
    reach = _NORMAL_QUANTILE * math.sqrt(variance / size)
    low = max(-1.0, middle - reach)
    high = min(1.0, middle + reach)
    share_low = 0.0
    share_high = 1.0
    if only_first:
        share_low = float(betaincinv(only_first, only_second + 1, 0.025))
    if only_second:
        share_high = float(betaincinv(only_first + 1, only_second, 0.975))
    exact_low = (2 * share_low - 1) * untied / n
    exact_high = (2 * share_high - 1) * untied / n
    return Interval(
        low=min(low, exact_low),
        high=max(high, exact_high),
    )


def mcnemar(only_first: int, only_second: int) -> float:
    """Return the two-sided p-value of McNemar's exact test.

    Args:
        only_first: Rows that only the first run has right.
        only_second: Rows that only the second run has right.
    """
    fewer = min(only_first, only_second)
    tail = float(bdtr(fewer, only_first + only_second, 0.5))
    return min(1.0, 2 * tail)


def compare_all(
    scores: Mapping[str, Floats],
    *,
    clusters: Codes | None = None,
) -> list[Pair]:
    """Compare each pair of runs, with Holm's correction over these pairs as one family of tests."""
    pairs: list[Pair] = []
    for first, second in combinations(scores, 2):
        pair = compare_pair(scores[first], scores[second], clusters=clusters)
        pairs.append(replace(pair, first=first, second=second))
    adjusted = holm([pair.p for pair in pairs])
    return [replace(pair, p_holm=p) for pair, p in zip(pairs, adjusted, strict=True)]


def holm(p_values: Sequence[float]) -> list[float]:
    """Adjust the p-values of one family of tests by Holm's method.

    NaN counts as no test and stays NaN.

    References:
        Holm (1979), A Simple Sequentially Rejective Multiple Test Procedure, Scandinavian Journal
        of Statistics 6.
    """
    values = np.asarray(p_values, dtype=np.float64)
    order = np.argsort(values, kind="stable")  # NaN comes last
    n_tests = np.count_nonzero(~np.isnan(values))
    factors = n_tests - np.arange(len(values))
    increasing = np.maximum.accumulate(factors * values[order])
    adjusted = np.empty(len(values))
    adjusted[order] = np.minimum(1.0, increasing)
    return [float(p) for p in adjusted]


def rank(
    scores: Mapping[str, Floats] | pd.DataFrame,
    pairs: Sequence[Pair],
    *,
    higher_is_better: bool = True,
) -> list[Place]:
    """Rank runs, the best first.

    A run's rank is one more than the number of runs that are better on the rows in common. Its best
    rank is one more than the number of those that are significantly better. Its worst rank leaves
    room for all runs but those that are significantly worse.

    Args:
        scores: A value for each row of each run; NaN if unscored.
        pairs: All pairs of these runs, from `compare_all`.
        higher_is_better: Whether the larger value wins.

    Example:
        >>> scores = {"a": np.ones(40), "b": np.array([1.0] * 38 + [0] * 2), "c": np.zeros(40)}
        >>> ranking = rank(scores, compare_all(scores))
        >>> [(entry.run, entry.rank, entry.best, entry.worst) for entry in ranking]
        [('a', 1, 1, 2), ('b', 2, 1, 2), ('c', 3, 3, 3)]
    """
    n_better = dict.fromkeys(scores, 0)
    n_surely_better = dict.fromkeys(scores, 0)
    n_surely_worse = dict.fromkeys(scores, 0)
    sign = 1 if higher_is_better else -1
    for pair in pairs:
        lead = sign * pair.difference
        if not abs(lead) > _NOISE:  # NaN is no lead either
            continue
        winner = pair.first if lead > 0 else pair.second
        loser = pair.second if lead > 0 else pair.first
        is_sure = pair.p_holm < ALPHA
        n_better[loser] += 1
        n_surely_better[loser] += is_sure
        n_surely_worse[winner] += is_sure
    means = sign * pd.DataFrame(scores).mean().fillna(-sign * math.inf)
    ranking = []
    for run in sorted(scores, key=lambda run: (n_better[run], -means[run])):
        entry = Place(
            run=run,
            rank=1 + n_better[run],
            best=1 + n_surely_better[run],
            worst=len(scores) - n_surely_worse[run],
        )
        ranking.append(entry)
    return ranking
