"""Figures 3 and 4 of the paper: bias index and accuracy by window size, with intervals."""

from pathlib import Path

import pandas as pd

from fin_tasks.charts.figures import drawing, save

from .experiment import GROUP, MEAN, by_window, names_of

_PANELS = {"bias_index": "Bias index (%)", "acc": "Accuracy (%)"}
_SPREAD = 1.0
"""How far the last line is moved to the right of the first one, as their intervals would hide each other."""


def draw_windows(rows: pd.DataFrame, folder: Path, variant: str) -> None:
    """Draw a figure for each bias, with a line for each model, from rows that `by_window` takes."""
    from matplotlib.figure import Figure

    table = by_window(rows)
    sizes = table[table["window"] != MEAN]
    for bias, lines in sizes.groupby("bias"):
        models = lines.groupby(names_of(lines, [*GROUP, "arm"]), sort=False)
        with drawing(Path(__file__).with_suffix(".mplstyle")):
            figure = Figure(figsize=(7.2, 3.3 + 0.08 * len(models)))
            panels = figure.subplots(1, len(_PANELS))
            for axes, (metric, label) in zip(panels, _PANELS.items(), strict=True):
                shift = 0.0
                for model, line in models:
                    value = 100 * line[metric]
                    below = value - 100 * line[f"{metric}_low"]
                    above = 100 * line[f"{metric}_high"] - value
                    axes.errorbar(
                        line["window"] + shift, value, [below, above], label=model
                    )
                    shift += _SPREAD / len(models)
                axes.set(title=label, xlabel="Window size (earnings reports)")
                axes.set_xticks(lines["window"].unique().tolist())
            handles = axes.get_legend_handles_labels()
            figure.legend(*handles, loc="outside lower left", ncols=2)
            figure.suptitle(f"{str(bias).capitalize()} bias, {variant}, 95 % intervals")
            save(figure, folder / f"dynostock_{bias}_{variant}")
