"""How far people agree on the same rows, all of them or each two, and how far a judge agrees with them."""

import math
from collections.abc import Callable, Mapping, Sequence
from itertools import combinations
from typing import Any

import krippendorff
import numpy as np
import pandas as pd
from numpy.typing import NDArray

from .study import Question

Values = dict[str, float | None]
Array = NDArray[Any]

_SAME_SHARE = 0.98
"""Two sheets are alike if this share of their cells is equal."""
_FEWEST_CELLS = 20
_LARGEST_CHANCE = 0.8
"""Where labels hardly vary, equal sheets say nothing: this share would be equal by chance."""


def agreement(people: Sequence[float], judge: Sequence[float]) -> Values:
    """Compare a judge with people on the same responses: Spearman's correlation, and differences.

    Values that are not defined are None. The bias is the judge's mean minus the people's mean.
    """
    scores = np.column_stack((people, judge))
    differences = scores[:, 1] - scores[:, 0]
    return {
        "n": len(scores),
        **_with_interval("spearman", scores, _spearman),
        "mean_absolute_difference": float(np.abs(differences).mean()),
        "bias": float(differences.mean()),
    }


def alpha(votes: pd.DataFrame, question: Question) -> Values:
    """Return Krippendorff's alpha of rows with two labels or more.

    >>> votes = pd.DataFrame({"a": ["yes", "no", "yes", "yes"], "b": ["yes", "no", "no", None]})
    >>> round(alpha(votes, Question(ask="Clear?"))["alpha"], 3)
    0.444
    """
    counts = _counts(votes, question).to_numpy()

    def alphas(counts: Array, samples: Array) -> list[float]:
        return [_alpha_of(counts[positions], question) for positions in samples]

    return {"rows": len(counts), **_with_interval("alpha", counts, alphas)}


def agreement_by_pair(
    values: pd.DataFrame, questions: Mapping[str, Question]
) -> pd.DataFrame:
    """Return a line for each two sheets and question: rows that both labeled, the equal share, and alpha."""
    lines = []
    for name, question in questions.items():
        votes = values.xs(name, level="question")
        for first, second in combinations(votes.columns, 2):
            pair = votes[[first, second]].dropna()
            line = {
                "question": name,
                "first": first,
                "second": second,
                "rows": len(pair),
                "equal": (pair[first] == pair[second]).mean(),
                "alpha": _alpha_of(_counts(pair, question).to_numpy(), question),
            }
            lines.append(line)
    return pd.DataFrame(lines)


def sheets_alike(values: pd.DataFrame) -> list[str]:
    """Return a sentence for each two sheets that agree in nearly all cells, as one that was sent twice does."""
    sentences = []
    for first, second in combinations(values.columns, 2):
        both = values[[first, second]].dropna()
        n_equal = (both[first] == both[second]).sum()
        n = len(both)
        is_alike = n >= _FEWEST_CELLS and n_equal >= _SAME_SHARE * n
        if is_alike and _equal_by_chance(both) <= _LARGEST_CHANCE:
            sentences.append(
                f"{first} and {second} are equal in {n_equal} of {n} cells. Is one a copy of the other? "
                "Then leave one out, because a label needs two people."
            )
    return sentences


def _equal_by_chance(both: pd.DataFrame) -> float:
    """Return the share of cells that two sheets with these labels share by chance, question by question."""
    n_equal = 0.0
    for _, cells in both.groupby(level="question"):
        first, second = (cells[name].value_counts() for name in cells)
        n_pairs = first.mul(second, fill_value=0).sum()
        n_equal += n_pairs / len(cells)
    return n_equal / len(both)


def _counts(votes: pd.DataFrame, question: Question) -> pd.DataFrame:
    """Return how many people chose each value, for rows with two labels or more."""
    values = question.cell_rule().words
    if question.values == "candidates":
        values = sorted(set(votes.stack().dropna()))
    counts_by_value = {value: (votes == value).sum(axis=1) for value in values}
    counts = pd.DataFrame(counts_by_value)
    return counts[counts.sum(axis=1) > 1]


def _alpha_of(counts: Array, question: Question) -> float:
    """Return alpha, NaN if fewer than two values were chosen."""
    if np.count_nonzero(counts.sum(axis=0)) < 2:
        return math.nan
    value = krippendorff.alpha(
        value_counts=counts,
        value_domain=range(counts.shape[1]),
        level_of_measurement="ordinal" if question.scale else "nominal",
    )
    return float(value)


def _spearman(scores: Array, samples: Array) -> Array:
    """Return the correlation of the ranks in two columns, NaN if a column has one value only."""
    first, second = (
        pd.DataFrame(scores[samples, column]).rank(axis=1) for column in (0, 1)
    )
    correlations: Array = first.corrwith(second, axis=1).to_numpy()
    return correlations


def _with_interval(
    name: str, rows: Array, statistic: Callable[[Array, Array], Array | list[float]]
) -> Values:
    """Return a statistic of rows with its 95 % bootstrap interval.

    The statistic is computed for each sample, an array of positions of rows. Samples for which it is NaN are left out.
    """
    n = len(rows)
    (value,) = statistic(rows, np.arange(n)[np.newaxis])
    if math.isnan(value):
        return dict.fromkeys((name, "low", "high"))
    samples = np.random.default_rng(42).integers(n, size=(1000, n))
    estimates = statistic(rows, samples)
    low, high = np.nanquantile(estimates, (0.025, 0.975)).tolist()
    return {name: float(value), "low": low, "high": high}
