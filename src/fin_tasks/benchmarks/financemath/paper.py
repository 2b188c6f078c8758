"""How FinanceMath's authors compare numbers, oddities included."""

import math

from ..programs_paper import is_near

TOLERANCE = 0.0015
"""A number may be off by this share of the truth."""


def is_equal(result: float, truth: float) -> bool:
    """Compare two numbers as the authors do: a power of ten is forgiven, signs hardly count, NaN is right."""
    if math.isnan(result):
        return True
    if math.isinf(result) or not math.isfinite(truth):
        return False
    large = max(abs(result), abs(truth))
    small = min(abs(result), abs(truth))
    if is_near(result, truth, TOLERANCE):
        return True
    if _are_powers_of_ten_apart(large, small):
        return True
    if _are_rounded_up_alike(large, small):
        return True
    return any(
        is_near(small * factor, large, TOLERANCE) for factor in (100, 1_000, 100_000)
    )


def _are_powers_of_ten_apart(large: float, small: float) -> bool:
    if small == 0 or not math.isfinite(large / small):
        return False
    return math.log10(large / small).is_integer()


def _are_rounded_up_alike(large: float, small: float) -> bool:
    """Return whether both give the same number when they are rounded up to three decimals."""
    if not math.isfinite(large * 1000):
        return False
    return math.ceil(large * 1000) == math.ceil(small * 1000)
