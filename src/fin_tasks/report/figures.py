"""Figures of a report: values with intervals, differences, and values against cost."""

import textwrap
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING

import pandas as pd

from fin_tasks.benchmarks.contract import Benchmark
from fin_tasks.charts.figures import COLORS, drawing, save
from fin_tasks.errors import DataError
from fin_tasks.report.arms import arm_rows
from fin_tasks.report.conditions import CONDITIONS
from fin_tasks.report.cost import pareto
from fin_tasks.report.model import Report, known_benchmarks
from fin_tasks.sandbox import escape

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_MAX_ROWS = 30
_MAX_PANELS = 8
_MAX_NAMES = 60  # more beside points cannot be read
_MAX_NAME = 80  # characters
_SCATTER_HEIGHT = 14  # rows
_CAPTION = "95 % intervals. Hollow: printed in a paper, not run here."
_FRONT_CAPTION = "95 % intervals. Dotted: models that no other beats in both quality and cost. ≈: estimated."
_NUMBERS = ["value", "low", "high"]


def write_figures(
    report: Report,
    values: pd.DataFrame,
    folder: Path,
) -> None:
    """Draw every figure that values of `values_table` without marks allow, as PNG and SVG."""
    drawn = _drawn_values(values)
    for name, benchmark in known_benchmarks().items():
        _draw_windows(report, benchmark, folder)
        lines = drawn[drawn["benchmark"] == name]
        lines = lines[lines["metric"] == benchmark.headline(list(lines["metric"]))]
        is_printed = lines.groupby("panel")["published"].transform("all").astype(bool)
        measured = lines[~is_printed].sort_values("value", ascending=False)
        _draw_panels(
            measured.groupby("panel").head(_MAX_ROWS),
            folder / f"{name}_models",
            _draw_rows,
            title=f"{benchmark.title}: models",
            x_label="percent, or points of 100",
        )
        _draw_costs(measured, folder / f"{name}_cost", benchmark)


def _drawn_values(values: pd.DataFrame) -> pd.DataFrame:
    """Return the values without marks, in percent or points, with the panel that each belongs to."""
    is_drawn = (
        (values["marks"] == "") & values["value"].notna() & values["window"].isna()
    )
    drawn = values[is_drawn].assign(published=values["source"] == "published")
    scale = drawn["unit"].map({"fraction": 100.0}).fillna(1.0)
    drawn[_NUMBERS] = drawn[_NUMBERS].astype(float).mul(scale, axis=0)
    drawn["panel"] = drawn[[*CONDITIONS, "variant"]].agg(_panel_name, axis=1)
    return drawn


def _panel_name(conditions: Iterable[str]) -> str:
    return " · ".join(name for name in conditions if name not in ("", "none"))


def _draw_costs(
    values: pd.DataFrame,
    stem: Path,
    benchmark: Benchmark,
) -> None:
    """Draw quality against cost, without prices against tokens."""
    column = "tokens_out"
    x_label = "tokens of 1,000 responses"
    if values["cost"].notna().any():
        column = "cost"
        x_label = f"cost of 1,000 questions ({values['currency'].iloc[0]})"
    n_questions = values["n"] + values["unscored"]
    is_estimated = values["estimated"].str.contains("tokens_out")
    points = values.assign(
        x=1000 * values[column].astype(float) / n_questions,
        label=values["label"].mask(is_estimated, "≈ " + values["label"]),
    )
    title = f"{benchmark.title}: quality against cost"
    _draw_panels(
        points.dropna(subset=["x"]),
        stem,
        _draw_scatter,
        title=title,
        x_label=x_label,
        caption=_FRONT_CAPTION,
    )


def _draw_windows(
    report: Report,
    benchmark: Benchmark,
    folder: Path,
) -> None:
    """Draw the results of a benchmark's experiment by window size."""
    experiment = benchmark.module("experiment")
    if experiment is None:
        return
    window_figure = benchmark.module("window_figure")
    for variant in ("paper", "robust"):
        try:
            rows, _ = arm_rows(
                report,
                benchmark,
                variant=variant,
            )
        except DataError:
            continue  # no rows of its tasks
        for family, lines in experiment.by_window(rows).groupby("bias"):
            stem = folder / f"{benchmark.name}_{family}_{variant}"
            title = f"{str(family).capitalize()} bias, {variant}"
            window_figure.draw_windows(lines, stem, title=title)


