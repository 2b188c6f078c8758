"""Tables in Markdown: those of the papers, the conditions of each benchmark, and costs."""

import html
import math
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import pandas as pd
import yaml
from pydantic import BaseModel, TypeAdapter

from fin_tasks.report.conditions import CONDITIONS
from fin_tasks.report.cost import COSTS
from fin_tasks.report.leaderboard_model import Cost, Leaderboard
from fin_tasks.report.model import known_benchmarks, metric_of
from fin_tasks.sandbox import escape

_OPEN = "not certain, as responses were cut off"
"""Note on a mean over windows, whose values have notes of their own."""
_MARKUP = re.compile(r"([\\`*_\[\]|~$#@])|(:)(?=//)")
_WWW = re.compile(r"(?i)\b(www)\.")  # GitHub makes a link of it
_MAX_TEXT = 400
_SCORINGS = {"paper": "scored as the authors do", "robust": "scored robustly"}
_NOT_NAMED = (
    "",
    "cot",
    "pot",
    "none",
)  # conditions that are usual, or stand in the header
_ROW = ["label", "published"]
_MARKED = 1e6  # added to a rank

Line = dict[str, Any]
"""A line of `tables.values_table`."""


class _Table(BaseModel):
    """A table of `tables.yaml`; a column is a header and `task metric`, with `pot` for programs."""

    title: str
    about: str
    columns: dict[str, str]
    mean_over_windows: list[int] = []
    """Window sizes of which the mean is shown."""


_TABLES = TypeAdapter(dict[str, _Table])


def write_tables(values: pd.DataFrame, folder: Path) -> None:
    """Write each table of the benchmarks' `tables.yaml` that has a value, and a table of conditions, into a folder."""
    values = values[values["value"].notna()].assign(
        published=values["source"] == "published"
    )
    for name, benchmark in known_benchmarks().items():
        tables = _TABLES.validate_python(
            yaml.safe_load(benchmark.text_of("tables.yaml") or "{}")
        )
        for stem, table in tables.items():
            lines = _lines_of(table, values)
            _write(
                folder / f"{stem}.md",
                table.title,
                table.about,
                lines,
            )
        about = "The headline of each task under all conditions in which it was asked."
        measured = values[(values["benchmark"] == name) & ~values["published"]]
        title = f"{benchmark.title}: conditions"
        _write(
            folder / f"{name}_conditions.md",
            title,
            about,
            _lines_by_condition(measured),
        )


def _lines_of(table: _Table, values: pd.DataFrame) -> pd.DataFrame:
    """Return the lines of a table with the header of each column, and the heading of each section."""
    parts = []
    for header, column in table.columns.items():
        task, metric, *mode = column.split()
        lines = values[(values["mode"] == "pot") == (mode == ["pot"])]
        if table.mean_over_windows:
            lines = _means_over_windows(
                lines,
                task,
                metric,
                table.mean_over_windows,
            )
        is_shown = (lines["task"] == task) & (lines["metric"] == metric)
        parts.append(lines[is_shown].assign(header=header))
    lines = pd.concat(parts)
    return lines.assign(heading=[_heading(line) for line in lines.to_dict("records")])


def _heading(line: Line) -> str:
    """Name the conditions that are not the usual ones, and the scoring."""
    usual = {*_NOT_NAMED, known_benchmarks()[line["benchmark"]].usual_split}
    words = [line[name] for name in CONDITIONS[1:] if line[name] not in usual]
    return ", ".join([*words, _scoring(line["variant"])])


def _scoring(variant: str) -> str:
    return _SCORINGS.get(variant, variant)


def _lines_by_condition(values: pd.DataFrame) -> pd.DataFrame:
    """Return the headlines of tasks that a model was asked under several conditions, side by side."""
    parts = [values.head(0).assign(header="", heading="")]
    for (task, variant), lines in values.groupby(["task", "variant"], sort=False):
        benchmark = known_benchmarks()[lines["benchmark"].iloc[0]]
        headlines = lines[lines["metric"] == benchmark.headline(list(lines["metric"]))]
        conditions = headlines[list(CONDITIONS[1:])]
        headers = conditions.agg(
            lambda row: ", ".join(filter(None, row)) or "usual", axis=1
        )
        part = headlines.assign(header=headers, label=headlines["model"])
        if part.groupby("model")["header"].nunique().max() > 1:
            parts.append(part.assign(heading=f"{task}, {_scoring(variant)}"))
    return pd.concat(parts)


def _write(
    path: Path,
    title: str,
    about: str,
    lines: pd.DataFrame,
) -> None:
    parts = [f"# {title}", about]
    for heading, section in lines.groupby("heading", sort=False):
        parts += [f"## {safe(heading)}", *_section_parts(section)]
    if len(lines):
        path.write_text("\n\n".join(parts) + "\n", encoding="utf-8")


