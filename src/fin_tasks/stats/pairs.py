"""Two runs on the same rows: difference, interval and test, and the places that follow from all pairs of several."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import NamedTuple

import numpy as np
from scipy.special import bdtr, betaincinv, stdtr, stdtrit

from fin_tasks.stats.means import Codes, Floats, cluster_sums

ALPHA = 0.05  # level of a significant difference, after Holm's correction
_Z = 1.959963984540054
_NOISE = 1e-12


@dataclass(frozen=True, kw_only=True)
class Pair:
    """First less second on the `n` rows that both have scored, with 95 % interval and two-sided `p`.

    The interval excludes 0 only if `p` is below 0.05; it is NaN if there is none. `p` is 1 if nothing can be tested,
    and `p_holm` is corrected over the pairs of one `compare_all`. `test` is `McNemar`, `t`, `clustered t`, or `sign`.
    """

    first: str = ""
    second: str = ""
    n: int = 0
    clusters: int = 0
    difference: float = math.nan
    low: float = math.nan
    high: float = math.nan
    stderr: float = math.nan
    p: float = 1.0
    p_holm: float = 1.0
    test: str = ""


class Place(NamedTuple):
    """A run's rank, and the best and worst rank that the tests leave possible; all come from the same pairs."""

    run: str
    rank: int
    best: int
    worst: int


def compare_pair(first: Floats, second: Floats, *, clusters: Codes | None = None) -> Pair:
    """Compare two runs row by row; the result depends on these two alone.

    Independent rows of 0 and 1 are tested by McNemar's exact test. Their interval is Agresti and Min's, widened to the
    exact conditional interval (Clopper-Pearson) where that is wider, so that it excludes 0 only if the test rejects.
    Other rows are tested by a t test of the differences with a cluster-robust standard error, and have its interval.
    If all differences, or their sums over clusters, are equal, there is no interval, and the signs are tested.

    Both have a value for each row in the same order, NaN if unscored; `clusters` is that of `means.estimate`.

    References:
        McNemar (1947), Psychometrika 12; Agresti and Min (2005), Statistics in Medicine 24; Clopper and Pearson (1934),
        Biometrika 26; Cameron and Miller (2015), section II.

    Example:
        >>> pair = compare_pair(np.array([1.0] * 8 + [0, 1]), np.array([0.0] * 8 + [1, 1]))
        >>> round(pair.difference, 3), round(pair.p, 3), round(pair.low, 3), round(pair.high, 3), pair.test
        (0.7, 0.039, 0.032, 0.981, 'McNemar')
    """
    there = ~(np.isnan(first) | np.isnan(second))
    one, other = first[there], second[there]
    difference, stderr, groups = cluster_sums(
        one - other, None if clusters is None else clusters[there]
    )
    n = len(one)
    found = Pair(n=n, clusters=groups, difference=difference, stderr=stderr)
    if not n:
        return found
    if groups == n and ((one == 0) | (one == 1)).all() and ((other == 0) | (other == 1)).all():
        gained, lost = int((one > other).sum()), int((one < other).sum())
        middle = (gained - lost) / (n + 2)
        reach = _Z * math.sqrt((gained + lost + 1) / (n + 2) - middle**2) / math.sqrt(n + 2)
        low, high = max(-1.0, middle - reach), min(1.0, middle + reach)
        if untied := gained + lost:
            share_low = float(betaincinv(gained, lost + 1, 0.025)) if gained else 0.0
            share_high = float(betaincinv(gained + 1, lost, 0.975)) if lost else 1.0
            low = min(low, (2 * share_low - 1) * untied / n)
            high = max(high, (2 * share_high - 1) * untied / n)
        return replace(found, low=low, high=high, p=mcnemar(gained, lost), test="McNemar")
    if groups > 1 and stderr > _NOISE * max(
        1.0, float(np.abs(one).max()), float(np.abs(other).max())
    ):
        reach = float(stdtrit(groups - 1, 0.975)) * stderr
        p = 2 * float(stdtr(groups - 1, -abs(difference) / stderr))
        test = "t" if groups == n else "clustered t"
        return replace(found, low=difference - reach, high=difference + reach, p=p, test=test)
    return replace(
        found, p=1.0 if abs(difference) <= _NOISE else min(1.0, 2 * 0.5**groups), test="sign"
    )


def mcnemar(only_first: int, only_second: int) -> float:
    """Return the two-sided p-value of McNemar's exact test, from the rows that only one of two runs has right."""
    untied = only_first + only_second
    return min(1.0, 2 * float(bdtr(min(only_first, only_second), untied, 0.5))) if untied else 1.0


def compare_all(scores: Mapping[str, Floats], *, clusters: Codes | None = None) -> list[Pair]:
    """Compare each pair of runs, with Holm's correction over these pairs, which are one family of tests."""
    pairs = [
        replace(
            compare_pair(scores[first], scores[second], clusters=clusters),
            first=first,
            second=second,
        )
        for first, second in combinations(scores, 2)
    ]
    adjusted = holm([pair.p if pair.n else math.nan for pair in pairs])
    return [
        replace(pair, p_holm=p if pair.n else 1.0) for pair, p in zip(pairs, adjusted, strict=True)
    ]


def holm(p_values: Sequence[float]) -> list[float]:
    """Adjust the p-values of one family of tests by Holm's method; NaN counts as no test and stays NaN.

    References:
        Holm (1979), A Simple Sequentially Rejective Multiple Test Procedure, Scandinavian Journal of Statistics 6.
    """
    values = np.asarray(p_values, dtype=np.float64)
    order = np.argsort(values, kind="stable")[: int((~np.isnan(values)).sum())]  # NaN comes last
    adjusted = np.full(len(values), np.nan)
    adjusted[order] = np.minimum(
        1.0, np.maximum.accumulate(np.arange(len(order), 0, -1) * values[order])
    )
    return [float(p) for p in adjusted]


def rank(
    scores: Mapping[str, Floats], pairs: Sequence[Pair], *, higher_is_better: bool = True
) -> list[Place]:
    """Rank runs, the best first, from a value per row (NaN if unscored) and all pairs of `compare_all`.

    A run's rank is one more than the runs that are ahead of it on the rows in common; its best rank is one more than
    those that are significantly ahead; its worst leaves room for all but those significantly behind.

    Example:
        >>> scores = {"a": np.ones(40), "b": np.array([1.0] * 38 + [0] * 2), "c": np.zeros(40)}
        >>> [(one.run, one.rank, one.best, one.worst) for one in rank(scores, compare_all(scores))]
        [('a', 1, 1, 2), ('b', 2, 1, 2), ('c', 3, 3, 3)]
    """
    ahead, surely_ahead, surely_behind = (dict.fromkeys(scores, 0) for _ in range(3))
    for pair in pairs:
        lead = pair.difference if higher_is_better else -pair.difference
        if abs(lead) > _NOISE:
            winner, loser = (pair.first, pair.second) if lead > 0 else (pair.second, pair.first)
            ahead[loser] += 1
            surely_ahead[loser] += pair.p_holm < ALPHA
            surely_behind[winner] += pair.p_holm < ALPHA
    means = {run: cluster_sums(values[~np.isnan(values)])[0] for run, values in scores.items()}
    order = sorted(
        scores,
        key=lambda run: (math.isnan(means[run]), -means[run] if higher_is_better else means[run]),
    )
    places = [
        Place(run, 1 + ahead[run], 1 + surely_ahead[run], len(scores) - surely_behind[run])
        for run in order
    ]
    return sorted(places, key=lambda place: place.rank)
