"""Draw the panels of a picture in a browser's window or on a phone, or as a photograph of a screen."""

from collections.abc import Sequence
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, distribution
from io import BytesIO
from pathlib import Path
from random import Random
from textwrap import wrap
from typing import Any

import matplotlib as mpl
import numpy as np
from cycler import cycler
from matplotlib.figure import Figure
from matplotlib.font_manager import fontManager
from PIL import Image, ImageFilter, ImageOps

from fin_tasks.errors import ConfigError

from .company import Facts, read_texts
from .scenes import Panel

STYLES = tuple(read_texts("pictures", "en")["screens"])
"""How the benchmark's pictures were taken."""

_DPI = 100  # as in pictures.mplstyle
_MARGIN = 0.03  # at the left and the right, as a share of the width
_SCALE = 85  # pixels for the numbers of the axis at the right of a chart
_WALL = "#4c4640"  # behind a photographed screen


def draw_picture(
    panels: Sequence[Panel],
    language: str,
    style: str,
    random: Random,
) -> Image.Image:
    """Draw a picture of one or two panels in one of `STYLES`."""
    layout = read_texts("pictures", language)
    screen = layout["screens"][style]
    width, height = screen["size"]
    facts = {
        "title": panels[0].facts["title"],
        "site": random.choice(layout["sites"]),
        "number": random.randint(10, 59),
    }
    content = BytesIO()
    style_file = Path(__file__).with_name("pictures.mplstyle")
    with mpl.rc_context({"font.family": _fonts(language)}, style_file):
        figure = Figure((width / _DPI, height / _DPI))
        body = _draw_frame(figure, layout["frames"][screen["frame"]], facts)
        shape = (1, len(panels)) if width > height else (len(panels), 1)
        areas = body.subfigures(*shape, squeeze=False)
        for area, panel in zip(areas.flat, panels, strict=True):
            if panel.colors:
                colors = [layout["colors"][color] for color in panel.colors.values()]
                mpl.rcParams["axes.prop_cycle"] = cycler(color=colors)
            draw_panel = _DRAWERS[layout["drawn_as"][panel.kind]]
            draw_panel(_Page(area, panel, layout))
        figure.savefig(content)
    picture = Image.open(content).convert("RGB")
    if style == "mobile photograph":
        return _photograph(picture, random)
    return picture


def _fonts(language: str) -> list[str]:
    """Return the fonts of a language; ConfigError if that for Chinese is not installed."""
    if language == "en":
        return ["DejaVu Sans"]
    try:
        file = distribution("zhplot").locate_file("zhplot/fonts/NotoSansSC-Regular.ttf")
    except PackageNotFoundError as error:
        raise ConfigError(
            "Chinese text: expected the font of zhplot. Run pip install 'fin-tasks[pictures]'."
        ) from error
    fontManager.addfont(str(file))
    return ["Noto Sans SC", "DejaVu Sans"]


def _draw_frame(
    figure: Figure,
    bands: Sequence[Any],
    facts: Facts,
) -> Any:
    """Draw the bands of a screen, and return the area of the band without a height."""
    heights = [band["height"] for band in bands]
    rest = figure.bbox.height - sum(heights)
    ratios = [height or rest for height in heights]
    areas: Any = figure.subfigures(len(bands), 1, height_ratios=ratios)
    for area, band in zip(areas, bands, strict=True):
        area.set_facecolor(band["color"])
        for x, style, text in band["texts"]:
            area.text(x, 0.5, text.format(**facts), va="center_baseline", **style)
    return areas[heights.index(0)]


def _photograph(screen: Image.Image, random: Random) -> Image.Image:
    """Photograph a screen: tilted, slightly out of focus and unevenly lit."""
    framed = ImageOps.expand(screen, 30, "#101214")
    angle = random.choice([-1, 1]) * random.uniform(1, 3)
    room = framed.rotate(angle, Image.Resampling.BICUBIC, expand=True, fillcolor=_WALL)
    room = ImageOps.expand(room, 40, _WALL).filter(ImageFilter.GaussianBlur(0.7))
    light = np.linspace(1, random.uniform(0.6, 0.85), room.width)
    return Image.fromarray((np.asarray(room) * light[:, None]).astype(np.uint8))


# --- Panels ---


