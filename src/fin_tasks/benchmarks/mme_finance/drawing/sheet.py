"""A picture being made: text, boxes and charts put on it by pixels."""

import re

from PIL import Image, ImageDraw

from fin_tasks.benchmarks.mme_finance.drawing.fonts import for_pillow
from fin_tasks.benchmarks.mme_finance.drawing.look import Box, Look
from fin_tasks.benchmarks.mme_finance.row import Language

__all__ = ["Sheet", "line_height", "text_width", "wrapped"]

_FINE = 4  # times larger that round shapes are drawn before they are made smaller, for smooth edges
_TOKEN = re.compile(r"[（“]*(?:[0-9A-Za-z$.,%&+-]+|.)[，。；：、）”]*")  # never a line that starts with a full stop


class Sheet:
    """A picture of a fixed size."""

    def __init__(self, width: int, height: int, look: Look) -> None:
        self.look = look
        self.image = Image.new("RGB", (width, height), look.theme.page)
        self._draw = ImageDraw.Draw(self.image)

    def text(
        self,
        at: tuple[float, float],
        text: str,
        *,
        size: int | None = None,
        colour: str | None = None,
        bold: bool = False,
        anchor: str = "la",
    ) -> None:
        """Write a line; `anchor` as Pillow's: `la` has `at` as its upper left corner, `mm` in its middle."""
        font = for_pillow(self.look.language, size or self.look.letter, bold=bold)
        x, y = round(at[0]), round(at[1])
        # a font without a bold face is struck twice
        for shift in (0, 1) if bold and self.look.language == "zh" else (0,):
            self._draw.text((x + shift, y), text, font=font, fill=colour or self.look.theme.ink, anchor=anchor)

    def box(self, box: Box, *, fill: str | None = None, line: str | None = None, radius: int = 0) -> None:
        """Draw a box, with smooth corners where it has a radius."""
        if not radius:
            self._draw.rectangle((box.left, box.top, box.right - 1, box.bottom - 1), fill=fill, outline=line)
            return
        size = (box.width * _FINE, box.height * _FINE)
        mask = Image.new("L", size)
        corners = (0, 0, size[0] - 1, size[1] - 1)
        ImageDraw.Draw(mask).rounded_rectangle(corners, radius * _FINE, fill=255)
        shape = mask.resize((box.width, box.height), Image.Resampling.BOX)
        self.image.paste(fill or line or self.look.theme.card, (box.left, box.top), shape)
        if line and fill:
            self._draw.rounded_rectangle((box.left, box.top, box.right - 1, box.bottom - 1), radius, outline=line)

    def circle(self, centre: tuple[int, int], radius: int, fill: str) -> None:
        """Draw a disc."""
        x, y = centre
        self.box(Box(x - radius, y - radius, x + radius, y + radius), fill=fill, radius=radius)

    def line(self, *points: tuple[float, float], colour: str | None = None, width: int = 1) -> None:
        """Draw a line through points, with smooth edges."""
        left, top = (int(min(point[axis] for point in points)) - width for axis in (0, 1))
        right, bottom = (int(max(point[axis] for point in points)) + width + 1 for axis in (0, 1))
        mask = Image.new("L", ((right - left) * _FINE, (bottom - top) * _FINE))
        places = [((x + 0.5 - left) * _FINE, (y + 0.5 - top) * _FINE) for x, y in points]
        ImageDraw.Draw(mask).line(places, fill=255, width=width * _FINE, joint="curve")
        self.image.paste(
            colour or self.look.theme.grid, (left, top), mask.resize((right - left, bottom - top), Image.Resampling.BOX)
        )

    def paste(self, picture: Image.Image, at: tuple[int, int]) -> None:
        """Put another picture on this one."""
        self.image.paste(picture, at)


def line_height(size: int) -> int:
    """Return the pixels from one line of text to the next."""
    return round(size * 1.5)


def text_width(text: str, size: int, language: Language, *, bold: bool = False) -> int:
    """Return the pixels a line takes."""
    return round(for_pillow(language, size, bold=bold).getlength(text)) + bold


def wrapped(text: str, size: int, language: Language, width: int, *, bold: bool = False) -> list[str]:
    """Break text into lines of at most `width` pixels: at spaces in English, almost anywhere in Chinese."""
    tokens = re.findall(r"\S+\s*", text) if language == "en" else _TOKEN.findall(text)
    lines = [""]
    for token in tokens:
        if lines[-1] and text_width((lines[-1] + token).rstrip(), size, language, bold=bold) > width:
            lines.append("")
        lines[-1] += token
    return [line.rstrip() for line in lines]
