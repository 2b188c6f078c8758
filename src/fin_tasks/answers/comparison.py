"""When a written number is the same answer as the truth."""

import math

from fin_tasks.answers.numbers import Number

__all__ = ["TOLERANCE", "equal_reading", "near_reading"]

TOLERANCE = 0.005
"""Relative distance from the truth within which a number is near it."""

_NOISE = 1e-9
_FIRM_DIGITS = 100.0
"""A number of three significant digits is at least so many of its last written places."""


def equal_reading(number: Number, truth: float, truth_step: float) -> float | None:
    """Return the reading that equals the truth up to the rounding shown, or None.

    With a the reading, g the truth and s the larger of their last written places: |a - g| <= s / 2, and either
    |a - g| <= 0.005 |g| or the one written coarser has three significant digits. Zero equals zero only.

    Args:
        number: The answer.
        truth: The truth, finite.
        truth_step: The truth's last written place; 0.0 where it is exact.

    Example:
        >>> seven = Number(value=0.0766, readings=(0.0766, 7.66), step=0.0001)
        >>> equal_reading(seven, 7.6625, 0.0001), equal_reading(seven, 0.0766, 0.0001), equal_reading(seven, 766.0, 0.1)
        (7.66, 0.0766, None)
    """
    return next((r for r in number.readings if _equal(r, number.step_of(r), truth, truth_step)), None)


def near_reading(number: Number, truth: float) -> float | None:
    """Return the reading within 0.5 % of the truth, |a - g| <= 0.005 |g|, or None.

    Example:
        >>> near_reading(Number(value=100.4, readings=(100.4,), step=0.1), 100.0)
        100.4
    """
    return next((r for r in number.readings if _near(r, truth)), None)


def _equal(reading: float, step: float, truth: float, truth_step: float) -> bool:
    if math.isclose(reading, truth, rel_tol=_NOISE):
        return True
    coarse, size = (step, abs(reading)) if step >= truth_step else (truth_step, abs(truth))
    if abs(reading - truth) > coarse / 2 + _NOISE * abs(truth):
        return False
    return _near(reading, truth) or size >= _FIRM_DIGITS * coarse * (1 - _NOISE)


def _near(reading: float, truth: float) -> bool:
    return abs(reading - truth) <= TOLERANCE * abs(truth) * (1 + _NOISE)
