"""Draw a scene: candles and indicators, charts, tables and reports, each on its part of a figure."""

from functools import cache
from importlib.util import find_spec
from pathlib import Path
from textwrap import wrap
from typing import Any

import matplotlib as mpl
import mplfinance as mpf
import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.font_manager import FontProperties, findfont, fontManager
from PIL import Image

from fin_tasks.benchmarks.mme_finance.fresh.scenes import COLORS, Figures, Part, Report, Scene, Stock, words
from fin_tasks.errors import ConfigError

INK, MUTED, BAR, ACCENT, _GRID = "#14181f", "#5d6775", "#e9edf2", "#1f5fbf", "#d9dee5"
_GREEN, _RED, _BLUE = "#12a065", "#e0434b", "#2f74dd"
_HEX = dict(zip(COLORS, (_BLUE, "#f5961d", "#9b4fc8", "#8b5326", "#12a5a5", "#8d949e"), strict=True))
_DPI, _SIZE = 100, 11.5  # points, as in pictures.mplstyle; 16 pixels


@cache
def font(language: str) -> str:
    """Return the file of the font of a language; ConfigError if that for Chinese is not installed."""
    if language == "en":
        return str(findfont("DejaVu Sans"))
    package = find_spec("zhplot")  # to import it would change matplotlib's settings
    if package is None or package.origin is None:
        raise ConfigError("Chinese text: expected the font of zhplot. Run pip install 'fin-tasks[pictures]'.")
    return str(Path(package.origin).parent / "fonts" / "NotoSansSC-Regular.ttf")


def draw(scene: Scene, width: int, height: int) -> Image.Image:
    """Draw a scene's parts side by side, or one below the other if the picture is higher than wide."""
    fontManager.addfont(font(scene.language))
    family: Any = {"font.family": FontProperties(fname=font(scene.language)).get_name()}
    with mpl.rc_context(family, fname=Path(__file__).with_name("pictures.mplstyle")):
        figure = Figure(figsize=(width / _DPI, height / _DPI), dpi=_DPI)
        canvas: Any = FigureCanvasAgg(figure)
        grid = (1, len(scene.parts)) if width > height else (len(scene.parts), 1)
        for place, part in zip(figure.subfigures(*grid, squeeze=False).flat, scene.parts, strict=True):
            _DRAWERS[type(part)](_Page(place), part, words(scene.language), scene.language)
        canvas.draw()
        return Image.fromarray(np.asarray(canvas.buffer_rgba())[..., :3].copy())


class _Page:
    """A part of a figure, filled from the top down; all lengths are in pixels."""

    def __init__(self, place: Any) -> None:
        self.place, self.top = place, 20.0
        self.width, self.height = place.bbox.width, place.bbox.height

    def text(self, text: str, step: float = 0, x: float = 20, **options: Any) -> None:
        self.place.text(x / self.width, 1 - self.top / self.height, text, va="top", **options)
        self.top += step

    def axes(self, top: float, bottom: float, left: float = 85, right: float = 34) -> Any:
        wide, high = (self.width - left - right) / self.width, (bottom - top) / self.height
        return self.place.add_axes((left / self.width, 1 - bottom / self.height, wide, high))

    def cells(self, entries: dict[str, str], columns: int) -> None:
        wide, last = (self.width - 40) / columns, len(entries) - 1
        for at, (label, value) in enumerate(entries.items()):
            x, is_end = 20 + wide * (at % columns), at == last or at % columns == columns - 1
            self.text(label, x=x, color=MUTED)
            self.text(value, 28 if is_end else 0, x + wide - 22, ha="right")