@dataclass
class _Page:
    """An area in which a panel is drawn below its headings."""

    area: Any
    panel: Panel
    layout: Any
    y: float = 22.0
    """Where the next line begins, in pixels from the top."""

    def __post_init__(self) -> None:
        for style, skip, text in self.layout["headings"][self.panel.kind]:
            self.write(text.format(**self.panel.facts), style, skip)

    def write(
        self,
        text: str,
        style: str,
        skip: float,
        x: float = _MARGIN,
    ) -> None:
        """Write a line of text in a style of the layout, and go down by `skip` pixels."""
        y = 1 - self.y / self.area.bbox.height
        self.area.text(x, y, text, va="top", **self.layout["texts"][style])
        self.y += skip

    def write_printed(self, labels: Sequence[str]) -> None:
        """Write labels with their values below them, side by side."""
        for number, label in enumerate(labels):
            value = self.panel.printed[label]
            x = _MARGIN + number * 0.95 / len(labels)
            text = f"{value:,.2f}" if isinstance(value, float) else value
            self.write(label, "small", 22, x)
            self.write(text, "value", -22, x)
        self.y += 60

    def axes(self, share: float = 1.0) -> Any:
        """Return axes that take a share of the height that is left; above them there is room for a legend."""
        total = self.area.bbox.height
        top = self.y + 36
        height = share * (total - top - 45)
        self.y = top + height
        width = 1 - 2 * _MARGIN - _SCALE / self.area.bbox.width
        return self.area.add_axes((_MARGIN, 1 - self.y / total, width, height / total))


def _draw_stock(page: _Page) -> None:
    """Draw candles with moving averages above volumes, or closes above an indicator."""
    panel = page.panel
    days: Any = panel.table
    names = list(panel.colors)
    page.write_printed([label for label in panel.printed if label not in names])
    upper = page.axes(0.65)
    lower = page.axes()
    bars = np.arange(len(days))
    axes_with_lines = lower
    if panel.kind == "candles":
        axes_with_lines = upper
        colors = np.where(days.close < days.open, *page.layout["candles"])
        bodies = days.close - days.open
        upper.vlines(bars, days.low, days.high, color=colors, lw=1)
        upper.bar(bars, bodies, 0.7, days.open, color=colors, edgecolor=colors)
        lower.bar(bars, days.volume, 0.7, color=colors)
        lower.set_title(page.layout["volume"])
    else:
        upper.plot(bars, days.close, color=page.layout["colors"]["blue"])
    labels = [f"{name}: {panel.printed[name]:.2f}" for name in names]
    axes_with_lines.plot(bars, days[names], lw=1.3, label=labels)
    axes_with_lines.legend(**page.layout["legends"][panel.kind])
    ticks = bars[2 :: len(days) // 3]
    lower.sharex(upper)
    lower.set_xticks(ticks, days.index[ticks].strftime("%Y-%m-%d"))
    lower.set_xlim(-1.5, len(days) + 0.5)
    upper.tick_params(labelbottom=False)


def _draw_chart(page: _Page) -> None:
    """Draw the bars, the lines or the pie of a company."""
    kind = page.panel.kind
    axes = page.axes()
    page.panel.table.plot(ax=axes, **page.layout["charts"][kind])
    axes.legend(**page.layout["legends"][kind])
    axes.yaxis.set_major_formatter("{x:,.0f}")
    for bars in axes.containers:
        axes.bar_label(bars, fmt="{:,.1f}", padding=3, fontsize=10.5)


def _draw_table(page: _Page) -> None:
    axes = page.axes()
    axes.axis("off")
    figures = page.panel.table.map("{:,.1f}".format)
    rows = [[page.layout["item"], *figures], *figures.reset_index().to_numpy().tolist()]
    table = axes.table(rows, **page.layout["table"])
    table.auto_set_font_size(value=False)
    for (_, column), cell in table.get_celld().items():
        cell.set(height=min(0.09, 1 / len(rows)), edgecolor="#d9dee5")
        cell.set_text_props(fontsize=11.5, ha="right" if column else "left")


def _draw_report(page: _Page) -> None:
    labels = list(page.panel.printed)
    size = page.area.bbox
    n_columns = 6 if size.width > size.height else 3
    for first in range(0, len(labels), n_columns):
        page.write_printed(labels[first : first + n_columns])
    page.y += 10
    n_letters = int(size.width / float(page.layout["letter"]))
    for heading, text in page.panel.table["text"].items():
        page.write(heading, "heading", 28)
        for line in wrap(text, n_letters):
            page.write(line, "text", 26)
        page.y += 16


_DRAWERS = {
    "stock": _draw_stock,
    "chart": _draw_chart,
    "table": _draw_table,
    "report": _draw_report,
}
