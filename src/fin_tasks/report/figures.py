"""Figures of a report: values with intervals, differences, and values against cost or programs that ran."""

import textwrap
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import pandas as pd

from fin_tasks.benchmarks.contract import Benchmark
from fin_tasks.charts.figures import COLORS, MARKERS, drawing, save
from fin_tasks.errors import DataError
from fin_tasks.report.arms import arm_rows, compare_arms
from fin_tasks.report.conditions import CONDITIONS, Conditions
from fin_tasks.report.cost import pareto
from fin_tasks.report.model import Report, known_benchmarks
from fin_tasks.sandbox import escape

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_VARIANTS = ("paper", "robust")
_MAX_ROWS = 30
_MAX_PANELS = 4
_MAX_NAMES = 60  # more beside points cannot be read
_MAX_NAME = 40
_MAX_ROW_NAME = 60
_CAPTION = "95 % intervals. Hollow: printed in a paper, not run here."
_FRONT_CAPTION = (
    "95 % intervals. Dotted: models that no other beats in both quality and cost. ≈: estimated."
)
_KEY = ["label", "published", "panel", "variant"]


def write_figures(report: Report, values: pd.DataFrame, folder: Path) -> None:
    """Draw every figure that values of `values_table` without marks allow, as PNG and SVG."""
    drawn = _drawn_values(values)
    for name, benchmark in known_benchmarks().items():
        _draw_arms(report, benchmark, folder)
        lines = drawn[(drawn["benchmark"] == name) & drawn["window"].isna()]
        metric = benchmark.headline(list(lines["metric"]))
        top = lines[lines["metric"] == metric]
        if top["published"].all():
            continue
        draw_values(top, folder / f"{name}_models", title=f"{benchmark.title}: models")
        _draw_costs(top, folder / f"{name}_cost", benchmark)
        _draw_programs(lines, folder / f"{name}_programs", benchmark)


def _drawn_values(values: pd.DataFrame) -> pd.DataFrame:
    """Return the values without marks, in percent or points, with the panel that each belongs to."""
    drawn = values[(values["marks"] == "") & values["value"].notna()]
    scale = drawn["unit"].map({"fraction": 100.0}).fillna(1.0)
    scaled = {name: scale * drawn[name].astype(float) for name in ("value", "low", "high")}
    drawn = drawn.assign(published=drawn["source"] == "published", **scaled)
    conditions = drawn[list(CONDITIONS)]
    drawn["panel"] = conditions.agg(lambda row: Conditions(*row).text(), axis=1)
    return drawn


def _draw_costs(top: pd.DataFrame, stem: Path, benchmark: Benchmark) -> None:
    """Draw quality against cost, without prices against tokens."""
    column = "tokens_out"
    label = "tokens of 1,000 responses"
    if top["cost"].notna().any():
        column = "cost"
        label = f"cost of 1,000 questions ({''.join(top['currency'].unique())})"
    n_questions = top["n"] + top["unscored"]
    costs = top.assign(x=1000 * top[column].astype(float) / n_questions).dropna(subset=["x"])
    if len(costs):
        title = f"{benchmark.title}: quality against cost"
        draw_points(costs, stem, title=title, x_label=label, front=True)


def _draw_programs(values: pd.DataFrame, stem: Path, benchmark: Benchmark) -> None:
    """Draw the accuracy of programs against the share that ran, as in XFinBench's Figure 4a."""
    programs = values[values["mode"] == "pot"]
    ran = programs[programs["metric"] == "execution_rate"].rename(columns={"value": "x"})
    right = programs[programs["metric"] == benchmark.program_metric]
    programs_with_share = right.merge(ran[[*_KEY, "x"]], on=_KEY)
    if len(programs_with_share):
        title = f"{benchmark.title}: programs"
        draw_points(programs_with_share, stem, title=title, x_label="programs that ran (%)")


