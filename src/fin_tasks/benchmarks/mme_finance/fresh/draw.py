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
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure, SubFigure
from matplotlib.font_manager import FontProperties, findfont, fontManager
from PIL import Image, ImageFilter

from fin_tasks.benchmarks.mme_finance.fresh.company import read_words
from fin_tasks.benchmarks.mme_finance.fresh.scenes import COLORS, Panel
from fin_tasks.errors import ConfigError

STYLES = {  # width and height of the screen
    "computer screenshot": (1440, 900),
    "mobile photograph": (1440, 900),
    "vertical screenshot on mobile": (750, 1500),
    "horizontal screenshot on mobile": (1600, 800),
}
_INK = "#14181f"
_GRAY = "#5d6775"
_PALE = "#eef2f7"
_BLUE = "#1f5fbf"
_GREEN = "#12a065"
_RED = "#e0434b"
_HEX = dict(
    zip(COLORS, ("#2563b0", "#e07b1a", "#8e4fb5", "#8b5326", "#12a5a5", "#8d949e"), strict=True)
)
_DPI = 100
_LINE = 30
"""Height of a line of text in pixels."""


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


def show(panels: Sequence[Panel], language: str, style: str, random: Random) -> Image.Image:
    """Draw the panels of a picture in one of `STYLES`."""
    fontManager.addfont(font(language))
    # The font for Chinese has one weight.
    settings: Any = {
        "font.family": FontProperties(fname=font(language)).get_name(),
        "figure.titleweight": "bold" if language == "en" else "normal",
    }
    with mpl.rc_context(settings, fname=Path(__file__).with_name("pictures.mplstyle")):
        width, height = STYLES[style]
        figure = Figure(figsize=(width / _DPI, height / _DPI), dpi=_DPI)
        frame = _draw_phone if style.endswith("on mobile") else _draw_browser
        body = frame(figure, panels[0], read_words(language), random)
        shape = (1, len(panels)) if width > height else (len(panels), 1)
        parts = body.subfigures(*shape, squeeze=False)
        for part, panel in zip(parts.flat, panels, strict=True):
            _DRAWERS[panel.kind](part, panel, language)
        canvas: Any = FigureCanvasAgg(figure)
        canvas.draw()
        screen = Image.fromarray(np.asarray(canvas.buffer_rgba())[..., :3].copy())
    return _photograph(screen, random) if style == "mobile photograph" else screen


def _bold() -> Any:
    return mpl.rcParams["figure.titleweight"]


# --- Frames ---


def _bands(figure: Any, heights: Sequence[int]) -> list[SubFigure]:
    """Cut a figure into bands of these heights in pixels; one of height 0 takes the rest."""
    rest = figure.bbox.height - sum(heights)
    ratios = [height or rest for height in heights]
    return list(figure.subfigures(len(heights), 1, height_ratios=ratios))


def _draw_browser(figure: Figure, panel: Panel, words: Any, random: Random) -> SubFigure:
    tabs, address, menu, body = _bands(figure, (38, 38, 50, 0))
    tabs.set_facecolor("#dfe4ea")
    for place, color in enumerate(("#ee6a5f", "#f5bd4f", "#61c454")):
        tabs.text(0.012 + 0.015 * place, 0.5, "●", color=color, va="center_baseline")
    tabs.text(0.075, 0.5, panel.title, fontsize=10, va="center_baseline")
    address.set_facecolor(_PALE)
    page = f"‹   ›     https://markets.example/{random.randint(10_000, 99_999)}"
    address.text(0.012, 0.5, page, fontsize=10, color=_GRAY, va="center_baseline")
    menu.set_facecolor(_BLUE)
    entries = [random.choice(words["sites"]), *words["menu"]]
    for place, entry in enumerate(entries):
        size = 10.5 if place else 14
        x = 0.025 + 0.09 * place
        menu.text(x, 0.5, entry, fontsize=size, color="white", va="center_baseline")
    return body


def _draw_phone(figure: Figure, panel: Panel, words: Any, random: Random) -> SubFigure:
    status, title, body, menu = _bands(figure, (42, 58, 0, 70))
    clock = f"{random.randint(7, 21)}:{random.randint(0, 59):02d}"
    status.text(0.04, 0.4, clock, va="center_baseline")
    battery = f"▂▄▆  5G   {random.randint(8, 99)} %"
    status.text(0.96, 0.4, battery, ha="right", va="center_baseline")
    title.text(0.03, 0.5, "‹", fontsize=22, va="center_baseline")
    title.text(0.5, 0.5, random.choice(words["sites"]), fontsize=14, ha="center", va="center")
    menu.set_facecolor(_PALE)
    for place, entry in enumerate(words["menu"]):
        color = _GRAY if place else _BLUE
        menu.text(0.1 + 0.2 * place, 0.5, entry, color=color, ha="center", va="center")
    return body


