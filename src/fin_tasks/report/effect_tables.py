"""The effects of statements as a Markdown table and a figure in a report, and as rows for people."""

from collections.abc import Sequence
from math import isnan
from pathlib import Path

from pandas import DataFrame

from fin_tasks.benchmarks.scored_task import SCORINGS
from fin_tasks.charts.figures import drawing, save
from fin_tasks.errors import DataError, escape

from .conditions import WORDS
from .effects import NO_MITIGATION, Effect, effects_of, points
from .markdown import safe
from .model import Report

_ABOUT = (
    "How far a statement moves the stated probability of what it says, in percentage points; of a rise, if it says "
    "nothing of the price. Each value is over windows that were asked with and without the statement, and has a 95 % "
    "interval clustered by stock. The column of a mitigation holds the same for prompts with this mitigation. Flipped: "
    "the share of forecasts that the statement changed from a rise to a fall, or back. Led by the statement: of the "
    "wrong forecasts, the share that follow it (the paper's bias index). Charts: the share of questions about the "
    "charts, or tables, that the model answers right, and the share that its answers would get by chance."
)
NO_INDEX = (
    "A dash under `Led by the statement`: no forecast with the statement is wrong, or the share does not apply, "
    "because the statement says nothing of the price or is not the biased one."
)
_COLORS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9")
_MAX_ROWS = 80
_MAX_NAME = 100


def write_effects(report: Report, tables: Path, figures: Path) -> None:
    """Write a table and a figure of the effects of statements, if the report has rows of them."""
    sections = []
    for scoring in SCORINGS:
        try:
            effects = effects_of(report, scoring)
        except DataError:
            continue
        draw_effects(effects, figures / f"dynostock_effects_{scoring}", scoring)
        sections += [f"## {scoring}", _markdown(effects)]
        if any(isnan(effect.bias_index) for effect in effects):
            sections.append(NO_INDEX)
    if sections:
        text = "\n\n".join(["# DynoStock: what statements do", _ABOUT, *sections])
        (tables / "dynostock_effects.md").write_text(f"{text}\n", "utf-8")


def _markdown(effects: Sequence[Effect]) -> str:
    """Return a table with a row for each statement, and a column for each mitigation."""
    mitigations = list(dict.fromkeys(effect.mitigation for effect in effects))
    mitigations.sort(key=lambda name: name != NO_MITIGATION)
    cells: dict[tuple[str, str], dict[str, Effect]] = {}
    for effect in effects:
        row = cells.setdefault((heading_of(effect), statement_of(effect)), {})
        row[effect.mitigation] = effect
    names = [safe(name.replace("_", " ")) or "No mitigation" for name in mitigations]
    header = [
        "Model",
        "Statement",
        *names,
        "Flipped",
        "Led by the statement",
        "Charts",
        "Windows",
    ]
    lines = [
        header,
        ["---", "---", *["---:"] * len(names), "---:", "---:", "---", "---:"],
    ]
    for (heading, statement), by_mitigation in cells.items():
        texts = []
        for name in mitigations:
            known = by_mitigation.get(name)
            texts.append(change_text(known) if known else "–")
        first = next(iter(by_mitigation.values()))
        figures = [share(first.flipped), index_text(first), charts_text(first)]
        windows = f"{first.n_windows} of {first.n_stocks} stocks"
        lines.append([safe(heading), safe(statement), *texts, *figures, windows])
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def table_of_effects(effects: Sequence[Effect]) -> DataFrame:
    """Return the effects as a table for a file."""
    rows = []
    for effect in effects:
        row = effect._asdict()
        reading = row.pop("read")
        row["charts_read"] = reading.read if reading else None
        row["charts_chance"] = reading.chance if reading else None
        row["charts"] = charts_text(effect)
        rows.append(row)
    return DataFrame(rows)


def heading_of(effect: Effect) -> str:
    """Name the model, and which windows it saw how."""
    parts = [effect.model, f"{effect.windows} windows", WORDS["mode"][effect.mode]]
    if effect.anonymized:
        parts.append("anonymized")
    return ", ".join(parts)


def statement_of(effect: Effect) -> str:
    """Name a statement, and its arm if that is not the usual one."""
    name = effect.statement.replace("_", " ")
    return name if effect.arm == "signal" else f"{name}, {effect.arm}"


def change_text(effect: Effect) -> str:
    """Return a change in points with its interval."""
    if isnan(effect.low):
        return points(effect.change)
    return f"{points(effect.change)} [{points(effect.low)}, {points(effect.high)}]"


def index_text(effect: Effect) -> str:
    """Return the bias index; a dash if it is not defined."""
    return "–" if isnan(effect.bias_index) else share(effect.bias_index)


def charts_text(effect: Effect) -> str:
    """Return the share of charts that the model reads, or that its forecasts cannot be interpreted."""
    if effect.read is None:
        return "not asked"
    text = f"{share(effect.read.read)} read, {share(effect.read.chance)} by chance"
    return f"cannot be interpreted: {text}" if effect.read.is_chance else text


def share(value: float) -> str:
    """Return a share in percent."""
    return "–" if isnan(value) else f"{value:.0%}"


def draw_effects(effects: Sequence[Effect], stem: Path, scoring: str) -> None:
    """Draw the change that each statement makes under each mitigation, a color for each model."""
    from matplotlib.figure import Figure

    effects = list(effects)[:_MAX_ROWS]
    headings = list(dict.fromkeys(map(heading_of, effects)))
    rows = list(dict.fromkeys(map(_row_name, effects)))
    with drawing():
        size = (7.2, 1.6 + 0.24 * len(rows) + 0.2 * len(headings))
        figure = Figure(figsize=size, layout="constrained")
        axes = figure.subplots()
        for number, heading in enumerate(headings):
            of_model = [effect for effect in effects if heading_of(effect) == heading]
            shift = 0.5 * ((number + 0.5) / len(headings) - 0.5)
            heights = [rows.index(_row_name(effect)) + shift for effect in of_model]
            table = 100 * DataFrame(of_model)[["change", "low", "high"]].astype(float)
            table = table.fillna({"low": table["change"], "high": table["change"]})
            axes.errorbar(
                table["change"],
                heights,
                xerr=[table["change"] - table["low"], table["high"] - table["change"]],
                fmt="o",
                color=_COLORS[number % len(_COLORS)],
                elinewidth=1,
                markersize=4,
                label=escape(heading)[:_MAX_NAME],
            )
        axes.axvline(0, color="#888888", linewidth=0.8)
        axes.set_yticks(range(len(rows)), [escape(row)[:_MAX_NAME] for row in rows])
        axes.set_ylim(len(rows) - 0.4, -0.6)
        axes.tick_params(axis="y", length=0)
        axes.grid(axis="x")
        axes.set_xlabel(
            "points toward what is said (a rise, if it says nothing), 95 % intervals"
        )
        title = f"What statements do to forecasts, {scoring}"
        figure.suptitle(title, x=0.012, ha="left", fontsize=11, fontweight="bold")
        figure.legend(loc="outside lower left")
        save(figure, stem)


def _row_name(effect: Effect) -> str:
    if not effect.mitigation:
        return statement_of(effect)
    return f"{statement_of(effect)}, with {effect.mitigation.replace('_', ' ')}"
