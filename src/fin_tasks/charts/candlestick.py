"""A house chart: candles, moving average, volume and a mark for each earnings report and fiscal end."""

import io
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

import matplotlib.dates
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.collections import PolyCollection
from matplotlib.figure import Figure

from fin_tasks.charts.chart import Chart, Mark
from fin_tasks.charts.figures import drawing
from fin_tasks.charts.paper import draw_as_authors
from fin_tasks.errors import DataError

_dates: Any = matplotlib.dates  # its functions have no types
_WIDTH = 20.48  # inches, whatever the number of pixels
_HEIGHT = 10.24
_POINTS = 72  # in an inch
_GRID: dict[str, Any] = {
    "left": 0.015,
    "right": 0.945,
    "bottom": 0.05,
    "top": 0.915,
    "hspace": 0.04,
    "height_ratios": (3.6, 1),
}
_UP = "#00a046"
_DOWN = "#e0222c"
_GRAY = "#707070"
_AVERAGE = "#1f5fbf"
_BACKGROUND = "#f8f8f8"
_STYLE = Path(__file__).with_suffix(".mplstyle")
_AVERAGED = 7  # trading days of the moving average
_MAX_DAILY = 500
"""A longer period has candles of weeks, because those of days would merge."""
_WEEK = {
    "open": "first",
    "high": "max",
    "low": "min",
    "close": "last",
    "volume": "sum",
}
_BUFFER = 0.1
"""Share of the price range that stays free above and below the prices."""

# Points
_SIDE = 18.0  # beside the first and the last day
_TRIANGLE = 11.0
_CLEARANCE = 5.0  # between a triangle and the prices
_LETTERS = 10.5
_LABEL_WIDTH = 6.3 * _LETTERS  # of a day
_REPORT_ROW = 29.0  # height of a label with two lines
_END_ROW = 15.0


_KINDS = {
    "meet": ("v", _UP, "EPS Meet: day and surprise"),
    "miss": ("v", _DOWN, "EPS Miss: day and surprise"),
    "fiscal": ("^", _GRAY, "Fiscal end"),
}
"""Shape, color and text of each kind of mark."""

_Column: TypeAlias = "pd.Series[float]"


class _Label(NamedTuple):
    mark: Mark
    center: float
    """Day of its center."""
    level: int
    """Number of rows between the label and the prices."""


def draw(chart: Chart) -> bytes:
    """Draw a chart as PNG; raise DataError if there are more marks than the picture has room for."""
    if chart.style == "paper":
        return draw_as_authors(chart)
    file = io.BytesIO()
    is_weekly = (chart.end - chart.start).days > _MAX_DAILY
    frequency = "weekly" if is_weekly else "daily"
    period = f"{chart.start} to {chart.end}"
    title = f"{chart.ticker}: {frequency} prices and earnings reports, {period}"
    with drawing(_STYLE):
        # A hair more than the size in pixels, because matplotlib rounds down.
        dpi = (chart.pixels + 0.01) / _WIDTH
        figure = Figure(figsize=(_WIDTH, _HEIGHT), dpi=dpi)
        prices, volumes = figure.subplots(2, sharex=True, gridspec_kw=_GRID)
        figure.text(
            _GRID["left"],
            0.985,
            title,
            va="top",
            size=17,
            weight="bold",
        )
        _name_panel(prices, "Price (USD)")
        _name_panel(volumes, "Volume (M)")
        points_per_day = _set_days(volumes, chart)
        candles = _weeks_of(chart.prices) if is_weekly else chart.prices
        body = 0.66 * (7 if is_weekly else 1)
        _draw_candles(prices, volumes, candles, body)
        average = chart.prices["close"].rolling(_AVERAGED).mean()
        _draw_average(prices, average)
        _draw_marks(prices, chart, average, points_per_day)
        figure.savefig(file, dpi=dpi, pil_kwargs={"compress_level": 1})
    return file.getvalue()


def _name_panel(axes: Axes, name: str) -> None:
    axes.yaxis.tick_right()
    axes.yaxis.set_label_position("right")
    axes.set_ylabel(name)


def _set_days(axes: Axes, chart: Chart) -> float:
    """Set the axis of days; return the points in a day."""
    days = _dates.date2num([*chart.prices.index, *[mark.day for mark in chart.marks]])
    span = max(float(np.ptp(days)), 14.0)
    points_per_day = (axes.get_position().width * _WIDTH * _POINTS - 2 * _SIDE) / span
    side = _SIDE / points_per_day
    axes.set_xlim(days.min() - side, days.min() + span + side)
    axes.xaxis.set_major_locator(_dates.AutoDateLocator(maxticks=16))
    axes.xaxis.set_major_formatter(_dates.DateFormatter("%Y-%m-%d"))
    return points_per_day


def _weeks_of(prices: pd.DataFrame) -> pd.DataFrame:
    """Return a candle for each week from Saturday to Friday, indexed by its Wednesday."""
    saturdays = prices.index.to_period("W-FRI").start_time
    return prices.groupby(saturdays + pd.Timedelta(days=4)).agg(_WEEK)


