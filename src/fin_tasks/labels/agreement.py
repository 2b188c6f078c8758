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

Values = dict[str, float | None]


def agreement(people: Sequence[float], judge: Sequence[float]) -> Values:
    """Compare two graders of the same responses: Spearman's correlation, and differences.

    Values that are not defined are None. The bias is the judge's mean minus the people's mean.
    """
    scores = pd.DataFrame({"people": people, "judge": judge}, dtype=float)
    differences = scores["judge"] - scores["people"]
    values: Values = {"n": len(scores)}
    values |= _with_interval("spearman", scores.to_numpy(), _spearman)
    values["mean_absolute_difference"] = _defined(differences.abs().mean())
    values["bias"] = _defined(differences.mean())
    return values


def _spearman(scores: npt.NDArray[np.float64]) -> float:
    if len(scores) < 2:
        return math.nan
    return float(spearmanr(scores).statistic)


def alpha(votes: pd.DataFrame, question: Question) -> Values:
    """Return Krippendorff's alpha of rows with two labels or more.

    >>> votes = pd.DataFrame({"a": ["yes", "no", "yes", "yes"], "b": ["yes", "no", "no", None]})
    >>> round(alpha(votes, Question(ask="Clear?"))["alpha"], 3)
    0.444
    """
    columns = [(votes == value).sum(axis=1) for value in question.allowed]
    counts = np.array(columns).T
    counts = counts[counts.sum(axis=1) > 1]

    def alpha_of(sample: npt.NDArray[np.int64]) -> float:
        n_labels_used = np.count_nonzero(sample.sum(axis=0))
        if n_labels_used < 2:
            return math.nan
        value = krippendorff.alpha(
            value_counts=sample,
            value_domain=range(len(columns)),
            level_of_measurement="ordinal" if question.scale else "nominal",
        )
        return float(value)

    values: Values = {"rows": len(counts)}
    return values | _with_interval("alpha", counts, alpha_of)


def _with_interval(
    name: str, rows: npt.NDArray[Any], statistic: Callable[[npt.NDArray[Any]], float]
) -> Values:
    """Return a statistic of rows with its 95 % bootstrap interval.

    Samples of rows for which it is NaN are left out.
    """
    rng = np.random.default_rng(_SEED)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConstantInputWarning)
        value = statistic(rows)
        if math.isnan(value):
            return dict.fromkeys((name, "low", "high"))
        positions = rng.integers(len(rows), size=(_N_RESAMPLES, len(rows)))
        estimates = [statistic(rows[sample]) for sample in positions]
    low, high = np.nanquantile(estimates, _BOUNDS)
    return {name: value, "low": float(low), "high": float(high)}


def _defined(value: float) -> float | None:
    return None if math.isnan(value) else float(value)
