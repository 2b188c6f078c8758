"""How figures look and are saved, whatever a `matplotlibrc` says: the same numbers give the same picture."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["drawing", "save"]

_STYLE: Mapping[str, Any] = {
    **{"font.family": "DejaVu Sans", "font.size": 8, "text.parse_math": False},  # a name may hold dollar signs
    **{"axes.edgecolor": "#666666", "axes.linewidth": 0.7, "axes.spines.top": False, "axes.spines.right": False},
    **{"axes.axisbelow": True, "grid.color": "#e2e2e2", "grid.linewidth": 0.6, "xtick.color": "#444444"},
    **{"svg.hashsalt": "fin-tasks", "svg.fonttype": "path", "savefig.dpi": 200},
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
    """Write a figure as `<stem>.png` and `<stem>.svg`, without dates or versions in them; return the paths."""
    from matplotlib import rcParams
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.backends.backend_svg import FigureCanvasSVG

    agg: Any = FigureCanvasAgg(figure)  # its methods have no types
    figure.set_dpi(rcParams["savefig.dpi"])
    if (layout := figure.get_layout_engine()) is not None:
        # once for both files: `savefig` would do it twice for each, which takes most of its time
        layout.execute(figure)
        figure.set_layout_engine("none")
    paths = [stem.with_name(f"{stem.name}.png"), stem.with_name(f"{stem.name}.svg")]
    agg.print_png(paths[0], metadata={"Software": None}, pil_kwargs={"compress_level": 3})
    svg: Any = FigureCanvasSVG(figure)
    svg.print_svg(paths[1], metadata={"Date": None, "Creator": None})
    return paths
