"""The look of figures and their files: the same numbers give the same picture, whatever a `matplotlibrc` says."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# Okabe and Ito's palette, which color-blind readers can tell apart
COLORS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*")

_STYLE: Mapping[str, Any] = {
    "font.family": "DejaVu Sans",
    "font.size": 8,
    "text.parse_math": False,  # a name may hold dollar signs
    "axes.edgecolor": "#666666",
    "axes.linewidth": 0.7,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.axisbelow": True,
    "grid.color": "#e2e2e2",
    "grid.linewidth": 0.6,
    "xtick.color": "#444444",
    "svg.hashsalt": "fin-tasks",
    "svg.fonttype": "path",
    "savefig.dpi": 200,
}


@contextmanager
def drawing(style: Mapping[str, Any]) -> Iterator[None]:
    """Fix matplotlib's settings while a figure is made and saved; `style` adds to those that all figures share."""
    import matplotlib as mpl

    with mpl.rc_context():
        mpl.rcdefaults()
        settings: Any = {**_STYLE, **style}
        mpl.rcParams.update(settings)
        yield


def save(figure: "Figure", stem: Path) -> list[Path]:
    """Write a figure as `<stem>.png` and `<stem>.svg`, without dates or versions, and return the paths."""
    picture = stem.with_name(f"{stem.name}.png")
    vectors = stem.with_name(f"{stem.name}.svg")
    figure.savefig(picture, metadata={"Software": None})
    figure.savefig(vectors, metadata={"Date": None, "Creator": None})
    return [picture, vectors]
