"""Candlestick charts."""

from typing import TYPE_CHECKING

from fin_tasks.benchmarks.mme_finance.drawing.look import Box
from fin_tasks.benchmarks.mme_finance.drawing.plots import Plot, plotting
from fin_tasks.benchmarks.mme_finance.drawing.price_parts import (
    draw_candles,
    figures_above,
    legend,
    name_days,
)
from fin_tasks.benchmarks.mme_finance.drawing.sheet import Sheet, line_height
from fin_tasks.benchmarks.mme_finance.scene_making.wording import Words, shares
from fin_tasks.benchmarks.mme_finance.scenes import CandleScene

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["paint"]

_VOLUME = Words("Volume", "成交量")


def paint(scene: CandleScene, sheet: Sheet, box: Box) -> None:
    """Draw the last day's figures, the averages' legend, candles, and volume."""
    look, size = sheet.look, sheet.look.letter
    averages = {f"MA{days}" for days in scene.averages}
    figures = {label: value for label, value in scene.header.items() if label not in averages}
    top = figures_above(sheet, box, figures) + size // 2
    entries = [
        (f"MA{days}: {scene.header[f'MA{days}']}", colour)
        for days, colour in zip(scene.averages, look.theme.series, strict=False)
    ]
    legend(sheet, (box.left, top), entries, size=round(size * 0.9))
    top += line_height(size)
    with plotting(box.width, box.bottom - top, look) as plot:
        _plot(plot, scene)
        sheet.paste(plot.image(), (box.left, top))


def _plot(plot: Plot, scene: CandleScene) -> None:
    size, prices = plot.look.letter, scene.prices
    most = max(prices.volume)
    room = plot.axis_room(f"{1.1 * max(prices.high):.2f}", shares(most, scene.language))
    right, foot = plot.width - room, round(plot.height - 1.8 * size)
    split = round(foot * 0.76)
    panel = plot.axes(Box(1, 4, right, split - size))
    below = plot.axes(Box(1, split, right, foot))
    draw_candles(panel, prices, plot.look, volume=below)
    for line, colour in zip(scene.averages.values(), plot.look.theme.series, strict=False):
        shown = [(at, value) for at, value in enumerate(line) if value is not None]
        panel.plot([at for at, _ in shown], [value for _, value in shown], color=colour, linewidth=1.6)
    lines = [value for line in scene.averages.values() for value in line if value is not None]
    low, high = min((*prices.low, *lines)), max((*prices.high, *lines))
    panel.set_ylim(low - (high - low) * 0.08, high + (high - low) * 0.08)
    plot.value_ticks(panel, decimals=2)
    plot.name_ticks(panel, "x", [], [])
    panel.set_xlim(-1, len(prices.days))
    _mark_extremes(plot, panel, scene)
    below.set_ylim(0, most * 1.5)  # with room for the panel's name above all bars
    plot.name_ticks(below, "y", [most], [shares(most, scene.language)])
    below.text(
        0.008, 0.92, _VOLUME.of(scene.language), transform=below.transAxes, va="top",
        color=plot.look.theme.muted, fontproperties=plot.font(0.8),
    )  # fmt: skip
    name_days(plot, below, prices.days)


def _mark_extremes(plot: Plot, axes: "Axes", scene: CandleScene) -> None:
    """Write the highest and the lowest price beside their candles, on the side with more room."""
    from matplotlib.patheffects import withStroke

    prices = scene.prices
    for value, at in (
        (max(prices.high), prices.high.index(max(prices.high))),
        (min(prices.low), prices.low.index(min(prices.low))),
    ):
        leftwards = at > len(prices.days) / 2
        axes.annotate(
            f"{value:.2f}",
            (at, value),
            xytext=(-2.2 * plot.look.letter if leftwards else 2.2 * plot.look.letter, 0),
            textcoords="offset points",
            ha="right" if leftwards else "left",
            va="center",
            color=plot.look.theme.ink,
            fontproperties=plot.font(0.8),
            path_effects=[withStroke(linewidth=4, foreground=plot.look.theme.card)],
            arrowprops={"arrowstyle": "-", "color": plot.look.theme.muted, "linewidth": 1.0},
        )
