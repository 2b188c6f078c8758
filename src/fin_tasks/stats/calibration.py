"""How well stated probabilities match what happened."""

import math
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

__all__ = ["brier_score", "expected_calibration_error", "log_loss"]

_Floats = npt.NDArray[np.float64]


def brier_score(probabilities: Sequence[float], truths: Sequence[int]) -> float:
    """Return the mean squared distance of probability and outcome (0 or 1), from 0 to 1; NaN without a forecast.

    References:
        Brier (1950), Monthly Weather Review 78, in the form for two outcomes.
    """
    p, y = _checked(probabilities, truths)
    return float(np.mean((p - y) ** 2)) if len(p) else math.nan


def log_loss(probabilities: Sequence[float], truths: Sequence[int], *, clip: float = 0.005) -> float:
    """Return the mean negative log-likelihood in nats; NaN without a forecast.

    Probabilities are clipped to [clip, 1 - clip], or one certain mistake would make the score infinite. Models state
    two decimals, so a 0 only says "below 0.005".
    """
    p, y = _checked(probabilities, truths)
    if not len(p):
        return math.nan
    clipped = np.clip(p, clip, 1 - clip)
    return float(-np.mean(y * np.log(clipped) + (1 - y) * np.log1p(-clipped)))


def expected_calibration_error(probabilities: Sequence[float], truths: Sequence[int], *, bins: int = 10) -> float:
    """Return the mean distance of stated probabilities and observed frequencies over bins of equal width.

    A probability on an edge belongs to the lower bin. Even a calibrated forecaster gets more than 0 on few documents,
    so compare only over equally many. NaN without a forecast.

    References:
        Naeini, Cooper, Hauskrecht (2015), Obtaining well calibrated probabilities using Bayesian binning, AAAI.
    """
    p, y = _checked(probabilities, truths)
    if not len(p):
        return math.nan
    edges = np.arange(1, bins) / bins  # exactly the decimals people write, which linspace is not
    gaps = np.bincount(np.searchsorted(edges, p, side="left"), weights=p - y, minlength=bins)
    return float(np.abs(gaps).sum() / len(p))


def _checked(probabilities: Sequence[float], truths: Sequence[int]) -> tuple[_Floats, _Floats]:
    p, y = np.asarray(probabilities, dtype=np.float64), np.asarray(truths, dtype=np.float64)
    if len(p) != len(y) or not ((p >= 0) & (p <= 1)).all() or not np.isin(y, (0, 1)).all():
        raise ValueError(f"expected probabilities within [0, 1] and as many truths of 0 or 1, got {p} and {y}")
    return p, y
