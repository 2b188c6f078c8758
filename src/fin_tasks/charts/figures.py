"""The look of figures and their files: the same numbers give the same picture, whatever a `matplotlibrc` says."""

from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_STYLE = Path(__file__).with_suffix(".mplstyle")


def drawing(*styles: Path) -> AbstractContextManager[None]:
    """Fix matplotlib's settings while a figure is made and saved; `styles` add to the style of all figures."""
    from matplotlib import style

    return style.context([_STYLE, *styles], after_reset=True)


def save(figure: "Figure", stem: Path) -> None:
    """Write a figure as `<stem>.png` and `<stem>.svg`, without dates or versions."""
    figure.savefig(f"{stem}.png", metadata={"Software": None})
    figure.savefig(f"{stem}.svg", metadata={"Date": None, "Creator": None})
