"""How a picture looks: colours, letters, language."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Literal, NamedTuple

from fin_tasks.benchmarks.mme_finance.row import Language

__all__ = ["DARK", "LIGHT", "Box", "Look", "Theme"]


class Box(NamedTuple):
    """A part of a picture in pixels, from its upper left corner."""

    left: int
    top: int
    right: int
    bottom: int

    @property
    def width(self) -> int:
        """From left to right."""
        return self.right - self.left

    @property
    def height(self) -> int:
        """From top to bottom."""
        return self.bottom - self.top

    def inside(self, sides: int, ends: int | None = None) -> "Box":
        """Return what is left within a margin of `sides`, and of `ends` above and below where that differs."""
        rest = sides if ends is None else ends
        return Box(self.left + sides, self.top + rest, self.right - sides, self.bottom - rest)

    def below(self, top: int) -> "Box":
        """Return the part from the pixel `top` down."""
        return self._replace(top=top)


@dataclass(frozen=True, kw_only=True)
class Theme:
    """Colours.

    Attributes:
        page: Behind everything.
        card: Behind a chart or a table.
        bar: Of an app's or a window's bars.
        stripe: Of every other row of a table.
        head: Of a table's headings.
        ink: Of text.
        muted: Of labels.
        grid: Of lines between things.
        accent: Of brands and buttons.
        series: Of lines, bars and slices, in order.
    """

    page: str
    card: str
    bar: str
    stripe: str
    head: str
    ink: str
    muted: str
    grid: str
    accent: str
    series: tuple[str, ...]


LIGHT = Theme(
    page="#f3f4f6",
    card="#ffffff",
    bar="#ffffff",
    stripe="#f6f8fa",
    head="#e6edf5",
    ink="#14181f",
    muted="#5d6775",
    grid="#dfe3e8",
    accent="#1f5fbf",
    series=("#2563b0", "#e07b1a", "#2f9e62", "#8b4fb8", "#c8424f", "#5f7a8c"),
)

DARK = Theme(
    page="#10141b",
    card="#171c25",
    bar="#1b212c",
    stripe="#1c2330",
    head="#242d3c",
    ink="#eef1f5",
    muted="#9aa5b4",
    grid="#2b3442",
    accent="#4c8dff",
    series=("#5b9bf0", "#f2a345", "#4cc38a", "#b78be0", "#ef6b73", "#8fb0c4"),
)

_GREEN, _RED = "#12a065", "#e0434b"
_RISE: Mapping[Language, str] = {"en": _GREEN, "zh": _RED}
_FALL: Mapping[Language, str] = {"en": _RED, "zh": _GREEN}


@dataclass(frozen=True, kw_only=True)
class Look:
    """How the parts of one picture look.

    Attributes:
        language: Which font, and whether red or green means up.
        theme: Colours.
        letter: Pixels of plain text.
        arrangement: `across` where a picture is wider than high, else `upright`.
    """

    language: Language
    theme: Theme
    letter: int
    arrangement: Literal["across", "upright"]

    @property
    def rise(self) -> str:
        """Colour of what went up."""
        return _RISE[self.language]

    @property
    def fall(self) -> str:
        """Colour of what went down."""
        return _FALL[self.language]

    def scaled(self, factor: float) -> "Look":
        """Return the same with other letters."""
        return replace(self, letter=round(self.letter * factor))
