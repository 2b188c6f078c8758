"""How figures of results look and are saved.

matplotlib's object interface is used throughout, with all of its settings fixed: the same numbers give the same bytes,
whatever a `matplotlibrc` says.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["drawing", "save"]

_STYLE: Mapping[str, Any] = {
    "font.family": "DejaVu Sans",  # comes with matplotlib
    "font.size": 8,
    "axes.edgecolor": "#666666",
    "axes.linewidth": 0.7,
    "axes.spines.top": False,
    "axes.spines.right": False,
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
def drawing(style: Mapping[str, Any]) -> Iterator[None]:
    """Fix matplotlib's settings while a figure is made and saved; `style` adds to those all figures share."""
    import matplotlib as mpl

    with mpl.rc_context():
        mpl.rcdefaults()
        settings: Any = {**_STYLE, **style}
        mpl.rcParams.update(settings)
        yield


def save(figure: "Figure", stem: Path) -> list[Path]:
    """Write a figure as `<stem>.png` and `<stem>.svg`, without dates or versions in them; return the paths."""
    from matplotlib import rcParams
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.backends.backend_svg import FigureCanvasSVG

    agg: Any = FigureCanvasAgg(figure)  # whose methods have no types
    figure.set_dpi(rcParams["savefig.dpi"])
    if (layout := figure.get_layout_engine()) is not None:
        # once for both files: `savefig` does it twice for each, which takes most of its time
        layout.execute(figure)
        figure.set_layout_engine("none")
    paths = [stem.with_name(f"{stem.name}.png"), stem.with_name(f"{stem.name}.svg")]
    # a fiftieth larger than with the default, in half the time
    agg.print_png(paths[0], metadata={"Software": None}, pil_kwargs={"compress_level": 3})
    svg: Any = FigureCanvasSVG(figure)
    svg.print_svg(paths[1], metadata={"Date": None, "Creator": None})
    return paths
