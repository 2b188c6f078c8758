"""Differences with their intervals as a forest plot; nothing in it belongs to one benchmark."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fin_tasks.report.figures import drawing, entitle, save
from fin_tasks.sandbox import escape

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["Effect", "draw_forest"]

_COLOURS = {True: "#0072B2", False: "#56B4E9"}  # of Okabe and Ito's palette: wholes, parts
_ROW = 0.2  # inches
_HEADING = 100  # letters that fit beside each other


@dataclass(frozen=True, kw_only=True)
class Effect:
    """A row of the plot; numbers are fractions of 1.

    Attributes:
        heading: Stands above the first row that has it.
        name: Stands beside the row.
        value: The difference; None where nothing could be paired, which the row then says.
        low: Lower bound of its interval; None where there is none.
        high: Upper bound, likewise.
        n: Pairs.
        whole: Whether the row is drawn as the sum of the rows below it.
    """

    heading: str
    name: str
    value: float | None
    low: float | None
    high: float | None
    n: int
    whole: bool = False


def draw_forest(effects: Sequence[Effect], stem: Path, *, title: str, caption: str, axis: str) -> list[Path]:
    """Draw differences in percentage points, a row each, below their headings.

    Args:
        effects: At least one.
        stem: `<stem>.png` and `<stem>.svg` are written, without dates or versions in them.
        title: Stands above the plot.
        caption: Small print below the title.
        axis: Says what is to the right of zero.

    Returns:
        The two paths.
    """
    from matplotlib.figure import Figure

    with drawing():
        rows = list(_rows(effects))
        figure = Figure(figsize=(7.2, 1.25 + _ROW * len(rows)), layout="constrained")
        axes = figure.subplots()
        axes.axvline(0, color="#888888", linewidth=0.8, zorder=1)
        for place, row in enumerate(rows):
            if isinstance(row, Effect):
                _mark(axes, place, row)
        _finish(axes, rows, axis)
        _headings(figure, axes, rows)
        entitle(figure, title, caption)
        return save(figure, stem)


def _rows(effects: Sequence[Effect]) -> Iterator[Effect | str]:
    heading = None
    for effect in effects:
        if effect.heading != heading:
            heading = effect.heading
            yield heading
        yield effect


def _headings(figure: "Figure", axes: "Axes", rows: Sequence[Effect | str]) -> None:
    from matplotlib.transforms import blended_transform_factory

    across = blended_transform_factory(figure.transFigure, axes.transData)
    ground = {"facecolor": "white", "edgecolor": "none", "pad": 1.0}  # the grid runs behind it
    for place, row in enumerate(rows):
        if isinstance(row, str):
            text = escape(row)
            size = 7.5 * min(1, _HEADING / max(1, len(text)))
            look: Any = {"va": "center", "fontweight": "bold", "fontsize": size, "bbox": ground, "in_layout": False}
            axes.text(0.012, place, text, transform=across, **look)


def _mark(axes: "Axes", place: int, row: Effect) -> None:
    beside: Any = {"transform": axes.get_yaxis_transform(), "va": "center"}
    if row.value is None:
        axes.text(1.02, place, "no pairs", fontsize=6.5, **beside)
        return
    words = f"{100 * row.value:+.1f}"
    if row.low is not None and row.high is not None:
        width = 3.2 if row.whole else 2
        axes.hlines(place, 100 * row.low, 100 * row.high, color=_COLOURS[row.whole], alpha=0.5, linewidth=width)
        words += f" [{100 * row.low:+.1f}, {100 * row.high:+.1f}]"
    look: Any = {"marker": "D", "markersize": 4.8} if row.whole else {"marker": "o", "markersize": 3.8}
    axes.plot(100 * row.value, place, color=_COLOURS[row.whole], markeredgecolor="white", markeredgewidth=0.4, **look)
    axes.text(1.02, place, f"{words}  n={row.n}".replace("-", "−"), fontsize=6.5, **beside)


def _finish(axes: "Axes", rows: Sequence[Effect | str], what: str) -> None:
    from matplotlib.ticker import MaxNLocator

    axes.set_ylim(len(rows) - 0.4, -0.6)  # the first row on top
    named = [(place, row) for place, row in enumerate(rows) if isinstance(row, Effect)]
    axes.set_yticks([place for place, _ in named], [escape(row.name.strip()) for _, row in named])
    for label, (_, row) in zip(axes.get_yticklabels(), named, strict=True):
        label.set_fontweight("bold" if row.whole else "normal")
    axes.tick_params(axis="y", length=0)
    axes.xaxis.set_major_locator(MaxNLocator(nbins=7, steps=[1, 2, 5, 10]))
    axes.set_xlabel(what)
    axes.grid(axis="x")
    axes.margins(x=0.06)
