"""Numbers, days and directions as people write them, the same in every sentence and table of a prompt."""

import math
from datetime import date

__all__ = ["day", "figure", "followed_by", "goes", "millions", "outcome_of", "percent", "price"]

UNKNOWN = "not known"


def figure(value: float) -> str:
    """Write dollars per share of earnings: two decimals, up to four where the figure has them.

    Example:
        >>> [figure(value) for value in (1.68, 0.1, 0.0246, -0.00001, float("nan"))]
        ['1.68', '0.10', '0.0246', '0.00', 'not known']
    """
    if not math.isfinite(value):
        return UNKNOWN
    exact = round(value, 4) + 0.0  # adding zero turns -0.0 into 0.0
    return f"{exact:.2f}" if exact == round(exact, 2) else f"{exact:.4f}".rstrip("0")


def price(value: float) -> str:
    """Write a share price in dollars: two decimals, four below one dollar, where cents are too coarse.

    Example:
        >>> [price(value) for value in (271.154, 12.0, 0.98214, float("nan"))]
        ['271.15', '12.00', '0.9821', 'not known']
    """
    if not math.isfinite(value):
        return UNKNOWN
    return f"{value:.2f}" if abs(value) >= 1 else f"{value:.4f}"


def percent(value: float) -> str:
    """Write a share that is already in percent.

    Example:
        >>> [percent(value) for value in (19.1489, -0.01, float("inf"))]
        ['19.1%', '0.0%', 'not known']
    """
    return f"{round(value, 1) + 0.0:.1f}%" if math.isfinite(value) else UNKNOWN


def millions(value: float) -> str:
    """Write a count in millions, with two decimals.

    Example:
        >>> millions(12_345_678.0)
        '12.35'
    """
    return f"{value / 1e6:.2f}" if math.isfinite(value) else UNKNOWN


def day(value: date) -> str:
    """Write a day as `2004-07-14`."""
    return f"{value:%Y-%m-%d}"


def followed_by(movement: int) -> str:
    """Name a movement as something that happened: 1 is `a rise`, 0 is `a fall`."""
    return "a rise" if movement else "a fall"


def goes(movement: int) -> str:
    """Name a movement as a direction: 1 is `up`, 0 is `down`."""
    return "up" if movement else "down"


def outcome_of(surprise: float) -> str:
    """Name a report's outcome: `Meet` from a surprise of zero, `Miss` below, `not known` without a surprise.

    Example:
        >>> [outcome_of(value) for value in (0.0, -0.01, float("nan"))]
        ['Meet', 'Miss', 'not known']
    """
    if math.isnan(surprise):
        return UNKNOWN
    return "Meet" if surprise >= 0 else "Miss"
