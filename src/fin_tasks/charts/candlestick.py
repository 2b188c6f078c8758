"""A house chart: candles, moving average, volume and a mark for each earnings report and fiscal end."""

import io
import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import matplotlib.dates
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.collections import PolyCollection
from matplotlib.colors import to_rgba_array
from matplotlib.figure import Figure

from fin_tasks.errors import DataError

from .chart import CANDLE_AGGREGATION, Chart, Mark
from .figures import drawing
from .paper import draw_as_authors

_dates: Any = matplotlib.dates  # its functions have no types
_WIDTH = 20.48  # inches, whatever the number of pixels
_HEIGHT = 10.24
_POINTS = 72  # in an inch
_UP = "#00a046"
_DOWN = "#e0222c"
_GRAY = "#707070"
_AVERAGE = "#1f5fbf"
_BACKGROUND = "#f8f8f8"
_AVERAGE_DAYS = 7  # trading days of the moving average
_MAX_DAYS = 500
"""A longer period has candles of weeks, because those of days would merge."""

_BUFFER = 0.1
"""Share of the price range that stays free above and below the prices."""

# Points
_SIDE = 18.0  # beside the first and the last day
_TRIANGLE = 11.0
_CLEARANCE = 10.5  # between the middle of a triangle and the prices
_LETTERS = 10.5
_HALF_LABEL = 33.075  # half of the width of a label, which is a date
_REPORT_LEVEL = 29.0  # height of a label with two lines
_FISCAL_LEVEL = 15.0

_KINDS = {
    "meet": ("v", _UP, "EPS Meet: day and surprise"),
    "miss": ("v", _DOWN, "EPS Miss: day and surprise"),
    "fiscal": ("^", _GRAY, "Fiscal end"),
}
"""Shape, color and text of each kind of mark."""


class _Label(NamedTuple):
    mark: Mark
    center: float
    """Day above or below which the label is centered."""
    distance: float
    """Points between the label and the prices."""


def draw(chart: Chart) -> bytes:
    """Draw a chart as PNG; raise DataError if there are more marks than the picture has room for."""
    if chart.style == "paper":
        return draw_as_authors(chart)
    frequency = "daily"
    candles = chart.prices
    body = 0.66  # days
    if (chart.end - chart.start).days > _MAX_DAYS:
        # A candle for each week from Saturday to Friday, on its Wednesday.
        saturdays = candles.index.to_period("W-FRI").start_time
        candles = candles.groupby(saturdays + pd.Timedelta(days=4)).agg(
            {**CANDLE_AGGREGATION, "volume": "sum"}
        )
        frequency = "weekly"
        body *= 7
    title = f"{chart.ticker}: {frequency} prices and earnings reports, {chart.start} to {chart.end}"
    with drawing(Path(__file__).with_suffix(".mplstyle")):
        # A hair more than the size in pixels, because matplotlib rounds down.
        figure = Figure(dpi=(chart.pixels + 0.01) / _WIDTH)
        prices, volumes = _panels(figure, chart)
        figure.text(0.015, 0.985, title, va="top", size=17, weight="bold")
        unit = f" ({chart.currency})" if chart.currency else ""
        prices.yaxis.set(label_position="right", label_text=f"Price{unit}")
        points_per_day = _set_days(volumes or prices, chart)
        _draw_candles(prices, candles, body)
        if volumes:
            volumes.yaxis.set(label_position="right", label_text="Volume (M)")
            _draw_volumes(volumes, candles, body)
        average = chart.prices["close"].rolling(_AVERAGE_DAYS).mean()
        _draw_average_and_legend(prices, average)
        _draw_marks(prices, chart, average, points_per_day)
        file = io.BytesIO()
        figure.savefig(file, pil_kwargs={"compress_level": 1})
    return file.getvalue()


def _panels(figure: Figure, chart: Chart) -> tuple[Axes, Axes | None]:
    """Return the panel of prices, and that of volumes if any volume is known."""
    if not chart.has_volumes:
        return figure.subplots(), None
    prices, volumes = figure.subplots(2, sharex=True, height_ratios=[3.6, 1])
    return prices, volumes


def _set_days(axes: Axes, chart: Chart) -> float:
    """Set the axis of days; return the points in a day."""
    days = _dates.date2num([*chart.prices.index, *[mark.day for mark in chart.marks]])
    span: float = max(np.ptp(days), 14.0)
    points_per_day = (axes.get_position().width * _WIDTH * _POINTS - 2 * _SIDE) / span
    side = _SIDE / points_per_day
    axes.set_xlim(days.min() - side, days.min() + span + side)
    axes.xaxis.set_major_locator(_dates.AutoDateLocator(maxticks=16))
    axes.xaxis.set_major_formatter(_dates.DateFormatter("%Y-%m-%d"))
    return points_per_day


def _draw_candles(axes: Axes, candles: pd.DataFrame, body: float) -> None:
    """Draw candles; `body` is their width in days."""
    _draw_bars(axes, candles, 0.0, candles["low"], candles["high"])
    _draw_bars(axes, candles, body, candles["open"], candles["close"])


def _draw_volumes(axes: Axes, candles: pd.DataFrame, body: float) -> None:
    volume = candles["volume"] / 1e6
    _draw_bars(axes, candles, body, 0 * volume, volume)
    axes.set_ylim(0, 1.08 * volume.max())
    axes.locator_params(axis="y", nbins=3)


