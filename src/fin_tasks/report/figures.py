"""Figures of a report: values with intervals, differences, and accuracy against programs that ran."""

import textwrap
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd

from fin_tasks.charts.figures import drawing, save
from fin_tasks.errors import DataError
from fin_tasks.report.cost import pareto
from fin_tasks.report.model import BENCHMARKS, Report
from fin_tasks.report.tables import values_table, write_costs, write_csv, write_tables
from fin_tasks.report.values import CONDITIONS
from fin_tasks.sandbox import escape

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


_COLORS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")  # Okabe and Ito's
_MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*")
_VARIANTS = ("paper", "robust")
_MOST, _MOST_PANELS = 60, 4  # rows and panels of a figure
_CAPTION = "95 % intervals. Hollow: printed in a paper, not run here."
_FRONT_CAPTION = "95 % intervals. Dotted: models that no other beats in both quality and cost. ≈: estimated."


def write_tables_and_figures(report: Report, board: Mapping[str, Any], folder: Path) -> None:
    """Write `leaderboard.csv`, `tables/*.md` and `figures/*` of a leaderboard."""
    values = values_table(board)
    write_csv(values, folder / "leaderboard.csv")
    for name in ("tables", "figures"):
        (folder / name).mkdir(exist_ok=True)
    write_tables(values, folder / "tables")
    write_costs(board, folder / "tables")
    write_figures(report, values, folder / "figures")


def write_figures(report: Report, values: pd.DataFrame, folder: Path) -> None:
    """Draw every figure that values of `values_table` without marks allow, as PNG and SVG."""
    drawn = values[(values["marks"] == "") & values["value"].notna()]
    drawn = drawn.assign(published=drawn["source"] == "published")
    drawn["panel"] = drawn[list(CONDITIONS)].agg(
        lambda row: " · ".join(one for one in row if one not in ("", "none")), axis=1
    )
    for benchmark, name in BENCHMARKS.items():
        own = drawn[(drawn["benchmark"] == benchmark) & drawn["window"].isna()]
        top = next((of for metric in ("score", "acc") if len(of := own[own["metric"] == metric])), own)
        if top["published"].all():
            continue
        draw_values(top, folder / f"{benchmark}_models", title=f"{name}: models")
        x, label = "cost", f"cost of 1,000 questions ({''.join(top['currency'].unique())})"
        if not top["cost"].notna().any():
            x, label = "tokens_out", "tokens of 1,000 responses"
        costs = top.assign(x=1000 * top[x].astype(float) / top["n"]).dropna(subset=["x"])
        if len(costs):
            title = f"{name}: quality against cost"
            draw_points(costs, folder / f"{benchmark}_cost", title=title, x_label=label, front=True)
        programs = own[own["mode"] == "pot"]
        ran = programs[programs["metric"] == "execution_rate"].assign(x=lambda of: 100 * of["value"])
        right = programs[programs["metric"] == ("acc_err" if benchmark == "xfinbench" else "acc")]
        both = right.merge(
            ran[["label", "published", "panel", "variant", "x"]], on=["label", "published", "panel", "variant"]
        )
        if len(both):  # XFinBench's Figure 4a
            title = f"{name}: programs"
            draw_points(both, folder / f"{benchmark}_programs", title=title, x_label="programs that ran (%)")
    _biases(report, folder)


def draw_values(values: pd.DataFrame, stem: Path, *, title: str) -> list[Path]:
    """Draw values with their intervals: a panel for each set of conditions, a row for each model, the best first."""
    panels = [(str(panel), of) for panel, of in values.groupby("panel", sort=False) if not of["published"].all()]
    heights = [1 + of.groupby(["label", "published"]).ngroups for _, of in panels]
    kept = max(1, next((n for n in range(len(panels), 0, -1) if sum(heights[:n]) <= _MOST), 1))
    with drawing({}):
        figure, all_axes = _figure(title, sum(heights[:kept]), panels=heights[:kept])
        for axes, (panel, of) in zip(all_axes, panels[:kept], strict=True):
            order = of.groupby(["label", "published"])["value"].max().sort_values(ascending=False).index[:_MOST]
            for place, (label, published) in enumerate(order):
                own = of[(of["label"] == label) & (of["published"] == published)]
                for one in own.to_dict("records"):
                    number = _VARIANTS.index(one["variant"])
                    look: Any = {"color": _COLORS[number], "marker": _MARKERS[number]}
                    hollow: Any = {"markerfacecolor": "white"} if published else {}
                    at = place + 0.24 * (number - 0.5) * (own["variant"].nunique() > 1)
                    scale = 100 if one["unit"] == "fraction" else 1
                    if one["low"] == one["low"] and one["low"] is not None:
                        axes.hlines(
                            at, scale * one["low"], scale * one["high"], color=look["color"], alpha=0.5, linewidth=2
                        )
                    axes.plot(scale * one["value"], at, markersize=4, linestyle="none", **look, **hollow)
            _rows(axes, [label for label, _ in order])
            axes.set_title("\n".join(textwrap.wrap(escape(panel), 100)), loc="left", fontsize=8, fontweight="bold")
        all_axes[-1].set_xlabel("percent, or points of 100")
        _legend(figure, sorted(values["variant"].unique()))
        return save(figure, stem)


