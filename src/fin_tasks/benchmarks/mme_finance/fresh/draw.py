"""Draw the panels of a picture in a browser's window or on a phone, or as a photograph of a screen."""

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from random import Random
from textwrap import wrap
from typing import Any

import matplotlib as mpl
import numpy as np
import yaml
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.font_manager import FontProperties, findfont, fontManager
from PIL import Image, ImageFilter, ImageOps

from fin_tasks.benchmarks.mme_finance.fresh.company import read_words
from fin_tasks.benchmarks.mme_finance.fresh.scenes import Panel
from fin_tasks.errors import ConfigError

_FOLDER = Path(__file__).parent
_LAYOUT = yaml.safe_load((_FOLDER / "pictures.yaml").read_text(encoding="utf-8"))
STYLES: Sequence[str] = tuple(_LAYOUT["screens"])
"""How the benchmark's pictures were taken."""

_COLORS = _LAYOUT["colors"]
_DPI = 100
_LEFT = 0.03  # margin, as a share of the width
_WALL = "#4c4640"  # behind a photographed screen


@cache
def font(language: str) -> str:
    """Return the file of the font of a language; ConfigError if that for Chinese is not installed."""
    if language == "en":
        return str(findfont("DejaVu Sans"))
    package = find_spec("zhplot")  # to import it would change matplotlib's settings
    if package is None or package.origin is None:
        expected = "expected the font of zhplot"
        raise ConfigError(f"Chinese text: {expected}. Run pip install 'fin-tasks[pictures]'.")
    return str(Path(package.origin).parent / "fonts" / "NotoSansSC-Regular.ttf")


def show(
    panels: Sequence[Panel],
    language: str,
    style: str,
    random: Random,
) -> Image.Image:
    """Draw the panels of a picture in one of `STYLES`."""
    fontManager.addfont(font(language))
    family: Any = {"font.family": FontProperties(fname=font(language)).get_name()}
    screen = _LAYOUT["screens"][style]
    width, height = screen["size"]
    with mpl.rc_context(family, fname=_FOLDER / "pictures.mplstyle"):
        figure = Figure(
            figsize=(width / _DPI, height / _DPI),
            dpi=_DPI,
        )
        words = read_words(language)
        facts = {
            "title": panels[0].title,
            "menu": words["menu"],
            "site": random.choice(words["sites"]),
            "number": random.randint(10, 59),
        }
        body = _draw_frame(figure, _LAYOUT["frames"][screen["frame"]], facts)
        shape = (1, len(panels)) if width > height else (len(panels), 1)
        areas = body.subfigures(*shape, squeeze=False)
        for area, panel in zip(areas.flat, panels, strict=True):
            _DRAWERS[panel.kind](_Page(area, panel, language))
        canvas: Any = FigureCanvasAgg(figure)
        canvas.draw()
        picture = Image.fromarray(np.asarray(canvas.buffer_rgba())[..., :3].copy())
    if style == "mobile photograph":
        return _photograph(picture, random)
    return picture


def _draw_frame(
    figure: Figure,
    bands: Sequence[Any],
    facts: Mapping[str, Any],
) -> Any:
    """Draw the frame of a screen, and return the area inside it."""
    heights = [band["height"] for band in bands]
    rest = figure.bbox.height - sum(heights)
    ratios = [height or rest for height in heights]
    areas: Any = figure.subfigures(len(bands), 1, height_ratios=ratios)
    body = None
    for area, band in zip(areas, bands, strict=True):
        area.set_facecolor(band["color"])
        for x, style, text in band["texts"]:
            area.text(
                x,
                0.5,
                text.format(**facts),
                va="center_baseline",
                **style,
            )
        if not band["texts"]:
            body = area
    return body


