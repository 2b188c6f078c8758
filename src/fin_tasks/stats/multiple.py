"""Many tests at once."""

from collections.abc import Sequence

import numpy as np

__all__ = ["holm"]


def holm(p_values: Sequence[float]) -> list[float]:
    """Adjust p-values so that the chance of any false finding among all of them stays below the level.

    The i-th smallest of m is multiplied by m - i + 1; none becomes smaller than one before it, none larger than 1.

    Args:
        p_values: Within [0, 1]; NaN where there was nothing to test, which counts as no test and stays NaN.

    Returns:
        The adjusted ones, in the same order.

    Raises:
        ValueError: A value is none of these.

    References:
        Holm (1979), A Simple Sequentially Rejective Multiple Test Procedure, Scandinavian Journal of Statistics 6.

    Example:
        >>> [round(p, 3) for p in holm([0.01, 0.04, 0.03])]
        [0.03, 0.06, 0.06]
    """
    values = np.asarray(p_values, dtype=np.float64)
    tested = np.flatnonzero(~np.isnan(values))
    if ((values[tested] < 0) | (values[tested] > 1)).any():
        raise ValueError(f"expected p-values within [0, 1], got {list(p_values)!r:.80}")
    order = tested[np.argsort(values[tested], kind="stable")]
    factors = np.arange(len(order), 0, -1)
    adjusted = np.full(len(values), np.nan)
    adjusted[order] = np.minimum(1.0, np.maximum.accumulate(factors * values[order]))
    return [float(p) for p in adjusted]
