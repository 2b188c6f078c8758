"""How figures look and are saved.

matplotlib's object interface is used throughout, with all of its settings fixed: the same numbers give the same bytes,
whatever a `matplotlibrc` says.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fin_tasks.sandbox import escape

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["drawing", "entitle", "save"]

_STYLE: Any = {
    "font.family": "DejaVu Sans",  # comes with matplotlib
    "font.size": 8,
    "axes.edgecolor": "#666666",
    "axes.linewidth": 0.7,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.spines.left": False,
    "axes.axisbelow": True,
    "grid.color": "#e2e2e2",
    "grid.linewidth": 0.6,
    "xtick.color": "#444444",
    "text.parse_math": False,  # a model's name may hold dollar signs
    "svg.hashsalt": "fin-tasks",
    "svg.fonttype": "path",
    "savefig.dpi": 200,
}


@contextmanager
def drawing() -> Iterator[None]:
    """Fix matplotlib's settings while a figure is made and saved."""
    import matplotlib as mpl

    with mpl.rc_context():
        mpl.rcdefaults()
        mpl.rcParams.update(_STYLE)
        yield


def entitle(figure: "Figure", title: str, caption: str) -> None:
    """Put a title and small print below it on top of a figure."""
    # the caption stands in the title's second line
    figure.suptitle(f"{escape(title)}\n", x=0.012, ha="left", fontsize=11, fontweight="bold")
    line = 0.34 / figure.get_figheight()
    figure.text(0.012, 1 - line, escape(caption), ha="left", va="top", fontsize=6.5, color="#555555")


def save(figure: "Figure", stem: Path) -> list[Path]:
    """Write a figure as `<stem>.png` and `<stem>.svg`, without dates or versions in them; return the paths."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    FigureCanvasAgg(figure)
    paths = [stem.with_name(f"{stem.name}.png"), stem.with_name(f"{stem.name}.svg")]
    figure.savefig(paths[0], metadata={"Software": None})
    figure.savefig(paths[1], metadata={"Date": None, "Creator": None})
    return paths