def _draw_bars(
    axes: Axes,
    candles: pd.DataFrame,
    width: float,
    low: "pd.Series[float]",
    high: "pd.Series[float]",
) -> None:
    """Draw a bar for each candle in its color; `width` is in days."""
    x = _dates.date2num(candles.index)
    names = np.where(candles["close"] >= candles["open"], _UP, _DOWN)
    left = x - width / 2
    right = x + width / 2
    corners = [(left, low), (left, high), (right, high), (right, low)]
    rectangles: Any = np.stack(corners).transpose(2, 0, 1)
    # One collection, because an object for each bar would take most of the time.
    # The edge shows a candle whose open equals its close.
    collection = PolyCollection(rectangles, color=to_rgba_array(names), linewidths=0.6)
    axes.add_collection(collection)


def _draw_average_and_legend(axes: Axes, average: "pd.Series[float]") -> None:
    for kind, (_, _, text) in _KINDS.items():
        # A triangle at no place, which only the legend shows.
        _draw_triangle(axes, kind, [], [], linestyle="none", label=text)
    axes.plot(
        average,
        color=_AVERAGE,
        linewidth=1.2,
        zorder=0.9,
        label=f"{_AVERAGE_DAYS}-day moving average",
    )
    axes.legend(ncols=4, bbox_to_anchor=(0, 1))


def _draw_triangle(
    axes: Axes, kind: str, x: list[Any], y: list[float], **options: Any
) -> None:
    shape, color, _ = _KINDS[kind]
    axes.plot(
        x,
        y,
        marker=shape,
        markevery=[0],
        markerfacecolor=color,
        color=_GRAY,
        **options,
    )


def _draw_marks(
    axes: Axes, chart: Chart, average: "pd.Series[float]", points_per_day: float
) -> None:
    """Set the price axis; draw triangles next to the prices, and labels above or below all prices."""
    tops = np.fmax(chart.prices["high"], average)
    bottoms = np.fmin(chart.prices["low"], average)
    low = bottoms.min()
    high = tops.max()
    buffer = _BUFFER * max(high - low, 0.01 * abs(high))
    low -= buffer
    high += buffer
    reports = [mark for mark in chart.marks if mark.kind != "fiscal"]
    ends = [mark for mark in chart.marks if mark.kind == "fiscal"]
    above, above_height = _place(axes, reports, points_per_day, _REPORT_LEVEL)
    below, below_height = _place(axes, ends, points_per_day, _FISCAL_LEVEL)
    height = axes.get_position().height * _HEIGHT * _POINTS
    room = height - above_height - below_height
    if room < 0.4 * height:
        raise DataError(
            f"chart of {chart.ticker}: there is no room for the labels of all marks. Show fewer days."
        )
    scale = (high - low) / room  # of the prices in a point
    axes.set_ylim(low - scale * below_height, high + scale * above_height)
    axes.set_yticks([tick for tick in axes.get_yticks() if max(low, 0) <= tick <= high])
    # A triangle keeps its distance from the prices of all days that it covers.
    days = 11 + 2 * int(_TRIANGLE / points_per_day)
    peaks = tops.rolling(days, center=True, min_periods=1).max()
    troughs = bottoms.rolling(days, center=True, min_periods=1).min()
    sides = ((above, peaks, high, scale), (below, troughs, low, -scale))
    for labels, extremes, edge, outward in sides:
        for label in labels:
            (extreme,) = extremes.reindex([label.mark.day], method="nearest")
            y = extreme + outward * _CLEARANCE
            _draw_mark(axes, label, y, edge + outward * label.distance)


def _place(
    axes: Axes, marks: Sequence[Mark], points_per_day: float, height: float
) -> tuple[list[_Label], float]:
    """Center each label on its day, on the lowest level with room for it; also return the height of all levels.

    Args:
        axes: The panel of prices.
        marks: Marks above or below the prices, oldest first.
        points_per_day: Width of a day.
        height: Height of a level in points.
    """
    labels = []
    first, last = axes.get_xlim()
    half = _HALF_LABEL / points_per_day
    ends_by_level: dict[int, float] = {}
    for mark in marks:
        center = np.clip(_dates.date2num(mark.day), first + half, last - half)
        level = 0
        while ends_by_level.get(level, -math.inf) > center - half:
            level += 1
        ends_by_level[level] = center + half
        labels.append(_Label(mark, center, height * level))
    return labels, height * len(ends_by_level)


def _draw_mark(axes: Axes, label: _Label, y: float, label_y: float) -> None:
    """Draw a triangle, its label and the line between them."""
    mark = label.mark
    _draw_triangle(
        axes,
        mark.kind,
        [mark.day] * 2,
        [y, label_y],
        linestyle=":",
        linewidth=0.9,
        zorder=4,
    )
    text = f"{mark.day:%Y-%m-%d}"
    if mark.surprise is not None:
        surprise = f"{mark.surprise:+.2f}"
        if surprise == "-0.00":
            # A small Miss must not read as zero.
            surprise = f"{mark.surprise:+.1g}"
        text += f"\n{surprise}"
    axes.text(
        label.center,
        label_y,
        text,
        size=_LETTERS,
        # The box hides lines to labels further out.
        bbox={"facecolor": _BACKGROUND, "edgecolor": "none", "pad": 0.5},
        zorder=5,
        ha="center",
        va="top" if mark.kind == "fiscal" else "bottom",
    )
