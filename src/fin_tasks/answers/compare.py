"""When a written number is the same answer as the truth."""

import math

from fin_tasks.answers.numbers import Number

TOLERANCE = 0.005
"""Relative distance from the truth within which a number is near it."""
_NOISE = 1e-9


def as_written(number: Number) -> float:
    """Return the number without its unit, as the response writes it: 7.66 for `7.66%`, 1.2 for `1.2 million`."""
    return number.readings[-1]


def equal_reading(number: Number, truth: float, truth_step: float) -> float | None:
    """Return the reading that equals the truth up to the rounding shown, or None (`truth_step`: its last place)."""
    return next((r for r in number.readings if _equal(r, number.step_of(r), truth, truth_step)), None)


def near_reading(number: Number, truth: float) -> float | None:
    """Return the reading within 0.5 % of the truth, or None."""
    return next((r for r in number.readings if _near(r, truth)), None)


def _equal(reading: float, step: float, truth: float, truth_step: float) -> bool:
    if math.isclose(reading, truth, rel_tol=_NOISE):
        return True
    # Within half of the last place of the one written coarser, which is near or has three significant digits.
    coarse, size = (step, abs(reading)) if step >= truth_step else (truth_step, abs(truth))
    if abs(reading - truth) > coarse / 2 + _NOISE * abs(truth):
        return False
    return _near(reading, truth) or size >= 100 * coarse * (1 - _NOISE)


def _near(reading: float, truth: float) -> bool:
    return abs(reading - truth) <= TOLERANCE * abs(truth) * (1 + _NOISE)
