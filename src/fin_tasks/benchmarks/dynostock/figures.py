"""The paper's figures 3 and 4: bias index and accuracy by window size."""

from itertools import pairwise
from pathlib import Path
from typing import Any

import pandas as pd

from fin_tasks.benchmarks.dynostock.experiment import GROUP
from fin_tasks.charts.figures import COLORS, MARKERS, drawing, save
from fin_tasks.sandbox import escape


def names_of(table: pd.DataFrame, columns: list[str]) -> pd.Series:
    """Name each row by its model and by the other columns in which the rows of the table differ."""
    table = table.assign(anonymized=table["anonymized"].map({True: "anonymized", False: "named"}))
    differ = [name for name in columns if name == "model" or table[name].nunique(dropna=False) > 1]
    return table[differ].apply(lambda row: escape(", ".join(one for one in row if isinstance(one, str))), axis=1)


def draw_windows(arms: pd.DataFrame, stem: Path, *, title: str) -> list[Path]:
    """Draw bias index and accuracy of `by_window` against window size, one line per model, and save PNG and SVG."""
    from matplotlib.figure import Figure

    sizes = arms[arms["window"] != "mean"]
    lines = list(sizes.groupby(names_of(sizes, [*GROUP, "arm"]), sort=False))
    ticks = sorted(set(sizes["window"]))
    step = 0.6 * min((b - a for a, b in pairwise(ticks)), default=4) / len(lines)
    with drawing({}):
        figure = Figure(figsize=(7.2, 3.4 + 0.17 * ((len(lines) - 1) // 2)), layout="constrained")
        panels = figure.subplots(1, 2)
        for axes, metric, what in zip(panels, ("bias_index", "acc"), ("Bias index (%)", "Accuracy (%)"), strict=True):
            for place, (name, line) in enumerate(lines):
                at = line["window"].astype(float) + (place - (len(lines) - 1) / 2) * min(step, 0.5)
                look: dict[str, Any] = {"color": COLORS[place % 7], "zorder": 3}
                low, high = (100 * line[f"{metric}_{end}"] for end in ("low", "high"))
                axes.vlines(at, low, high, alpha=0.3, linewidth=3, **look)
                axes.plot(at, 100 * line[metric], marker=MARKERS[place % 8], markersize=5, label=name, **look)
            axes.set(title=what, xlabel="Window size (earnings reports)", xticks=ticks)
            axes.grid(axis="y")
        panels[0].set_ylim(bottom=-2)
        figure.suptitle(f"{title}, with 95 % intervals", x=0.012, ha="left", fontsize=11, fontweight="bold")
        figure.legend(*panels[0].get_legend_handles_labels(), loc="outside lower left", ncols=2, frameon=False)
        return save(figure, stem)
