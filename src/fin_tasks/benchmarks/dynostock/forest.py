"""The effects of an experiment as a forest plot, and its tables as CSV."""

import csv
import math
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fin_tasks.benchmarks.dynostock.effects import BiasReport, Effect, Group
from fin_tasks.sandbox import escape

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["arm_rows", "contrast_name", "draw_effects", "effect_rows", "group_name", "write_rows"]

_PANELS = (
    ("probability", "(a) Stated probability", "towards the signal (percentage points)"),
    ("answer", "(b) Answers equal to the signal", "change (percentage points)"),
)
_COLOURS = {
    ("signal", "none"): "#D55E00",
    ("flipped", "none"): "#0072B2",
    ("aligned", "none"): "#009E73",
    ("signal", "flipped"): "#000000",
}
_ROW = 0.19  # inches


def draw_effects(report: BiasReport) -> "Figure":
    """Draw every effect on probabilities and answers with its interval, one row each, effects over all sizes bold.

    Args:
        report: With at least one effect.

    Returns:
        The figure, 8.6 inches wide and as high as its rows. To be made and saved within `plots.drawing`.
    """
    from matplotlib.figure import Figure
    from matplotlib.transforms import blended_transform_factory

    rows = list(_rows(report.effects))
    figure = Figure(figsize=(8.6, 1.1 + _ROW * len(rows)), layout="constrained")
    panels = figure.subplots(1, 2, sharey=True)
    by_row = {_key(effect, effect.measure): effect for effect in report.effects}
    for axes, (measure, title, what) in zip(panels, _PANELS, strict=True):
        axes.axvline(0, color="#888888", linewidth=0.8, zorder=1)
        for place, row in enumerate(rows):
            if isinstance(row, Effect):
                _mark(axes, place, by_row[_key(row, measure)])
        _finish(axes, title, what)
    left = panels[0]
    left.set_ylim(len(rows) - 0.4, -0.6)  # the first row on top
    places = [place for place, row in enumerate(rows) if isinstance(row, Effect)]
    left.set_yticks(places, [_label(row, rows[place - 1]) for place, row in enumerate(rows) if isinstance(row, Effect)])
    for tick, place in zip(left.get_yticklabels(), places, strict=True):
        tick.set_fontweight("bold" if _leads(rows[place]) else "normal")
    across = blended_transform_factory(figure.transFigure, left.transData)
    for place, row in enumerate(rows):
        if isinstance(row, str):
            left.text(0.012, place, row, transform=across, va="center", fontweight="bold", in_layout=False)
    figure.suptitle("Effect of the biased statement", x=0.012, ha="left", fontsize=11, fontweight="bold")
    caption = f"Mean of paired windows, 95 % cluster bootstrap intervals (tickers). Parser: {report.parser}."
    figure.text(0.988, 1 - 0.1 / figure.get_figheight(), caption, ha="right", va="top", fontsize=6.5, color="#555555")
    return figure


def group_name(group: Group) -> str:
    """Name a group in a line, safe to print."""
    names = {None: "named less anonymised", True: "anonymised", False: ""}[group.anonymised]
    parts = (group.model, group.bias_type, group.mode, names, f"{group.prompts} prompts")
    return escape(" · ".join(part for part in parts if part))


def contrast_name(effect: Effect) -> str:
    """Name what is compared with what.

    Example:
        >>> from types import SimpleNamespace
        >>> contrast_name(SimpleNamespace(first="signal", second="none", arm=""))
        'signal − none'
    """
    return f"{effect.first} − {effect.second}" + (f" ({effect.arm})" if effect.arm else "")


def effect_rows(report: BiasReport) -> list[dict[str, Any]]:
    """Return the effects as flat rows, None where there is no number; shares and probabilities are fractions."""
    return [
        {
            **_group_columns(effect.group, effect.window),
            "first": effect.first,
            "second": effect.second,
            "arm": effect.arm,
            "measure": effect.measure,
            "effect": _number(effect.difference.mean),
            "low": _number(effect.difference.interval.low),
            "high": _number(effect.difference.interval.high),
            "pairs": effect.difference.n,
            "tickers": effect.difference.clusters,
            "only_first": effect.difference.only_first,
            "only_second": effect.difference.only_second,
            "mcnemar_p": effect.difference.p,
            "unpaired": effect.unpaired,
            "without_value": effect.without_value,
        }
        for effect in report.effects
    ]