def _stock(page: _Page, stock: Stock, word: Any, language: str) -> None:
    days, is_narrow = stock.days, page.width < 700
    page.text(stock.indicator, x=page.width - 20, ha="right", color=MUTED)
    page.text(f"{stock.symbol}  {days.index[-1].date()}", 36, size=_SIZE + 3)
    printed = {word["prints"].get(key, key): f"{value:.2f}" for key, value in stock.printed.items()}
    page.cells(printed, 3 if is_narrow else 4)
    split = page.top + (page.height - page.top) * 0.62
    upper, lower = page.axes(page.top + 22, split - 12), page.axes(split + 14, page.height - 42)
    up, down = (_RED, _GREEN) if language == "zh" else (_GREEN, _RED)
    style = mpf.make_mpf_style(marketcolors=mpf.make_marketcolors(up=up, down=down, inherit=True), gridstyle="")
    kind, columns = "line" if stock.indicator else "candle", ("open", "high", "low", "close", "volume")
    volume = False if stock.indicator else lower
    mpf.plot(days, type=kind, ax=upper, volume=volume, style=style, columns=columns, linecolor=_BLUE, xrotation=0)
    lined, places = upper if volume else lower, np.arange(len(days))
    for name, color in stock.lines.items():
        lined.plot(places, days[name].to_numpy(), color=_HEX[color], lw=1.6, label=name)
    lined.legend(loc="upper left", ncols=3, fontsize=_SIZE - 1.5)
    upper.set_ylabel(word["units"]["price"])
    lower.set_ylabel(word["units"]["volume"] if volume else stock.indicator)
    ticks = np.linspace(0, len(days) - 1, 4 if is_narrow else 5).round().astype(int)
    for panel in (upper, lower):
        low, high = panel.get_ylim()  # of the prices only
        if panel is lined:
            drawn = days[list(stock.lines)]
            low, high = min(low, drawn.min().min()), max(high, drawn.max().max())
        room = (0.2 if panel is upper else 0.4) * (high - low)  # for the legend
        panel.set_ylim(0 if panel is volume else low, high + room)
        panel.yaxis.set_label_position("left")
        panel.yaxis.tick_left()
        panel.grid(visible=True)
        panel.set_xlim(-1.5, len(days) + 0.5)
        panel.set_xticks(ticks, [f"{days.index[tick]:%y-%m-%d}" for tick in ticks])
    upper.tick_params(labelbottom=False)


def _figures(page: _Page, figures: Figures, word: Any, language: str) -> None:
    table, numbers = figures.table, f"{{:,.{figures.decimals}f}}"
    page.text(figures.title, 34, size=_SIZE + 3)
    page.text(word["units"]["money"], 36, color=MUTED)
    if figures.kind == "table":
        axes = page.axes(page.top, min(page.height - 20, page.top + 52 * (len(table) + 1)), left=20)
        axes.axis("off")
        cells = [[row[0], *map(numbers.format, row[1:])] for row in table.itertuples()]
        widths = [0.34, *([0.66 / table.shape[1]] * table.shape[1])]
        drawn = axes.table(cells, colLabels=[word["item"], *table], colWidths=widths, bbox=(0, 0, 1, 1))
        drawn.auto_set_font_size(value=False)
        for (row, column), cell in drawn.get_celld().items():
            cell.set(edgecolor=_GRID, facecolor=BAR if row == 0 else "white", fontsize=_SIZE)
            cell.get_text().set_ha("left" if column == 0 else "right")
            cell.PAD = 0.05
        return
    colors = [_HEX[color] for color in figures.colors.values()]
    across = 2 if page.width < 700 else 3
    axes = page.axes(page.top + 32 * -(-table.shape[1] // across), page.height - 75)
    shape: Any = {"lw": 2.2, "marker": "o"} if figures.kind == "line" else {"width": 0.75, "rot": 0}
    table.plot(kind=figures.kind, ax=axes, color=colors, legend=False, **shape)
    if figures.printed:
        axes.margins(y=0.3)
        rotation = 90 if page.width / table.size < 110 else 0
        for bars in axes.containers:
            axes.bar_label(bars, fmt=numbers, padding=4, fontsize=_SIZE - 1, rotation=rotation)
    axes.set_xticks(range(len(table)), [label.replace(" ", "\n") for label in table.index])
    axes.grid(visible=False, axis="x")
    axes.yaxis.set_major_formatter("{x:,.0f}")
    axes.legend(loc="lower left", bbox_to_anchor=(0, 1), ncols=across, fontsize=_SIZE - 0.5)


def _report(page: _Page, report: Report, word: Any, language: str) -> None:
    letter = 17 if language == "zh" else 9.5  # pixels, more than a line has on average
    page.text(word["titles"]["report"].format(**report.facts), 40, size=_SIZE + 5)
    page.text(word["byline"].format(**report.facts), 44, color=MUTED)
    page.cells(dict(report.box), 2 if page.width > 700 else 1)
    page.top += 18
    for heading, text in report.sections.items():
        page.text(heading, 34, size=_SIZE + 2.5)
        for line in wrap(text, int((page.width - 40) / letter)):
            page.text(line, 27, size=_SIZE + 0.5)
        page.top += 16


_DRAWERS: dict[type[Part], Any] = {Stock: _stock, Figures: _figures, Report: _report}
