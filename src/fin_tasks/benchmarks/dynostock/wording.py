"""The house wording, and numbers as people write them."""

import math
from collections.abc import Mapping
from pathlib import Path

import yaml

__all__ = ["AUTHORITIES", "HOUSE", "TEMPLATES", "eps", "millions", "percent", "price"]

HOUSE = Path(__file__).with_name("house.yaml").read_text(encoding="utf-8")
_PARTS = yaml.safe_load(HOUSE)
AUTHORITIES: Mapping[str, Mapping[str, str]] = _PARTS.pop("authorities")
"""Name of each figure of authority to its `role` and `standing`, in the authors' order."""
TEMPLATES: Mapping[str, str] = {name: text for part in _PARTS.values() for name, text in part.items()}

_UNKNOWN = "not known"


def eps(value: float) -> str:
    """Write dollars per share of earnings: two decimals, up to four if there are more.

    Example:
        >>> [eps(value) for value in (1.68, 0.1, 0.0246, -0.00001, float("nan"))]
        ['1.68', '0.10', '0.0246', '0.00', 'not known']
    """
    if not math.isfinite(value):
        return _UNKNOWN
    exact = round(value, 4) + 0.0  # adding zero turns -0.0 into 0.0
    return f"{exact:.2f}" if exact == round(exact, 2) else f"{exact:.4f}".rstrip("0")


def price(value: float) -> str:
    """Write a share price in dollars: two decimals, four below one dollar."""
    return (f"{value:.2f}" if abs(value) >= 1 else f"{value:.4f}") if math.isfinite(value) else _UNKNOWN


def percent(value: float) -> str:
    """Write a share that is already in percent."""
    return f"{round(value, 1) + 0.0:.1f}%" if math.isfinite(value) else _UNKNOWN


def millions(value: float) -> str:
    """Write a count in millions, with two decimals."""
    return f"{value / 1e6:.2f}" if math.isfinite(value) else _UNKNOWN
