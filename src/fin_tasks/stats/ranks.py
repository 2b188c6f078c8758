"""Ranks of models over the same rows, with what cannot be told apart."""

import math
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
import numpy.typing as npt
from scipy.stats import binom, norm, t

from fin_tasks.stats.intervals import Interval
from fin_tasks.stats.multiple import holm

__all__ = ["PairTest", "Ranked", "RowScores", "compare_all", "rank"]

RowScores = Mapping[str, Sequence[float | None]] | Mapping[str, npt.NDArray[np.float64]]
"""Model to one value per row, None or NaN where unscored; all of one length and order."""

_Array = npt.NDArray[np.float64]


@dataclass(frozen=True, kw_only=True)
class PairTest:
    """Two models on the rows that both have scored.

    Attributes:
        first: One model.
        second: The other.
        n: Rows both have scored.
        difference: Mean of first less second, in the values' unit; NaN without a row.
        stderr: Standard error of the difference; NaN below two rows, or clusters.
        interval: Of the difference, at the confidence asked for, not corrected for the number of pairs; NaN likewise.
        p: Of the paired test; 1 where nothing can be tested.
        p_holm: Adjusted for all pairs tested with it.
        exact: The test is McNemar's; a t-test otherwise.
    """

    first: str
    second: str
    n: int
    difference: float
    stderr: float
    interval: Interval
    p: float
    p_holm: float
    exact: bool


@dataclass(frozen=True, kw_only=True)
class Ranked:
    """A model's place.

    Attributes:
        model: Which.
        mean: Over the rows it has scored, in the values' unit; NaN without any.
        n: Those rows.
        rank: By mean, 1 the best; equal means share the better place.
        best: The best rank it may have: one more than there are models that are better for certain.
        worst: The worst, likewise.
        alike: Models that cannot be told from it.
    """

    model: str
    mean: float
    n: int
    rank: int
    best: int
    worst: int
    alike: tuple[str, ...]


def compare_all(
    scores: RowScores, *, clusters: Sequence[Hashable] | None = None, confidence: float = 0.95
) -> list[PairTest]:
    """Test each pair of models over the rows that both have scored, with Holm's correction over all pairs.

    Values of 0 and 1 without clusters are tested by McNemar's exact test, with Agresti and Min's interval: it
    has a width even where no row tells the models apart, and is too narrow where hardly one in a hundred does.
    Anything else is tested by a t-test of the differences, with a standard error that allows for clusters
    (`clustered.clustered_mean`), and the interval that belongs to it; where all differences are equal, by the
    sign test.

    Args:
        scores: What each row scored.
        clusters: The cluster of each row; clusters of one row each are none.
        confidence: Of each interval.

    Raises:
        ValueError: The lengths differ.

    References:
        Agresti, Min (2005), Simple improved confidence intervals for comparing matched proportions, Statistics in
        Medicine 24.

    Example:
        >>> (pair,) = compare_all({"a": [1] * 8 + [0, 1], "b": [0] * 8 + [1, 1]})
        >>> round(pair.difference, 3), round(pair.p, 3), round(pair.interval.low, 3), round(pair.interval.high, 3)
        (0.7, 0.039, 0.186, 0.981)
    """
    rows = _matrix(scores)
    codes = _codes(clusters, rows.shape[1])
    if len(rows) < 2:
        return []
    binary = codes is None and bool(np.isin(rows[~np.isnan(rows)], (0.0, 1.0)).all())
    tested = _mcnemar_all(rows, confidence) if binary else _t_tests(rows, codes, confidence)
    n, difference, stderr, low, high, p = (column.tolist() for column in tested)
    adjusted = holm(p)
    return [
        PairTest(
            first=first,
            second=second,
            n=int(n[at]),
            difference=difference[at],
            stderr=stderr[at],
            interval=Interval(low[at], high[at]),
            p=p[at],
            p_holm=adjusted[at],
            exact=binary,
        )
        for at, (first, second) in enumerate(combinations(scores, 2))
    ]


def rank(
    scores: RowScores,
    *,
    clusters: Sequence[Hashable] | None = None,
    higher_is_better: bool = True,
    alpha: float = 0.05,
    pairs: Sequence[PairTest] | None = None,
) -> list[Ranked]:
    """Rank models, the best first, and say between which places each may be.

    Args:
        scores: As in `compare_all`.
        clusters: Likewise.
        higher_is_better: Whether more is better.
        alpha: Level at which a pair counts as different, over all pairs together.
        pairs: What `compare_all` returned for these scores; tested here where None.

    Example:
        >>> found = rank({"a": [1] * 40, "b": [1] * 38 + [0] * 2, "c": [0] * 40})
        >>> [(one.model, one.best, one.worst) for one in found]
        [('a', 1, 2), ('b', 1, 2), ('c', 3, 3)]
    """
    sign = 1 if higher_is_better else -1
    rows = _matrix(scores)
    means = {model: _mean(values) for model, values in zip(scores, rows, strict=True)}
    better: dict[str, set[str]] = {model: set() for model in scores}
    worse: dict[str, set[str]] = {model: set() for model in scores}
    for pair in compare_all(scores, clusters=clusters) if pairs is None else pairs:
        if pair.p_holm < alpha and pair.difference:
            winner, loser = (pair.first, pair.second) if sign * pair.difference > 0 else (pair.second, pair.first)
            better[loser].add(winner)
            worse[winner].add(loser)
    order = sorted(scores, key=lambda model: (math.isnan(means[model][0]), -sign * means[model][0]))
    return [
        Ranked(
            model=model,
            mean=means[model][0],
            n=means[model][1],
            rank=1 + sum(sign * means[other][0] > sign * means[model][0] for other in scores),
            best=1 + len(better[model]),
            worst=len(scores) - len(worse[model]),
            alike=tuple(o for o in order if o != model and o not in better[model] and o not in worse[model]),
        )
        for model in order
    ]


