"""Judges' scores over people's, one panel per judge; the area of a dot is how many responses it stands for."""

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from fin_tasks.report.figures import drawing, save
from fin_tasks.sandbox import escape

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["draw_agreement"]

_COLUMNS = 3
_LARGEST = 260.0
"""Area of the largest dot, in points squared."""
_NAME = 46


def draw_agreement(
    pairs: Mapping[str, Sequence[tuple[float, float]]],
    notes: Mapping[str, str],
    stem: Path,
    *,
    scale: tuple[float, float],
) -> list[Path]:
    """Draw the scores that people and judges gave the same responses.

    Args:
        pairs: Judge to (people's score, judge's score) per response.
        notes: Judge to a line below its name.
        stem: `<stem>.png` and `<stem>.svg` are written.
        scale: Lowest and highest score.

    Returns:
        The two paths.
    """
    from matplotlib.figure import Figure

    columns = min(_COLUMNS, len(pairs))
    lines = -(-len(pairs) // columns)
    most = max((max(Counter(of).values()) for of in pairs.values() if of), default=1)
    with drawing():
        figure = Figure(figsize=(2.9 * columns + 0.4, 3.1 * lines + 0.7), layout="constrained")
        axes = figure.subplots(lines, columns, squeeze=False, sharex=True, sharey=True).ravel()
        for one, (judge, of) in zip(axes, pairs.items(), strict=False):
            _draw(one, of, most, scale)
            name = escape(judge)
            name = name if len(name) <= _NAME else f"{name[: _NAME - 1]}…"
            one.set_title(f"{name}\n{notes.get(judge, '')}", loc="left", fontsize=7.5)
        for unused in axes[len(pairs) :]:
            unused.set_visible(False)
        figure.supxlabel("people", fontsize=8)
        figure.supylabel("judge", fontsize=8)
        title = "Judges beside people: a larger dot is more responses"
        figure.suptitle(title, x=0.012, ha="left", fontsize=10, fontweight="bold")
        return save(figure, stem)


def _draw(axes: "Axes", pairs: Sequence[tuple[float, float]], most: int, scale: tuple[float, float]) -> None:
    low, high = scale
    axes.plot([low, high], [low, high], color="#999999", linewidth=0.8, linestyle="--")
    counts = Counter(pairs)
    xs, ys = [x for x, _ in counts], [y for _, y in counts]
    axes.scatter(xs, ys, [_LARGEST * n / most + 6 for n in counts.values()], color="#0072B2", alpha=0.65, linewidths=0)
    margin = (high - low) * 0.09
    axes.set_xlim(low - margin, high + margin)
    axes.set_ylim(low - margin, high + margin)
    if high - low <= 10:
        steps = [low + step for step in range(int(high - low) + 1)]
        axes.set_xticks(steps)
        axes.set_yticks(steps)
    axes.set_aspect("equal")
    axes.grid()
