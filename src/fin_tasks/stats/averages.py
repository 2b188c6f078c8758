"""Means and standard errors over values of which some are missing (None)."""

import math
from collections.abc import Iterable

__all__ = ["average", "average_or_none", "rate", "standard_error"]


def average(values: Iterable[float | None]) -> float:
    """Return the mean of the known values; NaN if there are none.

    Example:
        >>> average([1.0, None, 0.0])
        0.5
    """
    known = [value for value in values if value is not None]
    return math.fsum(known) / len(known) if known else math.nan


def average_or_none(values: Iterable[float | None]) -> float | None:
    """Return the mean of the known values; None if there are none."""
    mean = average(values)
    return None if math.isnan(mean) else mean


def rate(happened: bool | None) -> float | None:
    """Return 1, 0, or None if unknown: what a document adds to a rate."""
    return None if happened is None else float(happened)


def standard_error(values: Iterable[float | None]) -> float:
    """Return the standard error of the mean, s / sqrt(n), as lm-eval computes it; NaN below two known values.

    Example:
        >>> standard_error([1.0, None, 0.0])
        0.5
    """
    known = [value for value in values if value is not None]
    n = len(known)
    if n < 2:
        return math.nan
    mean = math.fsum(known) / n
    return math.sqrt(math.fsum((value - mean) ** 2 for value in known) / (n - 1) / n)