def _photograph(screen: Image.Image, random: Random) -> Image.Image:
    """Photograph a screen: tilted, slightly out of focus, unevenly lit and with noise."""
    noise = np.random.default_rng(random.getrandbits(64))
    room = Image.new("RGB", (screen.width + 200, screen.height + 200), "#4c4640")
    bezel = Image.new("RGB", (screen.width + 60, screen.height + 60), "#101214")
    bezel.paste(screen, (30, 30))
    room.paste(bezel, (70, 70))
    width, height = room.size
    corners = np.array([(0, 0), (0, height), (width, height), (width, 0)], dtype=float)
    corners += noise.uniform(-35, 35, (4, 2))
    photo = room.transform(
        room.size,
        Image.Transform.QUAD,
        corners.ravel().tolist(),
        Image.Resampling.BICUBIC,
        fillcolor="#4c4640",
    )
    blurred = photo.filter(ImageFilter.GaussianBlur(random.uniform(0.5, 0.8)))
    pixels = np.asarray(blurred, dtype=float)
    y, x = np.mgrid[0:height, 0:width]
    distance = (x / width - random.random()) ** 2 + (y / height - random.random()) ** 2
    light = 1.05 - 0.3 * distance[..., None]
    lit = pixels * light + noise.normal(0, 4, (height, width, 1))
    return Image.fromarray(lit.clip(0, 255).astype(np.uint8))


# --- Panels ---


def _heading(part: SubFigure, title: str, unit: str = "") -> None:
    """Write a title, and a unit below it, at the top of a panel."""
    height = part.bbox.height
    part.text(0.03, 1 - 22 / height, title, fontsize=15, weight=_bold(), va="top")
    part.text(0.03, 1 - 56 / height, unit, fontsize=10.5, color=_GRAY, va="top")


def _axes(part: SubFigure, top: float, bottom: float) -> Any:
    """Return axes between two distances from the upper and the lower edge, in pixels."""
    height = part.bbox.height
    right = 85 / part.bbox.width
    box = (0.03, bottom / height, 0.97 - right, 1 - (top + bottom) / height)
    axes = part.add_axes(box)
    axes.yaxis.tick_right()
    return axes


def _draw_stock(part: SubFigure, panel: Panel, language: str) -> None:
    days: Any = panel.table
    words = read_words(language)
    _heading(part, panel.title, f"{panel.facts['end']}   {words['daily']}")
    height = part.bbox.height
    labels = [label for label in panel.printed if label not in panel.colors]
    for place, label in enumerate(labels):
        x = 0.03 + 0.94 / len(labels) * place
        value = f"{panel.printed[label]:.2f}"
        part.text(x, 1 - 90 / height, label, fontsize=10.5, color=_GRAY, va="top")
        part.text(x, 1 - 112 / height, value, fontsize=12, weight=_bold(), va="top")
    lower_height = 0.26 * (height - 190)
    upper = _axes(part, 180, 86 + lower_height)
    lower = _axes(part, height - 50 - lower_height, 40)
    bars = range(len(days))
    is_candles = panel.kind == "candles"
    if is_candles:
        _draw_candles(upper, lower, days, language)
    else:
        upper.plot(bars, days["close"], color=_BLUE)
    lined = upper if is_candles else lower
    for place, (name, color) in enumerate(panel.colors.items()):
        lined.plot(bars, days[name], color=_HEX[color], lw=1.3)
        text = f"{name}: {panel.printed[name]:.2f}"
        lined.annotate(
            text,
            (0, 1),
            (150 * place, 6),
            xycoords="axes fraction",
            textcoords="offset pixels",
            fontsize=10.5,
            color=_HEX[color],
        )
    if is_candles:
        lower.text(0, 1.06, words["units"]["volume"], color=_GRAY, transform=lower.transAxes)
    ticks = np.linspace(2, len(days) - 4, 4).round().astype(int)
    lower.set_xticks(ticks, [f"{days.index[tick]:%Y-%m-%d}" for tick in ticks])
    upper.set_xticks(ticks, [""] * len(ticks))
    for axes in (upper, lower):
        axes.set_xlim(-1.5, len(days) + 0.5)


def _draw_candles(upper: Any, lower: Any, days: Any, language: str) -> None:
    up, down = (_RED, _GREEN) if language == "zh" else (_GREEN, _RED)
    colors = np.where(days["close"] >= days["open"], up, down)
    bars = range(len(days))
    upper.vlines(bars, days["low"], days["high"], color=colors, lw=1)
    bodies = days["close"] - days["open"]
    upper.bar(bars, bodies, 0.7, days["open"], color=colors, edgecolor=colors)
    lower.bar(bars, days["volume"], 0.7, color=colors)


def _draw_bars(part: SubFigure, panel: Panel, language: str) -> None:
    _heading(part, panel.title, read_words(language)["units"]["money"])
    axes = _axes(part, 135, 50)
    colors = [_HEX[color] for color in panel.colors.values()]
    panel.table.plot(kind="bar", ax=axes, color=colors, width=0.7, rot=0)
    for bars in axes.containers:
        axes.bar_label(bars, fmt="{:,.1f}", padding=3, fontsize=10.5)
    axes.legend(loc="lower right", bbox_to_anchor=(1, 1), ncols=2)


