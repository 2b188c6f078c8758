"""Runs, their results by task, the one table of rows that all reports are made of, and metrics."""

import csv
import hashlib
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, cached_property
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from pandas import Categorical, DataFrame, Series, concat
from pandas.api.types import union_categoricals

from fin_tasks import benchmarks
from fin_tasks.benchmarks import all_benchmarks
from fin_tasks.benchmarks.contract import Benchmark
from fin_tasks.benchmarks.corrections import Correction
from fin_tasks.benchmarks.scored_task import Breakdowns

if TYPE_CHECKING:
    from .admissions import Admission

Settings = Mapping[str, Any]
"""Settings by dotted name, such as `data.revision`; their values are those of JSON."""

OTHER = Benchmark(
    name="other",
    title="Other benchmarks",
    description="Tasks that fin-tasks does not have, with the metrics of their results files.",
    version=1,
    package="fin_tasks.report",
    headlines=("acc", "exact_match"),
    order=1000,
)
"""Stands for the benchmark of tasks that belong to none."""


KNOWN_BENCHMARKS = {**all_benchmarks(), OTHER.name: OTHER}
"""All benchmarks by name in the order of reports."""


def benchmark_of(task: str) -> Benchmark:
    """Return the benchmark that a task belongs to."""
    return benchmarks.benchmark_of(task) or OTHER


BREAKDOWN_LABELS: dict[str, str] = {}
"""The columns by which rows can be grouped, with their labels."""
for _benchmark in KNOWN_BENCHMARKS.values():
    BREAKDOWN_LABELS.update(_benchmark.breakdowns)

BREAKDOWNS = tuple(BREAKDOWN_LABELS)
"""The names of these columns; see `docs/design.md`. A row that is in several groups has their names joined with `|`."""

COLUMNS = (
    "run",
    "benchmark",
    "task",
    "scoring",
    "doc_id",
    "source",
    *BREAKDOWNS,
    "truth",
    "answer",
    "reason",
)
"""Text columns of the table of rows, all categorical. Every other column is a metric: floats, NaN if unscored."""

WEIGHTED = "bias_index"
"""The metric whose mean weighs rows."""
WEIGHT = "bias_weight"
"""The column with these weights: the share of a document's responses that are wrong."""

NO_MEANS = ("_low", "_high", "_std")
"""Endings of names that are no means: bounds and deviations of other metrics."""

_MAXIMUM_BY_UNIT = {"fraction": 1.0, "points": 100.0, "number": math.inf}
_HIGHER_IS_BETTER = {"more": True, "less": False, "": None}


@dataclass(frozen=True)
class Problem:
    """A file that was skipped or used in part, and why."""

    path: str
    message: str


@dataclass(frozen=True, kw_only=True)
class TaskResult:
    """What one run got for one task, or for a group of tasks."""

    run: str  # `Run.id`
    benchmark: str  # a name of `KNOWN_BENCHMARKS`
    task: str  # lm-eval's name
    n: int  # questions that were asked; 0 if unknown
    n_all: int  # questions of the task; 0 if unknown
    # values that the results file claims, by scoring and metric; None if not defined
    totals: Mapping[str, Mapping[str, float | None]]
    # figures of parts of the task that its metadata claims
    breakdowns: Breakdowns
    # figures that follow from the samples and are no means over rows
    aggregates: Breakdowns = field(default_factory=dict)
    settings: Settings  # what was asked, by which judge
    decoding: Settings = field(default_factory=dict)  # temperature, limit, reasoning
    # the task's metadata, without secrets
    provenance: Settings  # prompts, data and scorer
    judge: Settings  # judge and rubric
    usage: Settings  # tokens and seconds
    samples: Path | None  # the file with its rows, if it could be read
    members: tuple[str, ...]  # the tasks of a group; empty for a task

    @property
    def id(self) -> str:
        """The id of this result on a leaderboard."""
        text = f"{self.run}\0{self.task}"
        return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()[:16]

    @property
    def all_settings(self) -> Settings:
        """What results that are ranked together have in common.

        The decoding is one of them, but not under the authors' own prompts: they asked each model with other
        settings, and of many recordings nobody knows them.
        """
        if self.settings.get("prompts.set") == "upstream":
            return self.settings
        return {**self.settings, **self.decoding}


