"""The comparison of two runs, one pair at a time: what the products of matrices must repeat."""

import math

import numpy as np
from scipy.special import bdtr, betaincinv, stdtr, stdtrit

from fin_tasks.stats.means import Codes, Floats, Interval, clustered_mean
from fin_tasks.stats.pairs import Pair

_NORMAL_QUANTILE = 1.959963984540054
_NOISE = 1e-12


def pair_by_rows(first: Floats, second: Floats, clusters: Codes) -> Pair:
    """Compare two runs row by row."""
    is_scored = ~(np.isnan(first) | np.isnan(second))
    first = first[is_scored]
    second = second[is_scored]
    n = len(first)
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
    """Return the p-value of McNemar's exact test."""
    fewer = min(only_first, only_second)
    tail = float(bdtr(fewer, only_first + only_second, 0.5))
    return min(1.0, 2 * tail)
