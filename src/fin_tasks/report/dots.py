"""Shares with their intervals as dots, several beside each other per row; nothing in it belongs to one benchmark."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fin_tasks.report.figures import drawing, entitle, save
from fin_tasks.sandbox import escape

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["Dot", "draw_dots"]

_COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")  # Okabe and Ito's
_MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*")
_DOT, _GAP = 0.115, 0.09  # inches: from dot to dot, and between rows
_PANEL = 0.55  # inches of a panel besides its rows
_NAME = 40  # letters of a row or series that leave room for the dots
_TITLE = 95  # letters that fit beside each other


@dataclass(frozen=True, kw_only=True)
class Dot:
    """A share; numbers are fractions of 1.

    Attributes:
        panel: The panel it is in.
        row: The row of the panel, which dots of several series share.
        series: What it belongs to: its colour and shape.
        value: The share.
        low: Lower bound of its interval; None where there is none.
        high: Upper bound, likewise.
        n: Out of how many, shown beside the row's name; 0 where that is not known.
    """

    panel: str
    row: str
    series: str
    value: float
    low: float | None
    high: float | None
    n: int


def draw_dots(dots: Sequence[Dot], stem: Path, *, title: str, caption: str, axis: str) -> list[Path]:
    """Draw shares in per cent: a panel below the other, a row for each group, a dot for each series.

    Args:
        dots: At least one; panels, rows and series come in the order in which they first appear.
        stem: `<stem>.png` and `<stem>.svg` are written, without dates or versions in them.
        title: Stands above the plot.
        caption: Small print below the title.
        axis: Says what the shares are.

    Returns:
        The two paths.
    """
    from matplotlib.figure import Figure

    series = list(dict.fromkeys(dot.series for dot in dots))
    panels = {panel: [dot for dot in dots if dot.panel == panel] for panel in dict.fromkeys(d.panel for d in dots)}
    row_height = len(series) * _DOT + _GAP
    heights = [_PANEL + row_height * len({dot.row for dot in of}) for of in panels.values()]
    with drawing():
        figure = Figure(figsize=(7.2, sum(heights) + 1.1), layout="constrained")
        axes = figure.subplots(len(panels), 1, squeeze=False, sharex=True, height_ratios=heights)[:, 0]
        for one, (panel, of_panel) in zip(axes, panels.items(), strict=True):
            _draw(one, of_panel, series, step=_DOT / row_height)
            text = escape(panel)
            size = 8 * min(1, _TITLE / max(1, len(text)))
            one.set_title(text, loc="left", fontsize=size, fontweight="bold")
        axes[-1].set_xlim(-2, 102)
        axes[-1].set_xlabel(axis)
        # by hand, as matplotlib drops names that begin with an underscore
        figure.legend(
            axes[0].lines,
            [_shortened(name) for name in series],
            loc="outside lower left",
            ncols=min(4, len(series)),
            frameon=False,
        )
        entitle(figure, title, caption)
        return save(figure, stem)


def _draw(axes: "Axes", dots: Sequence[Dot], series: Sequence[str], *, step: float) -> None:
    rows = list(dict.fromkeys(dot.row for dot in dots))
    for place, name in enumerate(series):
        colour, marker = _COLOURS[place % len(_COLOURS)], _MARKERS[place % len(_MARKERS)]
        own = [dot for dot in dots if dot.series == name]
        at = [rows.index(dot.row) + (place - (len(series) - 1) / 2) * step for dot in own]
        known = [(y, dot.low, dot.high) for y, dot in zip(at, own, strict=True) if None not in (dot.low, dot.high)]
        if known:
            ys, lows, highs = zip(*((y, 100 * (low or 0), 100 * (high or 0)) for y, low, high in known), strict=True)
            axes.hlines(ys, lows, highs, color=colour, alpha=0.5, linewidth=2)
        look: Any = {"marker": marker, "markersize": 4.4, "markeredgecolor": "white", "markeredgewidth": 0.4}
        values = [100 * dot.value for dot in own]
        axes.plot(values, at, color=colour, linestyle="none", **look)
    axes.set_ylim(len(rows) - 0.5, -0.5)  # the first row on top
    axes.set_yticks(range(len(rows)), [_named(row, dots) for row in rows])
    axes.tick_params(axis="y", length=0)
    axes.grid(axis="x")


def _named(row: str, dots: Sequence[Dot]) -> str:
    counts = sorted({dot.n for dot in dots if dot.row == row and dot.n})
    if not counts:
        return _shortened(row)
    shown = f"{counts[0]:,}" if len(counts) == 1 else f"{counts[0]:,} to {counts[-1]:,}"
    return f"{_shortened(row)}  (n={shown})"


def _shortened(name: str) -> str:
    text = escape(name)
    return text if len(text) <= _NAME else f"{text[: _NAME - 1]}…"
