"""Tables in Markdown, in the shape of the papers' tables."""

import html
import math
import re
from collections.abc import Sequence
from pathlib import Path

import yaml
from pandas import DataFrame, concat, notna
from pydantic import BaseModel, TypeAdapter

from fin_tasks.errors import escape

from . import Json
from .conditions import CONDITIONS, WORDS
from .leaderboard_model import QuestionCorrection
from .model import KNOWN_BENCHMARKS, WEIGHTED, metric_of

_MARKUP = re.compile(r"([\\`*_\[\]|~$#@])|(:)(?=//)")
_WWW = re.compile(r"(?i)\b(www)\.")  # GitHub makes a link of it
_MAX_TEXT = 400
_SCORINGS = {"paper": "scored as the authors do", "robust": "scored robustly"}
# Conditions that are usual, or stand in the header.
_NOT_NAMED = ("", "cot", "pot")
_ROW = ["label", "published"]
_NUMBERS = ["published", "value", "low", "high", "n", "uncorrected", "window"]
_TEXTS = ["benchmark", "metric", "unit", "scoring", "doubts", "remarks"]
_COLUMNS = ["label", *_TEXTS, *CONDITIONS, *_NUMBERS]
_CORRECTIONS = "corrections.md"
_DOUBTED = 1e6  # added to the order of rows with doubts, so that they stand last

Line = Json
"""A line of `tables.values_table`."""


class _Table(BaseModel):
    """A table of `tables.yaml`; a column is a header and `task metric`, with `pot` for programs."""

    title: str
    about: str
    columns: dict[str, str]
    mean_over_windows: list[int] = []
    """Window sizes of which the mean is shown."""


_TABLES = TypeAdapter(dict[str, _Table])


def write_tables(
    values: DataFrame,
    folder: Path,
    corrections: Sequence[QuestionCorrection] = (),
) -> None:
    """Write each table of `tables.yaml` that has a value, and the corrections of questions, into a folder."""
    if corrections:
        (folder / _CORRECTIONS).write_text(_corrections_text(corrections), "utf-8")
    values = values.assign(published=values["source"] == "published")
    values = values[_COLUMNS].dropna(subset="value")
    # The tables take many small parts of this one, which plain objects make much faster.
    texts = values.columns.difference(_NUMBERS)
    values = values.astype(dict.fromkeys(texts, object))
    for benchmark in KNOWN_BENCHMARKS.values():
        content = yaml.safe_load(benchmark.text_of("tables.yaml") or "{}")
        for stem, table in _TABLES.validate_python(content).items():
            lines = _lines_of(table, values)
            parts = [f"# {table.title}", table.about]
            for heading, section in lines.groupby("heading", sort=False):
                parts += [f"## {safe(heading)}", *_section_parts(section)]
            if lines["uncorrected"].notna().any():
                parts.append(f"[The corrections of questions]({_CORRECTIONS})")
            if len(lines):
                text = "\n\n".join(parts) + "\n"
                (folder / f"{stem}.md").write_text(text, "utf-8")


def _lines_of(table: _Table, values: DataFrame) -> DataFrame:
    """Return the lines of a table with the header of each column, and the heading of each section."""
    parts = []
    for header, column in table.columns.items():
        task, metric, *mode = column.split()
        is_mode = (values["mode"] == "pot") == (mode == ["pot"])
        lines = values[is_mode & values["metric"].isin([metric, f"{metric}_std"])]
        if table.mean_over_windows:
            sizes = table.mean_over_windows
            lines = _means_over_windows(lines, task, metric, sizes)
        is_shown = (lines["task"] == task) & (lines["metric"] == metric)
        parts.append(lines[is_shown].assign(header=header))
    lines = concat(parts)
    conditions = lines[["benchmark", "scoring", *CONDITIONS]].to_dict("records")
    return lines.assign(heading=[_heading(line) for line in conditions])


def _heading(line: Line) -> str:
    """Name the conditions that are not the usual ones, and the scoring."""
    usual = {*_NOT_NAMED, KNOWN_BENCHMARKS[line["benchmark"]].usual_split}
    words: list[str] = []
    for name in CONDITIONS[1:]:
        value = line[name]
        if value not in usual:
            words.append(str(WORDS.get(name, {}).get(str(value), value)))
    words.append(str(_SCORINGS.get(str(line["scoring"]), line["scoring"])))
    return ", ".join(word for word in words if word)


