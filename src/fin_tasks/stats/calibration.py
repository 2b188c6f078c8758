"""How well stated probabilities match what happened."""

import math
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

__all__ = ["brier_score", "expected_calibration_error", "log_loss"]

_Floats = npt.NDArray[np.float64]


def brier_score(probabilities: Sequence[float], truths: Sequence[int]) -> float:
    """Return the mean squared distance between probability and outcome, (1/n) sum (p - y)^2.

    Args:
        probabilities: Stated probability of outcome 1, within [0, 1].
        truths: What happened, 0 or 1, one per probability.

    Returns:
        From 0 (certain and right) to 1 (certain and wrong); 0.25 for always saying one half. NaN without a forecast.

    Raises:
        ValueError: The lengths differ, a probability is outside [0, 1] or a truth is neither 0 nor 1.

    References:
        Brier (1950), Verification of forecasts expressed in terms of probability, Monthly Weather Review 78 (in the
        form for two outcomes, half of the original).

    Example:
        >>> round(brier_score([0.8, 0.4], [1, 1]), 6)
        0.2
    """
    p, y = _checked(probabilities, truths)
    return float(np.mean((p - y) ** 2)) if len(p) else math.nan


def log_loss(probabilities: Sequence[float], truths: Sequence[int], *, clip: float = 0.005) -> float:
    """Return the mean negative log-likelihood, -(1/n) sum (y ln p + (1 - y) ln(1 - p)).

    Probabilities are clipped to [clip, 1 - clip], or one certain mistake would make the score infinite. Models state
    probabilities with two decimals, so a 0 says no more than "below 0.005"; hence the default.

    Args:
        probabilities: Stated probability of outcome 1, within [0, 1].
        truths: What happened, 0 or 1, one per probability.
        clip: Above 0, below one half.

    Returns:
        In nats, from about 0 (certain and right) to -ln(clip), 5.3 by default; ln 2 = 0.693 for always saying one half.
        NaN without a forecast.

    Raises:
        ValueError: As for `brier_score`, or `clip` is out of range.

    Example:
        >>> round(log_loss([0.8, 0.4], [1, 0]), 4)
        0.367
    """
    if not 0 < clip < 0.5:
        raise ValueError(f"clip: expected a number between 0 and 0.5, got {clip!r}")
    p, y = _checked(probabilities, truths)
    if not len(p):
        return math.nan
    clipped = np.clip(p, clip, 1 - clip)
    return float(-np.mean(y * np.log(clipped) + (1 - y) * np.log1p(-clipped)))


def expected_calibration_error(probabilities: Sequence[float], truths: Sequence[int], *, bins: int = 10) -> float:
    """Return how far, on average, stated probabilities are from the observed frequencies.

    ECE = sum over bins of n_b / n * |mean p - mean y|, over `bins` bins of equal width. A probability on an edge
    belongs to the lower bin, so with ten bins 0.8 is in (0.7, 0.8]; 0 is in the first.

    Args:
        probabilities: Stated probability of outcome 1, within [0, 1].
        truths: What happened, 0 or 1, one per probability.
        bins: Number of bins, 1 or more.

    Returns:
        From 0 (calibrated) to 1. NaN without a forecast. Even a calibrated forecaster gets more than 0 on few
        documents: compare scores only over the same number of documents.

    Raises:
        ValueError: As for `brier_score`, or `bins` is below 1.

    References:
        Naeini, Cooper, Hauskrecht (2015), Obtaining well calibrated probabilities using Bayesian binning, AAAI.

    Example:
        >>> round(expected_calibration_error([0.8, 0.8, 0.8, 0.1], [1, 1, 0, 0]), 4)
        0.125
    """
    if bins < 1:
        raise ValueError(f"bins: expected 1 or more, got {bins!r}")
    p, y = _checked(probabilities, truths)
    if not len(p):
        return math.nan
    edges = np.arange(1, bins) / bins  # exactly the decimals people write, which linspace is not
    place = np.searchsorted(edges, p, side="left")
    gaps = np.bincount(place, weights=p - y, minlength=bins)
    return float(np.abs(gaps).sum() / len(p))


def _checked(probabilities: Sequence[float], truths: Sequence[int]) -> tuple[_Floats, _Floats]:
    p, y = np.asarray(probabilities, dtype=np.float64), np.asarray(truths, dtype=np.float64)
    if len(p) != len(y):
        raise ValueError(f"expected one truth per probability, got {len(p)} probabilities and {len(y)} truths")
    if outside := [value for value in p.tolist() if not 0 <= value <= 1]:
        raise ValueError(f"probabilities: expected numbers within [0, 1], got {outside[0]!r}")
    if odd := [value for value in y.tolist() if value not in (0, 1)]:
        raise ValueError(f"truths: expected 0 or 1, got {odd[0]!r}")
    return p, y
