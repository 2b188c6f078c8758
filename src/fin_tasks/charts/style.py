"""Colours, fonts and settings of the pictures; nothing of the user's own matplotlib configuration gets in."""

from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import matplotlib as mpl
from matplotlib.font_manager import FontProperties, get_font

from fin_tasks.charts.spec import MarkKind

__all__ = ["MARKS", "MarkStyle", "drawable", "font", "settings"]

INK = "#101010"
BEHIND = "#fafafa"
GRID = "#dcdcdc"
FRAME = "#bbbbbb"
LEADER = "#909090"
MOVING_AVERAGE = "#1f5fbf"
PRICE_LINE = "#404040"
VOLUME = ("#fd6b6c", "#4dc790")  # closed below the day before, or not below; as in mplfinance's yahoo style


@dataclass(frozen=True)
class MarkStyle:
    """How a kind of mark looks: marker, its colour, the colour of its label, its entry in the legend."""

    marker: str
    colour: str
    ink: str
    name: str


MARKS: dict[MarkKind, MarkStyle] = {
    "meet": MarkStyle("v", "#00a046", "#006b30", "EPS Meet"),
    "miss": MarkStyle("v", "#e0222c", "#a5121b", "EPS Miss"),
    "fiscal": MarkStyle("^", "#808080", "#555555", "Fiscal end"),
}

_FAST = {"path.simplify_threshold": 1.0, "agg.path.chunksize": 10000}  # what matplotlib's own style `fast` sets
_NOT_A_STYLE = ("backend", "backend_fallback")


@cache
def settings() -> dict[Any, Any]:
    """Return matplotlib's built-in settings with ours on top: all there are, but for the backend, which is not used."""
    built_in = {name: value for name, value in dict.items(mpl.rcParamsDefault) if name not in _NOT_A_STYLE}
    return built_in | _FAST


@cache
def font(size: float, *, bold: bool = False) -> FontProperties:
    """Return the DejaVu Sans that comes with matplotlib, never another of that name that a system has."""
    return FontProperties(fname=str(_font_file(bold=bold)), size=size)


def drawable(text: str) -> str:
    r"""Replace what the font has no glyph for, which matplotlib would warn about; newlines stay.

    Example:
        >>> drawable("AT&T \u682a\x1b")
        'AT&T ??'
    """
    return "".join(char if char == "\n" or ord(char) in _glyphs() else "?" for char in text)


@cache
def _glyphs() -> frozenset[int]:
    plain, bold = (set(get_font(_font_file(bold=bold)).get_charmap()) for bold in (False, True))
    return frozenset(plain & bold)


def _font_file(*, bold: bool) -> Path:
    return Path(mpl.get_data_path(), "fonts", "ttf", f"DejaVuSans{'-Bold' if bold else ''}.ttf")
