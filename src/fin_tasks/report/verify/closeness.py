"""When two values of a results file count as the same, and how they are shown."""

import math
from typing import Any

__all__ = ["TOLERANCE", "same", "shown"]

TOLERANCE = 1e-6
"""How far numbers may be apart, absolutely or relatively: far more than JSON or another order of a sum change."""


def same(one: Any, other: Any) -> bool:
    """Say whether two JSON values are the same but for rounding; NaN and None are both nothing.

    Example:
        >>> same([0.1 + 0.2, None], [0.3, float("nan")]), same(1.0, True), same("1", 1)
        (True, True, False)
    """
    one, other = _plain(one), _plain(other)
    if isinstance(one, (int, float)) and isinstance(other, (int, float)):
        try:
            return math.isclose(one, other, rel_tol=TOLERANCE, abs_tol=TOLERANCE)
        except OverflowError:
            return one == other
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(same, one, other))
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(same(value, other[name]) for name, value in one.items())
    return bool(one == other)


def shown(value: Any) -> str:
    """Return a value as a message has it."""
    return f"{value:.6g}" if isinstance(value, float) else f"{value!r:.60}"


def _plain(value: Any) -> Any:
    if isinstance(value, float) and math.isnan(value):
        return None
    return list(value) if isinstance(value, tuple) else value