def _photograph(screen: Image.Image, random: Random) -> Image.Image:
    """Photograph a screen: tilted, slightly out of focus, unevenly lit and with noise."""
    noise = np.random.default_rng(random.getrandbits(64))
    framed = ImageOps.expand(screen, 30, "#101214")
    room = ImageOps.expand(framed, 70, _WALL)
    width, height = room.size
    corners = np.array([0, 0, 0, height, width, height, width, 0])
    tilted_corners = corners + noise.uniform(-35, 35, corners.size)
    tilted = room.transform(
        room.size,
        Image.Transform.QUAD,
        tilted_corners.tolist(),
        Image.Resampling.BICUBIC,
        fillcolor=_WALL,
    )
    blur = ImageFilter.GaussianBlur(random.uniform(0.5, 0.8))
    pixels = np.asarray(tilted.filter(blur), dtype=float)
    light = np.linspace(1, random.uniform(0.75, 0.95), width)
    grain = noise.normal(0, 4, (height, width, 1))
    lit = pixels * light[:, None] + grain
    return Image.fromarray(lit.clip(0, 255).astype(np.uint8))


# --- Panels ---


class _Page:
    """An area in which a panel is drawn from above: `y` is where the next line begins, in pixels."""

    def __init__(
        self,
        area: Any,
        panel: Panel,
        language: str,
    ) -> None:
        self.area = area
        self.panel = panel
        self.words = read_words(language)
        self.is_chinese = language == "zh"
        self.height = area.bbox.height
        self.y = 22.0

    def write(
        self,
        text: str,
        style: str,
        skip: float,
        x: float = _LEFT,
    ) -> None:
        """Write a line of text in a style of the layout, and go down by `skip` pixels."""
        font = dict(_LAYOUT["texts"][style])
        if self.is_chinese:
            font.pop("weight", None)  # the font has one weight
        self.area.text(
            x,
            1 - self.y / self.height,
            text,
            va="top",
            **font,
        )
        self.y += skip

    def write_heading(self, unit: str) -> None:
        """Write the panel's title, and the unit of its figures."""
        self.write(self.panel.title, "title", 34)
        self.write(unit, "small", 34)

    def write_printed(self, labels: Sequence[str]) -> None:
        """Write labels with their values below them, side by side."""
        for number, label in enumerate(labels):
            value = self.panel.printed[label]
            x = _LEFT + number * 0.95 / len(labels)
            text = f"{value:,.2f}" if isinstance(value, float) else value
            self.write(label, "small", 22, x)
            self.write(text, "value", -22, x)
        self.y += 60

    def axes(self, height: float, right: float = 85) -> Any:
        """Return axes of this height in pixels, with the scale at the right."""
        self.y += height
        share = 1 - 2 * _LEFT - right / self.area.bbox.width
        bottom = 1 - self.y / self.height
        axes = self.area.add_axes((_LEFT, bottom, share, height / self.height))
        axes.yaxis.tick_right()
        return axes

    def rest(self) -> float:
        """Return the height that is left above the lower margin."""
        return float(self.height - self.y - 45)


