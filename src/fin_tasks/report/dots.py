"""Shares with their intervals as dots, several beside each other per row; nothing in it belongs to one benchmark."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fin_tasks.report.figures import add_legend, drawing, entitle, save
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
        hollow: Drawn as an outline: what others print, and nobody ran here.
    """

    panel: str
    row: str
    series: str
    value: float
    low: float | None
    high: float | None
    n: int
    hollow: bool = False


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
    from matplotlib.lines import Line2D

    series = list(dict.fromkeys(dot.series for dot in dots))
    panels = {panel: [dot for dot in dots if dot.panel == panel] for panel in dict.fromkeys(d.panel for d in dots)}
    heights = [_PANEL + _row_height(of) * len({dot.row for dot in of}) for of in panels.values()]
    with drawing():
        figure = Figure(figsize=(7.2, sum(heights) + 1.1), layout="constrained")
        axes = figure.subplots(len(panels), 1, squeeze=False, sharex=True, height_ratios=heights)[:, 0]
        for one, (panel, of_panel) in zip(axes, panels.items(), strict=True):
            _draw(one, of_panel, series)
            text = escape(panel)
            size = 8 * min(1, _TITLE / max(1, len(text)))
            # a height of its own spares looking for room above the axes' labels, of which there are none
            one.set_title(text, loc="left", y=1.0, fontsize=size, fontweight="bold")
        axes[-1].set_xlim(-2, 102)
        axes[-1].set_xlabel(axis)
        outlined = {name: all(dot.hollow for dot in dots if dot.series == name) for name in series}
        handles = [Line2D([], [], linestyle="none", **_look(series, name, hollow=outlined[name])) for name in series]
        add_legend(figure, handles, series)
        entitle(figure, title, caption)
        return save(figure, stem)


def _row_height(of_panel: Sequence[Dot]) -> float:
    """Leave room in a row for each series that the panel has, however many the figure has."""
    return len({dot.series for dot in of_panel}) * _DOT + _GAP


def _look(series: Sequence[str], name: str, *, hollow: bool) -> dict[str, Any]:
    place = series.index(name)
    colour, marker = _COLOURS[place % len(_COLOURS)], _MARKERS[place % len(_MARKERS)]
    look: dict[str, Any] = {"color": colour, "marker": marker, "markersize": 4.4}
    if hollow:
        return {**look, "markersize": 3.9, "markerfacecolor": "white", "markeredgewidth": 0.9}
    return {**look, "markeredgecolor": "white", "markeredgewidth": 0.4}


def _draw(axes: "Axes", dots: Sequence[Dot], series: Sequence[str]) -> None:
    rows = list(dict.fromkeys(dot.row for dot in dots))
    here = [name for name in series if any(dot.series == name for dot in dots)]
    step = _DOT / _row_height(dots)
    for place, name in enumerate(here):
        own = [dot for dot in dots if dot.series == name]
        at = {dot: rows.index(dot.row) + (place - (len(here) - 1) / 2) * step for dot in own}
        known = [
            (at[dot], 100 * dot.low, 100 * dot.high) for dot in own if dot.low is not None and dot.high is not None
        ]
        if known:
            ys, lows, highs = zip(*known, strict=True)
            colour = _look(series, name, hollow=False)["color"]
            axes.hlines(ys, lows, highs, color=colour, alpha=0.5, linewidth=2)
        for hollow in (False, True):
            shown = [dot for dot in own if dot.hollow == hollow]
            if shown:
                values = [100 * dot.value for dot in shown]
                look = _look(series, name, hollow=hollow)
                axes.plot(values, [at[dot] for dot in shown], linestyle="none", **look)
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
