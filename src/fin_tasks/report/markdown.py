"""Tables in Markdown: those of the papers, the conditions of each benchmark, and costs."""

import math
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

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
_SPLITS = {"": "", "sample": "packaged sample", "own": "own data"}
_SCORINGS = {"paper": "scored as the authors do", "robust": "scored robustly"}
_NOT_NAMED = ("", "cot", "pot", "none")  # conditions that are usual, or stand in the header

Line = dict[str, Any]
"""A line of `tables.values_table`."""


class _Table(BaseModel):
    """A table of `tables.yaml`; a column is a header and `task metric`, with `pot` for programs."""

    title: str
    about: str
    columns: dict[str, str]
    mean_over_windows: list[int] = []
    """Window sizes of which the mean is shown."""
    hides_usual_split: bool = False


_TABLES = TypeAdapter(dict[str, _Table])


class _Row(NamedTuple):
    label: str
    is_published: bool


Section = dict[_Row, dict[str, Line]]
"""The lines of a Markdown table by row and header."""


def write_tables(values: pd.DataFrame, folder: Path) -> None:
    """Write each table of the benchmarks' `tables.yaml` that has a value, and a table of conditions, into a folder."""
    for name, benchmark in known_benchmarks().items():
        tables = _TABLES.validate_python(yaml.safe_load(benchmark.text_of("tables.yaml") or "{}"))
        for stem, table in tables.items():
            sections = _sections(table, values)
            _write(folder / f"{stem}.md", table.title, table.about, sections, table.columns)
        about = "The headline of each task under all conditions in which it was asked."
        conditions = _conditions_sections(values[values["benchmark"] == name])
        title = f"{benchmark.title}: conditions"
        _write(folder / f"{name}_conditions.md", title, about, conditions)


def _write(
    path: Path,
    title: str,
    about: str,
    sections: Mapping[str, Section],
    columns: Iterable[str] = (),
) -> None:
    parts = [f"# {title}", about]
    for heading, section in sections.items():
        headers_with_value = dict.fromkeys(header for cells in section.values() for header in cells)
        headers = [
            header for header in columns or headers_with_value if header in headers_with_value
        ]
        parts += [f"## {safe(heading)}", *_section_parts(section, headers)]
    if sections:
        path.write_text("\n\n".join(parts) + "\n", encoding="utf-8")


def _sections(table: _Table, values: pd.DataFrame) -> dict[str, Section]:
    """Return the lines of a table, a section for each set of conditions."""
    sections: dict[str, Section] = defaultdict(lambda: defaultdict(dict))
    for header, column in table.columns.items():
        task, metric, *mode = column.split()
        is_shown = ((values["mode"] == "pot") == (mode == ["pot"])) & values["value"].notna()
        lines = values[is_shown & (values["metric"].str.removesuffix("_std") == metric)]
        if table.mean_over_windows:
            lines = _means_over_windows(lines, task, metric, table.mean_over_windows)
        for line in lines[(lines["task"] == task) & (lines["metric"] == metric)].to_dict("records"):
            heading = _heading(line, hides_usual_split=table.hides_usual_split)
            row = _Row(line["label"], line["source"] == "published")
            sections[heading][row][header] = line
    return sections


def _conditions_sections(values: pd.DataFrame) -> dict[str, Section]:
    """Return the headlines of tasks that a model was asked under several conditions, side by side."""
    sections: dict[str, Section] = {}
    measured = values[(values["source"] != "published") & values["value"].notna()]
    for (task, variant), lines in measured.groupby(["task", "variant"], sort=False):
        about = known_benchmarks()[lines["benchmark"].iloc[0]]
        metric = about.headline(list(lines["metric"]))
        section: Section = defaultdict(dict)
        for line in lines[lines["metric"] == metric].to_dict("records"):
            header = ", ".join(line[name] for name in CONDITIONS[1:] if line[name]) or "usual"
            cells = section[_Row(line["model"], is_published=False)]
            if header not in cells or not line["marks"]:
                cells[header] = line
        if any(len(cells) > 1 for cells in section.values()):
            sections[f"{task}, {_SCORINGS.get(variant, variant)}"] = section
    return sections


def _section_parts(section: Section, headers: Sequence[str]) -> Iterator[str]:
    """Yield the Markdown table of a section, and its notes."""
    order = {
        row: [_sort_key(cells.get(header)) for header in headers] for row, cells in section.items()
    }
    measured = [keys for row, keys in order.items() if not row.is_published]
    best = [min(column) for column in zip(*measured, strict=True)] if len(measured) > 1 else []
    notes: dict[str, int] = {}
    table: list[list[str]] = [["Model", *headers], ["---", *["---:"] * len(headers)]]
    for row in sorted(section, key=lambda row: order[row]):
        texts = [safe(row.label) + (", *published*" if row.is_published else "")]
        for number, header in enumerate(headers):
            line = section[row].get(header)
            is_best = bool(best) and not row.is_published and order[row][number] == best[number]
            texts.append(_cell_text(line, notes, is_best=is_best))
        table.append(texts)
    yield "\n".join(f"| {' | '.join(texts)} |" for texts in table)
    if notes:
        yield "\n".join(f"- ({number}) {safe(note)}" for note, number in notes.items())


