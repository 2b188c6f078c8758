"""Figures 3 and 4 of the paper: bias index and accuracy by window size, with intervals."""

from itertools import cycle, pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd

from fin_tasks.benchmarks.dynostock.experiment import GROUP, MEAN, names_of
from fin_tasks.charts.figures import COLORS, MARKERS, drawing, save

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_PANELS = {"bias_index": "Bias index (%)", "acc": "Accuracy (%)"}


def draw_windows(
    arms: pd.DataFrame,
    stem: Path,
    *,
    title: str,
) -> list[Path]:
    """Draw the table of `by_window`, one line for each model, and save it as PNG and SVG."""
    from matplotlib.figure import Figure

    sizes = arms[arms["window"] != MEAN]
    lines = list(sizes.groupby(names_of(sizes, [*GROUP, "arm"]), sort=False))
    ticks = sorted(set(sizes["window"]))
    height = 3.23 + 0.17 * ((len(lines) + 1) // 2)
    with drawing():
        figure = Figure(figsize=(7.2, height), layout="constrained")
        panels = figure.subplots(1, len(_PANELS))
        for axes, (metric, label) in zip(panels, _PANELS.items(), strict=True):
            _draw_lines(
                axes,
                lines,
                metric,
                ticks,
            )
            axes.set(title=label, xlabel="Window size (earnings reports)", xticks=ticks)
            axes.grid(axis="y")
        panels[0].set_ylim(bottom=-2)
        heading = f"{title}, with 95 % intervals"
        figure.suptitle(
            heading,
            x=0.012,
            ha="left",
            fontsize=11,
            fontweight="bold",
        )
        handles, labels = panels[0].get_legend_handles_labels()
        figure.legend(
            handles,
            labels,
            loc="outside lower left",
            ncols=2,
        )
        return save(figure, stem)


def _draw_lines(
    axes: "Axes",
    lines: list[tuple[str, pd.DataFrame]],
    metric: str,
    ticks: list[int],
) -> None:
    """Draw a metric; the lines stand beside each other, so that their intervals do not overlap."""
    smallest_gap = min((right - left for left, right in pairwise(ticks)), default=4)
    offset = min(0.5, 0.6 * smallest_gap / len(lines))
    looks = zip(cycle(COLORS), cycle(MARKERS), strict=False)
    shift = -offset * (len(lines) - 1) / 2
    for (name, line), (color, marker) in zip(lines, looks, strict=False):
        x = line["window"].astype(float) + shift
        low = 100 * line[f"{metric}_low"]
        high = 100 * line[f"{metric}_high"]
        axes.vlines(
            x,
            low,
            high,
            alpha=0.3,
            linewidth=3,
            color=color,
            zorder=3,
        )
        look: Any = {
            "marker": marker,
            "markersize": 5,
            "color": color,
            "zorder": 3,
        }
        axes.plot(
            x,
            100 * line[metric],
            label=name,
            **look,
        )
        shift += offset
