"""The tables of a report in the shape of the papers' tables, which Markdown and LaTeX are written from."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import yaml
from pandas import DataFrame, concat, notna
from pydantic import BaseModel, TypeAdapter

from fin_tasks.benchmarks.contract import Benchmark

from . import Json
from .conditions import CONDITIONS, WORDS
from .model import KNOWN_BENCHMARKS, OTHER, WEIGHTED, metric_of

_HOUSE_RULES = "scored by the house rules ({})"
_SCORINGS = {"paper": "scored as the authors do", "robust": "scored robustly"}
# Conditions that are usual, or stand in the header.
_NOT_NAMED = ("", "cot", "pot")
_ROW = ["label", "published"]
_NUMBERS = ["published", "value", "low", "high", "n", "uncorrected", "window"]
_TEXTS = ["benchmark", "metric", "unit", "scoring", "doubts", "remarks"]
_COLUMNS = ["label", *_TEXTS, *CONDITIONS, *_NUMBERS]
_DOUBTED = 1e6  # added to the order of rows with doubts, so that they stand last

Line = Json
"""A line of `tables.values_table`."""


class _Shape(BaseModel):
    """A table of `tables.yaml`; a column is a header and `task metric`, with `pot` for programs."""

    title: str
    about: str
    columns: dict[str, str]
    mean_over_windows: list[int] = []
    """Window sizes of which the mean is shown."""


_SHAPES = TypeAdapter(dict[str, _Shape])


@dataclass(frozen=True)
class ModelRow:
    """A row of a table: a model, or a model as a paper printed it."""

    label: str
    is_published: bool
    cells: Mapping[str, Line]
    """By header; a header without a value is missing."""


@dataclass(frozen=True)
class ModelSection:
    """The rows under the same conditions and scoring, the best first."""

    heading: str
    headers: Sequence[str]
    rows: Sequence[ModelRow]

    @cached_property
    def best(self) -> Mapping[str, float]:
        """The best value by header, among values without doubts; a metric without a direction has none."""
        best: dict[str, float] = {}
        for row in self.rows:
            for header, line in row.cells.items():
                is_higher_better = metric_of(line["metric"]).higher_is_better
                if is_higher_better is None or line["doubts"]:
                    continue
                choose = max if is_higher_better else min
                best[header] = choose(line["value"], best.get(header, line["value"]))
        return best


@dataclass(frozen=True)
class PaperTable:
    """A table of a benchmark."""

    stem: str
    """The name of its files."""
    title: str
    about: str
    sections: Sequence[ModelSection]
    is_corrected: bool
    """Whether corrections of questions changed a value."""


def paper_tables(values: DataFrame) -> Iterator[PaperTable]:
    """Yield each table of each benchmark that has a value; a benchmark without tables has one of its headlines."""
    values = values.assign(published=values["source"] == "published")
    values = values[_COLUMNS].dropna(subset="value")
    # The tables take many small parts of this one, which plain objects make much faster.
    texts = values.columns.difference(_NUMBERS)
    values = values.astype(dict.fromkeys(texts, object))
    for benchmark in KNOWN_BENCHMARKS.values():
        content = benchmark.text_of("tables.yaml")
        shapes = _SHAPES.validate_python(yaml.safe_load(content or "{}"))
        if content is None:
            shapes = _usual_shape(benchmark, values)
        for stem, shape in shapes.items():
            tasks = tuple({column.split()[0] for column in shape.columns.values()})
            own = values[values["task"].str.startswith(tasks)]
            if own.empty:  # most tables of a report of one benchmark
                continue
            lines = _lines_of(shape, own)
            if lines.empty:
                continue
            sections = []
            for heading, section in lines.groupby("heading", sort=False):
                sections.append(_section(str(heading), section))
            is_corrected = bool(lines["uncorrected"].notna().any())
            yield PaperTable(stem, shape.title, shape.about, sections, is_corrected)


def _usual_shape(benchmark: Benchmark, values: DataFrame) -> dict[str, _Shape]:
    """Return a table with the headline of each task of a benchmark; none if it was not run."""
    own = values[values["benchmark"] == benchmark.name]
    if own.empty or benchmark is OTHER:
        return {}
    columns = {}
    for (task, mode), lines in own.groupby(["task", "mode"], sort=False):
        part = task.removeprefix(benchmark.name).strip("_")
        metric = benchmark.headline(list(lines["metric"].unique()))
        header = benchmark.part_labels.get(part) or part or metric_of(metric).label
        if mode == "pot":
            columns[f"{header}, programs"] = f"{task} {metric} pot"
        else:
            columns[header] = f"{task} {metric}"
    shape = _Shape(title=benchmark.title, about=benchmark.description, columns=columns)
    return {benchmark.name: shape}


def _lines_of(shape: _Shape, values: DataFrame) -> DataFrame:
    """Return the lines of a table with the header of each column, and the heading of each section."""
    parts = []
    for header, column in shape.columns.items():
        task, metric, *mode = column.split()
        is_mode = (values["mode"] == "pot") == (mode == ["pot"])
        lines = values[is_mode & values["metric"].isin([metric, f"{metric}_std"])]
        if shape.mean_over_windows:
            sizes = shape.mean_over_windows
            lines = _means_over_windows(lines, task, metric, sizes)
        is_shown = (lines["task"] == task) & (lines["metric"] == metric)
        parts.append(lines[is_shown].assign(header=header))
    lines = concat(parts)
    conditions = lines[["benchmark", "scoring", *CONDITIONS]].to_dict("records")
    return lines.assign(heading=[_heading(line) for line in conditions])


def _heading(line: Line) -> str:
    """Name the conditions that are not the usual ones, and the scoring."""
    benchmark = KNOWN_BENCHMARKS[line["benchmark"]]
    usual = {*_NOT_NAMED, benchmark.usual_split}
    words: list[str] = []
    for name in CONDITIONS[1:]:
        value = line[name]
        if value not in usual:
            words.append(str(WORDS.get(name, {}).get(str(value), value)))
    words.append(scoring_text(benchmark, str(line["scoring"])))
    return ", ".join(word for word in words if word)


def scoring_text(benchmark: Benchmark, scoring: str) -> str:
    """Say by whose rules a benchmark's responses are scored; a filter of another task keeps its name."""
    if benchmark.has_house_rules and scoring in _SCORINGS:
        return _HOUSE_RULES.format(scoring)
    return _SCORINGS.get(scoring, scoring)


