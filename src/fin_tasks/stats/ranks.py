"""Ranks of models over the same rows, with what cannot be told apart."""

import math
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
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
_NOISE = 1e-12


@dataclass(frozen=True, kw_only=True)
class PairTest:
    """Two models on the rows that both have scored.

    Attributes:
        first: One model.
        second: The other.
        n: Rows both have scored.
        difference: Mean of first less second, in the values' unit; NaN without a row.
        stderr: Standard error of the difference; NaN below two rows, or clusters.
        interval: Of the difference, at the confidence asked for, not corrected for the number of pairs; NaN likewise,
            and where nothing tells how far the values, which are no shares, may spread.
        p: Of the paired test; 1 where nothing can be tested.
        p_holm: Adjusted for all pairs tested with it, those without a row in common left out.
        exact: The test is McNemar's; a t-test otherwise.
        clusters: Clusters among the rows; `n` where they are independent.
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
    clusters: int

    def within(self, full: float) -> "PairTest":
        """Return it with an interval that ends where differences do.

        Args:
            full: What values go up to, from 0, in their unit.

        Example:
            >>> (pair,) = compare_all({"a": [90.0, 95.0, 10.0], "b": [5.0, 0.0, 8.0]})
            >>> round(pair.interval.high), pair.within(100).interval.high
            (187, 100)
        """
        low, high = (min(max(bound, -full), full) for bound in (self.interval.low, self.interval.high))
        return replace(self, interval=Interval(low, high))


@dataclass(frozen=True, kw_only=True)
class Ranked:
    """A model's place.

    Attributes:
        model: Which.
        mean: Over the rows it has scored, in the values' unit; NaN without any.
        n: Those rows.
        rank: By mean, 1 the best; equal means share the better place. None for a model without any.
        best: The best rank it may have: one more than there are models that are better for certain.
        worst: The worst, likewise.
        alike: Models that cannot be told from it.
    """

    model: str
    mean: float
    n: int
    rank: int | None
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
    (`clustered.clustered_mean`), and the interval that belongs to it. Where all differences are equal, but for
    rounding, or their sums over clusters, there is no spread to go by: the test is that of the signs, and the
    interval, of shares alone, Agresti and Min's with a cluster for a row.

    Args:
        scores: What each row scored.
        clusters: The cluster of each row; clusters of one row each are none.
        confidence: Of each interval.

    Raises:
        ValueError: The lengths differ, or a value is infinite.

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
    shares = bool(np.isin(rows[~np.isnan(rows)], (0.0, 1.0)).all())
    binary = shares and codes is None
    tested = _mcnemar_all(rows, confidence) if binary else _t_tests(rows, codes, confidence, shares=shares)
    n, difference, stderr, low, high, p, held = (column.tolist() for column in tested)
    adjusted = holm([one if rows else math.nan for one, rows in zip(p, n, strict=True)])
    return [
        PairTest(
            first=first,
            second=second,
            n=int(n[at]),
            difference=difference[at],
            stderr=stderr[at],
            interval=Interval(low[at], high[at]),
            p=p[at],
            p_holm=adjusted[at] if n[at] else 1.0,
            exact=binary,
            clusters=int(held[at]),
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
            rank=1 + sum(sign * means[other][0] > sign * means[model][0] for other in scores)
            if means[model][1]
            else None,
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
    rows = (
        np.array([np.asarray(values, dtype=np.float64) for values in scores.values()]) if scores else np.empty((0, 0))
    )
    if np.isinf(rows).any():
        raise ValueError("expected finite values or none at all, got an infinite one")
    return rows


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
        Rows in common, difference, standard error, bounds, p, and clusters, which rows are here.
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
    low, high = _agresti_min(gained, lost, n, confidence)
    return n, difference, stderr, low, high, p, n


def _agresti_min(gained: _Array, lost: _Array, n: _Array, confidence: float) -> tuple[_Array, _Array]:
    """Bound differences of shares with half a row more in each cell of the table of both; NaN below two rows."""
    middle = (gained - lost) / (n + 2)
    reach = norm.ppf(0.5 + confidence / 2) * np.sqrt((gained + lost + 1) / (n + 2) - middle**2) / np.sqrt(n + 2)
    none = np.where(n > 1, 0.0, np.nan)
    return np.maximum(-1, middle - reach) + none, np.minimum(1, middle + reach) + none


def _t_tests(
    rows: _Array, codes: npt.NDArray[np.int64] | None, confidence: float, *, shares: bool
) -> tuple[_Array, ...]:
    """Test each pair; returns as `_mcnemar_all`."""
    found = np.array([_of_pair(first - second, codes) for first, second in combinations(rows, 2)])
    n, difference, stderr, held = found.T
    # what rounding leaves of values of this size is no difference, and no spread
    noise = _NOISE * np.nanmax(np.abs(rows), initial=0.0)
    difference = np.where(np.abs(difference) <= noise, 0.0, difference)
    stderr = np.where(stderr <= noise, 0.0, stderr)
    with np.errstate(invalid="ignore", divide="ignore"):
        freedom = np.where(held > 1, held - 1, np.nan)
        p = 2 * t.sf(np.abs(difference) / stderr, freedom)
        reach = t.ppf(0.5 + confidence / 2, freedom) * stderr
        p = np.where(stderr == 0, np.where(difference == 0, 1.0, np.minimum(1.0, 2 * 0.5**held)), p)
        one_way = held * np.abs(difference)
        low, high = _agresti_min(
            np.where(difference > 0, one_way, 0), np.where(difference < 0, one_way, 0), held, confidence
        )
    low = np.where(stderr == 0, low if shares else np.nan, difference - reach)
    high = np.where(stderr == 0, high if shares else np.nan, difference + reach)
    return n, difference, stderr, low, high, np.where(np.isnan(stderr), 1.0, p), held


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
