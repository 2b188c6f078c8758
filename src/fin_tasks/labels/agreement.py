"""How far several people, or people and a judge, agree on the same rows."""

import math
import warnings
from collections.abc import Callable, Sequence
from typing import Any

import krippendorff
import numpy as np
import numpy.typing as npt
import pandas as pd
from scipy.stats import ConstantInputWarning, spearmanr

from fin_tasks.labels.study import Question

_SEED = 42
_N_RESAMPLES = 1000
_BOUNDS = (0.025, 0.975)  # quantiles of a 95 % interval

Array = npt.NDArray[Any]
Values = dict[str, float | None]


def agreement(
    people: Sequence[float],
    judge: Sequence[float],
) -> Values:
    """Compare two graders of the same responses: Spearman's correlation, and differences.

    Values that are not defined are None. The bias is the judge's mean minus the people's mean.
    """
    scores = np.column_stack((people, judge))
    differences = scores[:, 1] - scores[:, 0]
    return {
        "n": len(scores),
        **_with_interval("spearman", scores, _spearman),
        "mean_absolute_difference": float(abs(differences).mean()),
        "bias": float(differences.mean()),
    }


def _spearman(scores: Array) -> float:
    return float(spearmanr(scores).statistic)


def alpha(votes: pd.DataFrame, question: Question) -> Values:
    """Return Krippendorff's alpha of rows with two labels or more.

    >>> votes = pd.DataFrame({"a": ["yes", "no", "yes", "yes"], "b": ["yes", "no", "no", None]})
    >>> round(alpha(votes, Question(ask="Clear?"))["alpha"], 3)
    0.444
    """
    columns = []
    for value in question.allowed:
        is_value = votes == value
        columns.append(is_value.sum(axis=1))
    counts = np.column_stack(columns)
    counts = counts[counts.sum(axis=1) > 1]

    def alpha_of(sample: Array) -> float:
        n_labels_used = np.count_nonzero(sample.sum(axis=0))
        if n_labels_used < 2:
            return math.nan
        value = krippendorff.alpha(
            value_counts=sample,
            value_domain=range(len(columns)),
            level_of_measurement="ordinal" if question.scale else "nominal",
        )
        return float(value)

    figures = _with_interval("alpha", counts, alpha_of)
    return {"rows": len(counts), **figures}


def _with_interval(
    name: str,
    rows: Array,
    statistic: Callable[[Array], float],
) -> Values:
    """Return a statistic of rows with its 95 % bootstrap interval.

    Samples of rows for which it is NaN are left out.
    """
    n = len(rows)
    rng = np.random.default_rng(_SEED)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConstantInputWarning)
        value = statistic(rows)
        if math.isnan(value):
            return dict.fromkeys((name, "low", "high"))
        samples = rng.integers(n, size=(_N_RESAMPLES, n))
        estimates = [statistic(rows[sample]) for sample in samples]
    low, high = np.nanquantile(estimates, _BOUNDS)
    return {
        name: value,
        "low": float(low),
        "high": float(high),
    }
