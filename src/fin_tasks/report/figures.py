"""Figures of a report: values with intervals, differences, and values against cost."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from pandas import DataFrame, Series

from fin_tasks.charts.figures import COLORS, drawing, save
from fin_tasks.errors import DataError, escape

from . import Json
from .arms import arm_rows
from .conditions import CONDITIONS, Conditions
from .cost import pareto
from .model import KNOWN_BENCHMARKS, Report

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_MAX_ROWS = 30
_MAX_PANELS = 8
_MAX_NAME = 100  # characters
_SCATTER_HEIGHT = 14  # rows
_INTERVALS = "95 % intervals."
_FRONT = "Dotted: models that no other beats in both quality and cost. ≈: estimated."
_NUMBERS = ["value", "low", "high"]
_DOTS: Json = {"fmt": "o", "color": COLORS[0], "elinewidth": 1, "markersize": 4}


def write_figures(report: Report, values: DataFrame, folder: Path) -> None:
    """Draw every figure that measured values of `values_table` without marks allow, as PNG and SVG."""
    is_measured = values["source"] != "published"
    is_whole = values["window"].isna() & (values["marks"] == "")
    drawn = values[is_measured & is_whole].dropna(subset="value")
    # lm-eval names its usual filter none.
    drawn["panel"] = [
        f"{Conditions(*conditions).text()} · {variant}".removesuffix(" · none")
        for *conditions, variant in drawn[[*CONDITIONS, "variant"]].to_numpy()
    ]
    for name, benchmark in KNOWN_BENCHMARKS.items():
        lines = drawn[drawn["benchmark"] == name]
        is_headline = lines["metric"] == benchmark.headline(list(lines["metric"]))
        lines = _in_percent(lines[is_headline], "fraction")
        lines = lines.sort_values("value", ascending=False)
        _draw_panels(
            lines.groupby("panel").head(_MAX_ROWS),
            folder / f"{name}_models",
            _draw_rows,
            title=f"{benchmark.title}: models",
            x_label="percent, or points of 100",
        )
        _draw_costs(lines, folder / f"{name}_cost", benchmark.title)
        window_figure = benchmark.module("window_figure")
        for variant in ("paper", "robust") if window_figure else ():
            try:
                rows, _ = arm_rows(report, benchmark, variant)
            except DataError:
                continue  # no rows of its tasks
            window_figure.draw_windows(rows, folder, variant)


def _in_percent(lines: DataFrame, share: object) -> DataFrame:
    """Return lines with numbers in percent where the unit is that of a share."""
    scale = lines["unit"].eq(share).map({True: 100.0, False: 1.0})
    return lines.assign(**lines[_NUMBERS].astype(float).mul(scale, axis=0))


def _draw_costs(values: DataFrame, stem: Path, title: str) -> None:
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
    _draw_panels(
        points.dropna(subset="x"),
        stem,
        _draw_scatter,
        title=f"{title}: quality against cost",
        x_label=f"{x_label}\n{_FRONT}",
    )


def draw_forest(lines: DataFrame, stem: Path) -> None:
    """Draw the differences of `compare.compare`, if there are any, a row for each run and group of rows."""
    lines = lines[lines["pairs"] > 0].head(2 * _MAX_ROWS)
    names = lines[["run", "group", "heading", "metric"]].to_numpy()
    rows = lines.assign(
        label=[", ".join(filter(None, parts)) for parts in names],
        panel="",
        value=lines["difference"],
        low=lines["difference_low"],
        high=lines["difference_high"],
    )
    _draw_panels(
        _in_percent(rows, 1),
        stem,
        _draw_rows,
        title="Differences",
        x_label="difference (percentage points, or points of 100)",
    )


def _draw_panels(
    values: DataFrame,
    stem: Path,
    draw: "Callable[[Axes, DataFrame], None]",
    *,
    title: str,
    x_label: str,
) -> None:
    """Save a figure with the panels of some values below each other, if there are any."""
    from matplotlib.figure import Figure

    if values.empty:
        return
    panels = list(values.groupby("panel", sort=False))[:_MAX_PANELS]
    heights = [1 + len(lines) for _, lines in panels]
    if draw is _draw_scatter:
        heights = [_SCATTER_HEIGHT] * len(panels)
    with drawing():
        height = 1.4 + 0.2 * sum(heights) + 0.3 * len(heights)
        figure = Figure(figsize=(7.2, height), layout="constrained")
        figure.suptitle(
            escape(title), x=0.012, ha="left", fontsize=11, fontweight="bold"
        )
        all_axes = figure.subplots(
            len(panels), squeeze=False, sharex=True, height_ratios=heights
        )
        for axes, (panel, lines) in zip(all_axes[:, 0], panels, strict=True):
            draw(axes, lines)
            axes.set_title(
                _short(str(panel)), loc="left", fontsize=8, fontweight="bold"
            )
        axes.set_xlabel(f"{x_label}\n{_INTERVALS}")
        save(figure, stem)


def _draw_rows(axes: "Axes", lines: DataFrame) -> None:
    """Draw a row for each value, the first one on top."""
    places = range(len(lines))
    axes.errorbar(lines["value"], places, xerr=_reach(lines), **_DOTS)
    axes.axvline(0, color="#888888", linewidth=0.8)
    axes.set_yticks(places, [_short(name) for name in lines["label"]])
    axes.set_ylim(len(lines) - 0.4, -0.6)
    axes.tick_params(axis="y", length=0)
    axes.grid(axis="x")


def _draw_scatter(axes: "Axes", lines: DataFrame) -> None:
    """Draw values against their cost `x`, and a line through those that no other beats in both."""
    axes.errorbar(lines["x"], lines["value"], yerr=_reach(lines), **_DOTS)
    points = list(zip(lines["x"], lines["value"], strict=True))
    for label, point in zip(lines["label"], points, strict=True):
        axes.annotate(
            _short(label), point, (4, 2), textcoords="offset points", fontsize=6
        )
    x, y = zip(*pareto(points), strict=True)
    axes.step(x, y, where="post", color=COLORS[0], linestyle=":", linewidth=1)
    axes.set_ylabel("percent, or points")
    axes.grid()
    axes.margins(x=0.15)
    axes.set_xlim(left=0)


def _reach(lines: DataFrame) -> list["Series[float]"]:
    """Return how far intervals reach below and above their values."""
    return [lines["value"] - lines["low"], lines["high"] - lines["value"]]


def _short(name: str) -> str:
    return escape(name)[:_MAX_NAME]
