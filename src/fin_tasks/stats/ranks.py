"""Ranks of models over the same rows, with what cannot be told apart."""

import math
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from scipy.stats import binom, t

from fin_tasks.stats.averages import average
from fin_tasks.stats.clustered import clustered_mean
from fin_tasks.stats.multiple import holm

__all__ = ["PairTest", "Ranked", "compare_all", "rank"]


@dataclass(frozen=True, kw_only=True)
class PairTest:
    """Two models on the rows that both have scored.

    Attributes:
        first: One model.
        second: The other.
        n: Rows both have scored.
        difference: Mean of first less second, in the values' unit; NaN without a row.
        p: Of the paired test; 1 where nothing can be tested.
        p_holm: Adjusted for all pairs tested with it.
    """

    first: str
    second: str
    n: int
    difference: float
    p: float
    p_holm: float


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
    scores: Mapping[str, Sequence[float | None]], *, clusters: Sequence[Hashable] | None = None
) -> list[PairTest]:
    """Test each pair of models over the rows that both have scored, with Holm's correction over all pairs.

    Values of 0 and 1 without clusters are tested by McNemar's exact test; anything else by a t-test of the differences
    with a standard error that allows for clusters (`clustered.clustered_mean`).

    Args:
        scores: Model to one value per row, None where unscored; all of one length and order.
        clusters: The cluster of each row.

    Raises:
        ValueError: The lengths differ.
    """
    if len({len(values) for values in scores.values()}) > 1:
        raise ValueError(f"expected as many rows for each model, got {sorted({len(v) for v in scores.values()})}")
    if len(scores) < 2:
        return []
    pairs = list(combinations(scores, 2))
    if clusters is None and _all_binary(scores):
        raw = _mcnemar_all(scores)
    else:
        raw = [_t_test(scores[first], scores[second], clusters) for first, second in pairs]
    adjusted = holm([p for *_, p in raw])
    return [
        PairTest(first=first, second=second, n=n, difference=difference, p=p, p_holm=p_holm)
        for (first, second), (n, difference, p), p_holm in zip(pairs, raw, adjusted, strict=True)
    ]


def rank(
    scores: Mapping[str, Sequence[float | None]],
    *,
    clusters: Sequence[Hashable] | None = None,
    higher_is_better: bool = True,
    alpha: float = 0.05,
) -> list[Ranked]:
    """Rank models, the best first, and say between which places each may be.

    Args:
        scores: As in `compare_all`.
        clusters: Likewise.
        higher_is_better: Whether more is better.
        alpha: Level at which a pair counts as different, over all pairs together.

    Example:
        >>> found = rank({"a": [1] * 40, "b": [1] * 38 + [0] * 2, "c": [0] * 40})
        >>> [(one.model, one.best, one.worst) for one in found]
        [('a', 1, 2), ('b', 1, 2), ('c', 3, 3)]
    """
    sign = 1 if higher_is_better else -1
    means = {model: _mean(values) for model, values in scores.items()}
    better: dict[str, set[str]] = {model: set() for model in scores}
    for pair in compare_all(scores, clusters=clusters):
        if pair.p_holm < alpha and pair.difference:
            winner, loser = (pair.first, pair.second) if sign * pair.difference > 0 else (pair.second, pair.first)
            better[loser].add(winner)
    order = sorted(scores, key=lambda model: (math.isnan(means[model][0]), -sign * means[model][0]))
    found = []
    for model in order:
        worse = [other for other in scores if model in better[other]]
        alike = [other for other in order if other != model and other not in better[model] and other not in worse]
        found.append(
            Ranked(
                model=model,
                mean=means[model][0],
                n=means[model][1],
                rank=1 + sum(sign * means[other][0] > sign * means[model][0] for other in scores),
                best=1 + len(better[model]),
                worst=len(scores) - len(worse),
                alike=tuple(alike),
            )
        )
    return found


def _all_binary(scores: Mapping[str, Sequence[float | None]]) -> bool:
    return all(value in (None, 0, 1) for values in scores.values() for value in values)


def _mcnemar_all(scores: Mapping[str, Sequence[float | None]]) -> list[tuple[int, float, float]]:
    """Count all pairs at once, and test them exactly as `paired.mcnemar` does: rows in common, difference, p."""
    right = np.array([[value == 1 for value in values] for values in scores.values()], dtype=np.float64)
    wrong = np.array([[value == 0 for value in values] for values in scores.values()], dtype=np.float64)
    only_first = right @ wrong.T  # at (i, j): rows that i has right and j wrong
    common = (right + wrong) @ (right + wrong).T
    at = np.triu_indices(len(scores), k=1)
    gained, lost, n = only_first[at], only_first.T[at], common[at]
    p = np.minimum(1.0, 2 * binom.cdf(np.minimum(gained, lost), gained + lost, 0.5))
    with np.errstate(invalid="ignore"):
        difference = (gained - lost) / n
    return [(int(a), float(b), float(c)) for a, b, c in zip(n, difference, p, strict=True)]


def _t_test(
    first: Sequence[float | None], second: Sequence[float | None], clusters: Sequence[Hashable] | None
) -> tuple[int, float, float]:
    """Return rows in common, mean difference, p."""
    both = zip(range(len(first)), first, second, strict=True)
    pairs = [(at, x - y) for at, x, y in both if x is not None and y is not None]
    of = None if clusters is None else [clusters[at] for at, _ in pairs]
    found = clustered_mean([difference for _, difference in pairs], clusters=of)
    if math.isnan(found.stderr):
        return found.n, found.mean, 1.0
    if not found.stderr:  # every difference is the same
        return found.n, found.mean, 0.0 if found.mean else 1.0
    return found.n, found.mean, float(2 * t.sf(abs(found.mean) / found.stderr, found.clusters - 1))


def _mean(values: Sequence[float | None]) -> tuple[float, int]:
    there = [value for value in values if value is not None]
    return average(there), len(there)
