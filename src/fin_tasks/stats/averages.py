"""Means and standard errors over values of which some are missing."""

import math
from collections.abc import Iterable

__all__ = ["average", "average_or_none", "rate", "standard_error"]


def average(values: Iterable[float | None]) -> float:
    """Return the mean of the values that are there.

    Args:
        values: Per-document values, None where a document has none.

    Returns:
        The mean in the values' unit, NaN when no document has a value.

    Example:
        >>> average([1.0, None, 0.0])
        0.5
    """
    present = [v for v in values if v is not None]
    return math.fsum(present) / len(present) if present else math.nan


def average_or_none(values: Iterable[float | None]) -> float | None:
    """Return `average`, or None where no value is there: what a document reports for a metric that does not apply.

    Example:
        >>> average_or_none([1.0, None, 0.0]), average_or_none([None])
        (0.5, None)
    """
    mean = average(values)
    return None if math.isnan(mean) else mean


def rate(happened: bool | None) -> float | None:
    """Return what a document adds to a rate: 1 or 0, or None where it has no part in it.

    Example:
        >>> rate(True), rate(None)
        (1.0, None)
    """
    return None if happened is None else float(happened)


def standard_error(values: Iterable[float | None]) -> float:
    """Return the standard error of `average`, as lm-eval computes it for a mean.

    se = sqrt(sum((v - mean)^2) / (n - 1)) / sqrt(n) over the n values that are there.

    Args:
        values: Per-document values, None where a document has none.

    Returns:
        The standard error in the values' unit, NaN when fewer than two documents have a value.

    Example:
        >>> standard_error([1.0, None, 0.0])
        0.5
    """
    present = [v for v in values if v is not None]
    n = len(present)
    if n < 2:
        return math.nan
    mean = math.fsum(present) / n
    return math.sqrt(math.fsum((v - mean) ** 2 for v in present) / (n - 1) / n)
