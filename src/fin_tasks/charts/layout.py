"""How prices and days become pixels, and what is written on the axes: arithmetic without any drawing."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from matplotlib.ticker import MaxNLocator

__all__ = ["Days", "Prices", "axis_values", "compact", "stacked"]

Floats = npt.NDArray[np.float64]
Dates = npt.NDArray[np.datetime64]

_DAY_STEPS = (1, 7, 14)
_MONTH_STEPS = (1, 3, 6, 12, 24, 60, 120, 240)
_LEAST_DAYS = 14  # fewer are shown with room on both sides
_AIR = 1.35  # labels of an axis are this many label widths apart


@dataclass(frozen=True)
class Days:
    """The time axis.

    Attributes:
        first: First day, counted from 1970-01-01; may be a fraction.
        last: Last day.
        left: Pixel of the first day.
        pitch: Pixels per calendar day.
    """

    first: float
    last: float
    left: float
    pitch: float

    @classmethod
    def between(cls, days: Dates, *, left: float, right: float) -> "Days":
        """Spread the days from the first to the last of `days` over the pixels from `left` to `right`."""
        numbers = _numbers(days)
        first, last = float(numbers.min()), float(numbers.max())
        missing = max(0.0, _LEAST_DAYS - (last - first))
        first, last = first - missing / 2, last + missing / 2
        return cls(first, last, left, (right - left) / (last - first))

    def x(self, days: Dates) -> Floats:
        """Return the pixel of each day."""
        return self.left + (_numbers(days) - self.first) * self.pitch

    def ticks(self, label_width: float) -> list[tuple[np.datetime64, str]]:
        """Return days to label and their labels, as close to each other as labels of that width allow.

        Days are written in full, months as year and month: numbers only, so that no locale changes them.
        """
        room = label_width * _AIR
        first, last = math.ceil(self.first), math.floor(self.last)
        for step in _DAY_STEPS:
            if step * self.pitch >= room * 1.4:  # a full date is that much longer than a month
                return [(day, str(day)) for day in np.arange(first, last + 1, step).astype("datetime64[D]")]
        begins = np.arange(np.datetime64(first, "D"), np.datetime64(last, "D") + 1)
        months = np.unique(begins.astype("datetime64[M]"))
        months = months[months.astype("datetime64[D]") >= begins[0]]
        step = next((step for step in _MONTH_STEPS if step * 30 * self.pitch >= room), _MONTH_STEPS[-1])
        kept = months[months.astype(np.int64) % step == 0]
        return [(month.astype("datetime64[D]"), str(month)) for month in (kept if len(kept) else months[:1])]


@dataclass(frozen=True)
class Prices:
    """The price axis: a range of prices with a buffer, between a strip for labels below and one above.

    Attributes:
        low: Lowest price.
        high: Highest price.
        bottom: Pixel of the lowest price.
        scale: Pixels per unit of price.
        buffer: Pixels kept free of prices beyond the lowest and the highest.
    """

    low: float
    high: float
    bottom: float
    scale: float
    buffer: float

    @classmethod
    def between(cls, low: float, high: float, *, bottom: float, top: float, least_buffer: float) -> "Prices":
        """Fit the prices, with a buffer of a tenth of their range on both sides, between two pixels.

        A range too small to have distinct labels is widened around its middle.
        """
        least = max(abs(low), abs(high)) * 1e-3 or 1.0
        if high - low < least:
            low, high = (low + high - least) / 2, (low + high + least) / 2
        buffer = max((top - bottom) / 12, least_buffer)
        return cls(low, high, bottom + buffer, (top - bottom - 2 * buffer) / (high - low), buffer)

    def y(self, prices: Floats) -> Floats:
        """Return the pixel of each price."""
        return self.bottom + (prices - self.low) * self.scale

    def price(self, y: float) -> float:
        """Return the price at a pixel."""
        return self.low + (y - self.bottom) / self.scale

    def ticks(self) -> list[tuple[float, str]]:
        """Return prices to label and their labels; the strips for labels have none, nor has anything below zero."""
        low, high = self.price(self.bottom - self.buffer / 2), self.low + (self.high - self.low) * 1.1
        return axis_values(max(low, 0.0) if self.low >= 0 else low, high, most=8)


def axis_values(low: float, high: float, *, most: int) -> list[tuple[float, str]]:
    """Return round numbers from `low` to `high` with texts that tell them apart.

    Example:
        >>> [text for _, text in axis_values(0.9, 2.1, most=5)]
        ['1.00', '1.25', '1.50', '1.75', '2.00']
        >>> [text for _, text in axis_values(0, 2.1e12, most=3)]
        ['0', '1e+12', '2e+12']
    """
    values = np.asarray(MaxNLocator(most, steps=[1, 2, 2.5, 5, 10]).tick_values(low, high))
    values = values[(values >= low) & (values <= high)]
    step = float(values[1] - values[0]) if len(values) > 1 else abs(high - low)
    decimals = next((n for n in range(7) if math.isclose(round(step, n), step, rel_tol=1e-6)), None)
    if decimals is None or max(abs(low), abs(high)) >= 1e7:
        return [(float(value), f"{value:.10g}") for value in values]
    return [(float(value), f"{value:,.{decimals}f}") for value in values]


def compact(value: float) -> str:
    """Write a large number short.

    Example:
        >>> [compact(value) for value in (0, 250, 1500, 2e6, 3.5e9, 1e16)]
        ['0', '250', '1.5K', '2M', '3.5B', '1e+16']
    """
    if value >= 1e15:
        return f"{value:.10g}"
    for unit, letter in ((1e12, "T"), (1e9, "B"), (1e6, "M"), (1e3, "K")):
        if value >= unit:
            return f"{value / unit:.10g}{letter}"
    return f"{value:.10g}"


def stacked(xs: Sequence[float], ys: Sequence[float], *, size: float, direction: int) -> list[float]:
    """Move marks of `size` pixels away from the prices, up (1) or down (-1), until none covers another.

    Example:
        >>> stacked([0, 2, 50], [10, 10, 10], size=8, direction=1)
        [10, 18, 10]
    """
    moved: list[float] = []
    for x, wanted in zip(xs, ys, strict=True):
        y = wanted
        near = sorted(
            (other_y for other_x, other_y in zip(xs, moved, strict=False) if abs(other_x - x) < size),
            reverse=direction < 0,
        )
        for other in near:
            if abs(other - y) < size:
                y = other + direction * size
        moved.append(y)
    return moved


def _numbers(days: Dates) -> Floats:
    return days.astype("datetime64[D]").astype(np.float64)
