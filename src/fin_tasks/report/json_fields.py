"""Numbers out of strangers' JSON, checked."""

import math
from typing import Any

from fin_tasks.errors import DataError

__all__ = ["number", "whole"]

_MOST = 2**53
"""JSON's whole numbers are exact below."""


def number(where: str, value: Any, *, most: float, least: float = 0.0) -> float | None:
    """Read a number or null.

    Args:
        where: File and field, for the message.
        value: What stands there.
        most: Largest it may be; infinite ones never may.
        least: Smallest.

    Raises:
        DataError: It is something else.

    Example:
        >>> number("f.json, acc", 1, most=1), number("f.json, acc", None, most=1)
        (1.0, None)
    """
    if value is None:
        return None
    fits = isinstance(value, (int, float)) and not isinstance(value, bool) and least <= value <= most
    if not fits or math.isinf(value):
        raise DataError(f"{where}: expected a number from {least:g} to {most:g} or null, got {value!r:.80}.")
    return float(value)


def whole(where: str, value: Any, *, least: int = 0) -> int:
    """Read a whole number.

    Raises:
        DataError: It is something else.
    """
    if isinstance(value, bool) or not isinstance(value, int) or not least <= value < _MOST:
        raise DataError(f"{where}: expected a whole number of {least} or more, got {value!r:.80}.")
    return value
