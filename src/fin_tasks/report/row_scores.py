"""What each row of a samples file scored, as arrays: of lines that may be long, only numbers, id and source stay."""

import hashlib
import math
import sys
from array import array
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from fin_tasks.errors import DataError
from fin_tasks.report.entry import Scores
from fin_tasks.report.estimates import Weighted
from fin_tasks.report.samples import HEADLINES, document_of, lines_of, sample_of, shares_of_wrong, spelled_out
from fin_tasks.report.sources import SOURCES, SourceOf

__all__ = ["BIAS_INDEX", "BOUNDS", "FileScores", "read_scores"]

BOUNDS = ("_low", "_high", "_std")
"""What names of metrics end with that are bounds or spreads of the metric before it, and no means over rows."""

BIAS_INDEX = "bias_index"
"""The metric that is over the wrong responses alone: of each document the task keeps shares of what was answered."""

_MISSING = math.nan
_LIMIT = 1e300  # beyond which numbers are looked at closely


@dataclass(frozen=True, kw_only=True)
class FileScores:
    """What a samples file holds.

    Attributes:
        variants: Variant to scores.
        digest: SHA-256 of its lines.
        weighted: Variant to metrics of which rows do not count alike, and which are none of `variants` therefore.
    """

    variants: Mapping[str, Scores]
    digest: str
    weighted: Mapping[str, Mapping[str, Weighted]] = field(default_factory=dict)


@dataclass(slots=True)
class _Column:
    """The values of one variant while they are read."""

    ids: list[str] = field(default_factory=list)
    clusters: list[str] = field(default_factory=list)
    seen: set[str] = field(default_factory=set)
    names: list[str] = field(default_factory=list)
    values: dict[str, "array[float]"] = field(default_factory=dict)
    not_means: set[str] = field(default_factory=set)
    wrong: dict[int, float] = field(default_factory=dict)  # share of a row's responses that is, in place of none


def read_scores(path: Path, benchmark: str, *, claimed: Mapping[str, Collection[str]] | None = None) -> FileScores:
    """Read the scores of a samples file.

    Args:
        path: A `samples_*.jsonl` that lm-eval wrote with `--log_samples`.
        benchmark: Whose it is, which decides what counts as a shared source.
        claimed: Filter to the metrics that the results file has values of, for lines that do not name theirs.

    Raises:
        DataError: As `samples.read_samples`; the message names file, line and field.
    """
    columns: dict[str, _Column] = {}
    digest = hashlib.sha256()
    source = SOURCES.get(benchmark)
    claimed = claimed or {}
    only = next(iter(claimed)) if len(claimed) == 1 else None
    for number, line in lines_of(path):
        digest.update(line)
        where = f"{path}, line {number}"
        sample = sample_of(where, line)
        name = sample.get("filter", only)
        if not isinstance(name, str):
            raise DataError(f"{where}, filter: expected a filter's name, got {name!r:.80}.")
        column = columns.get(name)
        if column is None:
            column = columns[name] = _Column()
        if "metrics" not in sample and name in claimed:
            sample["metrics"] = [metric for metric in claimed[name] if metric in sample]
        _add_row(where, sample, column, source)
    if not columns:
        raise DataError(f"{path}: expected at least one document, found none.")
    if len({frozenset(column.seen) for column in columns.values()}) > 1:
        counts = ", ".join(f"{name} {len(column.ids)}" for name, column in columns.items())
        raise DataError(f"{path}: expected the same documents under every filter, got {counts}. Was the file cut?")
    clustered = source is not None
    return FileScores(
        variants=_scores(columns, clustered=clustered),
        digest=digest.hexdigest(),
        weighted={
            name: {BIAS_INDEX: _bias_index(column, clustered=clustered)}
            for name, column in columns.items()
            if column.wrong and not _alike(column)
        },
    )


