"""The look of figures and their files: the same numbers give the same picture, whatever a `matplotlibrc` says."""

from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_STYLE = Path(__file__).with_suffix(".mplstyle")
_NO_DATES = {
    "png": {"Software": None},
    "svg": {"Date": None, "Creator": None},
    "pdf": {"CreationDate": None, "Creator": None, "Producer": None},
}
"""The metadata of each format that would name a date or a version."""


def drawing(*styles: Path) -> AbstractContextManager[None]:
    """Fix matplotlib's settings while a figure is made and saved; `styles` add to the style of all figures."""
    from matplotlib import style

    return style.context([_STYLE, *styles], after_reset=True)


def save(figure: "Figure", stem: Path, *formats: str) -> list[Path]:
    """Write a figure in some formats, by default as PNG and SVG, without dates or versions; return the files."""
    files = []
    for form in formats or ("png", "svg"):
        file = Path(f"{stem}.{form}")
        figure.savefig(file, metadata=_NO_DATES[form])
        files.append(file)
    return files
