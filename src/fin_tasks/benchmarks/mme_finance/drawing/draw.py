"""A picture of a scene in one of the four styles."""

from collections.abc import Callable, Mapping
from pathlib import Path
from random import Random
from typing import Literal, NamedTuple

from PIL import Image

from fin_tasks.benchmarks.mme_finance.drawing.frames import desktop, sideways, upright
from fin_tasks.benchmarks.mme_finance.drawing.look import DARK, LIGHT, Box, Look
from fin_tasks.benchmarks.mme_finance.drawing.mixed import paint
from fin_tasks.benchmarks.mme_finance.drawing.photograph import photograph
from fin_tasks.benchmarks.mme_finance.drawing.sheet import Sheet
from fin_tasks.benchmarks.mme_finance.row import IMAGE_STYLES
from fin_tasks.benchmarks.mme_finance.scenes import CandleScene, IndicatorScene, Scene
from fin_tasks.errors import ConfigError

__all__ = ["draw", "save"]


class _Style(NamedTuple):
    """A frame, its size in pixels, and its letters."""

    frame: Callable[[Scene, Sheet, Random], Box]
    width: int
    height: int
    letter: int
    arrangement: Literal["across", "upright"]


_PHOTOGRAPH = "mobile photograph"

_STYLES: Mapping[str, _Style] = {
    "computer screenshot": _Style(desktop, 1440, 900, 19, "across"),
    _PHOTOGRAPH: _Style(desktop, 1440, 900, 21, "across"),
    "vertical screenshot on mobile": _Style(upright, 720, 1560, 24, "upright"),
    "horizontal screenshot on mobile": _Style(sideways, 1600, 740, 23, "across"),
}


def draw(scene: Scene, *, style: str, seed: int) -> Image.Image:
    """Draw a scene; the same arguments give the same pixels in any process with the same libraries and fonts.

    Args:
        scene: What to show.
        style: One of `row.IMAGE_STYLES`.
        seed: Of what is arbitrary: dark or light colours, the phone's clock, a photograph's light.

    Returns:
        An RGB picture: 1440 x 900 pixels of a computer, 720 x 1560 of an upright phone, 1600 x 740 of one held
        sideways, 1440 x 1080 of a photograph.

    Raises:
        ConfigError: Another style, or no font for Chinese is installed.
    """
    if style not in _STYLES:
        raise ConfigError(f"picture: expected a style of {', '.join(IMAGE_STYLES)}, got {style!r}")
    chosen, random = _STYLES[style], Random(f"{style} {seed}")  # noqa: S311 - nothing secret
    # half of the charts of prices are dark; pages and photographs stay light
    dark = isinstance(scene, CandleScene | IndicatorScene) and style != _PHOTOGRAPH and random.random() < 0.5
    look = Look(
        language=scene.language,
        theme=DARK if dark else LIGHT,
        letter=chosen.letter,
        arrangement=chosen.arrangement,
    )
    sheet = Sheet(chosen.width, chosen.height, look)
    paint(scene, sheet, chosen.frame(scene, sheet, random))
    return photograph(sheet.image, seed=random.getrandbits(63)) if style == _PHOTOGRAPH else sheet.image


def save(picture: Image.Image, stem: Path, *, style: str) -> Path:
    """Save a picture as a phone or a computer would: JPEG for a photograph, else PNG; return its path."""
    if style == _PHOTOGRAPH:
        path = stem.with_name(f"{stem.name}.jpg")
        picture.save(path, format="JPEG", quality=78)
    else:
        path = stem.with_name(f"{stem.name}.png")
        picture.save(path, format="PNG", optimize=True)
    return path