def _add_row(where: str, sample: Mapping[str, Any], column: _Column, source: SourceOf | None) -> None:
    identity, doc = document_of(where, sample)
    name = sys.intern(identity)
    if name in column.seen:
        raise DataError(f"{where}, doc.id: expected each document once per filter, got {name!r:.80} twice.")
    column.seen.add(name)
    column.ids.append(name)
    if source is not None:
        column.clusters.append(sys.intern(spelled_out(source(doc))) or name)
    _check_metrics(where, sample, column)
    for metric, values in column.values.items():
        value = sample.get(metric, sample)
        # what nearly all values are comes first: there are some ten a line, and a million lines
        if type(value) is float and -_LIMIT < value < _LIMIT:
            values.append(value)
        elif value is None:
            values.append(_MISSING)
        else:
            values.append(_value(where, metric, value, column, missing=value is sample))


def _check_metrics(where: str, sample: Mapping[str, Any], column: _Column) -> None:
    """Take the names of the metrics from the first row; those of all others have to be the same."""
    names = sample.get("metrics")
    if names and names == column.names:
        return
    if not isinstance(names, list) or not names or not all(isinstance(name, str) for name in names):
        raise DataError(
            f"{where}, metrics: expected a list of names, got {names!r:.80}. Run lm-eval without --predict_only."
        )
    if column.names and set(names) != set(column.names):
        other = sorted(set(names) ^ set(column.names))[0]
        raise DataError(f"{where}, metrics: expected those of the rows before, got {other!r:.80} in one of them alone.")
    if not column.names:
        column.names = names
        # `<metric>_stderr` is the value once more, see adapters.lm_eval
        means = [name for name in names if not name.endswith("_stderr") and not _is_bound(name, names)]
        column.values = {sys.intern(name): array("d") for name in means}


def _value(where: str, metric: str, value: Any, column: _Column, *, missing: bool) -> float:
    if missing:
        raise DataError(f"{where}: expected a value of the metric {metric!r:.80}, found none.")
    if isinstance(value, (int, float)):
        try:
            number = float(value)
        except OverflowError:
            number = math.inf
        if math.isinf(number):
            raise DataError(f"{where}, {metric}: expected a finite number, got {value!r:.80}.")
        return number
    if isinstance(value, str) or metric in HEADLINES:
        raise DataError(f"{where}, {metric}: expected a number or null, got {value!r:.80}.")
    column.not_means.add(metric)  # pairs or shares that an aggregation of their own understands
    if metric != BIAS_INDEX:
        return _MISSING
    led, wrong = shares_of_wrong(f"{where}, {metric}", value)
    if not wrong:
        return _MISSING
    column.wrong[len(column.ids) - 1] = round(wrong, 12)  # thirds may differ in their last digit
    return led / wrong


def _alike(column: _Column) -> bool:
    """Say whether all rows with wrong responses have as many, so that the bias index is a mean over these rows."""
    return len(set(column.wrong.values())) == 1


def _bias_index(column: _Column, *, clustered: bool) -> Weighted:
    weights = np.zeros(len(column.ids))
    weights[list(column.wrong)] = list(column.wrong.values())
    return Weighted(
        values=np.frombuffer(column.values[BIAS_INDEX], dtype=np.float64),
        weights=weights,
        clusters=tuple(column.clusters) if clustered else None,
    )


def _scores(columns: Mapping[str, _Column], *, clustered: bool) -> dict[str, Scores]:
    found: dict[str, Scores] = {}
    first = next(iter(columns.values()))
    for name, column in columns.items():
        same = column.ids == first.ids
        found[name] = Scores(
            ids=next(iter(found.values())).ids if same and found else tuple(column.ids),
            clusters=tuple(column.clusters) if clustered else None,
            values={
                metric: np.frombuffer(values, dtype=np.float64)
                for metric, values in column.values.items()
                if metric not in column.not_means or (metric == BIAS_INDEX and _alike(column))
            },
        )
    return found


def _is_bound(name: str, names: Sequence[str]) -> bool:
    return any(name.endswith(end) and name.removesuffix(end) in names for end in BOUNDS)
