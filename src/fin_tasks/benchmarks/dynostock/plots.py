"""Bias index and accuracy against window size: the paper's figures 3 and 4, with intervals."""

import csv
import math
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fin_tasks.benchmarks.dynostock.score import Counts
from fin_tasks.charts import figures
from fin_tasks.charts.figures import save
from fin_tasks.sandbox import escape
from fin_tasks.stats.intervals import Interval

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["Series", "draw_windows", "drawing", "save", "write_table"]

COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
"""Okabe and Ito's palette, which the colour-blind can tell apart."""
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*")
"""One more than colours, so that 56 models go by before a pair comes again."""

_STYLE: Mapping[str, Any] = {
    "axes.titlesize": 9,
    "axes.titleweight": "bold",
    "axes.titlelocation": "left",
    "ytick.color": "#444444",
}
_LEGEND_WIDTH = 112  # letters beside each other


@dataclass(frozen=True, kw_only=True)
class Series:
    """What one model answered in one setting.

    Attributes:
        model: Its name, and what tells it from the other series of the figure.
        counts: By window size.
        intervals: 95 % intervals of accuracy and bias index by window size; those of the counts where it has none.
            They differ where a window was asked several times, as such responses are not independent.
    """

    model: str
    counts: Mapping[int, Counts]
    intervals: Mapping[int, tuple[Interval, Interval]] = field(default_factory=dict)

    def intervals_of(self, size: int) -> tuple[Interval, Interval]:
        """Return the intervals of accuracy and bias index at a window size."""
        counts = self.counts[size]
        return self.intervals.get(size) or (counts.accuracy_interval, counts.bias_index_interval)


def draw_windows(series: Sequence[Series], *, bias: str, parser: str) -> "Figure":
    """Draw bias index and accuracy against window size, one line per model.

    Args:
        series: At least one, each with at least one size; drawn and listed in this order.
        bias: `recency` or `authority`, for the title.
        parser: How responses were read, for the caption.

    Returns:
        The figure: two panels beside each other, 7.2 inches wide, with 95 % intervals as bars. To be saved with `save`
        within `drawing`, where it has to be made too.
    """
    from matplotlib.figure import Figure

    sizes = sorted({size for one in series for size in one.counts})
    figure = Figure(figsize=(7.2, 3.4 + 0.17 * ((len(series) - 1) // _columns(series))), layout="constrained")
    left, right = figure.subplots(1, 2)
    step = _step(len(series), sizes)
    width = min(4.5, 200 * step / (sizes[-1] - sizes[0] + 1.2 * _gap(sizes)))  # a panel is about 200 points wide
    for place, one in enumerate(series):
        own = sorted(one.counts)
        at = [size + (place - (len(series) - 1) / 2) * step for size in own]
        indices = [(one.counts[size].bias_index, one.intervals_of(size)[1]) for size in own]
        accuracies = [(one.counts[size].accuracy, one.intervals_of(size)[0]) for size in own]
        look = {"color": COLOURS[place % len(COLOURS)], "marker": MARKERS[place % len(MARKERS)]}
        bars = {"linewidth": width, "color": look["color"]}
        _line(left, at, indices, bars=bars, label=escape(one.model), **look)
        _line(right, at, accuracies, bars=bars, **look)
    _finish(left, sizes, title="(a) Bias index", what="Wrong answers that follow the signal (%)", from_zero=True)
    _finish(right, sizes, title="(b) Accuracy", what="Right answers (%)", from_zero=False)
    figure.suptitle(f"{bias.capitalize()} bias", x=0.012, ha="left", fontsize=11, fontweight="bold")
    figure.legend(loc="outside lower left", ncols=_columns(series), frameon=False, handletextpad=0.4)
    caption = f"Bars: 95 % intervals (index: bootstrap over windows, accuracy: Wilson). Parser: {parser}."
    figure.text(0.988, 0.97, caption, ha="right", va="top", fontsize=6.5, color="#555555")  # beside the title
    return figure


def drawing() -> AbstractContextManager[None]:
    """Fix matplotlib's settings while a figure is made and saved."""
    return figures.drawing(_STYLE)


def write_table(series: Sequence[Series], path: Path) -> None:
    """Write the numbers behind the figure as CSV: counts, and shares as fractions with their 95 % intervals."""
    header = ["model", "window", "n", "correct", "wrong", "wrong_by_bias", "no_answer", "accuracy", "accuracy_low"]
    header += ["accuracy_high", "bias_index", "bias_index_low", "bias_index_high"]
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(header)
        for one in series:
            for size, c in sorted(one.counts.items()):
                accuracy, index = one.intervals_of(size)
                shares = (c.accuracy, accuracy.low, accuracy.high, c.bias_index, index.low, index.high)
                counts = (c.total, c.correct, c.wrong, c.wrong_by_bias, c.no_answer)
                writer.writerow([escape(one.model), size, *counts, *(f"{share:.6g}" for share in shares)])


def _columns(series: Sequence[Series]) -> int:
    """Columns of the legend: one row where it fits, else as many columns as the longest name leaves room for."""
    lengths = [len(escape(one.model)) + 6 for one in series]
    return len(series) if sum(lengths) <= _LEGEND_WIDTH else max(1, _LEGEND_WIDTH // max(lengths))


def _gap(sizes: Sequence[int]) -> int:
    return min((b - a for a, b in zip(sizes, islice(sizes, 1, None), strict=False)), default=4)


def _step(n: int, sizes: Sequence[int]) -> float:
    """Distance along the axis between models' points of one size: their intervals stand beside each other."""
    return min(0.13, 0.55 / n) * _gap(sizes)


def _line(
    axes: "Axes",
    at: Sequence[float],
    values: Sequence[tuple[float, Interval]],
    *,
    bars: Mapping[str, Any],
    **look: Any,
) -> None:
    low, high = [interval.low for _, interval in values], [interval.high for _, interval in values]
    axes.vlines(at, low, high, alpha=0.28, zorder=2, **bars)
    shares = [value for value, _ in values]
    axes.plot(at, shares, markersize=5, markeredgecolor="white", markeredgewidth=0.6, linewidth=1.3, zorder=3, **look)


def _finish(axes: "Axes", sizes: Sequence[int], *, title: str, what: str, from_zero: bool) -> None:
    from matplotlib.ticker import MaxNLocator, PercentFormatter

    axes.set_title(title)
    axes.set_xlabel("Window size (earnings reports)")
    axes.set_ylabel(what)
    axes.set_xticks(sizes)
    margin = 0.6 * _gap(sizes)
    axes.set_xlim(sizes[0] - margin, sizes[-1] + margin)
    low, high = axes.dataLim.intervaly  # the intervals' bounds
    bottom = 0.0 if from_zero else max(0.0, math.floor(low * 10) / 10)
    top = min(1.0, math.ceil(high * 10) / 10)
    room = 0.03 * (top - bottom)  # so that a marker on the edge is whole
    axes.set_ylim(bottom - room, top + room)
    axes.yaxis.set_major_locator(MaxNLocator(nbins=6, steps=[1, 2, 5, 10]))
    axes.yaxis.set_major_formatter(PercentFormatter(xmax=1, decimals=0, symbol=""))
    axes.grid(axis="y")
