"""Metrics, means and standard errors over values of which some are missing (None), scores of probabilities."""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np


@dataclass(frozen=True, kw_only=True)
class Metric:
    """A task's metric that is no mean over documents, such as the bound of an interval.

    Attributes:
        higher_is_better: Whether more is better; None if neither.
        aggregate: Takes each document's value, None included, and returns a number or `N/A`.
    """

    higher_is_better: bool | None
    aggregate: Callable[[Sequence[Any]], float | str]


def average(values: Iterable[float | None]) -> float:
    """Return the mean of the known values; NaN if there are none."""
    known = [value for value in values if value is not None]
    return math.fsum(known) / len(known) if known else math.nan


def average_or_none(values: Iterable[float | None]) -> float | None:
    """Return the mean of the known values; None if there are none."""
    mean = average(values)
    return None if math.isnan(mean) else mean


def over_responses(values: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return a document's metrics over its responses: means, of lists place by place; lists of pairs are joined."""
    if len(values) == 1:
        return dict(values[0])
    return {
        name: _over([one[name] for one in values if one[name] is not None]) for name in values[0]
    }


def _over(known: list[Any]) -> Any:
    if known and isinstance(known[0], list):
        if known[0] and isinstance(known[0][0], list):
            return [pair for one in known for pair in one]
        return [average(place) for place in zip(*known, strict=True)]
    return average_or_none(known)


def rate(happened: bool | None) -> float | None:
    """Return 1, 0, or None if unknown: what a document adds to a rate."""
    return None if happened is None else float(happened)


def standard_error(values: Iterable[float | None]) -> float:
    """Return the standard error of the mean, s / sqrt(n), as lm-eval computes it; NaN below two known values."""
    known = [value for value in values if value is not None]
    return float(np.std(known, ddof=1) / math.sqrt(len(known))) if len(known) > 1 else math.nan


def brier_score(probabilities: Sequence[float], truths: Sequence[int]) -> float:
    """Return the mean squared distance of probability and outcome (0 or 1), from 0 to 1.

    References:
        Brier (1950), Monthly Weather Review 78, in the form for two outcomes.
    """
    return float(np.mean((np.array(probabilities) - truths) ** 2)) if len(truths) else math.nan


def expected_calibration_error(
    probabilities: Sequence[float], truths: Sequence[int], *, bins: int = 10
) -> float:
    """Return the mean distance of stated probabilities and observed frequencies over bins of equal width.

    A probability on an edge belongs to the lower bin. Even a calibrated forecaster gets more than 0 on few documents,
    so compare only over equally many.

    References:
        Naeini, Cooper, Hauskrecht (2015), Obtaining well calibrated probabilities using Bayesian binning, AAAI.
    """
    if not len(truths):
        return math.nan
    stated = np.array(probabilities)
    edges = np.arange(1, bins) / bins  # exactly the decimals people write, which linspace is not
    gaps = np.bincount(np.searchsorted(edges, stated, side="left"), weights=stated - truths)
    return float(np.abs(gaps).sum() / len(truths))