def _section_parts(lines: pd.DataFrame) -> list[str]:
    """Return the Markdown table of a section, the best row first, and its notes."""
    headers = list(lines["header"].unique())
    lines = lines.sort_values(
        "marks",
        key=lambda marks: marks == "",
        kind="stable",
    )
    lines = lines.drop_duplicates(
        [*_ROW, "header"], keep="last"
    )  # without marks if there is one
    is_marked = lines["marks"] != ""
    is_less_better = [
        metric_of(name).higher_is_better is False for name in lines["metric"]
    ]
    lines["rank"] = (
        lines["value"].where(is_less_better, -lines["value"]) + _MARKED * is_marked
    )
    ranks = lines.pivot(
        index=_ROW,
        columns="header",
        values="rank",
    )[headers].fillna(math.inf)
    lines = lines.set_index(_ROW).loc[ranks.sort_values(headers).index].reset_index()
    measured = lines[~lines["published"]]
    best = (
        measured.groupby("header")["rank"].min()
        if measured["label"].nunique() > 1
        else {}
    )
    notes: dict[str, int] = {}
    rows: dict[str, dict[str, str]] = {}
    for line in lines.to_dict("records"):
        name = safe(line["label"]) + (", *published*" if line["published"] else "")
        text = number_text(line)
        note = "; ".join(filter(None, (line["marks"], line["notes"])))
        if note:
            text += f" ({notes.setdefault(note, len(notes) + 1)})"
        elif not line["published"] and line["rank"] == best.get(line["header"]):
            text = f"**{text}**"
        rows.setdefault(name, {})[line["header"]] = text
    cells = [[name, *map(texts.get, headers)] for name, texts in rows.items()]
    parts = [_table_text(["Model", *headers], cells)]
    if notes:
        parts.append(
            "\n".join(f"- ({number}) {safe(note)}" for note, number in notes.items())
        )
    return parts


def _table_text(
    header: Sequence[str], rows: Iterable[Sequence[str | None]], n_texts: int = 1
) -> str:
    """Return a Markdown table whose first columns are texts and the others numbers."""
    rules = ["---"] * n_texts + ["---:"] * (len(header) - n_texts)
    lines = []
    for row in (header, rules, *rows):
        lines.append(f"| {' | '.join(text or '–' for text in row)} |")
    return "\n".join(lines)


def number_text(line: Line) -> str:
    """Return a value with its interval, shares in percent."""
    scale = 1
    digits = 2
    if line["unit"] == "fraction":
        scale = 100
        digits = 1

    def number(name: str) -> str:
        return f"{scale * line[name]:.{digits}f}"

    text = number("value")
    if pd.notna(line.get("std")):
        text += f" ± {number('std')}"
    if line.get("n_windows", 0) < line.get("n_all_windows", 0):
        text += f" ({line['n_windows']:.0f} of {line['n_all_windows']:.0f} windows)"
    if pd.notna(line["low"]):
        text += f" [{number('low')}, {number('high')}]"
    return text


def _means_over_windows(
    values: pd.DataFrame,
    task: str,
    metric: str,
    sizes: Sequence[int],
) -> pd.DataFrame:
    """Return the mean of a metric over window sizes with its deviation `std`, and the printed ones."""
    is_sized = values["window"].isin(sizes) & values["task"].str.startswith(f"{task}_")
    measured = values[~values["published"] & is_sized & (values["metric"] == metric)]
    groups = measured.groupby(["label", "variant", *CONDITIONS[1:]], sort=False)
    means = groups.first().assign(
        task=task,
        value=groups["value"].mean(),
        std=groups["value"].std(ddof=0),
        low=math.nan,
        n_windows=groups.size(),
        n_all_windows=len(sizes),
        marks=groups["marks"].agg(
            lambda marks: "; ".join(filter(None, marks.unique()))
        ),
        notes=groups["notes"].agg(
            lambda notes: _OPEN if notes.str.contains("cut").any() else ""
        ),
    )
    printed = values[values["published"] & (values["task"] == task)]
    deviations = printed[printed["metric"] == f"{metric}_std"].set_index("label")[
        "value"
    ]
    return pd.concat(
        [means.reset_index(), printed.assign(std=printed["label"].map(deviations))]
    )


def write_costs(board: Leaderboard, folder: Path) -> None:
    """Write the tokens, seconds and cost of each task and run as `costs.md`, if any is known."""
    currency = "no prices given"
    if board.prices:
        currency = safe(f"{board.prices.currency} {board.prices.date or ''}".strip())
    rows = []
    n_by_path = Counter(cost.path for cost in board.costs)
    for cost in board.costs:
        is_shown = (
            cost.task or n_by_path[cost.path] > 2
        )  # the only task is the whole run
        texts = [cost_text(cost, name) for name in COSTS]
        if is_shown and any(texts):
            rows.append([safe(cost.model), cost.task or "**all tasks**", *texts])
    if rows:
        header = [
            "Model",
            "Task",
            "Tokens in",
            "Tokens out",
            "Seconds",
            f"Cost ({currency})",
        ]
        table = _table_text(header, rows, n_texts=2)
        about = (
            "What each run used. The judge's tokens are not included. ≈: an estimate."
        )
        text = f"# Tokens, time and cost\n\n{about}\n\n{table}\n"
        (folder / "costs.md").write_text(text, encoding="utf-8")


def cost_text(cost: Cost, name: str) -> str:
    """Return one of `COSTS` as text, estimates behind ≈; empty if it is not known."""
    value = getattr(cost, name)
    if value is None:
        return ""
    text = f"{value:.3g}" if name == "cost" and value < 1000 else f"{value:,.0f}"
    return f"≈ {text}" if name in cost.estimated else text


def safe(text: str) -> str:
    r"""Write text so that Markdown and HTML show it letter by letter, on one line."""
    visible = _MARKUP.sub(r"\\\g<0>", escape(text[:_MAX_TEXT]))
    return _WWW.sub(r"\1\\.", html.escape(visible, quote=False))
