"""One chart, put together: mplfinance draws the prices, we say where everything goes.

Sizes are in points where a constant says so and in pixels everywhere else, from the lower left corner.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

import mplfinance as mpf
import numpy as np
import numpy.typing as npt
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg, RendererAgg
from matplotlib.collections import LineCollection, PolyCollection
from matplotlib.dates import date2num
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.text import Text
from matplotlib.transforms import IdentityTransform

from fin_tasks.charts import style
from fin_tasks.charts.labels import Band, label_band
from fin_tasks.charts.layout import Days, Prices, axis_values, compact, stacked
from fin_tasks.charts.spec import ChartSpec, Mark, MarkKind
from fin_tasks.errors import DataError

__all__ = ["CANDLE_PITCH", "Composer", "Picture"]

Floats = npt.NDArray[np.float64]
_Tick = tuple[float, str]

CANDLE_PITCH = 4.0
"""Pixels per calendar day below which prices are a line: a candle's body would be less than three pixels wide."""

_AVERAGED = 7  # trading days of the moving average
_BODY = 0.66  # days that a candle's or a volume bar's body is wide
_ABOVE: tuple[MarkKind, ...] = ("meet", "miss")
_BELOW: tuple[MarkKind, ...] = ("fiscal",)
_VOLUME_SHARE = 0.2
_MOST_LABELS = 0.3  # of the price panel's height, above and below each
# points
_EDGE = 6.0
_TITLE = 14.0
_LETTERS = 9.5  # along the axes and in the legend
_HEAD = 46.0  # title and legend
_FOOT = 22.0  # labels of the days
_BETWEEN = 6.0  # from panel to panel
_SIDE = 12.0  # from the frame to the first and to the last day
_TICK = 3.0
_TRIANGLE = 9.0
_CLEAR = 4.0  # from a triangle to the prices


@dataclass(frozen=True)
class Picture:
    """A chart before it is drawn.

    Attributes:
        canvas: Draws the figure that holds everything.
        labels: Labels of the marks, those above the prices first.
        triangles: Centre of each label's triangle.
        triangle_size: Width and height of a triangle.
        kind: How the prices are drawn.
    """

    canvas: FigureCanvasAgg
    labels: tuple[Text, ...]
    triangles: tuple[tuple[float, float], ...]
    triangle_size: float
    kind: Literal["candle", "line"]


