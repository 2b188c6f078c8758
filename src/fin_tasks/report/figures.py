"""Figures: DynoStock's measures by window size, and the differences that `compare` finds."""

from pathlib import Path
from textwrap import fill
from typing import TYPE_CHECKING

from pandas import DataFrame

from fin_tasks.benchmarks.scored_task import SCORINGS
from fin_tasks.charts.figures import drawing, save
from fin_tasks.errors import DataError, escape

from .arms import arm_rows
from .experiment import GROUP, MEAN, by_window, names_of
from .model import Report

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_WINDOW_STYLE = Path(__file__).with_name("windows.mplstyle")
_BLUE = "#0072B2"
_GRAY = "#888888"
_MAX_LINES = 60
_MAX_NAME = 100  # characters
_LABEL_WIDTH = 40  # characters of a line
_LABELS = ["model", "run", "group", "metric", "against"]
_LETTER = 0.065  # inches

_PANELS = {"bias_index": "Bias index (%)", "acc": "Accuracy (%)"}
_SPREAD = 1.0
"""How far the last line is moved to the right of the first one, as their intervals would hide each other."""


def draw_window_figures(report: Report, folder: Path) -> None:
    """Draw bias index and accuracy by window size under each scoring, if the report has rows of DynoStock."""
    for scoring in SCORINGS:
        try:
            rows, _ = arm_rows(report, scoring)
        except DataError:
            continue  # no rows of its tasks
        draw_windows(rows, folder, scoring)


def draw_windows(rows: DataFrame, folder: Path, scoring: str) -> None:
    """Draw figures 3 and 4 of the paper: one for each bias, with a line for each model and arm.

    The rows are those that `by_window` takes.
    """
    from matplotlib.figure import Figure

    table = by_window(rows)
    sizes = table[table["window"] != MEAN]
    for bias, lines in sizes.groupby("bias"):
        models = lines.groupby(names_of(lines, [*GROUP, "arm"]), sort=False)
        with drawing(_WINDOW_STYLE):
            figure = Figure(figsize=(7.2, 3.3 + 0.08 * len(models)))
            panels = figure.subplots(1, len(_PANELS))
            for axes, (metric, label) in zip(panels, _PANELS.items(), strict=True):
                for number, (model, line) in enumerate(models):
                    value = 100 * line[metric]
                    below = value - 100 * line[f"{metric}_low"]
                    above = 100 * line[f"{metric}_high"] - value
                    places = line["window"] + number * _SPREAD / len(models)
                    axes.errorbar(places, value, [below, above], label=model)
                axes.set(title=label, xlabel="Window size (earnings reports)")
                axes.set_xticks(lines["window"].unique().tolist())
            handles = axes.get_legend_handles_labels()
            figure.legend(*handles, loc="outside lower left", ncols=2)
            figure.suptitle(f"{str(bias).capitalize()} bias, {scoring}, 95 % intervals")
            save(figure, folder / f"dynostock_{bias}_{scoring}")


def draw_differences(lines: DataFrame, stem: Path, title: str) -> list[Path]:
    """Draw the differences of a task, if there are any, a row for each run and group of rows; return the files."""
    with drawing():
        figure = difference_figure(lines, title)
        if figure is None:
            return []
        return save(figure, stem, "pdf", "png")


def difference_figure(lines: DataFrame, title: str) -> "Figure | None":
    """Return the figure of the differences of a task, wide enough for its labels; None without a difference."""
    from matplotlib.figure import Figure

    lines = lines[lines["pairs"] > 0].head(_MAX_LINES)
    if lines.empty:
        return None
    # Comparisons of arms have no baseline, and those of variants no metric.
    lines = lines.reindex(columns=lines.columns.union(_LABELS, sort=False))
    lines[_LABELS] = lines[_LABELS].astype(object).fillna("")
    scale = lines["unit"].eq(1).map({True: 100.0, False: 1.0})
    difference = scale * lines["difference"].astype(float)
    below = difference - scale * lines["difference_low"].astype(float)
    above = scale * lines["difference_high"].astype(float) - difference
    labels = _labels_of(lines)
    places = range(len(lines))
    longest = max(map(len, "\n".join(labels).split("\n")))
    n_text_lines = sum(label.count("\n") + 1 for label in labels)
    size = (4.2 + _LETTER * longest, 1.5 + 0.2 * n_text_lines)
    figure = Figure(figsize=size, layout="constrained")
    figure.suptitle(
        fill(escape(title), 60), x=0.012, ha="left", fontsize=11, fontweight="bold"
    )
    axes = figure.subplots()
    axes.errorbar(
        difference,
        places,
        xerr=[below, above],
        fmt="o",
        color=_BLUE,
        elinewidth=1,
        markersize=4,
    )
    axes.axvline(0, color=_GRAY, linewidth=0.8)
    axes.set_yticks(places, labels)
    axes.set_ylim(len(lines) - 0.4, -0.6)
    axes.tick_params(axis="y", length=0)
    axes.grid(axis="x")
    baselines = [escape(name) for name in lines["against"].unique() if name]
    against = f" from {', '.join(baselines)}" if baselines else ""
    text = f"Difference{against} in percentage points or points of 100, 95 % intervals"
    axes.set_xlabel(fill(text, 48))
    return figure


def _labels_of(lines: DataFrame) -> list[str]:
    """Return what differs between the lines: run, group of rows and metric, in short lines of text."""
    has_several = lines["metric"].nunique() > 1
    names = ["model", "run", "group", *(["metric"] if has_several else [])]
    labels = []
    for parts in lines[names].to_numpy():
        text = escape(", ".join(filter(None, parts)))[:_MAX_NAME]
        labels.append(fill(text, _LABEL_WIDTH))
    return labels
