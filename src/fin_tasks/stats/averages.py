"""Means and standard errors over values of which some are missing."""

import math
from collections.abc import Iterable

__all__ = ["average", "standard_error"]


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
