"""The mean of a metric over rows with its interval, and all values of a task."""

import math
from collections.abc import Iterator
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from pandas import DataFrame

from fin_tasks.benchmarks.contract import Benchmark
from fin_tasks.benchmarks.scored_task import PartValue
from fin_tasks.stats.means import Estimate, Floats, estimate

from .cut_off import cut_offs_of
from .leaderboard_model import CutOffs
from .model import (
    COLUMNS,
    KNOWN_BENCHMARKS,
    NO_MEANS,
    WEIGHT,
    WEIGHTED,
    TaskResult,
    headline,
    largest,
    metric_of,
)

_ROUNDING = 1e-6


class Value(NamedTuple):
    """A value of a task under one scoring."""

    estimate: Estimate
    """Without an interval if it is no mean over rows."""
    cut_offs: CutOffs | None = None
    claim: float | None = None
    """The value in the results file if that is another one, else None."""


def value_of(
    rows: DataFrame,
    metric: str,
    *,
    weights: Floats | None = None,
) -> Estimate:
    """Return the mean of a metric over rows with its interval. Rows of one source are one cluster.

    The rows are of one run and scoring. Without weights each row counts once; in `bias_index` each wrong response does.
    Without a wrong response the index is 0, as in the paper and in lm-eval, and has no interval.
    """
    if metric == WEIGHTED:
        own_weights = rows[WEIGHT].fillna(0).to_numpy()
        if not own_weights.any() and _has_index(rows):
            return replace(estimate(np.empty(0)), mean=0.0)
        weights = own_weights if weights is None else own_weights * weights
    return estimate(
        rows[metric].to_numpy(),
        clusters=rows["source"].cat.codes.to_numpy(),
        weights=weights,
        maximum=largest(metric),
    )


def _has_index(rows: DataFrame) -> bool:
    """Return whether rows of a bias index are scored, right ones included."""
    if WEIGHT not in rows:
        return False
    is_indexed = rows[WEIGHT].notna()
    if "acc" in rows:
        is_indexed &= rows["acc"].notna()
    return bool(is_indexed.any())


def values_of(
    rows: DataFrame, result: TaskResult, scoring: str, main_metric: str = ""
) -> dict[str, Value]:
    """Return the values of the rows of a task, or of a group of tasks, by metric.

    A value is the mean over the rows, whatever the results file claims. In a group, another metric stands in where
    some of its tasks lack one. What is not a mean over rows, such as a calibration error, is computed from all
    samples together, or taken from the results file if there are no samples.
    """
    benchmark = KNOWN_BENCHMARKS[result.benchmark]
    main_metric = main_metric or headline(result)
    if result.members:
        rows = _with_fallbacks(rows, benchmark)
    claims = _claims_of(result, scoring)
    figures = {**claims, **result.aggregates.get(scoring, {})}
    measured = _measured(rows)
    if main_metric in rows and not rows.empty:
        measured.add(main_metric)
    values = {}
    for name in dict.fromkeys([*figures, *sorted(measured)]):
        is_named = name in claims or name == main_metric
        is_part = metric_of(name).by in benchmark.group_breakdowns
        is_left_out = result.members and not is_named and not is_part
        if is_left_out or name.endswith((*NO_MEANS, WEIGHT)):
            continue
        claim = claims[name]["value"] if name in claims else math.nan
        if name in measured:
            value = _mean_of(rows, name, claim)
        else:
            mean = figures[name]["value"]
            empty = estimate(np.empty(0))
            no_interval = replace(empty, mean=mean, n=figures[name]["n"])
            value = Value(no_interval, claim=None if _agree(mean, claim) else claim)
        values[name] = value
    return values


def _measured(rows: DataFrame) -> set[str]:
    """Return the metrics that have a value in some row."""
    metrics = [name for name in rows.columns if name not in COLUMNS]
    measured = {name for name in metrics if not np.isnan(rows[name].to_numpy()).all()}
    if _has_index(rows):
        measured.add(WEIGHTED)
    return measured


def _with_fallbacks(rows: DataFrame, benchmark: Benchmark) -> DataFrame:
    """Fill in metrics that some tasks of a group lack, such as accuracy within a margin, which statements lack."""
    filled = {}
    for metric, fallback in benchmark.group_fallbacks.items():
        if metric not in rows:
            continue
        for name in rows.columns:
            part_metric = f"{metric}{name.removeprefix(fallback)}"
            by = metric_of(name).by
            if by in benchmark.group_breakdowns and metric_of(part_metric).by == by:
                filled[part_metric] = rows.get(part_metric, rows[name]).fillna(
                    rows[name]
                )
    return rows.assign(**filled)


def _claims_of(result: TaskResult, scoring: str) -> dict[str, PartValue]:
    """Return the values that the results file claims."""
    claims = dict(result.breakdowns.get(scoring, {}))
    totals = result.totals.get(scoring, {})
    for name, value in totals.items():
        claims[name] = {"value": math.nan if value is None else value, "n": result.n}
    if totals.get("acc") == 1 and WEIGHTED in claims:
        # The index is over wrong answers, and there are none.
        claims[WEIGHTED] = {"value": claims[WEIGHTED]["value"], "n": 0}
    return claims


def _mean_of(rows: DataFrame, metric: str, claim: float) -> Value:
    """Return the mean over rows; in a group the mean over its tasks if its results file has that."""
    for weights in _task_weights(rows, metric):
        mean = value_of(rows, metric, weights=weights)
        if metric == WEIGHTED and weights is not None:
            mean = _with_faultless_tasks(mean, rows)
        if _agree(mean.mean, claim):
            return Value(mean, cut_offs_of(rows, metric, weights))
    return Value(value_of(rows, metric), cut_offs_of(rows, metric), claim)


def _with_faultless_tasks(mean: Estimate, rows: DataFrame) -> Estimate:
    """Count each task without a wrong answer as 0 in a mean over tasks, as lm-eval does."""
    n_wrong = rows.groupby("task", observed=True)[WEIGHT].sum()
    share = float((n_wrong > 0).mean())
    return replace(
        mean,
        mean=share * mean.mean,
        low=share * mean.low,
        high=share * mean.high,
        stderr=share * mean.stderr,
    )


def _task_weights(rows: DataFrame, metric: str) -> Iterator[Floats | None]:
    """Yield the weights of rows by which a results file may average a group.

    They make all rows equal, then all tasks equal, then weigh tasks by their numbers of rows.
    """
    yield None
    counted = rows[WEIGHT] if metric == WEIGHTED else rows[metric].notna()
    tasks = counted.groupby(rows["task"], observed=True)
    sums = tasks.transform("sum").to_numpy(float)
    equal_weights = np.divide(1, sums, out=np.zeros(len(rows)), where=sums > 0)
    yield equal_weights
    yield equal_weights * tasks.transform("size").to_numpy(float)


def _agree(mean: float, claim: float) -> bool:
    """Return whether a mean is what the results file claims, if that is known."""
    return math.isnan(claim) or abs(mean - claim) <= _ROUNDING
