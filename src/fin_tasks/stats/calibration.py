"""Scores of stated probabilities; NaN without a forecast."""

import math
from collections.abc import Sequence

import numpy as np


def brier_score(probabilities: Sequence[float], truths: Sequence[int]) -> float:
    """Return the mean squared distance of probability and outcome (0 or 1), from 0 to 1.

    References:
        Brier (1950), Monthly Weather Review 78, in the form for two outcomes.
    """
    return float(np.mean((np.array(probabilities) - truths) ** 2)) if len(truths) else math.nan


def expected_calibration_error(probabilities: Sequence[float], truths: Sequence[int], *, bins: int = 10) -> float:
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
