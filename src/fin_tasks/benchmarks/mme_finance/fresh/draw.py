"""Draw the parts of a picture, and show them in a browser's window, on a phone, or as a photograph of a screen."""

from collections.abc import Sequence
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from random import Random
from textwrap import wrap
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.font_manager import FontProperties, findfont, fontManager
from PIL import Image, ImageDraw, ImageFilter, ImageFont

from fin_tasks.benchmarks.mme_finance.fresh.scenes import COLORS, Part, words
from fin_tasks.errors import ConfigError

STYLES = {  # width and height of the screen
    "computer screenshot": (1280, 900),
    "mobile photograph": (1280, 900),
    "vertical screenshot on mobile": (750, 1334),
    "horizontal screenshot on mobile": (1334, 750),
}
_INK, _BAR, _GREEN, _RED, _BLUE = "#14181f", "#e9edf2", "#12a065", "#e0434b", "#2f74dd"
_HEX = dict(
    zip(COLORS, (_BLUE, "#f5961d", "#9b4fc8", "#8b5326", "#12a5a5", "#8d949e"), strict=True)
)
_DPI = 100


@cache
def font(language: str) -> str:
    """Return the file of the font of a language; ConfigError if that for Chinese is not installed."""
    if language == "en":
        return str(findfont("DejaVu Sans"))
    package = find_spec("zhplot")  # to import it would change matplotlib's settings
    if package is None or package.origin is None:
        raise ConfigError(
            "Chinese text: expected the font of zhplot. Run pip install 'fin-tasks[pictures]'."
        )
    return str(Path(package.origin).parent / "fonts" / "NotoSansSC-Regular.ttf")


