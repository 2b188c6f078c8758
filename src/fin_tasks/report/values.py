"""The mean of a metric over rows with its interval, and all values of a task."""

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from fin_tasks.benchmarks.contract import Benchmark
from fin_tasks.report.model import (
    COLUMNS,
    WEIGHT,
    WEIGHTED,
    Report,
    TaskResult,
    headline,
    known_benchmarks,
    largest,
    metric_of,
)
from fin_tasks.stats.means import Estimate, Floats, estimate

_NO_VALUES = ("_low", "_high", "_std")  # bounds and deviations of other metrics
_ROUNDING = 1e-6


@dataclass(frozen=True)
class Value:
    """A value of a task under one variant."""

    estimate: Estimate
    is_mean: bool = True
    """Whether it is a mean over rows; if not, it has no interval."""
    weights: Floats | None = None
    """The weights of the rows in the mean; None if each counts the same."""
    claim: float | None = None
    """What the results file says instead; None if it says nothing else."""


def value_of(rows: pd.DataFrame, metric: str, *, weights: Floats | None = None) -> Estimate:
    """Return the mean of a metric over rows with its interval. Rows of one source are one cluster.

    The rows are of one run and variant. Without weights each row counts once; in `bias_index` each wrong response does.
    """
    if metric == WEIGHTED:
        own_weights = rows[WEIGHT].fillna(0).to_numpy()
        weights = own_weights if weights is None else own_weights * weights
    clusters = rows["source"].cat.codes.to_numpy()
    return estimate(
        rows[metric].to_numpy(),
        clusters=clusters,
        weights=weights,
        most=largest(metric),
    )


def without_interval(n: int, value: float | None) -> Estimate:
    """Return a value of which only the number of rows is known; None if it is not defined."""
    return replace(estimate(np.empty(0)), mean=math.nan if value is None else value, n=n)


def values_of(report: Report, result: TaskResult, variant: str) -> dict[str, Value]:
    """Return the values of a task, or of a group of tasks, by metric.

    A value is the mean over its rows, whatever the results file claims. What is not a mean over
    rows, such as a calibration error, is computed from all samples together, or taken from the
    results file if there are no samples.
    """
    rows = rows_of_group(report, result, variant)
    top = headline(result)
    claims = _claims_of(result, variant)
    aggregates = result.aggregates.get(variant, {})
    measured = _measured(rows)
    if top in rows and len(rows):
        measured.append(top)
    values: dict[str, Value] = {}
    for name in dict.fromkeys([*claims, *aggregates, *measured]):
        if not _is_shown(name, result, is_claimed=name in claims):
            continue
        claim, n = claims.get(name, (None, result.n))
        if name in measured:
            value = _mean_of(rows, name, claim, is_group=bool(result.members))
        elif name in aggregates:
            figure = aggregates[name]
            value = Value(without_interval(figure["n"], figure["value"]), is_mean=False)
        else:
            value = Value(without_interval(n, claim), is_mean=False)
        if not _agree(value.estimate.mean, claim):
            value = replace(value, claim=claim)
        values[name] = value
    return values


def rows_of_group(report: Report, result: TaskResult, variant: str) -> pd.DataFrame:
    """Return the rows of a task; for a group also what documents of some of its tasks lack."""
    rows = report.rows_of(result, variant)
    if result.members:
        return _with_fallbacks(rows, known_benchmarks()[result.benchmark])
    return rows


def _with_fallbacks(rows: pd.DataFrame, benchmark: Benchmark) -> pd.DataFrame:
    """Fill in what documents of some tasks of a group lack, such as the margin of a statement."""
    filled = {}
    for metric, fallback in benchmark.group_fallbacks.items():
        if metric not in rows:
            continue
        for name in rows.columns:
            part = name.removeprefix(fallback)
            part_metric = f"{metric}{part}"
            by = metric_of(name).by
            if by in benchmark.group_breakdowns and metric_of(part_metric).by == by:
                filled[part_metric] = rows.get(part_metric, rows[name]).fillna(rows[name])
    return rows.assign(**filled)


def _claims_of(result: TaskResult, variant: str) -> dict[str, tuple[float | None, int]]:
    """Return the values that the results file claims, each with the number of its rows."""
    claims: dict[str, tuple[float | None, int]] = {}
    for name, part in result.breakdowns.get(variant, {}).items():
        claims[name] = (part["value"], part["n"])
    for name, value in result.totals.get(variant, {}).items():
        claims[name] = (value, result.n)
    return claims


def _measured(rows: pd.DataFrame) -> list[str]:
    metrics = [name for name in rows.columns if name not in COLUMNS]
    return [name for name in metrics if rows[name].notna().any()]


def _is_shown(name: str, result: TaskResult, *, is_claimed: bool) -> bool:
    if name.endswith(_NO_VALUES) or name == WEIGHT:
        return False
    if not result.members or is_claimed or name == headline(result):
        return True
    return metric_of(name).by in known_benchmarks()[result.benchmark].group_breakdowns


def _mean_of(rows: pd.DataFrame, metric: str, claim: float | None, *, is_group: bool) -> Value:
    """Return the mean over rows; in a group the mean over its tasks if its results file has that."""
    pooled = Value(value_of(rows, metric))
    if not is_group or _agree(pooled.estimate.mean, claim):
        return pooled
    for weights in _task_weights(rows, metric):
        mean = value_of(rows, metric, weights=weights)
        if _agree(mean.mean, claim):
            return Value(mean, weights=weights)
    return pooled


def _task_weights(rows: pd.DataFrame, metric: str) -> Iterator[Floats]:
    """Yield the weights by which a group averages its tasks: all the same, or by their rows."""
    counted = rows[WEIGHT] if metric == WEIGHTED else rows[metric].notna()
    tasks = counted.groupby(rows["task"], observed=True)
    sums = tasks.transform("sum").to_numpy(float)
    equal_weights: Floats = np.divide(1, sums, out=np.zeros(len(rows)), where=sums > 0)
    yield equal_weights
    yield equal_weights * tasks.transform("size").to_numpy(float)


def _agree(mean: float, claim: float | None) -> bool:
    return claim is None or abs(mean - claim) <= _ROUNDING
