"""Figures of a report: values with intervals, differences, and accuracy against programs that ran."""

import textwrap
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd

from fin_tasks.benchmarks import all_benchmarks
from fin_tasks.charts.figures import COLORS, MARKERS, drawing, save
from fin_tasks.errors import DataError
from fin_tasks.report.cost import pareto
from fin_tasks.report.model import Report
from fin_tasks.report.tables import values_table, write_costs, write_csv, write_tables
from fin_tasks.report.values import CONDITIONS
from fin_tasks.sandbox import escape

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


_VARIANTS = ("paper", "robust")
_MOST_ROWS, _MOST_PANELS = 30, 4
_MOST_NAMES = 60  # more beside points cannot be read
_CAPTION = "95 % intervals. Hollow: printed in a paper, not run here."
_FRONT_CAPTION = (
    "95 % intervals. Dotted: models that no other beats in both quality and cost. ≈: estimated."
)


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
    scale = drawn["unit"].map({"fraction": 100.0}).fillna(1.0)
    drawn = drawn.assign(
        **{name: scale * drawn[name].astype(float) for name in ("value", "low", "high")}
    )
    drawn["panel"] = drawn[list(CONDITIONS)].agg(
        lambda row: " · ".join(one for one in row if one not in ("", "none")), axis=1
    )
    for benchmark, about in all_benchmarks().items():
        name = about.title
        own = drawn[(drawn["benchmark"] == benchmark) & drawn["window"].isna()]
        top = next(
            (of for metric in about.headlines if len(of := own[own["metric"] == metric])), own
        )
        if top["published"].all():
            continue
        draw_values(top, folder / f"{benchmark}_models", title=f"{name}: models")
        x, label = "cost", f"cost of 1,000 questions ({''.join(top['currency'].unique())})"
        if not top["cost"].notna().any():
            x, label = "tokens_out", "tokens of 1,000 responses"
        costs = top.assign(x=1000 * top[x].astype(float) / (top["n"] + top["unscored"])).dropna(
            subset=["x"]
        )
        if len(costs):
            title = f"{name}: quality against cost"
            draw_points(costs, folder / f"{benchmark}_cost", title=title, x_label=label, front=True)
        programs = own[own["mode"] == "pot"]
        ran = programs[programs["metric"] == "execution_rate"].rename(columns={"value": "x"})
        right = programs[programs["metric"] == ("acc_err" if benchmark == "xfinbench" else "acc")]
        keys = ["label", "published", "panel", "variant"]
        both = right.merge(ran[[*keys, "x"]], on=keys)
        if len(both):  # XFinBench's Figure 4a
            title = f"{name}: programs"
            draw_points(
                both, folder / f"{benchmark}_programs", title=title, x_label="programs that ran (%)"
            )
    _biases(report, folder)


def draw_values(values: pd.DataFrame, stem: Path, *, title: str) -> None:
    """Draw values with intervals: a panel for each set of conditions, a row for each model, the best first."""
    panels = [
        (str(panel), of)
        for panel, of in values.groupby("panel", sort=False)
        if not of["published"].all()
    ]
    panels = panels[:_MOST_PANELS]
    rows = ["label", "published"]
    orders = [
        of.groupby(rows)["value"].max().sort_values(ascending=False).head(_MOST_ROWS)
        for _, of in panels
    ]
    with drawing({}):
        figure, all_axes = _figure(title, panels=[1 + len(order) for order in orders])
        for axes, (panel, of), order in zip(all_axes, panels, orders, strict=True):
            shown = of.merge(order.reset_index()[rows].reset_index(names="y"), on=rows)
            side = shown["variant"].map(_place_of) - 0.5
            _draw_dots(
                axes,
                shown.assign(y=shown["y"] + 0.24 * side * (of["variant"].nunique() > 1)),
                "value",
                "y",
            )
            _name_rows(axes, [label for label, _ in order.index])
            _name_panel(axes, panel)
        all_axes[-1].set_xlabel("percent, or points of 100")
        _legend(figure, sorted(values["variant"].unique()))
        save(figure, stem)


def draw_forest(lines: pd.DataFrame, stem: Path, *, title: str) -> list[Path]:
    """Draw the differences of `compare.compare` with their intervals, a row for each run and group of rows."""
    lines = lines.head(2 * _MOST_ROWS)
    single = len(lines.groupby(["task", "run"])) == 1
    with drawing({}):
        figure, (axes,) = _figure(title, panels=[len(lines) + 1])
        axes.axvline(0, color="#888888", linewidth=0.8)
        names = []
        for place, one in enumerate(lines.to_dict("records")):
            scale = 100 if one["unit"] == 1 else 1
            low, middle, high = (scale * one[f"difference{end}"] for end in ("_low", "", "_high"))
            axes.hlines(place, low, high, color=COLORS[0], alpha=0.5, linewidth=3)
            axes.plot(
                middle, place, marker="o" if one["group"] else "D", markersize=4, color=COLORS[0]
            )
            where, runs = one["group"] or one["task"], f"{one['run']} − {one['against']}"
            if not one["task"]:  # a statement's effect
                where, runs = f"{one['metric']}, {where}", f"{one['run']}, {one['heading']}"
            name = where if one["group"] and single else f"{where}: {runs}"
            names.append(f"{name}  (n={one['pairs']:,})")
        _name_rows(axes, names)
        axes.set_xlabel("difference (percentage points, or points of 100)")
        return save(figure, stem)