def draw_forest(lines: pd.DataFrame, stem: Path, *, title: str) -> list[Path]:
    """Draw the differences of `compare.compare` with their intervals, a row for each run and group of rows."""
    lines = lines.head(_MOST)
    with drawing({}):
        figure, (axes,) = _figure(title, len(lines) + 1)
        axes.axvline(0, color="#888888", linewidth=0.8)
        names = []
        for place, one in enumerate(lines.to_dict("records")):
            scale = 100 if one["unit"] == 1 else 1
            color = _COLORS[5 if one["group"] else 0]
            axes.hlines(
                place,
                scale * one["difference_low"],
                scale * one["difference_high"],
                color=color,
                alpha=0.5,
                linewidth=3,
            )
            axes.plot(scale * one["difference"], place, marker="o" if one["group"] else "D", markersize=4, color=color)
            name = one["group"] or f"{one['task']}: {one['run']} − {one['against']}"
            names.append(f"{name}  (n={one['pairs']:,})")
        _rows(axes, names)
        axes.set_xlabel("difference (percentage points, or points of 100)")
        return save(figure, stem)


def draw_points(values: pd.DataFrame, stem: Path, *, title: str, x_label: str, front: bool = False) -> list[Path]:
    """Draw values with intervals against their column `x`: a panel for each set of conditions, the fullest first.

    With `front` a line joins the points that no other beats in both.
    """
    panels = sorted(values.groupby("panel", sort=False), key=lambda one: -len(one[1]))[:_MOST_PANELS]
    with drawing({}):
        figure, all_axes = _figure(title, 14 * len(panels), panels=[14] * len(panels), sharex=False)
        for axes, (panel, of) in zip(all_axes, panels, strict=True):
            for variant, own in of.groupby("variant"):
                number = _VARIANTS.index(str(variant))
                color, points = _COLORS[number], own.to_dict("records")
                for one in points:
                    scale = 100 if one["unit"] == "fraction" else 1
                    hollow: Any = {"markerfacecolor": "white"} if one["published"] else {}
                    if pd.notna(one["low"]):
                        axes.vlines(one["x"], scale * one["low"], scale * one["high"], color=color, alpha=0.3)
                    axes.plot(one["x"], scale * one["value"], _MARKERS[number], color=color, markersize=4, **hollow)
                    name = _short(one["label"]) + (" (≈)" if front and "tokens_out" in one["estimated"] else "")
                    place = (one["x"], scale * one["value"])
                    axes.annotate(name, place, xytext=(4, 2), textcoords="offset points", fontsize=6)
                best = pareto((one["x"], scale * one["value"]) for one in points)
                if front and len(best) > 1:
                    axes.step(*zip(*best, strict=True), where="post", color=color, linestyle=":", linewidth=1)
            axes.set_title("\n".join(textwrap.wrap(escape(str(panel)), 100)), loc="left", fontsize=8, fontweight="bold")
            axes.set_ylabel("percent, or points")
            axes.grid()
            axes.margins(x=0.15)
            axes.set_xlim(left=0 if front else None)
        all_axes[-1].set_xlabel(x_label)
        _legend(figure, sorted(values["variant"].unique()), _FRONT_CAPTION if front else _CAPTION)
        return save(figure, stem)


def _biases(report: Report, folder: Path) -> None:
    from fin_tasks.benchmarks.dynostock import figures
    from fin_tasks.benchmarks.dynostock.experiment import by_window
    from fin_tasks.report.compare import compare_statements, statement_rows

    for variant in _VARIANTS:
        try:
            rows, _ = statement_rows(report, variant=variant)
        except DataError:
            continue  # no rows of bias tasks
        for bias, of_bias in by_window(rows).groupby("bias"):
            stem = folder / f"dynostock_{bias}_{variant}"
            figures.draw_windows(of_bias, stem, title=f"{str(bias).capitalize()} bias, {variant}")
        lines = compare_statements(report, variant=variant).lines
        if len(effects := lines[lines["pairs"] > 0]):
            draw_forest(effects, folder / f"dynostock_effects_{variant}", title=f"Effects, {variant}")


def _figure(
    title: str, rows: int, panels: Sequence[int] = (1,), sharex: bool = True
) -> "tuple[Figure, Sequence[Axes]]":
    from matplotlib.figure import Figure

    figure = Figure(figsize=(7.2, 1.4 + 0.2 * rows + 0.3 * len(panels)), layout="constrained")
    axes = figure.subplots(len(panels), 1, squeeze=False, sharex=sharex, height_ratios=list(panels))[:, 0]
    figure.suptitle(escape(title), x=0.012, ha="left", fontsize=11, fontweight="bold")
    return figure, list(axes)


def _rows(axes: "Axes", names: Sequence[str]) -> None:
    axes.set_yticks(range(len(names)), [_short(name, 60) for name in names])
    axes.set_ylim(len(names) - 0.4, -0.6)  # the first row on top
    axes.tick_params(axis="y", length=0)
    axes.grid(axis="x")


def _legend(figure: "Figure", variants: Sequence[str], caption: str = _CAPTION) -> None:
    from matplotlib.lines import Line2D

    handles = [
        Line2D([], [], linestyle="none", marker=_MARKERS[n], color=_COLORS[n], label=f"{one} scores")
        for n, one in enumerate(variants)
    ]
    figure.legend(handles=handles, loc="outside lower left", ncols=2, frameon=False, title=caption, alignment="left")


def _short(name: str, most: int = 40) -> str:
    text = escape(name)
    return text if len(text) <= most else f"{text[: most - 1]}…"