def _section_parts(lines: DataFrame) -> list[str]:
    """Return the Markdown table of a section, the best row first, and its notes."""
    headers = list(lines["header"].unique())
    is_doubted = lines["doubts"] != ""
    is_less_better = [
        metric_of(name).higher_is_better is False for name in lines["metric"]
    ]
    order = lines["value"].where(is_less_better, -lines["value"])
    lines = lines.assign(order=order + _DOUBTED * is_doubted)
    # Of several values of a cell take the last one, without doubts if there is one.
    lines = lines.iloc[(~is_doubted).argsort(kind="stable")]
    lines = lines.drop_duplicates([*_ROW, "header"], keep="last")
    orders = lines.pivot(index=_ROW, columns="header", values="order")[headers]
    cells = lines.set_index([*_ROW, "header"]).to_dict("index")
    notes: dict[str, int] = {}
    rows = []
    for label, published in orders.fillna(math.inf).sort_values(headers).index:
        row = [safe(label) + (", *published*" if published else "")]
        for header in headers:
            line = cells.get((label, published, header))
            row.append(_cell(line, notes) if line else "–")
        rows.append(row)
    rules = ["---", *["---:"] * len(headers)]
    table = [f"| {' | '.join(row)} |" for row in (["Model", *headers], rules, *rows)]
    listed = [f"- ({number}) {safe(note)}" for note, number in notes.items()]
    return ["\n".join(part) for part in (table, listed) if part]


def _cell(line: Line, notes: dict[str, int]) -> str:
    """Return a value with the number of its note."""
    text = number_text(line)
    without = ""
    if notna(line.get("uncorrected")):
        unchanged = {**line, "value": line["uncorrected"], "low": math.nan}
        without = f"{number_text(unchanged)} without the corrections"
    note = "; ".join(filter(None, (line["doubts"], line["remarks"], without)))
    if note:
        text += f" ({notes.setdefault(note, len(notes) + 1)})"
    return text


def _corrections_text(corrections: Sequence[QuestionCorrection]) -> str:
    """Return the table of corrections of questions."""
    lines = [
        "# Corrections of questions",
        "",
        "| Benchmark | Question | Published truth | Correction | Reason | By | Date |",
        "| --- | --- | --- | --- | --- | --- | --- |",
    ]
    for correction in corrections:
        decision = "excluded" if correction.exclude else f"truth {correction.truth}"
        cells = (
            correction.benchmark,
            correction.id,
            correction.published,
            decision,
            correction.reason,
            correction.by,
            correction.date,
        )
        lines.append(f"| {' | '.join(map(safe, cells))} |")
    return "\n".join(lines) + "\n"


def number_text(line: Line) -> str:
    """Return a value with its interval, shares in percent; a dash for an index over no wrong forecast."""
    is_index = line["metric"] == WEIGHTED and not line.get("published")
    if is_index and line.get("n") == 0:
        return "–"
    is_share = line["unit"] == "fraction"

    def number(name: str) -> str:
        return f"{100 * line[name]:.1f}" if is_share else f"{line[name]:.2f}"

    text = number("value")
    if notna(line.get("std")):
        text += f" ± {number('std')}"
    if notna(line["low"]):
        text += f" [{number('low')}, {number('high')}]"
    return text


def _means_over_windows(
    values: DataFrame,
    task: str,
    metric: str,
    sizes: list[int],
) -> DataFrame:
    """Return the mean of a metric over window sizes with its deviation `std`, and the printed ones."""
    printed = values[values["published"] & (values["task"] == task)]
    deviations = printed[printed["metric"] == f"{metric}_std"]
    stds = printed["label"].map(deviations.set_index("label")["value"])
    is_sized = values["window"].isin(sizes) & values["task"].str.startswith(f"{task}_")
    measured = values[~values["published"] & is_sized & (values["metric"] == metric)]
    groups = measured.groupby(["label", "scoring", *CONDITIONS[1:]], sort=False)
    means = groups.first().assign(
        task=task,
        value=groups["value"].mean(),
        n=groups["n"].sum(),
        std=groups["value"].std(ddof=0),
        low=math.nan,
        doubts=groups["doubts"].agg(lambda doubts: "; ".join(filter(None, doubts))),
        remarks=[_remark_on_mean(lines, len(sizes)) for _, lines in groups],
    )
    return concat([means.reset_index(), printed.assign(std=stds)])


def _remark_on_mean(lines: DataFrame, n_windows: int) -> str:
    notes = []
    if len(lines) < n_windows:
        notes.append(f"mean over {len(lines)} of {n_windows} windows")
    if lines["n"].eq(0).all():
        notes.append("no forecast is wrong, so there is no index")
    if lines["remarks"].str.contains("cut").any():
        notes.append("not certain, as responses were cut off")
    return "; ".join(notes)


def safe(text: str) -> str:
    r"""Write text so that Markdown and HTML show it letter by letter, on one line."""
    visible = _MARKUP.sub(r"\\\g<0>", escape(text[:_MAX_TEXT]))
    return _WWW.sub(r"\1\\.", html.escape(visible, quote=False))
