"""One chart: candles, moving average, volume and a mark for each earnings report and fiscal end."""

import hashlib
import io
import re
from dataclasses import dataclass
from datetime import date
from itertools import combinations
from typing import Any, Literal, NamedTuple

import matplotlib as mpl
import matplotlib.dates
import numpy as np
import numpy.typing as npt
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.collections import PolyCollection
from matplotlib.colors import to_rgba_array
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import MaxNLocator
from PIL import Image

from fin_tasks.charts.figures import drawing
from fin_tasks.errors import ConfigError, DataError

RENDERER = 2  # version of the pictures; raise it when they change, so that charts on the disk are drawn again
Style = Literal["house", "paper"]

_COLUMNS = ["open", "high", "low", "close", "volume"]
_CURRENCY = "USD"
_UP, _DOWN, _GRAY, _AVERAGE, _BEHIND = "#00a046", "#e0222c", "#707070", "#1f5fbf", "#f8f8f8"
_MARKS = {
    "meet": ("v", _UP, "EPS Meet"),
    "miss": ("v", _DOWN, "EPS Miss"),
    "fiscal": ("^", _GRAY, "Fiscal End Date"),
}
_AVERAGED = 7  # trading days of the moving average
_BUFFER = 0.1  # share of the price range that stays free above and below the prices
_PAPER_LINE = 600  # rows from which mplfinance warns of too much data, and the authors draw a line
_HEIGHT, _LEFT, _RIGHT, _HEAD, _FOOT = 6.0, 0.25, 0.95, 0.62, 0.32  # inches
_SIDE, _TRIANGLE, _CLEAR, _LABEL = (
    14.0,
    8.0,
    4.0,
    8.0,
)  # points: beside the first day, mark, mark to price, letters
_LOOK = {
    "font.size": 9,
    "axes.facecolor": _BEHIND,
    "axes.spines.left": False,
    "axes.grid": True,
    "axes.grid.axis": "y",
}

# PNGs with a palette are small and written fast. Pillow compares in steps of four: 252 would stand for white.
_COLORS = to_rgba_array([_UP, _DOWN, _AVERAGE, _BEHIND])[:, :3] * 255
_STEPS = [a + (b - a) * step for a, b in combinations(_COLORS, 2) for step in np.linspace(0, 1, 25)]
_PALETTE = Image.new("P", (1, 1))
_PALETTE.putpalette(
    np.rint([*_STEPS, *([gray] * 3 for gray in (*range(0, 252, 4), 255))])
    .astype(np.uint8)
    .tobytes()
)


class Mark(NamedTuple):
    """A day with a triangle: a report (`meet` or `miss`, with its surprise) or a fiscal end."""

    day: pd.Timestamp
    kind: Literal["meet", "miss", "fiscal"]
    surprise: float | None = None

    @property
    def label(self) -> str:
        """The day, and on a second line a report's surprise with its sign; a small Miss must not read as zero."""
        if self.surprise is None:
            return f"{self.day:%Y-%m-%d}"
        small = 0 < abs(self.surprise) < 0.005
        return f"{self.day:%Y-%m-%d}\nSurprise: {self.surprise:{'+.1g' if small else '+.2f'}}"


