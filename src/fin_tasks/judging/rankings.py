"""Whether judges put models into the same order."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

__all__ = ["Ranking", "Rankings", "Swap", "compare_rankings"]

Scores = Mapping[str, Mapping[str, float]]
"""Model to index of a row to score."""

RESAMPLES = 2000


@dataclass(frozen=True, kw_only=True)
class Ranking:
    """A grader's order of models.

    Attributes:
        grader: Who.
        means: Model to its mean score in points, the best first.
    """

    grader: str
    means: Mapping[str, float]


@dataclass(frozen=True, kw_only=True)
class Swap:
    """Two models that two graders put into different orders.

    Attributes:
        first: One grader.
        second: The other.
        models: The first one's better model, then the second one's.
        kept: Share of bootstrap resamples of the rows in which the two do differ: near 1 is a real disagreement.
    """

    first: str
    second: str
    models: tuple[str, str]
    kept: float


@dataclass(frozen=True, kw_only=True)
class Rankings:
    """How graders order models.

    Attributes:
        n: Rows that everybody has scored for every model.
        rankings: One per grader.
        kendall: Two graders to Kendall's tau-b of their mean scores; None where it is not defined.
        spearman: The same for Spearman's correlation.
        swaps: Pairs of models in different orders.
    """

    n: int
    rankings: tuple[Ranking, ...]
    kendall: Mapping[tuple[str, str], float | None]
    spearman: Mapping[tuple[str, str], float | None]
    swaps: tuple[Swap, ...]


def compare_rankings(graders: Mapping[str, Scores], *, seed: int = 42) -> Rankings | None:
    """Compare the orders that graders put models into.

    Only models that all graders have, and rows that all have scored for all of these models, count.

    Args:
        graders: Grader to its scores.
        seed: Draws the resamples.

    Returns:
        The comparison; None below two graders, two models or one row.
    """
    import numpy as np

    tables = list(graders.values())
    models = [model for model in tables[0] if all(model in table for table in tables)] if tables else []
    rows = _common_rows(tables, models)
    if len(graders) < 2 or len(models) < 2 or not rows:
        return None
    scores = {
        grader: np.array([[table[model][row] for row in rows] for model in models], dtype=float)
        for grader, table in graders.items()
    }
    means = {grader: table.mean(axis=1) for grader, table in scores.items()}
    pairs = list(combinations(graders, 2))
    return Rankings(
        n=len(rows),
        rankings=tuple(
            Ranking(grader=grader, means={models[at]: float(mean[at]) for at in np.argsort(-mean, kind="stable")})
            for grader, mean in means.items()
        ),
        kendall={pair: _correlation("kendalltau", means[pair[0]], means[pair[1]]) for pair in pairs},
        spearman={pair: _correlation("spearmanr", means[pair[0]], means[pair[1]]) for pair in pairs},
        swaps=tuple(swap for pair in pairs for swap in _swaps(pair, models, scores, seed)),
    )


def _common_rows(tables: Sequence[Scores], models: Sequence[str]) -> list[str]:
    if not models:
        return []
    shared = set.intersection(*(set(table[model]) for table in tables for model in models))
    return [row for row in tables[0][models[0]] if row in shared]


def _correlation(name: str, x: "object", y: "object") -> float | None:
    import warnings

    import scipy.stats

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of constant input: the result is NaN, which says it
        value = float(getattr(scipy.stats, name)(x, y).statistic)
    return value if value == value else None


def _swaps(pair: tuple[str, str], models: Sequence[str], scores: Mapping[str, "object"], seed: int) -> list[Swap]:
    import numpy as np

    first, second = (np.asarray(scores[grader]) for grader in pair)
    n = first.shape[1]
    weights = np.random.default_rng(seed).multinomial(n, np.full(n, 1 / n), size=RESAMPLES)
    found = []
    for a, b in combinations(range(len(models)), 2):
        one, other = first[a] - first[b], second[a] - second[b]
        if one.sum() * other.sum() < 0:
            better, worse = (a, b) if one.sum() > 0 else (b, a)
            differ = (weights @ one) * (weights @ other) < 0
            found.append(
                Swap(first=pair[0], second=pair[1], models=(models[better], models[worse]), kept=float(differ.mean()))
            )
    return found
