"""How figures of compared runs look."""

from collections.abc import Sequence
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any

from fin_tasks.charts import figures
from fin_tasks.charts.figures import save
from fin_tasks.sandbox import escape

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["add_legend", "columns_that_fit", "drawing", "entitle", "save"]

_NAME = 40  # letters of a name in a legend
_MOST_COLUMNS = 4
_GAP, _HANDLE = 1.6, 2.6  # of a legend, in heights of its letters: between columns, and left of a name


def drawing() -> AbstractContextManager[None]:
    """Fix matplotlib's settings while a figure is made and saved; names stand where the left axis would."""
    return figures.drawing({"axes.spines.left": False})


def entitle(figure: "Figure", title: str, caption: str) -> None:
    """Put a title and small print below it on top of a figure."""
    # the caption stands in the title's second line
    figure.suptitle(f"{escape(title)}\n", x=0.012, ha="left", fontsize=11, fontweight="bold")
    line = 0.34 / figure.get_figheight()
    figure.text(0.012, 1 - line, escape(caption), ha="left", va="top", fontsize=6.5, color="#555555")


def add_legend(figure: "Figure", handles: Sequence[Any], names: Sequence[str]) -> None:
    """Put a legend below a figure, in as many columns as fit into its width; long names are cut.

    Args:
        figure: With a layout that leaves room for what is outside.
        handles: One for each name.
        names: Any text; by hand, as matplotlib drops names that begin with an underscore.
    """
    from matplotlib import rcParams

    shown = [text if len(text) <= _NAME else f"{text[: _NAME - 1]}…" for text in map(escape, names)]
    size = rcParams["font.size"]
    widths = [_width(text, size) if text.strip() else 0.0 for text in shown]
    columns = columns_that_fit(widths, room=72 * figure.get_figwidth() - 2 * size, size=size)
    figure.legend(
        handles,
        shown,
        loc="outside lower left",
        ncols=columns,
        frameon=False,
        fontsize=size,
        columnspacing=_GAP,
        handletextpad=0.6,
    )


def _width(text: str, size: float) -> float:
    """Measure a text in points, by the points that its letters' curves lie between.

    A curve's own ends are as far out in nearly all letters, and take ten times as long to find.
    """
    from matplotlib.path import Path as Curves
    from matplotlib.textpath import TextPath

    drawn = TextPath((0, 0), text, size=size)
    across = drawn.vertices[drawn.codes != Curves.CLOSEPOLY, 0]  # what closes a curve has no place of its own
    return float(across.max() - across.min())


def columns_that_fit(widths: Sequence[float], *, room: float, size: float) -> int:
    """Say in how many columns names fit beside each other, each as wide as the longest name in it.

    Args:
        widths: Of the names, in points, which fill one column after the other as evenly as can be.
        room: In points.
        size: Of the letters, in points.

    Example:
        >>> columns_that_fit([100, 20, 20, 20], room=200, size=8), columns_that_fit([100, 20, 20, 20], room=90, size=8)
        (2, 1)
    """
    import numpy as np

    for columns in range(min(_MOST_COLUMNS, len(widths)), 1, -1):
        widest = [max(part.tolist()) for part in np.array_split(np.asarray(widths, dtype=float), columns)]
        if sum(widest) + (columns * _HANDLE + (columns - 1) * _GAP) * size <= room:
            return columns
    return 1