def _draw_arms(report: Report, benchmark: Benchmark, folder: Path) -> None:
    """Draw the arms of a benchmark's experiment by window size, and the differences between them."""
    experiment = benchmark.module("experiment")
    if experiment is None:
        return
    window_figure = benchmark.module("window_figure")
    for variant in _VARIANTS:
        try:
            rows, _ = arm_rows(report, benchmark, variant=variant)
        except DataError:
            continue  # no rows of its tasks
        for family, lines in experiment.by_window(rows).groupby("bias"):
            stem = folder / f"{benchmark.name}_{family}_{variant}"
            title = f"{str(family).capitalize()} bias, {variant}"
            window_figure.draw_windows(lines, stem, title=title)
        effects = compare_arms(report, benchmark, variant=variant).lines
        effects = effects[effects["pairs"] > 0]
        if len(effects):
            stem = folder / f"{benchmark.name}_effects_{variant}"
            draw_forest(effects, stem, title=f"Effects, {variant}")


def draw_values(values: pd.DataFrame, stem: Path, *, title: str) -> None:
    """Draw values with intervals: a panel for each set of conditions, a row for each model, the best first."""
    panels = []
    for panel, lines in values.groupby("panel", sort=False):
        if not lines["published"].all():
            panels.append((str(panel), lines))
    panels = panels[:_MAX_PANELS]
    rows = ["label", "published"]
    orders = []
    for _, lines in panels:
        best = lines.groupby(rows)["value"].max().sort_values(ascending=False)
        orders.append(best.head(_MAX_ROWS))
    with drawing({}):
        figure, all_axes = _figure(title, panels=[1 + len(order) for order in orders])
        for axes, (panel, lines), order in zip(all_axes, panels, orders, strict=True):
            dots = lines.merge(order.reset_index()[rows].reset_index(names="y"), on=rows)
            if lines["variant"].nunique() > 1:
                dots["y"] += 0.24 * (dots["variant"].map(_place_of) - 0.5)
            _draw_dots(axes, dots, "value", "y")
            _name_rows(axes, [label for label, _ in order.index])
            _name_panel(axes, panel)
        all_axes[-1].set_xlabel("percent, or points of 100")
        _add_legend(figure, values["variant"])
        save(figure, stem)


def draw_forest(lines: pd.DataFrame, stem: Path, *, title: str) -> list[Path]:
    """Draw the differences of `compare.compare` with their intervals, a row for each run and group of rows."""
    lines = lines.head(2 * _MAX_ROWS)
    is_single = len(lines.groupby(["task", "run"])) == 1
    with drawing({}):
        figure, (axes,) = _figure(title, panels=[len(lines) + 1])
        axes.axvline(0, color="#888888", linewidth=0.8)
        names = []
        for position, line in enumerate(lines.to_dict("records")):
            scale = 100 if line["unit"] == 1 else 1
            low = scale * line["difference_low"]
            high = scale * line["difference_high"]
            middle = scale * line["difference"]
            axes.hlines(position, low, high, color=COLORS[0], alpha=0.5, linewidth=3)
            marker = "o" if line["group"] else "D"
            axes.plot(middle, position, marker=marker, markersize=4, color=COLORS[0])
            names.append(f"{_line_name(line, is_single=is_single)}  (n={line['pairs']:,})")
        _name_rows(axes, names)
        axes.set_xlabel("difference (percentage points, or points of 100)")
        return save(figure, stem)


def _line_name(line: dict[str, str], *, is_single: bool) -> str:
    rows = line["group"] or line["task"]
    if not line["task"]:  # the effect of an arm
        return f"{line['metric']}, {rows}: {line['run']}, {line['heading']}"
    if line["group"] and is_single:
        return rows
    return f"{rows}: {line['run']} − {line['against']}"


def draw_points(
    values: pd.DataFrame,
    stem: Path,
    *,
    title: str,
    x_label: str,
    front: bool = False,
) -> None:
    """Draw values with intervals against their column `x`: a panel for each set of conditions, the fullest first.

    With `front` a line joins the points that no other beats in both.
    """
    panels = sorted(values.groupby("panel", sort=False), key=lambda panel: -len(panel[1]))
    panels = panels[:_MAX_PANELS]
    with drawing({}):
        figure, all_axes = _figure(title, panels=[14] * len(panels), sharex=False)
        for axes, (panel, lines) in zip(all_axes, panels, strict=True):
            _draw_dots(axes, lines, "x", "value")
            if len(lines) <= _MAX_NAMES:
                _name_points(axes, lines, marks_estimates=front)
            if front:
                _draw_fronts(axes, lines)
                axes.set_xlim(left=0)
            _name_panel(axes, str(panel))
            axes.set_ylabel("percent, or points")
            axes.grid()
            axes.margins(x=0.15)
        all_axes[-1].set_xlabel(x_label)
        _add_legend(figure, values["variant"], _FRONT_CAPTION if front else _CAPTION)
        save(figure, stem)