def arm_rows(report: BiasReport) -> list[dict[str, Any]]:
    """Return the arms' summaries as flat rows, None where there is no number; shares are fractions."""
    return [
        {
            **_group_columns(summary.group, summary.window),
            **{name: value for name, value in vars(summary).items() if name not in ("group", "window")},
        }
        for summary in report.arms
    ]


def write_rows(rows: Sequence[dict[str, Any]], path: Path) -> None:
    """Write rows as CSV, with at least one row; texts are made safe to print, no number is an empty cell."""
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows({k: escape(v) if isinstance(v, str) else v for k, v in row.items()} for row in rows)


def _group_columns(group: Group, window: int | None) -> dict[str, Any]:
    return {**vars(group), "window": window}


def _number(value: float) -> float | None:
    return value if math.isfinite(value) else None


def _key(effect: Effect, measure: str) -> tuple[Any, ...]:
    return (effect.group, effect.window, effect.first, effect.second, effect.arm, measure)


def _rows(effects: Sequence[Effect]) -> Iterator[Effect | str]:
    """Give the rows from top to bottom: a heading per group, then contrasts, the pooled effect before the sizes."""
    groups: dict[Group, dict[str, list[Effect]]] = {}
    for effect in effects:
        if effect.measure == _PANELS[0][0]:
            groups.setdefault(effect.group, {}).setdefault(contrast_name(effect), []).append(effect)
    for group, contrasts in groups.items():
        yield group_name(group)
        for of_contrast in contrasts.values():
            yield from sorted(of_contrast, key=lambda effect: effect.window or 0)


def _leads(row: Effect | str) -> bool:
    return isinstance(row, Effect) and row.window is None


def _label(effect: Effect, above: Effect | str) -> str:
    name = f"arm {effect.arm}" if effect.arm else contrast_name(effect)
    if effect.window is None:
        return name
    size = f"{effect.window} reports"
    follows = isinstance(above, Effect) and contrast_name(above) == contrast_name(effect)
    return size if follows else f"{name}, {size}"


def _mark(axes: "Axes", place: int, effect: Effect) -> None:
    difference = effect.difference
    if not difference.n:
        axes.text(1.02, place, "no pairs", transform=axes.get_yaxis_transform(), va="center", fontsize=6)
        return
    colour = _COLOURS.get((effect.first, effect.second), "#CC79A7")
    mean, low, high = (100 * value for value in (difference.mean, difference.interval.low, difference.interval.high))
    pooled = _leads(effect)
    axes.hlines(place, low, high, color=colour, alpha=0.45, linewidth=3.2 if pooled else 2)
    look: Any = {"marker": "D", "markersize": 4.5} if pooled else {"marker": "o", "markersize": 3.2}
    axes.plot(mean, place, color=colour, markeredgecolor="white", markeredgewidth=0.4, **look)
    words = f"{mean:+.1f} [{low:.1f}, {high:.1f}]".replace("-", "−") + f"  n={difference.n}"
    axes.text(1.02, place, words, transform=axes.get_yaxis_transform(), va="center", fontsize=6)


def _finish(axes: "Axes", title: str, what: str) -> None:
    from matplotlib.ticker import MaxNLocator

    axes.set_title(title)
    axes.xaxis.set_major_locator(MaxNLocator(nbins=6, steps=[1, 2, 5, 10]))
    axes.set_xlabel(what)
    axes.grid(axis="x")
    axes.margins(x=0.06)
    axes.spines["left"].set_visible(False)
    axes.patch.set_visible(False)  # headings run across both panels
    axes.tick_params(axis="y", length=0)