@dataclass(kw_only=True, eq=False)
class Chart:
    """The content of a chart; prices and reports before `start` or after `end` are cut off.

    Attributes:
        prices: Indexed by date: open, high, low, close, volume; days without a candle are dropped.
        reports: The columns `reported` and `fiscal_end` (dates) and `surprise` (dollars per share).
        style: `paper` draws as the authors of DynoStock did: from 600 rows on the closes as a line.
    """

    ticker: str
    start: date
    end: date
    prices: pd.DataFrame
    reports: pd.DataFrame
    style: Style = "house"
    dpi: int = 300

    def __post_init__(self) -> None:
        if self.style not in ("house", "paper") or not 20 <= self.dpi <= 2000:
            raise ConfigError(
                f"chart: expected house or paper, 20 to 2000 dpi, got {self.style!r}, {self.dpi!r} dpi."
            )
        first, last = pd.Timestamp(self.start), pd.Timestamp(self.end)
        shown = self.prices.loc[first:last, _COLUMNS].dropna(subset=_COLUMNS[:4])
        self.prices = shown.fillna({"volume": 0.0}).astype(float)
        self.reports = self.reports[self.reports["reported"].between(first, last)]
        if self.prices.empty:
            raise DataError(
                f"chart of {self.ticker}: expected candles from {self.start} to {self.end}, found none."
            )

    @property
    def width(self) -> float:
        """Width in inches: an inch for 30 days, from 10 to 30. The height is 6."""
        return max(10.0, min((self.end - self.start).days / 30, 30.0))

    @property
    def marks(self) -> list[Mark]:
        """Reports with a known surprise, and fiscal ends from `start` to `end`, oldest first."""
        known = self.reports.dropna(subset="surprise")
        reports = zip(known["reported"], known["surprise"].astype(float), strict=True)
        marks = [
            Mark(day, "meet" if surprise >= 0 else "miss", surprise) for day, surprise in reports
        ]
        ends = pd.to_datetime(self.reports["fiscal_end"]).dropna().drop_duplicates()
        inside = ends[ends.between(pd.Timestamp(self.start), pd.Timestamp(self.end))]
        return sorted([*marks, *(Mark(day, "fiscal") for day in inside)], key=lambda mark: mark.day)

    @property
    def stem(self) -> str:
        """Ticker and days, as the start of a file name that every file system allows."""
        return f"{re.sub(r'[^A-Za-z0-9_-]+', '-', self.ticker).strip('-_')[:40] or 'chart'}_{self.start}_{self.end}"

    @property
    def file_name(self) -> str:
        """The stem and a hash of everything that the picture depends on."""
        facts = [
            RENDERER,
            self.ticker,
            self.stem,
            self.style,
            _CURRENCY,
            self.dpi,
            *self.prices.columns,
        ]
        digest = hashlib.sha256(
            repr([facts, [(str(day), kind, value) for day, kind, value in self.marks]]).encode()
        )
        digest.update(self.prices.index.to_numpy().astype("datetime64[D]").tobytes())
        digest.update(self.prices.to_numpy(dtype="<f8").tobytes())
        return f"{self.stem}_{digest.hexdigest()[:12]}.png"


def draw(chart: Chart) -> bytes:
    """Draw a chart as PNG; raise DataError if there are more marks than the picture has room for."""
    if chart.style == "paper":
        return _draw_as_authors(chart)
    days, width, file = _numbers(chart.prices.index), chart.width, io.BytesIO()
    shown = np.concatenate([days, _numbers([mark.day for mark in chart.marks])])
    span = max(float(np.ptp(shown)), 14.0)
    pitch = ((width - _LEFT - _RIGHT) * 72 - 2 * _SIDE) / span  # points per day
    grid: dict[str, Any] = {"bottom": _FOOT / _HEIGHT, "top": 1 - _HEAD / _HEIGHT, "hspace": 0.05}
    grid |= {"left": _LEFT / width, "right": 1 - _RIGHT / width, "height_ratios": [3.2, 1]}
    with drawing(_LOOK):
        # a hair more than the size in pixels, because the canvas rounds down
        size = [(round(inches * chart.dpi) + 0.01) / chart.dpi for inches in (width, _HEIGHT)]
        figure = Figure(figsize=(size[0], size[1]), dpi=chart.dpi)
        canvas: Any = FigureCanvasAgg(figure)  # its methods have no types
        panels = figure.subplots(2, sharex=True, gridspec_kw=grid)
        for axes, label in zip(panels, (f"Price ({_CURRENCY})", "Volume (M)"), strict=True):
            axes.yaxis.tick_right()
            middle = float(np.mean(axes.get_position().intervaly))
            figure.text(1 - 0.08 / width, middle, label, ha="right", va="center", rotation=90)
        axes.set_xlim(shown.min() - _SIDE / pitch, shown.min() + span + _SIDE / pitch)
        ticks = mpl.dates.AutoDateLocator(  # type: ignore[no-untyped-call]
            minticks=int(width / 2), maxticks=int(width)
        )
        axes.xaxis.set_major_locator(ticks)
        axes.xaxis.set_major_formatter(mpl.dates.DateFormatter("%Y-%m-%d"))  # type: ignore[no-untyped-call]
        _draw_prices(panels, days, chart.prices, pitch)
        _draw_marks(panels[0], days, chart, pitch)
        title = f"{chart.ticker}: daily price and earnings reports, {chart.start} to {chart.end}"
        figure.text(
            _LEFT / width, 1 - 0.08 / _HEIGHT, title, va="top", fontsize=13, fontweight="bold"
        )
        canvas.draw()
        image = Image.frombuffer("RGBA", canvas.get_width_height(), canvas.buffer_rgba()).convert(
            "RGB"
        )
        vars(
            canvas.renderer
        ).clear()  # frees up to 65 MB, which would wait for the garbage collector
    image.quantize(palette=_PALETTE, dither=Image.Dither.NONE).save(
        file, "png", compress_level=1, dpi=(chart.dpi,) * 2
    )
    return file.getvalue()


