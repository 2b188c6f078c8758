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
from fin_tasks.benchmarks.mme_finance.scene_making.wording import Words, colon, shares
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
        (f"MA{days}{colon(scene.language)}{scene.header[f'MA{days}']}", colour)
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
    edge = (high - low) * (2.6 * size / panel.get_window_extent().height)  # room for the marks
    panel.set_ylim(low - edge, high + edge)
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
    """Write the highest price above its candle and the lowest below, beyond all lines, where there is nothing else."""
    from matplotlib.patheffects import withStroke

    prices, size = scene.prices, plot.look.letter
    panel, (bottom, top) = axes.get_window_extent(), axes.get_ylim()
    highest, lowest = max(prices.high), min(prices.low)
    for value, at, side in ((highest, prices.high.index(highest), 1), (lowest, prices.low.index(lowest), -1)):
        share = (at + 1) / (len(prices.days) + 1)
        wide = round(plot.measure(f"{value:.2f}", 0.8) / panel.width * len(prices.days)) + 1
        near = [line[max(at - wide, 0) : at + wide] for line in scene.averages.values()]
        beyond = max([0.0, *(side * (each - value) for line in near for each in line if each is not None)])
        axes.annotate(
            f"{value:.2f}",
            (at, value),
            xytext=(0, side * (0.9 * size + beyond / (top - bottom) * panel.height)),
            textcoords="offset points",
            ha="left" if share < 0.1 else "right" if share > 0.9 else "center",
            va="bottom" if side > 0 else "top",
            color=plot.look.theme.ink,
            fontproperties=plot.font(0.8),
            path_effects=[withStroke(linewidth=4, foreground=plot.look.theme.card)],
            arrowprops={"arrowstyle": "-", "color": plot.look.theme.muted, "linewidth": 1.0, "shrinkA": 0},
        )