def _draw_lines(part: SubFigure, panel: Panel, language: str) -> None:
    _heading(part, panel.title, read_words(language)["units"]["money"])
    axes = _axes(part, 135, 50)
    colors = [_HEX[color] for color in panel.colors.values()]
    panel.table.plot(ax=axes, color=colors, marker="o", lw=2)
    axes.margins(x=0.06)
    axes.yaxis.set_major_formatter("{x:,.0f}")
    axes.legend(loc="lower left", bbox_to_anchor=(0, 1), ncols=3, borderaxespad=0.2)


def _draw_pie(part: SubFigure, panel: Panel, language: str) -> None:
    del language
    shares = panel.table.iloc[:, 0]
    _heading(part, panel.title, str(shares.name))
    axes = part.add_axes((0.1, 0.12, 0.8, 0.68))
    axes.pie(
        shares,
        labels=[f"{label}\n{share:.1f} %" for label, share in shares.items()],
        colors=[_HEX[color] for color in panel.colors.values()],
        startangle=90,
        counterclock=False,
        wedgeprops={"width": 0.45, "edgecolor": "white", "linewidth": 2},
        textprops={"fontsize": 12},
    )
    axes.set_aspect("equal")
    part.legend(labels=shares.index, handles=axes.patches, loc="lower center", ncols=4)


def _draw_table(part: SubFigure, panel: Panel, language: str) -> None:
    words = read_words(language)
    _heading(part, panel.title, words["units"]["money"])
    top = 90 / part.bbox.height
    axes = part.add_axes((0.03, 0.03, 0.94, 0.97 - top))
    axes.axis("off")
    rows = [[words["item"], *panel.table.columns]]
    for label, *values in panel.table.itertuples():
        rows.append([label, *(f"{value:,.1f}" for value in values)])
    n_columns = panel.table.shape[1]
    widths = [0.4, *[0.6 / n_columns] * n_columns]
    table = axes.table(rows, colWidths=widths, loc="upper center", edges="horizontal")
    table.auto_set_font_size(value=False)
    for (row, column), cell in table.get_celld().items():
        cell.set_height(min(0.09, 1 / len(rows)))
        cell.set_text_props(
            ha="right" if column else "left", fontsize=11.5, weight="normal" if row else _bold()
        )
        cell.set(edgecolor="#d9dee5", facecolor="white" if row else _PALE, fill=True)


def _draw_report(part: SubFigure, panel: Panel, language: str) -> None:
    words = read_words(language)
    height = part.bbox.height
    is_wide = part.bbox.width > height
    banner = part.add_axes((0.03, 1 - 65 / height, 0.94, 45 / height))
    banner.set(facecolor=_BLUE, xticks=[], yticks=[])
    banner.text(0.015, 0.5, panel.facts["publisher"], color="white", fontsize=13, va="center")
    banner.text(0.985, 0.5, words["research"], color="white", ha="right", va="center")
    part.text(0.03, 1 - 85 / height, panel.title, fontsize=16, weight=_bold(), va="top")
    byline = words["byline"].format(**panel.facts)
    part.text(0.03, 1 - 122 / height, byline, fontsize=10.5, color=_GRAY, va="top")
    bottom = _draw_box(part, panel, 0.7 if is_wide else 0.03, 160)
    share = 0.62 if is_wide else 0.94
    size = 16 if language == "zh" else 9.3  # pixels, more than a letter has on average
    y = 160.0 if is_wide else bottom + 20
    for heading, text in panel.sections.items():
        part.text(0.03, 1 - y / height, heading, color=_BLUE, weight=_bold(), va="top")
        y += _LINE
        spaced = text.replace("，", "， ").replace("；", "； ")  # a line may end there
        for line in wrap(spaced, int(part.bbox.width * share / size)):
            part.text(0.03, 1 - y / height, line, va="top")
            y += 0.85 * _LINE
        y += 0.5 * _LINE


def _draw_box(part: SubFigure, panel: Panel, left: float, top: float) -> float:
    """Draw the key figures of a report, and return the lower edge in pixels from above."""
    height = part.bbox.height
    box_height = 1.2 * _LINE * len(panel.printed) + 20
    axes = part.add_axes((left, 1 - (top + box_height) / height, 0.97 - left, box_height / height))
    axes.set(facecolor=_PALE, xticks=[], yticks=[])
    for place, (label, value) in enumerate(panel.printed.items()):
        y = 1 - (place + 0.5) / len(panel.printed)
        text = f"{value:,.2f}" if isinstance(value, float) else value
        axes.text(0.04, y, label, fontsize=10.5, color=_GRAY, va="center")
        axes.text(0.96, y, text, weight=_bold(), ha="right", va="center")
    return top + box_height


_DRAWERS: Mapping[str, Callable[[SubFigure, Panel, str], None]] = {
    "candles": _draw_stock,
    "macd": _draw_stock,
    "rsi": _draw_stock,
    "bar": _draw_bars,
    "line": _draw_lines,
    "pie": _draw_pie,
    "income": _draw_table,
    "balance": _draw_table,
    "cash_flow": _draw_table,
    "report": _draw_report,
}
