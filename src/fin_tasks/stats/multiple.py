"""Many tests at once."""

from collections.abc import Sequence

import numpy as np

__all__ = ["holm"]


def holm(p_values: Sequence[float]) -> list[float]:
    """Adjust the p-values of one family of tests by Holm's method; NaN counts as no test and stays NaN.

    References:
        Holm (1979), A Simple Sequentially Rejective Multiple Test Procedure, Scandinavian Journal of Statistics 6.

    Example:
        >>> [round(p, 3) for p in holm([0.01, 0.04, 0.03])]
        [0.03, 0.06, 0.06]
    """
    values = np.asarray(p_values, dtype=np.float64)
    tested = np.flatnonzero(~np.isnan(values))
    order = tested[np.argsort(values[tested], kind="stable")]
    adjusted = np.full(len(values), np.nan)
    adjusted[order] = np.minimum(1.0, np.maximum.accumulate(np.arange(len(order), 0, -1) * values[order]))
    return [float(p) for p in adjusted]