def draw_forest(
    lines: pd.DataFrame,
    stem: Path,
    *,
    title: str,
) -> None:
    """Draw the differences of `compare.compare`, if there are any, a row for each run and group of rows."""
    lines = lines[lines["pairs"] > 0].head(2 * _MAX_ROWS)
    scale = lines["unit"].map({1.0: 100.0}).fillna(1.0)
    names = lines[["run", "group", "heading", "metric"]].to_numpy()
    rows = lines.assign(
        label=[", ".join(filter(None, parts)) for parts in names],
        panel="",
        published=False,
        value=scale * lines["difference"],
        low=scale * lines["difference_low"],
        high=scale * lines["difference_high"],
    )
    _draw_panels(
        rows,
        stem,
        _draw_rows,
        title=title,
        x_label="difference (percentage points, or points of 100)",
        caption="95 % intervals.",
    )


def _draw_panels(
    values: pd.DataFrame,
    stem: Path,
    draw: "Callable[[Axes, pd.DataFrame], None]",
    *,
    title: str,
    x_label: str,
    caption: str = _CAPTION,
) -> None:
    """Save a figure with the panels of some values below each other, if there are any."""
    from matplotlib.figure import Figure

    if values.empty:
        return
    shown = list(values.groupby("panel", sort=False))[:_MAX_PANELS]
    heights = [
        _SCATTER_HEIGHT if "x" in values else 1 + len(lines) for _, lines in shown
    ]
    with drawing():
        height = 1.4 + 0.2 * sum(heights) + 0.3 * len(heights)
        figure = Figure(figsize=(7.2, height), layout="constrained")
        figure.suptitle(
            escape(title),
            x=0.012,
            ha="left",
            fontsize=11,
            fontweight="bold",
        )
        all_axes = figure.subplots(
            len(shown),
            squeeze=False,
            sharex=True,
            height_ratios=heights,
        )
        for axes, (panel, lines) in zip(
            all_axes[:, 0],
            shown,
            strict=True,
        ):
            draw(axes, lines)
            name = textwrap.fill(escape(str(panel)), 100)
            axes.set_title(
                name,
                loc="left",
                fontsize=8,
                fontweight="bold",
            )
        axes.set_xlabel(f"{x_label}\n{caption}")
        save(figure, stem)


def _draw_rows(axes: "Axes", lines: pd.DataFrame) -> None:
    """Draw a row for each value, the first one on top."""
    names = [_short(name) for name in lines["label"]]
    _draw_dots(
        axes,
        lines.assign(y=range(len(lines))),
        "value",
        "y",
    )
    axes.axvline(
        0,
        color="#888888",
        linewidth=0.8,
    )
    axes.set_yticks(range(len(names)), names)
    axes.set_ylim(len(names) - 0.4, -0.6)
    axes.tick_params(axis="y", length=0)
    axes.grid(axis="x")


def _draw_scatter(axes: "Axes", lines: pd.DataFrame) -> None:
    """Draw values against their cost `x`, and a line through those that no other beats in both."""
    _draw_dots(axes, lines, "x", "value")
    for line in lines.head(_MAX_NAMES).to_dict("records"):
        position = (line["x"], line["value"])
        name = _short(line["label"])
        axes.annotate(
            name,
            position,
            xytext=(4, 2),
            textcoords="offset points",
            fontsize=6,
        )
    x, y = zip(
        *pareto(
            zip(
                lines["x"],
                lines["value"],
                strict=True,
            )
        ),
        strict=True,
    )
    axes.step(
        x,
        y,
        where="post",
        color=COLORS[0],
        linestyle=":",
        linewidth=1,
    )
    axes.set_ylabel("percent, or points")
    axes.grid()
    axes.margins(x=0.15)
    axes.set_xlim(left=0)


def _draw_dots(
    axes: "Axes",
    values: pd.DataFrame,
    x: str,
    y: str,
) -> None:
    """Draw values, which are one of the two columns, and their intervals."""
    for is_published, lines in values.groupby("published"):
        below = (lines["value"] - lines["low"]).clip(lower=0)
        above = (lines["high"] - lines["value"]).clip(lower=0)
        axes.errorbar(
            lines[x],
            lines[y],
            xerr=[below, above] if x == "value" else None,
            yerr=[below, above] if y == "value" else None,
            fmt="o",
            color=COLORS[0],
            elinewidth=1,
            markersize=4,
            markerfacecolor="white" if is_published else COLORS[0],
        )


def _short(name: str) -> str:
    return escape(name)[:_MAX_NAME]