def show(parts: Sequence[Part], language: str, style: str, random: Random) -> Image.Image:
    """Draw the parts of a picture in one of `STYLES`."""
    width, height = STYLES[style]
    word, is_phone = words(language), style.endswith("screenshot on mobile")
    screen = Image.new("RGB", (width, height), _BAR)
    screen.paste(_draw(parts, language, width, height - 110), (0, 50 if is_phone else 110))
    pen = ImageDraw.Draw(screen)
    pen.font = ImageFont.truetype(font(language), 20, layout_engine=ImageFont.Layout.BASIC)
    left, right = (
        f"https://markets.example/{random.randint(10_000, 99_999)}",
        random.choice(word["sites"]),
    )
    menu = 80
    if is_phone:
        left, right = (
            f"{random.randint(7, 21)}:{random.randint(0, 59):02d}",
            f"5G  {random.randint(8, 99)} %",
        )
        menu = height - 30
    pen.text((30, 25), left, _INK, anchor="lm")
    pen.text((width - 30, 25), right, _INK, anchor="rm")
    for at, entry in enumerate(word["menu"]):
        pen.text((width * (2 * at + 1) // 10, menu), entry, _BLUE if at == 0 else _INK, anchor="mm")
    return _photograph(screen, random) if style == "mobile photograph" else screen


def _photograph(screen: Image.Image, random: Random) -> Image.Image:
    """Photograph a screen: tilted, slightly out of focus, unevenly lit and with noise."""
    noise = np.random.default_rng(random.getrandbits(64))
    room = Image.new("RGB", (screen.width + 160, screen.height + 160), "#4c4640")
    room.paste(screen, (80, 80))
    width, height = room.size
    corners = np.array([(0, 0), (0, height), (width, height), (width, 0)]) + noise.uniform(
        -30, 30, (4, 2)
    )
    photo = room.transform(
        room.size, Image.Transform.QUAD, corners.ravel().tolist(), Image.Resampling.BICUBIC
    )
    pixels = np.asarray(
        photo.filter(ImageFilter.GaussianBlur(random.uniform(0.5, 0.8))), dtype=float
    )
    y, x = np.mgrid[0:height, 0:width]
    distance = (x / width - random.random()) ** 2 + (
        y / height - random.random()
    ) ** 2  # from the light
    lit = pixels * (1.05 - 0.3 * distance[..., None]) + noise.normal(0, 4, (height, width, 1))
    return Image.fromarray(lit.clip(0, 255).astype(np.uint8))


def _draw(parts: Sequence[Part], language: str, width: int, height: int) -> Image.Image:
    """Draw the parts side by side, or one below the other if the picture is higher than wide."""
    fontManager.addfont(font(language))
    family: Any = {"font.family": FontProperties(fname=font(language)).get_name()}
    with mpl.rc_context(family, fname=Path(__file__).with_name("pictures.mplstyle")):
        figure = Figure(figsize=(width / _DPI, height / _DPI), dpi=_DPI, layout="constrained")
        canvas: Any = FigureCanvasAgg(figure)
        grid = (1, len(parts)) if width > height else (len(parts), 1)
        for place, part in zip(figure.subfigures(*grid, squeeze=False).flat, parts, strict=True):
            _DRAWERS.get(part.kind, _chart)(place, part, language)
        canvas.draw()
        return Image.fromarray(np.asarray(canvas.buffer_rgba())[..., :3].copy())


def _heading(place: Any, *lines: str) -> None:
    place.suptitle("\n".join(lines), x=0.02, ha="left", linespacing=1.5)


def _stock(place: Any, part: Part, language: str) -> None:
    days: Any = part.table
    word, is_candles = words(language), part.kind == "candles"
    printed = [f"{label} {value:.2f}" for label, value in part.printed.items()]
    _heading(place, part.title, "    ".join(printed[:4]), "    ".join(printed[4:]))
    upper, lower = place.subplots(2, 1, sharex=True, height_ratios=(3, 2))
    up, down = (_RED, _GREEN) if language == "zh" else (_GREEN, _RED)
    colors, bars = np.where(days["close"] >= days["open"], up, down), range(len(days))
    if is_candles:
        upper.vlines(bars, days["low"], days["high"], color=colors, lw=1)
        upper.bar(
            bars,
            days["close"] - days["open"],
            bottom=days["open"],
            color=colors,
            edgecolor=colors,
            width=0.7,
        )
        lower.bar(bars, days["volume"], color=colors)
    else:
        upper.plot(bars, days["close"], color=_INK)
    for name, color in part.colors.items():
        (upper if is_candles else lower).plot(bars, days[name], color=_HEX[color], label=name)
    (upper if is_candles else lower).legend(
        loc="lower left", bbox_to_anchor=(0, 1), ncols=3, borderpad=0
    )
    upper.set_ylabel(word["units"]["price"])
    lower.set_ylabel(word["units"]["volume"] if is_candles else "MACD")
    ticks = np.linspace(0, len(days) - 1, 4).round().astype(int)
    lower.set_xticks(ticks, [f"{days.index[tick]:%y-%m-%d}" for tick in ticks])


def _chart(place: Any, part: Part, language: str) -> None:
    table: Any = part.table
    _heading(place, part.title, words(language)["units"]["money"])
    axes = place.subplots()
    colors = [_HEX[color] for color in part.colors.values()]
    if part.kind == "line":
        table.plot(ax=axes, color=colors, marker="o")
    else:
        table.plot(kind="barh", ax=axes, color=colors, width=0.75)
        axes.invert_yaxis()
        axes.margins(x=0.15)
        for bars in axes.containers:
            axes.bar_label(bars, fmt="{:,.1f}", padding=4)
    axes.legend(loc="lower left", bbox_to_anchor=(0, 1), ncols=3)


def _table(place: Any, part: Part, language: str) -> None:
    table: Any = part.table
    word = words(language)
    _heading(place, part.title, word["units"]["money"])
    axes = place.subplots()
    axes.axis("off")
    rows = [
        [label, *(f"{value:,.1f}" for value in values)] for label, *values in table.itertuples()
    ]
    widths = [0.4, *([0.6 / table.shape[1]] * table.shape[1])]
    drawn = axes.table(rows, colLabels=[word["item"], *table], colWidths=widths, loc="upper left")
    drawn.auto_set_font_size(value=False)
    drawn.scale(1, 2.5)


def _report(place: Any, part: Part, language: str) -> None:
    letter = 18 if language == "zh" else 10.5  # pixels, more than a letter has on average
    lines = [words(language)["byline"].format(**part.facts), ""]
    for label, value in part.printed.items():
        lines.append(f"{label}: {value:,.2f}" if isinstance(value, float) else f"{label}: {value}")
    for heading, text in part.sections.items():
        spaced = text.replace("，", "， ").replace(
            "；", "； "
        )  # so that no line ends within a number
        lines += ["", f"[ {heading} ]", *wrap(spaced, int((place.bbox.width - 40) / letter))]
    _heading(place, part.title, *lines)


_DRAWERS = {
    "candles": _stock,
    "indicator": _stock,
    "table": _table,
    "report": _report,
}  # all others are charts
