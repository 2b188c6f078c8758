"""Runs, their results by task, the one table of rows that all reports are made of, and the metrics of `metrics.csv`."""

import csv
import hashlib
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from pandas.api.types import union_categoricals

from fin_tasks import benchmarks
from fin_tasks.benchmarks import all_benchmarks, benchmark_named
from fin_tasks.benchmarks.breakdowns import Breakdowns


def _breakdown_labels() -> Mapping[str, str]:
    labels: dict[str, str] = {}
    for benchmark in all_benchmarks().values():
        labels.update(benchmark.breakdowns)
    return labels


BREAKDOWN_LABELS = _breakdown_labels()
"""What the columns are called that rows can be grouped by."""

BREAKDOWNS = tuple(BREAKDOWN_LABELS)
"""What rows can be grouped by; see `docs/design.md`. Several values are joined with `|`."""

COLUMNS = (
    "run",
    "benchmark",
    "task",
    "variant",
    "doc_id",
    "source",
    *BREAKDOWNS,
    "answer",
    "reason",
)
"""Text columns of the table of rows, all categorical. Every other column is a metric: floats, NaN if unscored."""

WEIGHT = "bias_weight"
"""The column with the share of a document's responses that are wrong, which `bias_index` is weighted by."""


_LARGEST = {"fraction": 1.0, "points": 100.0, "number": math.inf}
_BETTER = {"more": True, "less": False, "": None}


@dataclass(frozen=True)
class Problem:
    """A file that was skipped or used in part, and why."""

    path: str
    message: str


@dataclass(frozen=True, kw_only=True)
class TaskResult:
    """What one run got for one task, or for a group of tasks."""

    run: str  # `Run.id`
    benchmark: str  # a name of `benchmarks.all_benchmarks()`
    task: str  # lm-eval's name
    n: int = 0  # questions that were asked; 0 if unknown
    n_all: int = 0  # questions of the task; 0 if unknown
    # values that the results file claims, by variant and metric; None if not defined
    totals: Mapping[str, Mapping[str, float | None]] = field(default_factory=dict)
    # figures of parts of the task: what its metadata claims, and of samples what is no mean over rows
    breakdowns: Breakdowns = field(default_factory=dict)
    # settings that comparable results share: dotted name to JSON text
    settings: Mapping[str, str] = field(default_factory=dict)
    # the task's metadata without secrets, and of it: prompts, data and scorer; judge and rubric; tokens and seconds
    metadata: Mapping[str, Any] = field(default_factory=dict)
    provenance: Mapping[str, Any] = field(default_factory=dict)
    judge: Mapping[str, Any] = field(default_factory=dict)
    usage: Mapping[str, Any] = field(default_factory=dict)
    samples: Path | None = None  # the file with its rows, if it could be read
    members: tuple[str, ...] = ()  # the tasks of a group; empty for a task

    @property
    def id(self) -> str:
        """The id of this result on a leaderboard."""
        return hashlib.sha256(f"{self.run}\0{self.task}".encode("utf-8", "replace")).hexdigest()[
            :16
        ]


@dataclass(frozen=True, kw_only=True)
class Run:
    """A model that was asked some tasks at one time."""

    id: str  # hash of the results file
    model: str  # written by strangers, so it may hold anything
    harness: str  # `lm-eval`, `inspect_ai`, `VLMEvalKit`, `replay`, `judge`, `label` (people), or `published`
    path: Path  # the results file
    name: str  # its path below the folder that was given
    date: str = ""  # ISO date and time; empty if unknown
    # the model's arguments and versions without secrets: name to JSON text
    settings: Mapping[str, str] = field(default_factory=dict)
    tasks: tuple[TaskResult, ...] = ()  # results by task, groups included


@dataclass(frozen=True)
class Report:
    """Everything read: runs, their rows, and what could not be used. It unpacks like a tuple of the three."""

    runs: tuple[Run, ...]
    rows: pd.DataFrame
    problems: tuple[Problem, ...]

    def __iter__(self) -> Iterator[Any]:
        return iter((self.runs, self.rows, self.problems))

    def rows_of(self, result: TaskResult, variant: str) -> pd.DataFrame:
        """Return the rows of a task under a variant, those of all its tasks for a group; empty if there are none."""
        tasks = result.members or (result.task,)
        places = [
            self._places[key]
            for task in tasks
            if (key := (result.run, task, variant)) in self._places
        ]
        return self.rows.iloc[np.concatenate(places) if places else []]

    @cached_property
    def _places(self) -> dict[tuple[str, str, str], Any]:
        found: dict[tuple[str, str, str], Any] = self.rows.groupby(
            ["run", "task", "variant"], observed=True
        ).indices
        return found


@dataclass(frozen=True)
class Metric:
    """What a report says of a metric, as `metrics` of a leaderboard has it."""

    label: str
    unit: str  # `fraction`, `points` of 100, or `number`
    higher_is_better: bool | None  # None if neither
    by: str  # the column that it breaks down by; empty for metrics over all rows
    of: str  # the part


def metric_of(name: str) -> Metric:
    """Return a metric; one that is not in the table has the unit and direction of its first word."""
    known = _known()
    if name in known:
        return known[name]
    like = known.get(name.split("_")[0], known["acc"])
    return Metric(name.replace("_", " ").capitalize(), like.unit, like.higher_is_better, "", "")


def largest(metric: str) -> float:
    """Return the largest value of a metric: 1 for shares, 100 for a judge's points, infinity for other numbers."""
    return _LARGEST[metric_of(metric).unit]


def headline(result: TaskResult) -> str:
    """Return the metric that models are ranked by."""
    metrics: list[str] = []
    for totals in result.totals.values():
        metrics.extend(totals)
    own = result.provenance.get("headline")
    if own in metrics:
        return str(own)
    return benchmark_named(result.benchmark).headline(metrics)


@cache
def _known() -> dict[str, Metric]:
    texts = [files("fin_tasks.report").joinpath("metrics.csv").read_text(encoding="utf-8")]
    for benchmark in all_benchmarks().values():
        texts.append(benchmark.text_of("metrics.csv") or "")
    metrics = {}
    for text in texts:
        for row in csv.DictReader(text.splitlines()):
            metrics[row["metric"]] = Metric(
                row["label"], row["unit"], _BETTER[row["better"]], row["by"], row["of"]
            )
    return metrics


def benchmark_of(task: str) -> str:
    """Return the name of the benchmark that a task belongs to; empty for tasks of others."""
    benchmark = benchmarks.benchmark_of(task)
    return benchmark.name if benchmark else ""


def texts_column(texts: Sequence[str | None]) -> pd.Categorical:
    """Return a text column of the table of rows; None is missing."""
    codes, words = pd.factorize(np.array([*texts, None], dtype=object)[:-1])
    return pd.Categorical.from_codes(codes, pd.Index(words, dtype=object))


def table_of(tables: Sequence[pd.DataFrame]) -> pd.DataFrame:
    """Return one table of rows; metrics stand in alphabetical order behind the text columns."""
    if not tables:
        return pd.DataFrame(columns=[*COLUMNS])
    texts = {name: union_categoricals([one[name] for one in tables]) for name in COLUMNS}
    values = pd.concat(
        [one.drop(columns=[*COLUMNS]) for one in tables], ignore_index=True
    ).sort_index(axis=1)
    return pd.DataFrame(texts).join(values)
