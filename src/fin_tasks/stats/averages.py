"""Metrics, averages that leave out missing values (None), and the calibration of stated probabilities."""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

import numpy as np


@dataclass(frozen=True, kw_only=True)
class Metric:
    """A task's metric that is no mean over documents, such as the bound of an interval."""

    higher_is_better: bool | None
    """Whether more is better; None if neither."""
    aggregate: Callable[[Sequence[Any]], float | str]
    """Takes the value of each document, None included, and returns a number or `N/A`."""


def average(
    values: Iterable[float | None],
) -> float:
    """Return the mean of the known values; NaN if there are none."""
    known = [value for value in values if value is not None]
    if not known:
        return math.nan
    return math.fsum(known) / len(known)


def average_or_none(
    values: Iterable[float | None],
) -> float | None:
    """Return the mean of the known values; None if there are none."""
    mean = average(values)
    return None if math.isnan(mean) else mean


def over_responses(
    values: Sequence[Mapping[str, Any]],
) -> dict[str, Any]:
    """Return a document's metrics from those of each response to it.

    Numbers are averaged. Lists of numbers are averaged position by position, and lists of pairs are
    joined.
    """
    if len(values) == 1:
        return dict(values[0])
    combined = {}
    for name in values[0]:
        combined[name] = _combine([response[name] for response in values])
    return combined


def _combine(values: list[Any]) -> Any:
    known = _known(values)
    if not known or not isinstance(known[0], list):
        return average_or_none(known)
    entries = list(chain.from_iterable(known))
    if all(isinstance(entry, list) for entry in entries):
        return entries
    return [average(position) for position in zip(*known, strict=True)]


def rate(happened: bool | None) -> float | None:
    """Return what a document adds to a rate: 1, 0, or None if unknown."""
    return None if happened is None else float(happened)


def standard_error(
    values: Iterable[float | None],
) -> float:
    """Return the standard error of the mean as lm-eval computes it; NaN below two known values."""
    known = _known(values)
    if len(known) < 2:
        return math.nan
    return float(np.std(known, ddof=1) / math.sqrt(len(known)))


def expected_calibration_error(
    pairs_by_document: Iterable[Sequence[Sequence[float]]],
) -> float:
    """Return the mean distance of probability and frequency over ten bins of equal width.

    Each document has pairs of a stated probability and the truth (1 or 0). A probability
    on an edge belongs to the lower bin. On few documents even a calibrated forecaster gets more
    than 0, so compare only over equally many.

    References:
        Naeini, Cooper, Hauskrecht (2015), Obtaining well calibrated probabilities using Bayesian
        binning, AAAI.
    """
    pairs = list(chain.from_iterable(pairs_by_document))
    if not pairs:
        return math.nan
    stated, truths = np.array(pairs, dtype=float).T
    # Division gives exactly the decimals that people write, np.linspace does not.
    edges = np.arange(1, 10) / 10
    bins = np.searchsorted(edges, stated, side="left")
    gaps = np.bincount(bins, weights=stated - truths)
    total_gap = np.abs(gaps).sum()
    return float(total_gap / len(truths))


def _known(values: Iterable[Any]) -> list[Any]:
    return [value for value in values if value is not None]