@dataclass(frozen=True, kw_only=True)
class Run:
    """A model that was asked some tasks at one time."""

    id: str  # hash of the results file; of its samples, too, where several share it
    model: str  # written by strangers, so it may hold anything
    # `lm-eval`, `inspect_ai`, `VLMEvalKit`, `replay`, `recordings`, `judge`, `verify`, `label` (people), or `published`
    harness: str
    path: Path  # the results file
    name: str  # its path below the folder that was given
    date: str  # ISO date and time; empty if unknown
    settings: Settings  # the model's arguments and versions
    tasks: tuple[TaskResult, ...] = ()  # results by task, groups included
    admission: "Admission | None" = None  # of a board's maintainers
    is_refused: bool = (
        False  # whether others were admitted to the board, and it was not
    )

    def with_id(self, identity: str) -> "Run":
        """Return the run with another id."""
        tasks = tuple(replace(result, run=identity) for result in self.tasks)
        return replace(self, id=identity, tasks=tasks)


@dataclass(frozen=True)
class Report:
    """Everything read: runs, their rows, and what could not be used. It unpacks like a tuple of the three."""

    runs: tuple[Run, ...]
    """The oldest first."""
    rows: DataFrame
    problems: tuple[Problem, ...]
    published: DataFrame = field(default_factory=lambda: DataFrame(columns=[*COLUMNS]))
    """The rows of questions that were excluded or corrected, as published."""
    corrections: Sequence[Correction] = ()
    """The corrections of these questions."""

    def __iter__(self) -> Iterator[Any]:
        return iter((self.runs, self.rows, self.problems))

    @property
    def results(self) -> list[tuple[Run, TaskResult]]:
        """All results, each with its run."""
        results = []
        for run in self.runs:
            results += [(run, result) for result in run.tasks]
        return results

    def rows_of(self, result: TaskResult, scoring: str) -> DataFrame:
        """Return the rows of a task under a scoring, those of all its tasks for a group; empty if there are none."""
        tasks = result.members or (result.task,)
        places = [self._places.get((result.run, task, scoring), []) for task in tasks]
        return self.rows.iloc[np.concatenate(places).astype(int)]

    @cached_property
    def _places(self) -> dict[tuple[str, str, str], Any]:
        by = ["run", "task", "scoring"]
        return dict(self.rows.groupby(by, observed=True).indices)


@dataclass(frozen=True)
class Metric:
    """What a report says of a metric."""

    label: str
    """For people."""
    unit: str
    """`fraction` of 1, `points` from 0 to 100, or a plain `number`."""
    higher_is_better: bool | None
    """None if neither more nor less is better."""
    by: str = ""
    """The column whose groups it is about, for metrics of one group; empty for metrics over all rows."""
    of: str = ""
    """The group."""
    description: str = ""
    """What it measures."""


def metric_of(name: str) -> Metric:
    """Return a metric; one that is not in the table has the unit and direction of its first word."""
    known = _known_metrics()
    if name in known:
        return known[name]
    label = name.replace("_", " ").capitalize()
    similar = known.get(
        re.split("[_@]", name)[0], Metric("", "number", higher_is_better=True)
    )
    return Metric(label, similar.unit, similar.higher_is_better)


def largest(metric: str) -> float:
    """Return the largest value of a metric: 1 for shares, 100 for a judge's points, infinity for other numbers."""
    return _MAXIMUM_BY_UNIT[metric_of(metric).unit]


def headline(result: TaskResult) -> str:
    """Return the metric that models are ranked by."""
    metrics = list(chain.from_iterable(result.totals.values()))
    benchmark = KNOWN_BENCHMARKS[result.benchmark]
    name = benchmark.headline(metrics)
    if benchmark is OTHER and metrics and name not in metrics:
        return metrics[0]
    return name


@cache
def _known_metrics() -> dict[str, Metric]:
    """Return the metrics that the files `metrics.csv` of the benchmarks describe."""
    metrics = {}
    for benchmark in (OTHER, *all_benchmarks().values()):
        text = benchmark.text_of("metrics.csv") or ""
        for row in csv.DictReader(text.splitlines(), restval=""):
            name = row.pop("metric")
            direction = _HIGHER_IS_BETTER[row.pop("better")]
            metrics[name] = Metric(**row, higher_is_better=direction)
    return metrics


def texts_column(texts: Sequence[str | None]) -> Categorical:
    """Return a text column of the table of rows; None is missing."""
    return Categorical(Series(texts, dtype=object))


def table_of(tables: Sequence[DataFrame]) -> DataFrame:
    """Return one table of rows; metrics stand in alphabetical order behind the text columns."""
    if not tables:
        return DataFrame(columns=[*COLUMNS])
    texts = {}
    for name in COLUMNS:
        texts[name] = union_categoricals([table[name] for table in tables])
    metrics = [table.drop(columns=[*COLUMNS]) for table in tables]
    values = concat(metrics, ignore_index=True).sort_index(axis=1)
    return DataFrame(texts).join(values)