def _sort_key(line: Line | None) -> tuple[int, float]:
    if line is None:
        return (2, 0.0)
    sign = 1 if metric_of(line["metric"]).higher_is_better is False else -1
    return (int(bool(line["marks"])), sign * line["value"])


def _cell_text(line: Line | None, notes: dict[str, int], *, is_best: bool) -> str:
    """Return a value, bold if it is the best, with the number of its note; a new note gets the next number."""
    if line is None:
        return "–"
    text = _number(line)
    note = "; ".join(part for part in (line["marks"], line["notes"]) if part)
    if note:
        return f"{text} ({notes.setdefault(note, len(notes) + 1)})"
    return f"**{text}**" if is_best else text


def _number(line: Line) -> str:
    scale = 100 if line["unit"] == "fraction" else 1
    digits = 1 if line["unit"] == "fraction" else 2

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


def _heading(line: Line, *, hides_usual_split: bool) -> str:
    """Name the conditions of a section."""
    split = line["split"]
    if hides_usual_split and split == known_benchmarks()[line["benchmark"]].usual_split:
        split = ""
    words = [_SPLITS.get(split, f"{split} split")]
    words += [line[name] for name in ("mode", "style", "retrieval", "arm")]
    visible = [word for word in words if word not in _NOT_NAMED]
    variant = str(line["variant"])
    return ", ".join([*visible, _SCORINGS.get(variant, variant)])


def _means_over_windows(
    values: pd.DataFrame,
    task: str,
    metric: str,
    sizes: Sequence[int],
) -> pd.DataFrame:
    """Return the mean of a metric over window sizes with its deviation `std`, and the printed ones."""
    is_printed = values["source"] == "published"
    printed = values[is_printed & (values["task"] == task)]
    deviations = printed[printed["metric"] != metric].set_index("label")["value"]
    is_sized = values["window"].isin(sizes) & values["task"].str.startswith(f"{task}_")
    groups = values[~is_printed & is_sized].groupby(
        ["label", "variant", *CONDITIONS[1:]], sort=False
    )
    means = groups.agg(
        value=("value", "mean"),
        std=("value", lambda column: column.std(ddof=0)),
        n_windows=("value", "size"),
        marks=("marks", lambda column: "; ".join(dict.fromkeys(filter(None, column)))),
        notes=("notes", lambda column: _OPEN if column.str.contains("cut").any() else ""),
        benchmark=("benchmark", "first"),
        source=("source", "first"),
        unit=("unit", "first"),
    )
    means = means.reset_index().assign(
        task=task,
        metric=metric,
        low=math.nan,
        n_all_windows=len(sizes),
    )
    whole = printed[printed["metric"] == metric]
    return pd.concat([means, whole.assign(std=whole["label"].map(deviations))])


def write_costs(board: Leaderboard, folder: Path) -> None:
    """Write the tokens, seconds and cost of each task and run as `costs.md`, if any is known."""
    currency = "no prices given"
    if board.prices:
        date = f" {board.prices.date}" if board.prices.date else ""
        currency = safe(f"{board.prices.currency}{date}")
    table = [
        f"| Model | Task | Tokens in | Tokens out | Seconds | Cost ({currency}) |",
        "| --- | --- | ---: | ---: | ---: | ---: |",
    ]
    parts = Counter(cost.path for cost in board.costs)
    for cost in board.costs:
        is_shown = cost.task or parts[cost.path] > 2  # the only task is the whole run
        texts = [cost_text(cost, name) for name in COSTS]
        if is_shown and any(texts):
            cells = [
                safe(cost.model),
                cost.task or "**all tasks**",
                *(text or "–" for text in texts),
            ]
            table.append(f"| {' | '.join(cells)} |")
    if len(table) > 2:
        about = "What each run used. The judge's tokens are not included. ≈: an estimate."
        text = "\n\n".join(["# Tokens, time and cost", about, "\n".join(table)])
        (folder / "costs.md").write_text(text + "\n", encoding="utf-8")


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
    for character, entity in (("&", "&amp;"), ("<", "&lt;"), (">", "&gt;")):
        visible = visible.replace(character, entity)
    return _WWW.sub(r"\1\\.", visible)
