"""The fonts of pictures: matplotlib's own for Latin letters, one that has to be installed for Chinese.

Pictures are the same to the pixel for the same font file, so a set that is built says which one that was.
"""

from dataclasses import dataclass
from functools import cache
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from typing import TYPE_CHECKING

from fin_tasks.benchmarks.mme_finance.row import Language
from fin_tasks.data.fetch import sha256_of
from fin_tasks.errors import ConfigError

if TYPE_CHECKING:
    from matplotlib.font_manager import FontProperties
    from PIL.ImageFont import FreeTypeFont

__all__ = ["FontFile", "font_file", "for_matplotlib", "for_pillow"]

_PACKAGE = ("zhplot", "zhplot/fonts/NotoSansSC-Regular.ttf")

_PLAIN = ("400", "normal", "regular", "book", "500", "medium")  # weights as matplotlib has them

_OF_THE_SYSTEM = (
    "Noto Sans SC",
    "Noto Sans CJK SC",
    "Noto Sans CJK JP",  # the name under which a collection of all of them is found
    "Source Han Sans SC",
    "WenQuanYi Micro Hei",
    "WenQuanYi Zen Hei",
    "PingFang SC",
    "Microsoft YaHei",
    "SimHei",
)
"""In this order, where the package is not installed."""


@dataclass(frozen=True)
class FontFile:
    """A font on this machine.

    Attributes:
        path: Its file.
        bold: Its bold face, or the same file where it has none.
        name: Its family and style.
        sha256: Of the file.
    """

    path: Path
    bold: Path
    name: str
    sha256: str


@cache
def font_file(language: Language) -> FontFile:
    """Find the font of a language.

    Raises:
        ConfigError: There is none for Chinese.
    """
    import matplotlib as mpl
    from matplotlib.font_manager import get_font

    if language == "en":
        folder = Path(mpl.get_data_path(), "fonts", "ttf")
        path, bold = folder / "DejaVuSans.ttf", folder / "DejaVuSans-Bold.ttf"
    else:
        path = bold = _chinese()
    font = get_font(path)
    return FontFile(path, bold, f"{font.family_name} {font.style_name}", sha256_of(path))


def _chinese() -> Path:
    from matplotlib.font_manager import fontManager

    try:
        path = Path(str(distribution(_PACKAGE[0]).locate_file(_PACKAGE[1])))
    except PackageNotFoundError:
        path = Path()
    if path.is_file():
        return path
    installed = {entry.name: entry.fname for entry in fontManager.ttflist if str(entry.weight) in _PLAIN}
    for name in _OF_THE_SYSTEM:
        if name in installed:
            return Path(installed[name])
    raise ConfigError(
        f"pictures with Chinese text: expected a font such as {_OF_THE_SYSTEM[0]}, found none. "
        "Install one: pip install 'fin-tasks[pictures]' (Noto Sans SC), or a package of the system (fonts-noto-cjk)."
    )


@cache
def for_matplotlib(language: Language, pixels: float, *, bold: bool = False) -> "FontProperties":
    """Return the font for text of so many pixels in figures of 72 dots per inch, where a point is a pixel."""
    from matplotlib.font_manager import FontProperties

    found = font_file(language)
    return FontProperties(fname=str(found.bold if bold else found.path), size=pixels)


@cache
def for_pillow(language: Language, pixels: int, *, bold: bool = False) -> "FreeTypeFont":
    """Return the font for Pillow; its basic layout gives the same pixels whether or not Raqm is installed."""
    from PIL import ImageFont

    found = font_file(language)
    return ImageFont.truetype(str(found.bold if bold else found.path), pixels, layout_engine=ImageFont.Layout.BASIC)