def _name_points(axes: "Axes", values: pd.DataFrame, *, marks_estimates: bool) -> None:
    for line in values.to_dict("records"):
        name = _short(line["label"])
        if marks_estimates and "tokens_out" in line["estimated"]:
            name += " (≈)"
        position = (line["x"], line["value"])
        axes.annotate(name, position, xytext=(4, 2), textcoords="offset points", fontsize=6)


def _draw_fronts(axes: "Axes", values: pd.DataFrame) -> None:
    for variant, lines in values.groupby("variant"):
        best = pareto(zip(lines["x"], lines["value"], strict=True))
        x, y = zip(*best, strict=True)
        color = COLORS[_place_of(variant)]
        axes.step(x, y, where="post", color=color, linestyle=":", linewidth=1)


def _draw_dots(axes: "Axes", values: pd.DataFrame, x: str, y: str) -> None:
    """Draw values, which are one of the two columns, and their intervals."""
    for (variant, is_published), lines in values.groupby(["variant", "published"]):
        color = COLORS[_place_of(variant)]
        known = lines.dropna(subset=["low"])
        draw_lines = axes.hlines if x == "value" else axes.vlines
        positions = known[y if x == "value" else x]
        draw_lines(positions, known["low"], known["high"], color=color, alpha=0.4, linewidth=2)
        axes.plot(
            lines[x],
            lines[y],
            MARKERS[_place_of(variant)],
            color=color,
            markersize=4,
            markerfacecolor="white" if is_published else color,
        )


def _place_of(variant: object) -> int:
    """Return the place of a variant among colors and markers; filters of own tasks share the third one."""
    name = str(variant)
    return _VARIANTS.index(name) if name in _VARIANTS else len(_VARIANTS)


def _figure(
    title: str,
    *,
    panels: Sequence[int],
    sharex: bool = True,
) -> "tuple[Figure, Sequence[Axes]]":
    """Return a figure with a panel for each height, in rows."""
    from matplotlib.figure import Figure

    height = 1.4 + 0.2 * sum(panels) + 0.3 * len(panels)
    figure = Figure(figsize=(7.2, height), layout="constrained")
    axes = figure.subplots(len(panels), squeeze=False, sharex=sharex, height_ratios=list(panels))
    figure.suptitle(escape(title), x=0.012, ha="left", fontsize=11, fontweight="bold")
    return figure, list(axes[:, 0])


def _name_panel(axes: "Axes", name: str) -> None:
    lines = textwrap.wrap(escape(name), 100)
    axes.set_title("\n".join(lines), loc="left", fontsize=8, fontweight="bold")


def _name_rows(axes: "Axes", names: Sequence[str]) -> None:
    axes.set_yticks(range(len(names)), [_short(name, _MAX_ROW_NAME) for name in names])
    axes.set_ylim(len(names) - 0.4, -0.6)  # the first row on top
    axes.tick_params(axis="y", length=0)
    axes.grid(axis="x")


def _add_legend(figure: "Figure", variants: "pd.Series[str]", caption: str = _CAPTION) -> None:
    from matplotlib.lines import Line2D

    handles = []
    for variant in sorted(variants.unique()):
        position = _place_of(variant)
        handle = Line2D([], [], linestyle="none", marker=MARKERS[position], color=COLORS[position])
        handle.set_label(f"{variant} scores")
        handles.append(handle)
    figure.legend(
        handles=handles,
        loc="outside lower left",
        ncols=2,
        frameon=False,
        title=caption,
        alignment="left",
    )


def _short(name: str, maximum: int = _MAX_NAME) -> str:
    text = escape(name)
    return text if len(text) <= maximum else f"{text[: maximum - 1]}…"