def _numbers(days: Any) -> npt.NDArray[np.float64]:
    return np.asarray(days, dtype="datetime64[D]").astype(
        np.float64
    )  # from 1970, as matplotlib counts days


def _draw_prices(
    panels: Any, days: npt.NDArray[np.float64], prices: pd.DataFrame, pitch: float
) -> None:
    opened, close = prices["open"].to_numpy(), prices["close"].to_numpy()
    volume = prices["volume"].to_numpy() / 1e6
    # one collection for all bars, because an object for each day would take most of the time
    colors = to_rgba_array([_DOWN, _UP])[(close >= opened).astype(int)]
    wicks = (panels[0], 0.0, prices["low"], prices["high"])
    bodies = (panels[0], 0.33, opened, close)
    for axes, half, low, high in (wicks, bodies, (panels[1], 0.33, 0 * volume, volume)):
        corners = [(days - half, low), (days - half, high), (days + half, high), (days + half, low)]
        bars: Any = np.stack(corners).transpose(2, 0, 1)
        edge = min(0.6, max(0.25, 0.15 * pitch))  # shows a candle whose open equals its close, too
        axes.add_collection(
            PolyCollection(bars, facecolors=colors, edgecolors=colors, linewidths=edge)
        )
    panels[1].set_ylim(0, 1.08 * volume.max() or 1.0)
    panels[1].yaxis.set_major_locator(MaxNLocator(3))
    average, name = prices["close"].rolling(_AVERAGED).mean(), f"{_AVERAGED}-day moving average"
    handles = panels[0].plot(days, average, color=_AVERAGE, linewidth=0.8, zorder=0.9, label=name)
    look: dict[str, Any] = {"markersize": _TRIANGLE, "linestyle": "none", "markeredgewidth": 0}
    marks = [
        Line2D([], [], color=color, marker=shape, label=name, **look)
        for shape, color, name in _MARKS.values()
    ]
    place: dict[str, Any] = {
        "loc": "lower left",
        "bbox_to_anchor": (0, 1),
        "borderaxespad": 0.2,
        "borderpad": 0,
    }
    panels[0].legend(handles=[*marks, *handles], ncols=5, frameon=False, columnspacing=1.5, **place)


def _draw_marks(axes: Axes, days: npt.NDArray[np.float64], chart: Chart, pitch: float) -> None:
    """Set the price axis; put triangles beside the prices, and labels into strips above and below all prices."""
    average = chart.prices["close"].rolling(_AVERAGED).mean()
    tops = np.fmax(chart.prices["high"], average).to_numpy()
    bottoms = np.fmin(chart.prices["low"], average).to_numpy()
    reports, ends = (
        [mark for mark in chart.marks if (mark.kind == "fiscal") == fiscal]
        for fiscal in (False, True)
    )
    sides = [
        (row, marks, _place(marks, axes.get_xlim(), pitch))
        for row, marks in ((22.0, reports), (12.0, ends))
    ]
    strips = [
        row * (1 + max((level for _, level in places), default=-1)) for row, _, places in sides
    ]
    room = axes.get_position().height * _HEIGHT * 72 - sum(strips)  # points
    if room < 0.6 * sum(strips):
        raise DataError(
            f"chart of {chart.ticker}: {len(chart.marks)} marks have no room for labels. Show fewer days."
        )
    least = (_CLEAR + _TRIANGLE + 1) / (
        room - 2 * (_CLEAR + _TRIANGLE + 1)
    )  # share of the range that triangles need
    buffer = max(_BUFFER, least) * max(tops.max() - bottoms.min(), 0.01 * abs(tops.max()))
    low, high = bottoms.min() - buffer, tops.max() + buffer
    unit = (high - low) / room  # price per point
    axes.set_ylim(low - unit * strips[1], high + unit * strips[0])
    ticks = MaxNLocator(7, steps=[1, 2, 2.5, 5, 10]).tick_values(low, high)
    axes.set_yticks([tick for tick in ticks if max(low, 0) <= tick <= high])
    axes.ticklabel_format(axis="y", style="plain", useOffset=False)
    look: dict[str, Any] = {
        "linestyle": ":",
        "linewidth": 0.6,
        "color": _GRAY,
        "markevery": [0],
        "zorder": 4,
    }
    box = {
        "facecolor": _BEHIND,
        "edgecolor": "none",
        "pad": 0.5,
    }  # hides lines to labels further out
    for (row, marks, places), edge, extremes, sign in zip(
        sides, (high, low), (tops, bottoms), (1, -1), strict=True
    ):
        for mark, (center, level) in zip(marks, places, strict=True):
            day, (shape, color, _) = float(_numbers(mark.day)), _MARKS[mark.kind]
            near = extremes[np.abs(days - day) <= max(4.0, _TRIANGLE / pitch)]
            tip = sign * (sign * near).max() if len(near) else edge - sign * buffer
            y, end = tip + sign * unit * (_CLEAR + _TRIANGLE / 2), edge + sign * unit * row * level
            axes.plot(
                [day] * 2, [y, end], marker=shape, markersize=_TRIANGLE, mfc=color, mew=0, **look
            )
            side: Any = "bottom" if sign > 0 else "top"
            axes.text(
                center, end, mark.label, size=_LABEL, bbox=box, zorder=5, ha="center", va=side
            )


