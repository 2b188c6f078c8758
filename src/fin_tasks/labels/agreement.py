"""How far several people, or people and a judge, agree on the same rows."""

import math
from collections.abc import Callable, Sequence

import krippendorff
import numpy as np
import pandas as pd

from .study import Question

Values = dict[str, float | None]


def agreement(people: Sequence[float], judge: Sequence[float]) -> Values:
    """Compare a judge with people on the same responses: Spearman's correlation, and differences.

    Values that are not defined are None. The bias is the judge's mean minus the people's mean.
    """
    scores = pd.DataFrame(np.column_stack((people, judge)))
    differences = scores[1] - scores[0]
    return {
        "n": len(scores),
        **_with_interval(
            "spearman",
            scores,
            lambda sample: sample.corr("spearman").at[0, 1],
        ),
        "mean_absolute_difference": differences.abs().mean(),
        "bias": differences.mean(),
    }


def alpha(votes: pd.DataFrame, question: Question) -> Values:
    """Return Krippendorff's alpha of rows with two labels or more.

    >>> votes = pd.DataFrame({"a": ["yes", "no", "yes", "yes"], "b": ["yes", "no", "no", None]})
    >>> round(alpha(votes, Question(ask="Clear?"))["alpha"], 3)
    0.444
    """
    counts = _counts(votes, question)
    return {
        "rows": len(counts),
        **_with_interval("alpha", counts, lambda sample: _alpha_of(sample, question)),
    }


def alpha_of_votes(votes: pd.DataFrame, question: Question) -> float | None:
    """Return Krippendorff's alpha without an interval; None if it is not defined."""
    value = _alpha_of(_counts(votes, question), question)
    return None if math.isnan(value) else value


def _counts(votes: pd.DataFrame, question: Question) -> pd.DataFrame:
    """Return how many people chose each value, for rows with two labels or more."""
    values = question.allowed or sorted(set(votes.stack()))
    counts_by_value = {value: (votes == value).sum(axis=1) for value in values}
    counts = pd.DataFrame(counts_by_value)
    return counts[counts.sum(axis=1) > 1]


def _alpha_of(counts: pd.DataFrame, question: Question) -> float:
    if np.count_nonzero(counts.sum()) < 2:
        return math.nan
    value = krippendorff.alpha(
        value_counts=counts.to_numpy(),
        value_domain=range(counts.shape[1]),
        level_of_measurement="ordinal" if question.scale else "nominal",
    )
    return float(value)


def _with_interval(
    name: str,
    rows: pd.DataFrame,
    statistic: Callable[[pd.DataFrame], float],
) -> Values:
    """Return a statistic of rows with its 95 % bootstrap interval.

    Resamples for which the statistic is NaN are left out.
    """
    value = statistic(rows)
    if math.isnan(value):
        return dict.fromkeys((name, "low", "high"))
    n = len(rows)
    resamples = np.random.default_rng(42).integers(n, size=(1000, n))
    estimates = [statistic(rows.iloc[positions]) for positions in resamples]
    low, high = np.nanquantile(estimates, (0.025, 0.975)).tolist()
    return {name: value, "low": low, "high": high}