def _draw_stock(page: _Page) -> None:
    panel = page.panel
    days: Any = panel.table
    page.write_heading(f"{panel.facts['end']}   {page.words['daily']}")
    page.write_printed([label for label in panel.printed if label not in panel.colors])
    page.y += 16
    height = page.rest()
    upper = page.axes(0.65 * height)
    page.y += 36
    lower = page.axes(0.35 * height - 36)
    bars = np.arange(len(days))
    lined = lower
    if panel.kind == "candles":
        lined = upper
        _draw_candles(upper, lower, bars, days, page.is_chinese)
        lower.set_title(
            page.words["units"]["volume"],
            loc="left",
            fontsize=10.5,
        )
    else:
        upper.plot(bars, days["close"], color=_COLORS["blue"])
    for name, color in panel.colors.items():
        label = f"{name}: {panel.printed[name]:.2f}"
        lined.plot(
            bars,
            days[name],
            color=_COLORS[color],
            lw=1.3,
            label=label,
        )
    lined.legend(
        loc="lower left",
        bbox_to_anchor=(0, 0.99),
        ncols=4,
        labelcolor="linecolor",
    )
    ticks = bars[2 :: len(days) // 3]
    lower.set_xticks(ticks, [f"{days.index[tick]:%Y-%m-%d}" for tick in ticks])
    upper.set_xticks(ticks, [""] * len(ticks))
    for axes in (upper, lower):
        axes.set_xlim(-1.5, len(days) + 0.5)


def _draw_candles(
    upper: Any,
    lower: Any,
    bars: Any,
    days: Any,
    is_chinese: bool,
) -> None:
    has_risen = days["close"] >= days["open"]
    if is_chinese:  # rising prices are red in China
        has_risen = ~has_risen
    colors = np.where(has_risen, _COLORS["up"], _COLORS["down"])
    upper.vlines(
        bars,
        days["low"],
        days["high"],
        color=colors,
        lw=1,
    )
    bodies = days["close"] - days["open"]
    upper.bar(
        bars,
        bodies,
        0.7,
        days["open"],
        color=colors,
        edgecolor=colors,
    )
    lower.bar(bars, days["volume"], 0.7, color=colors)


def _draw_chart(page: _Page) -> None:
    """Draw the bars, the lines or the pie of a company."""
    panel = page.panel
    table = panel.table
    units = page.words["units"]
    page.write_heading(units["share" if panel.kind == "pie" else "money"])
    page.y += 36
    options = dict(_LAYOUT["charts"][panel.kind])
    colors = [_COLORS[color] for color in panel.colors.values()]
    if panel.kind == "pie":
        axes = page.axes(page.rest() - 20, right=0)
        labels = [f"{label}\n{share:.1f} %" for label, share in table.iloc[:, 0].items()]
        table.plot(
            ax=axes,
            colors=colors,
            labels=labels,
            legend=False,
            **options,
        )
        axes.legend(
            table.index,
            loc="lower center",
            bbox_to_anchor=(0.5, -0.09),
            ncols=4,
        )
        return
    axes = page.axes(page.rest())
    table.plot(ax=axes, color=colors, **options)
    axes.legend(
        loc="lower left",
        bbox_to_anchor=(0, 1),
        ncols=3,
    )
    axes.yaxis.set_major_formatter("{x:,.0f}")
    for bars in axes.containers:
        axes.bar_label(bars, fmt="{:,.1f}", padding=3, fontsize=10.5)


def _draw_table(page: _Page) -> None:
    figures = page.panel.table
    page.write_heading(page.words["units"]["money"])
    axes = page.axes(page.rest() + 30, right=0)
    axes.axis("off")
    rows = [[page.words["item"], *figures.columns]]
    for label, *values in figures.itertuples():
        rows.append([label, *(f"{value:,.1f}" for value in values)])
    n_years = figures.shape[1]
    widths = [0.4, *[0.6 / n_years] * n_years]
    table = axes.table(
        rows,
        colWidths=widths,
        loc="upper center",
        edges="horizontal",
    )
    table.auto_set_font_size(value=False)
    for (_, column), cell in table.get_celld().items():
        cell.set(
            height=min(0.09, 1 / len(rows)),
            edgecolor="#d9dee5",
        )
        cell.set_text_props(fontsize=11.5, ha="right" if column else "left")


def _draw_report(page: _Page) -> None:
    panel = page.panel
    facts = panel.facts
    page.write(f"{facts['publisher']}  ·  {page.words['research']}", "heading", 36)
    page.write(panel.title, "title", 36)
    page.write(page.words["byline"].format(**facts), "small", 40)
    labels = list(panel.printed)
    width = page.area.bbox.width
    n_columns = 6 if width > page.height else 3
    for first in range(0, len(labels), n_columns):
        page.write_printed(labels[first : first + n_columns])
    page.y += 10
    letter = 16 if page.is_chinese else 9.3  # pixels, more than a letter has on average
    for heading, text in panel.sections.items():
        page.write(heading, "heading", 28)
        breakable = text.replace("，", "， ").replace("；", "； ")  # a line may end there
        for line in wrap(breakable, int(width * 0.9 / letter)):
            page.write(line, "text", 26)
        page.y += 16


_DRAWERS: Mapping[str, Callable[[_Page], None]] = {
    **dict.fromkeys(("candles", "macd", "rsi"), _draw_stock),
    **dict.fromkeys(("bar", "line", "pie"), _draw_chart),
    **dict.fromkeys(("income", "balance", "cash_flow"), _draw_table),
    "report": _draw_report,
}