def _place(marks: list[Mark], limits: tuple[float, float], pitch: float) -> list[tuple[float, int]]:
    """Center each label on its day, on the lowest level with room for it; return centers (days) and levels."""
    places, free_from = [], list[float]()
    for mark in marks:
        # more than the width of such a line in DejaVu Sans, so that neighbors keep a gap
        half = (0.53 * len(mark.label.split("\n")[-1]) + 1) * _LABEL / 2 / pitch
        center = min(max(float(_numbers(mark.day)), limits[0] + half), limits[1] - half)
        level = next((n for n, end in enumerate(free_from) if end <= center - half), len(free_from))
        free_from[level : level + 1] = [center + half]
        places.append((center, level))
    return places


def _draw_as_authors(chart: Chart) -> bytes:
    """Source: Xiao, Lin, Chiu (2024), Behavioral Bias of Vision-Language Models, and the authors' code."""
    import mplfinance as mpf
    from matplotlib import pyplot as plt

    prices, file = chart.prices.rename(columns=str.capitalize), io.BytesIO()
    low, high = prices["Low"].min(), prices["High"].max()
    buffer, away = _BUFFER * (high - low), 0.15 * (high - low)
    options: dict[str, Any] = {
        "figratio": (chart.width, _HEIGHT),
        "figscale": 1,
        "panel_ratios": (2, 1),
    }
    options |= (
        {"type": "line"} if len(prices) >= _PAPER_LINE else {"type": "candle", "mav": _AVERAGED}
    )
    options |= {
        "title": f"{chart.ticker} stock price chart with EPS Dates",
        "ylabel": "Stock Price",
        "style": "yahoo",
    }
    options |= {
        "volume": True,
        "show_nontrading": True,
        "ylim": (low - buffer, high + buffer),
        "returnfig": True,
    }
    with mpl.rc_context():
        mpl.rcdefaults()
        figure, (axes, *_) = mpf.plot(prices, **options)
        every_day = prices.reindex(pd.date_range(chart.start, chart.end)).interpolate()
        for kind, color in (("meet", "#00b060"), ("miss", "#fe3032"), ("fiscal", "#606060")):
            shape, _, name = _MARKS[kind]
            marks = [mark for mark in chart.marks if mark.kind == kind]
            at = [mark.day for mark in marks]
            ys, gap, side = (
                (every_day["High"].loc[at] + away).clip(upper=high + buffer / 4),
                buffer / 4,
                "bottom",
            )
            if kind == "fiscal":
                ys, gap, side = (
                    (every_day["Low"].loc[at] - away).clip(lower=low - buffer / 4),
                    -buffer / 4,
                    "top",
                )
            axes.scatter(at, ys, s=50, marker=shape, color=color, alpha=0.9, label=name)
            for mark, y in zip(marks, ys, strict=True):
                text = f"{mark.day:%Y-%m-%d}" + (
                    "" if mark.surprise is None else f"\nSurprise: {mark.surprise:.2f}"
                )
                axes.text(
                    mark.day, y + gap, text, fontsize=6, fontweight="bold", ha="center", va=side
                )
        axes.legend(frameon=False)
        figure.savefig(
            file, format="png", bbox_inches="tight", dpi=chart.dpi, pil_kwargs={"compress_level": 1}
        )
        plt.close(figure)
    return file.getvalue()