class Composer:
    """Works out one picture, from the frame inwards."""

    def __init__(self, spec: ChartSpec) -> None:
        self.spec = spec
        self.point = spec.dpi / 72
        self.width, self.height = spec.pixels
        # a hair more than the size in pixels, as the canvas rounds down
        size = ((self.width + 1e-6) / spec.dpi, (self.height + 1e-6) / spec.dpi)
        self.figure = Figure(figsize=size, dpi=spec.dpi, facecolor="w")
        self.canvas = FigureCanvasAgg(self.figure)
        self.renderer: RendererAgg = self.canvas.get_renderer()  # type: ignore[no-untyped-call]
        figures = spec.prices.drop(columns="volume", errors="ignore")
        self.prices = spec.prices[np.isfinite(figures.to_numpy(dtype=float)).all(axis=1)]
        self.epoch = float(date2num(np.datetime64("1970-01-01")))  # type: ignore[no-untyped-call]

    def compose(self) -> Picture:
        """Make the panels, the prices, the volume and the marks.

        Raises:
            DataError: There are more marks than can be labelled in a picture of this size.
        """
        point, has_volume = self.point, self.spec.has_candles
        volume_ticks = self._volume_ticks() if has_volume else []
        self._set_sides(volume_ticks)
        self.candles = has_volume and self.days.pitch >= CANDLE_PITCH
        top, foot = self.height - _HEAD * point, _FOOT * point
        bottom = foot + (_VOLUME_SHARE * (top - foot) if has_volume else 0.0)
        bands = [self._band(kinds, (top - bottom) * _MOST_LABELS) for kinds in (_ABOVE, _BELOW)]
        piles = [self._pile(kinds) for kinds in (_ABOVE, _BELOW)]
        ceiling, floor = top - bands[0].height - piles[0], bottom + bands[1].height + piles[1]
        scale = Prices.between(
            *self._range(), bottom=floor, top=ceiling, least_buffer=(_CLEAR + _TRIANGLE + 3.0) * point
        )
        axes = self._panel(bottom, top, "Price")
        self._draw_prices(axes)
        self._finish(axes, (scale.price(bottom), scale.price(top)), scale.ticks(), names_days=not has_volume)
        if has_volume:
            panel = self._panel(foot, bottom - _BETWEEN * point, "Volume")
            self._draw_volume(panel)
            self._finish(panel, (0.0, self._most_volume() * 1.08), volume_ticks, names_days=True)
        up = self._draw_marks(_ABOVE, bands[0], scale, edge=ceiling + piles[0])
        down = self._draw_marks(_BELOW, bands[1], scale, edge=floor - piles[1])
        self._draw_head(top)
        kind: Literal["candle", "line"] = "candle" if self.candles else "line"
        return Picture(self.canvas, bands[0].texts + bands[1].texts, (*up, *down), _TRIANGLE * point, kind)

    # Places

    def _set_sides(self, volume_ticks: Sequence[_Tick]) -> None:
        """Set the frame's left and right edge so that the axes' labels find room, and spread the days between."""
        closes = self.prices["close"]
        guesses = Prices.between(closes.min(), closes.max(), bottom=0.0, top=1.0, least_buffer=0.0).ticks()
        widest = max(self._size(text, _LETTERS)[0] for _, text in [*guesses, *volume_ticks, (0.0, "0.00")])
        self.left = 2 * _EDGE * self.point + self._size("Volume", _LETTERS)[1]
        self.right = self.width - widest * 1.15 - (_EDGE + _TICK + 4.0) * self.point
        marked = np.array([mark.date for mark in self.spec.marks], dtype="datetime64[D]")
        shown = self.spec.prices.index.to_numpy().astype("datetime64[D]")
        side = _SIDE * self.point
        self.days = Days.between(np.concatenate([shown, marked]), left=self.left + side, right=self.right - side)

    def _marks(self, kinds: Iterable[MarkKind]) -> list[Mark]:
        return sorted(mark for mark in self.spec.marks if mark.kind in kinds)

    def _xs(self, marks: Sequence[Mark]) -> list[float]:
        return [float(x) for x in self.days.x(np.array([mark.date for mark in marks], dtype="datetime64[D]"))]

    def _band(self, kinds: tuple[MarkKind, ...], most: float) -> Band:
        marks = self._marks(kinds)
        band = label_band(
            marks,
            self._xs(marks),
            figure=self.figure,
            renderer=self.renderer,
            low=self.left + 3 * self.point,
            high=self.right - 3 * self.point,
            most=most,
        )
        if band is None:
            raise DataError(
                f"chart {self.spec.title!r}: expected marks whose labels fit side by side into "
                f"{self.spec.width:g} inches, got {len(marks)}. Show fewer days or make it wider."
            )
        return band

    def _pile(self, kinds: tuple[MarkKind, ...]) -> float:
        """Height of the triangles that may come to stand on top of each other."""
        xs, size = self._xs(self._marks(kinds)), _TRIANGLE * self.point
        most = max((sum(abs(other - x) < size for other in xs) for x in xs), default=1)
        return (most - 1) * size

    def _range(self) -> tuple[float, float]:
        low, high = ("low", "high") if self.candles else ("close", "close")
        return float(self.prices[low].min()), float(self.prices[high].max())

    def _size(self, text: str, points: float, *, bold: bool = False) -> tuple[float, float]:
        font = style.font(points, bold=bold)
        width, height, _ = self.renderer.get_text_width_height_descent(text, font, ismath=False)  # type: ignore[no-untyped-call]
        return float(width), float(height)

    # Panels

    def _panel(self, bottom: float, top: float, name: str) -> Axes:
        place = (self.left / self.width, bottom / self.height)
        size = ((self.right - self.left) / self.width, (top - bottom) / self.height)
        axes = self.figure.add_axes((*place, *size), facecolor=style.BEHIND)
        axes.spines[:].set(color=style.FRAME, linewidth=0.6)
        self.figure.text(
            _EDGE * self.point / self.width,
            (bottom + top) / 2 / self.height,
            name,
            rotation=90,
            ha="left",
            va="center",
            color=style.INK,
            fontproperties=style.font(_LETTERS),
        )
        return axes

    def _finish(self, axes: Axes, limits: tuple[float, float], ticks: Sequence[_Tick], *, names_days: bool) -> None:
        """Set limits and ticks, which mplfinance has left to be found out while drawing."""
        side = _SIDE * self.point / self.days.pitch
        axes.set_xlim(self.epoch + self.days.first - side, self.epoch + self.days.last + side)
        axes.set_ylim(*limits)
        font = style.font(_LETTERS)
        days = self.days.ticks(self._size("2000-00", _LETTERS)[0])
        axes.set_xticks(
            [self.epoch + float(day.astype(np.int64)) for day, _ in days],
            [text if names_days else "" for _, text in days],
            fontproperties=font,
            color=style.INK,
        )
        axes.set_yticks(
            [value for value, _ in ticks], [text for _, text in ticks], fontproperties=font, color=style.INK
        )
        axes.yaxis.tick_right()
        axes.tick_params(length=_TICK, width=0.6, color=style.FRAME, labelrotation=0)
        axes.set_axisbelow(True)
        axes.grid(visible=True, color=style.GRID, linewidth=0.6)

    # Contents

    def _draw_prices(self, axes: Axes) -> None:
        """Let mplfinance draw candles, or a line where there are too many of them, and the moving average."""
        close = self.prices["close"]
        candles = {name: self.prices[name] if self.candles else close for name in ("open", "high", "low", "close")}
        dense = self.days.pitch < 2 * CANDLE_PITCH
        mpf.plot(
            pd.DataFrame(candles),
            type="candle" if self.candles else "line",
            ax=axes,
            style="yahoo",
            mav=_AVERAGED,
            mavcolors=[style.MOVING_AVERAGE],
            linecolor=style.PRICE_LINE,
            show_nontrading=True,
            warn_too_much_data=len(self.prices) + 1,
            update_width_config={"candle_width": _BODY, "candle_linewidth": 0.4 if dense else 0.7, "line_width": 1.0},
            xlabel="",
            ylabel="",
        )

    def _draw_volume(self, axes: Axes) -> None:
        """Draw a bar per day as one collection; mplfinance would make an object of each, and spend most time there."""
        volumes = np.nan_to_num(self.prices["volume"].to_numpy(dtype=float), posinf=0.0, neginf=0.0)
        days = self.epoch + self.prices.index.to_numpy().astype("datetime64[D]").astype(float)
        left, right, zero = days - _BODY / 2, days + _BODY / 2, np.zeros_like(volumes)
        corners = [(left, zero), (left, volumes), (right, volumes), (right, zero)]
        rose = np.diff(self.prices["close"].to_numpy(dtype=float), prepend=-np.inf) >= 0
        bars = np.stack([np.stack(corner, axis=-1) for corner in corners], axis=1)
        axes.add_collection(PolyCollection(list(bars), facecolors=np.array(style.VOLUME)[rose.astype(int)].tolist()))

    def _most_volume(self) -> float:
        volumes = self.prices["volume"].to_numpy(dtype=float)
        return float(max(volumes[np.isfinite(volumes)], default=0.0)) or 1.0

    def _volume_ticks(self) -> list[_Tick]:
        return [(value, compact(value)) for value, _ in axis_values(0.0, self._most_volume(), most=4)]

    def _draw_marks(
        self, kinds: tuple[MarkKind, ...], band: Band, scale: Prices, *, edge: float
    ) -> list[tuple[float, float]]:
        """Draw the triangles of one side, their labels from `edge` on, and lines between them."""
        marks, direction, size = self._marks(kinds), 1 if kinds == _ABOVE else -1, _TRIANGLE * self.point
        xs = self._xs(marks)
        away = direction * (_CLEAR * self.point + size / 2)
        ys = stacked(xs, [self._tip(x, scale, direction) + away for x in xs], size=size, direction=direction)
        ends = band.put(edge, xs, upward=direction > 0)
        for text in band.texts:
            self.figure.add_artist(text)
        lines = [[(x, y + direction * size / 2), end] for x, y, end in zip(xs, ys, ends, strict=True)]
        self.figure.add_artist(
            LineCollection(
                lines, colors=style.LEADER, linewidths=0.6, linestyles=":", transform=IdentityTransform(), zorder=3
            )
        )
        for kind in kinds:
            of_kind = [(x, y) for mark, x, y in zip(marks, xs, ys, strict=True) if mark.kind == kind]
            if of_kind:
                triangles = self._triangle(kind, [x for x, _ in of_kind], [y for _, y in of_kind])
                triangles.set_transform(IdentityTransform())
                self.figure.add_artist(triangles)
        return list(zip(xs, ys, strict=True))

    def _tip(self, x: float, scale: Prices, direction: int) -> float:
        """Pixel of the outermost price or average near a triangle: on the trading days around it and under it."""
        days = self.days.x(self.prices.index.to_numpy())
        half = _TRIANGLE * self.point / 2
        first = min(np.searchsorted(days, x, side="right") - 1, np.searchsorted(days, x - half))
        last = max(np.searchsorted(days, x), np.searchsorted(days, x + half, side="right") - 1)
        column = "close" if not self.candles else "high" if direction > 0 else "low"
        average = self.prices["close"].rolling(_AVERAGED).mean()
        near = np.stack([self.prices[column], average])[:, max(int(first), 0) : int(last) + 1]
        return float(scale.y(np.nanmax(near) if direction > 0 else np.nanmin(near)))

    def _triangle(self, kind: MarkKind, xs: Sequence[float], ys: Sequence[float]) -> Line2D:
        look = style.MARKS[kind]
        return Line2D(
            xs,
            ys,
            linestyle="none",
            marker=look.marker,
            markersize=_TRIANGLE,
            color=look.colour,
            markeredgewidth=0.0,
            label=look.name,
            zorder=4,
        )

    def _draw_head(self, top: float) -> None:
        """Write the title, with smaller letters where it is long, and the legend below it."""
        title = style.drawable(self.spec.title.replace("\n", " "))
        room = self.width - self.left - _EDGE * self.point
        points = _TITLE * min(1.0, room / max(self._size(title, _TITLE, bold=True)[0], 1.0))
        self.figure.text(
            self.left / self.width,
            1 - _EDGE * self.point / self.height,
            title,
            va="top",
            color=style.INK,
            fontproperties=style.font(points, bold=True),
            parse_math=False,
        )
        average = Line2D([], [], color=style.MOVING_AVERAGE, linewidth=1.2, label=f"{_AVERAGED}-day moving average")
        close = Line2D([], [], color=style.PRICE_LINE, linewidth=1.2, label="Close")
        lines = [average] if self.candles else [close, average]
        self.figure.legend(
            handles=[*(self._triangle(kind, [], []) for kind in _ABOVE + _BELOW), *lines],
            loc="lower left",
            bbox_to_anchor=(self.left / self.width, top / self.height),
            ncols=6,
            frameon=False,
            prop=style.font(_LETTERS),
            borderpad=0.0,
            borderaxespad=0.2,
            columnspacing=1.5,
            handletextpad=0.5,
        )
