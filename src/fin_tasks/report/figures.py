"""How figures of compared runs look."""

from contextlib import AbstractContextManager
from typing import TYPE_CHECKING

from fin_tasks.charts import figures
from fin_tasks.charts.figures import save
from fin_tasks.sandbox import escape

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["drawing", "entitle", "save"]


def drawing() -> AbstractContextManager[None]:
    """Fix matplotlib's settings while a figure is made and saved; names stand where the left axis would."""
    return figures.drawing({"axes.spines.left": False})


def entitle(figure: "Figure", title: str, caption: str) -> None:
    """Put a title and small print below it on top of a figure."""
    # the caption stands in the title's second line
    figure.suptitle(f"{escape(title)}\n", x=0.012, ha="left", fontsize=11, fontweight="bold")
    line = 0.34 / figure.get_figheight()
    figure.text(0.012, 1 - line, escape(caption), ha="left", va="top", fontsize=6.5, color="#555555")