def _matrix(scores: RowScores) -> _Array:
    """Return models x rows, NaN where unscored."""
    if len({len(values) for values in scores.values()}) > 1:
        raise ValueError(f"expected as many rows for each model, got {sorted({len(v) for v in scores.values()})}")
    rows = [np.asarray(values, dtype=np.float64) for values in scores.values()]
    return np.array(rows) if rows else np.empty((0, 0))


def _codes(clusters: Sequence[Hashable] | None, rows: int) -> npt.NDArray[np.int64] | None:
    """Number the clusters; None where each row is one of its own, so that all rows are independent."""
    if clusters is None:
        return None
    if len(clusters) != rows:
        raise ValueError(f"expected a cluster per row, got {len(clusters)} for {rows}")
    number = {name: code for code, name in enumerate(dict.fromkeys(clusters))}
    return np.array([number[name] for name in clusters], dtype=np.int64) if len(number) < rows else None


def _mcnemar_all(rows: _Array, confidence: float) -> tuple[_Array, ...]:
    """Count all pairs at once, and test them exactly as `paired.mcnemar` does.

    Returns:
        Rows in common, difference, standard error, bounds and p.
    """
    right, wrong = (rows == 1).astype(np.float64), (rows == 0).astype(np.float64)
    only_first = right @ wrong.T  # at (i, j): rows that i has right and j wrong
    common = (right + wrong) @ (right + wrong).T
    at = np.triu_indices(len(rows), k=1)
    gained, lost, n = only_first[at], only_first.T[at], common[at]
    p = np.minimum(1.0, 2 * binom.cdf(np.minimum(gained, lost), gained + lost, 0.5))
    with np.errstate(invalid="ignore", divide="ignore"):
        difference = (gained - lost) / n
        stderr = np.sqrt(np.where(n > 1, (gained + lost - n * difference**2) / (n - 1) / n, np.nan))
    # half a row more in each cell of the table of both
    middle = (gained - lost) / (n + 2)
    reach = norm.ppf(0.5 + confidence / 2) * np.sqrt((gained + lost + 1) / (n + 2) - middle**2) / np.sqrt(n + 2)
    none = np.where(n > 1, 0.0, np.nan)
    return n, difference, stderr, np.maximum(-1, middle - reach) + none, np.minimum(1, middle + reach) + none, p


def _t_tests(rows: _Array, codes: npt.NDArray[np.int64] | None, confidence: float) -> tuple[_Array, ...]:
    """Test each pair; returns as `_mcnemar_all`."""
    found = np.array([_of_pair(first - second, codes) for first, second in combinations(rows, 2)])
    n, difference, stderr, held = found.T
    with np.errstate(invalid="ignore", divide="ignore"):
        freedom = np.where(held > 1, held - 1, np.nan)
        p = 2 * t.sf(np.abs(difference) / stderr, freedom)
        reach = t.ppf(0.5 + confidence / 2, freedom) * stderr
    # Where every difference is the same there is no spread to measure it by, and the signs have to do.
    p = np.where(stderr == 0, np.where(difference == 0, 1.0, np.minimum(1.0, 2 * 0.5**held)), p)
    return n, difference, stderr, difference - reach, difference + reach, np.where(np.isnan(stderr), 1.0, p)


def _of_pair(differences: _Array, codes: npt.NDArray[np.int64] | None) -> tuple[float, float, float, int]:
    """Return rows in common, their mean difference, its standard error as in `clustered_mean`, and clusters."""
    there = ~np.isnan(differences)
    known = differences[there]
    n = len(known)
    if not n:
        return 0, math.nan, math.nan, 0
    mean = float(known.mean())
    residuals = known - mean
    if codes is None:
        sums, held = residuals, n
    else:
        own = codes[there]
        sums = np.bincount(own, weights=residuals).astype(np.float64)
        held = int(np.count_nonzero(np.bincount(own)))
    if held < 2:
        return n, mean, math.nan, held
    return n, mean, math.sqrt(held / (held - 1) * float(sums @ sums)) / n, held


def _mean(values: _Array) -> tuple[float, int]:
    there = values[~np.isnan(values)]
    return (math.fsum(there) / len(there) if len(there) else math.nan), len(there)