def _draw_candles(
    price_axes: Axes, volume_axes: Axes, candles: pd.DataFrame, body: float
) -> None:
    """Draw candles and volumes, whose bodies are so many days wide."""
    x = _dates.date2num(candles.index)
    volume = candles["volume"] / 1e6
    colors = np.where(candles["close"] >= candles["open"], _UP, _DOWN)
    bars = (
        (price_axes, 0.0, candles["low"], candles["high"]),
        (price_axes, body, candles["open"], candles["close"]),
        (volume_axes, body, 0 * volume, volume),
    )
    for axes, width, low, high in bars:
        left = x - width / 2
        right = x + width / 2
        corners = [(left, low), (left, high), (right, high), (right, low)]
        # One collection, because an object for each bar would take most of the time.
        collection = PolyCollection(list(np.stack(corners).transpose(2, 0, 1)))
        # The edge shows a candle whose open equals its close.
        collection.set(facecolors=colors, edgecolors=colors, linewidths=0.6)
        axes.add_collection(collection)
    volume_axes.set_ylim(0, 1.08 * volume.max() or 1.0)
    volume_axes.locator_params(axis="y", nbins=3)


def _draw_average(axes: Axes, average: _Column) -> None:
    """Draw the moving average, and the legend of everything."""
    for kind, (_, _, text) in _KINDS.items():
        _draw_triangle(
            axes,
            kind,
            [],
            [],
            linestyle="none",
            label=text,
        )
    label = f"{_AVERAGED}-day moving average"
    axes.plot(average, color=_AVERAGE, linewidth=1.2, zorder=0.9, label=label)
    axes.legend(ncols=4, loc="lower left", bbox_to_anchor=(0, 1))


def _draw_triangle(
    axes: Axes, kind: str, x: list[float], y: list[float], **options: Any
) -> None:
    shape, color, _ = _KINDS[kind]
    axes.plot(
        x,
        y,
        marker=shape,
        markevery=[0],
        markersize=_TRIANGLE,
        markerfacecolor=color,
        markeredgewidth=0,
        color=_GRAY,
        **options,
    )


def _draw_marks(
    axes: Axes, chart: Chart, average: _Column, points_per_day: float
) -> None:
    """Set the price axis; put triangles beside the prices, and labels above and below all prices."""
    limits = axes.get_xlim()
    reports = [mark for mark in chart.marks if mark.kind != "fiscal"]
    ends = [mark for mark in chart.marks if mark.kind == "fiscal"]
    above = _labels(reports, limits, points_per_day)
    below = _labels(ends, limits, points_per_day)
    above_height = _REPORT_ROW * len({label.level for label in above})
    below_height = _END_ROW * len({label.level for label in below})
    height = axes.get_position().height * _HEIGHT * _POINTS
    room = height - above_height - below_height
    if room < 0.4 * height:
        problem = f"{len(chart.marks)} marks have no room for labels"
        raise DataError(f"chart of {chart.ticker}: {problem}. Show fewer days.")
    tops = np.fmax(chart.prices["high"], average)
    bottoms = np.fmin(chart.prices["low"], average)
    low = bottoms.min()
    high = tops.max()
    buffer = _BUFFER * max(high - low, 0.01 * abs(high))
    low -= buffer
    high += buffer
    price_per_point = (high - low) / room
    axes.set_ylim(
        low - price_per_point * below_height, high + price_per_point * above_height
    )
    axes.set_yticks([tick for tick in axes.get_yticks() if max(low, 0) <= tick <= high])
    reach = 5 + int(_TRIANGLE / points_per_day)
    distance = price_per_point * (_CLEARANCE + _TRIANGLE / 2)
    for label in above:
        y = _near(tops, label.mark, reach).max() + distance
        _draw_mark(axes, label, y, high + price_per_point * _REPORT_ROW * label.level)
    for label in below:
        y = _near(bottoms, label.mark, reach).min() - distance
        _draw_mark(axes, label, y, low - price_per_point * _END_ROW * label.level)


def _near(values: _Column, mark: Mark, reach: int) -> _Column:
    """Return the values of so many trading days before and after a mark."""
    (position,) = values.index.get_indexer([mark.day], method="nearest")
    return values.iloc[max(0, position - reach) : position + reach + 1]


def _labels(
    marks: Sequence[Mark], limits: tuple[float, float], points_per_day: float
) -> list[_Label]:
    """Center each label on its day, on the lowest level with room for it."""
    labels = []
    first, last = limits
    half = _LABEL_WIDTH / 2 / points_per_day
    ends_by_level: list[float] = []
    for mark in marks:
        center = min(max(_dates.date2num(mark.day), first + half), last - half)
        level = 0
        while level < len(ends_by_level) and ends_by_level[level] > center - half:
            level += 1
        ends_by_level[level : level + 1] = [center + half]
        labels.append(_Label(mark, center, level))
    return labels


def _draw_mark(axes: Axes, label: _Label, y: float, label_y: float) -> None:
    """Draw a triangle, its label and the line between them."""
    mark = label.mark
    x = [_dates.date2num(mark.day)] * 2
    _draw_triangle(
        axes,
        mark.kind,
        x,
        [y, label_y],
        linestyle=":",
        linewidth=0.9,
        zorder=4,
    )
    text = f"{mark.day:%Y-%m-%d}"
    if mark.surprise is not None:
        # A small Miss must not read as zero.
        is_tiny = f"{mark.surprise:+.2f}" == "-0.00"
        text += f"\n{mark.surprise:{'+.1g' if is_tiny else '+.2f'}}"
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