def _section(heading: str, lines: DataFrame) -> ModelSection:
    """Return the rows of a section, the best first."""
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
    line_by_place = lines.set_index([*_ROW, "header"]).to_dict("index")
    rows = []
    for label, is_published in orders.fillna(math.inf).sort_values(headers).index:
        cells = {}
        for header in headers:
            line = line_by_place.get((label, is_published, header))
            if line:
                cells[header] = line
        rows.append(ModelRow(label, bool(is_published), cells))
    return ModelSection(heading, headers, rows)


def number_texts(line: Line) -> tuple[str, str]:
    """Return a value and its interval as texts, shares in percent; a dash for an index over no wrong forecast."""
    is_index = line["metric"] == WEIGHTED and not line.get("published")
    if is_index and line.get("n") == 0:
        return "–", ""
    is_share = line["unit"] == "fraction"

    def number(name: str) -> str:
        return f"{100 * line[name]:.1f}" if is_share else f"{line[name]:.2f}"

    text = number("value")
    if notna(line.get("std")):
        text += f" ± {number('std')}"
    interval = ""
    if notna(line["low"]):
        interval = f"[{number('low')}, {number('high')}]"
    return text, interval


def number_text(line: Line) -> str:
    """Return a value with its interval."""
    return " ".join(filter(None, number_texts(line)))


def note_of(line: Line) -> str:
    """Return doubts and remarks about a value, and what it is without corrections; empty if there is nothing to say."""
    without = ""
    if notna(line.get("uncorrected")):
        unchanged = {**line, "value": line["uncorrected"], "low": math.nan}
        without = f"{number_text(unchanged)} without the corrections"
    return "; ".join(filter(None, (line["doubts"], line["remarks"], without)))


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
    """Say what a mean over window sizes lacks; empty if it lacks nothing."""
    notes = []
    if len(lines) < n_windows:
        notes.append(f"mean over {len(lines)} of {n_windows} windows")
    if lines["n"].eq(0).all():
        notes.append("no forecast is wrong, so there is no index")
    if lines["remarks"].str.contains("cut").any():
        notes.append("not certain, as responses were cut off")
    return "; ".join(notes)