def draw_points(
    values: pd.DataFrame, stem: Path, *, title: str, x_label: str, front: bool = False
) -> None:
    """Draw values with intervals against their column `x`: a panel for each set of conditions, the fullest first.

    With `front` a line joins the points that no other beats in both.
    """
    panels = sorted(values.groupby("panel", sort=False), key=lambda one: -len(one[1]))[
        :_MOST_PANELS
    ]
    with drawing({}):
        figure, all_axes = _figure(title, panels=[14] * len(panels), sharex=False)
        for axes, (panel, of) in zip(all_axes, panels, strict=True):
            _draw_dots(axes, of, "x", "value")
            for one in of.to_dict("records") if len(of) <= _MOST_NAMES else ():
                name = _short(one["label"]) + (
                    " (≈)" if front and "tokens_out" in one["estimated"] else ""
                )
                place = (one["x"], one["value"])
                axes.annotate(name, place, xytext=(4, 2), textcoords="offset points", fontsize=6)
            for variant, own in of.groupby("variant") if front else ():
                best = pareto(zip(own["x"], own["value"], strict=True))
                color = COLORS[_place_of(variant)]
                axes.step(
                    *zip(*best, strict=True), where="post", color=color, linestyle=":", linewidth=1
                )
            _name_panel(axes, str(panel))
            axes.set_ylabel("percent, or points")
            axes.grid()
            axes.margins(x=0.15)
            axes.set_xlim(left=0 if front else None)
        all_axes[-1].set_xlabel(x_label)
        _legend(figure, sorted(values["variant"].unique()), _FRONT_CAPTION if front else _CAPTION)
        save(figure, stem)


def _draw_dots(axes: "Axes", values: pd.DataFrame, x: str, y: str) -> None:
    """Draw values, which are one of the two columns, and their intervals."""
    for (variant, published), own in values.groupby(["variant", "published"]):
        number, known = _place_of(variant), own.dropna(subset=["low"])
        line, at = (axes.hlines, y) if x == "value" else (axes.vlines, x)
        line(known[at], known["low"], known["high"], color=COLORS[number], alpha=0.4, linewidth=2)
        fill = "white" if published else COLORS[number]
        axes.plot(
            own[x],
            own[y],
            MARKERS[number],
            color=COLORS[number],
            markersize=4,
            markerfacecolor=fill,
        )


def _biases(report: Report, folder: Path) -> None:
    from fin_tasks.benchmarks.dynostock.experiment import by_window
    from fin_tasks.benchmarks.dynostock.window_figure import draw_windows
    from fin_tasks.report.compare import compare_statements, statement_rows

    for variant in _VARIANTS:
        try:
            rows, _ = statement_rows(report, variant=variant)
        except DataError:
            continue  # no rows of bias tasks
        for bias, of_bias in by_window(rows).groupby("bias"):
            stem = folder / f"dynostock_{bias}_{variant}"
            draw_windows(of_bias, stem, title=f"{str(bias).capitalize()} bias, {variant}")
        lines = compare_statements(report, variant=variant).lines
        if len(effects := lines[lines["pairs"] > 0]):
            draw_forest(
                effects, folder / f"dynostock_effects_{variant}", title=f"Effects, {variant}"
            )


def _place_of(variant: object) -> int:
    """Return the place of a variant among colors and markers; own filters share the third one."""
    name = str(variant)
    return _VARIANTS.index(name) if name in _VARIANTS else len(_VARIANTS)


def _figure(
    title: str, *, panels: Sequence[int], sharex: bool = True
) -> "tuple[Figure, Sequence[Axes]]":
    """Return a figure with a panel for each height, in rows."""
    from matplotlib.figure import Figure

    figure = Figure(
        figsize=(7.2, 1.4 + 0.2 * sum(panels) + 0.3 * len(panels)), layout="constrained"
    )
    axes = figure.subplots(
        len(panels), 1, squeeze=False, sharex=sharex, height_ratios=list(panels)
    )[:, 0]
    figure.suptitle(escape(title), x=0.012, ha="left", fontsize=11, fontweight="bold")
    return figure, list(axes)


def _name_panel(axes: "Axes", name: str) -> None:
    axes.set_title(
        "\n".join(textwrap.wrap(escape(name), 100)), loc="left", fontsize=8, fontweight="bold"
    )


def _name_rows(axes: "Axes", names: Sequence[str]) -> None:
    axes.set_yticks(range(len(names)), [_short(name, 60) for name in names])
    axes.set_ylim(len(names) - 0.4, -0.6)  # the first row on top
    axes.tick_params(axis="y", length=0)
    axes.grid(axis="x")


def _legend(figure: "Figure", variants: Sequence[str], caption: str = _CAPTION) -> None:
    from matplotlib.lines import Line2D

    handles = [
        Line2D(
            [],
            [],
            linestyle="none",
            marker=MARKERS[_place_of(one)],
            color=COLORS[_place_of(one)],
            label=f"{one} scores",
        )
        for one in variants
    ]
    figure.legend(
        handles=handles,
        loc="outside lower left",
        ncols=2,
        frameon=False,
        title=caption,
        alignment="left",
    )


def _short(name: str, most: int = 40) -> str:
    text = escape(name)
    return text if len(text) <= most else f"{text[: most - 1]}…"
