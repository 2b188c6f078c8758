"""Charts with a technical indicator."""

from typing import TYPE_CHECKING

from fin_tasks.benchmarks.mme_finance.drawing.look import Box
from fin_tasks.benchmarks.mme_finance.drawing.plots import Plot, plotting
from fin_tasks.benchmarks.mme_finance.drawing.price_parts import draw_candles, legend, name_days
from fin_tasks.benchmarks.mme_finance.drawing.sheet import Sheet, line_height
from fin_tasks.benchmarks.mme_finance.scene_making.indicators import INDICATORS
from fin_tasks.benchmarks.mme_finance.scene_making.wording import Words, colon
from fin_tasks.benchmarks.mme_finance.scenes import IndicatorScene, Line

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["paint"]

_CLOSE = Words("Close", "收盘价")
_LEVELS = {"rsi": (30, 50, 70), "kdj": (20, 50, 80)}


def paint(scene: IndicatorScene, sheet: Sheet, box: Box) -> None:
    """Draw the closes with a legend, and the indicator with its own below; Bollinger bands lie over candles."""
    look, size = sheet.look, sheet.look.letter
    small, gap = round(size * 0.9), line_height(size)
    close = f"{_CLOSE.of(scene.language)}{colon(scene.language)}{scene.prices.close[-1]:.2f}"
    shown = [(f"{INDICATORS[scene.indicator].title}{scene.parameters}", look.theme.muted)]
    shown += [(f"{name}{colon(scene.language)}{value}", _colours(sheet)[name]) for name, value in scene.header.items()]
    if scene.indicator == "bollinger":
        legend(sheet, (box.left, box.top), [(close, look.theme.ink)], size=small)
        legend(sheet, (box.left, box.top + gap), shown, size=small)
        _paint(scene, sheet, box.below(box.top + 2 * gap), upper=True, lower=True)
        return
    middle = box.top + round(box.height * 0.54)
    legend(sheet, (box.left, box.top), [(close, look.theme.series[0])], size=small)
    _paint(scene, sheet, Box(box.left, box.top + gap, box.right, middle), upper=True, lower=False)
    legend(sheet, (box.left, middle + size // 2), shown, size=small)
    _paint(scene, sheet, box.below(middle + size // 2 + gap), upper=False, lower=True)


def _colours(sheet: Sheet) -> dict[str, str]:
    one, two, three = sheet.look.theme.series[1], sheet.look.theme.series[0], sheet.look.theme.series[3]
    return {
        "DIF": one, "DEA": two, "MACD": three, "RSI": three,
        "K": one, "D": two, "J": three, "UPPER": one, "MID": two, "LOWER": three,
    }  # fmt: skip


def _paint(scene: IndicatorScene, sheet: Sheet, box: Box, *, upper: bool, lower: bool) -> None:
    """Draw one panel: the prices, the indicator, or both."""
    size = sheet.look.letter
    with plotting(box.width, box.height, sheet.look) as plot:
        foot = plot.height - (round(1.8 * size) if lower else 4)
        room = plot.axis_room(f"{1.1 * max(scene.prices.high):.2f}", "-10.00")
        axes = plot.axes(Box(1, 4, plot.width - room, foot))
        if upper:
            _prices(plot, axes, scene, candles=lower)
        if lower:
            _indicator(plot, axes, scene, _colours(sheet))
        axes.margins(y=0.08)
        axes.autoscale_view(scalex=False)
        if scene.indicator in _LEVELS and not upper:
            low, high = axes.get_ylim()
            axes.set_ylim(min(low, 0), max(high, 100))
            plot.name_ticks(axes, "y", _LEVELS[scene.indicator], [str(level) for level in _LEVELS[scene.indicator]])
        else:
            plot.value_ticks(axes, most=5, decimals=2)
        if lower:
            name_days(plot, axes, scene.prices.days)
        else:
            plot.name_ticks(axes, "x", [], [])
            axes.set_xlim(-1, len(scene.prices.days))
        sheet.paste(plot.image(), (box.left, box.top))


def _prices(plot: Plot, axes: "Axes", scene: IndicatorScene, *, candles: bool) -> None:
    if candles:
        draw_candles(axes, scene.prices, plot.look)
    else:
        axes.plot(range(len(scene.prices.days)), scene.prices.close, color=plot.look.theme.series[0], linewidth=2.0)


def _indicator(plot: Plot, axes: "Axes", scene: IndicatorScene, colours: dict[str, str]) -> None:
    for name, line in scene.lines.items():
        at, values = _drawn(line)
        if name == "MACD":
            signs = [plot.look.rise if value >= 0 else plot.look.fall for value in values]
            axes.bar(at, values, width=0.6, color=signs)
        else:
            axes.plot(at, values, color=colours[name], linewidth=1.8)


def _drawn(line: Line) -> tuple[list[int], list[float]]:
    found = [(at, value) for at, value in enumerate(line) if value is not None]
    return [at for at, _ in found], [value for _, value in found]
