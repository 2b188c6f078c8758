"""The mean of a metric over rows with its interval, and all values of a task as a leaderboard has them."""

import math
import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from fin_tasks.benchmarks.contract import Benchmark
from fin_tasks.report import cut_off
from fin_tasks.report.conditions import conditions_of, setting_id
from fin_tasks.report.conditions import setting_text as text_of
from fin_tasks.report.cut_off import CutOffs
from fin_tasks.report.model import (
    COLUMNS,
    WEIGHT,
    Report,
    Run,
    TaskResult,
    headline,
    known_benchmarks,
    largest,
    metric_of,
)
from fin_tasks.stats.means import Estimate, Floats, estimate

CONDITIONS = ("task", "split", "mode", "style", "retrieval", "arm")
"""What a task is asked under, by the names of `comparable.conditions_of`."""

_NO_VALUES = ("_low", "_high", "_std")  # bounds and deviations of other metrics


def value_of(rows: pd.DataFrame, metric: str, *, weights: Any = None) -> Estimate:
    """Return the mean of a metric over rows with its interval. Rows of one source are one cluster.

    The rows are of one run and variant. Without weights each row counts once; in `bias_index` each wrong response does.
    """
    if metric == "bias_index":
        weights = rows[WEIGHT].fillna(0).to_numpy() * (1 if weights is None else weights)
    clusters = rows["source"].cat.codes.to_numpy()
    return estimate(
        rows[metric].to_numpy(), clusters=clusters, weights=weights, most=largest(metric)
    )


class _Claim(NamedTuple):
    """What a results file says of a metric; the value is None if it is not defined."""

    value: float | None
    n: int


def values_of(report: Report, result: TaskResult, variant: str) -> dict[str, Estimate]:
    """Return the values of a task, or of a group of tasks, by metric.

    A value is the mean over its rows. A group averages rows or the means of its tasks, as its
    results file does. What is not a mean over rows, such as a calibration error, is taken from the
    results file and has no interval.
    """
    rows = report.rows_of(result, variant)
    if result.members:
        rows = _with_fallbacks(rows, known_benchmarks()[result.benchmark])
    claims = _claims_of(result, variant)
    measured = [name for name in rows.columns if name not in COLUMNS and rows[name].notna().any()]
    names = [*claims, *measured]
    if headline(result) in rows and len(rows):
        names.append(headline(result))
    values: dict[str, Estimate] = {}
    for name in dict.fromkeys(names):
        if not _is_shown(name, result, claims):
            continue
        claim = claims.get(name, _Claim(None, result.n))
        values[name] = without_interval(claim.n, claim.value)
        if name in measured:
            weights = _weights_of(rows, name, result, claim.value)
            mean = value_of(rows, name, weights=weights)
            is_headline = name == headline(result) and not result.members
            if is_headline or agree(mean.mean, claim.value):
                values[name] = mean
    return values


def _claims_of(result: TaskResult, variant: str) -> dict[str, _Claim]:
    claims: dict[str, _Claim] = {}
    parts = {**result.aggregates.get(variant, {}), **result.breakdowns.get(variant, {})}
    for name, part in parts.items():
        claims[name] = _Claim(part["value"], part["n"])
    for name, value in result.totals.get(variant, {}).items():
        claims[name] = _Claim(value, result.n)
    return claims


def _with_fallbacks(rows: pd.DataFrame, benchmark: Benchmark) -> pd.DataFrame:
    """Fill in what documents of some tasks of a group lack, such as the margin of a statement."""
    filled = {}
    for metric, fallback in benchmark.group_fallbacks.items():
        if metric not in rows:
            continue
        for name in rows.columns:
            part = name.removeprefix(fallback)
            is_part = metric_of(name).by in benchmark.group_breakdowns
            if is_part and metric_of(f"{metric}{part}").by == metric_of(name).by:
                known = rows.get(f"{metric}{part}", rows[name])
                filled[f"{metric}{part}"] = known.fillna(rows[name])
    return rows.assign(**filled)


def _is_shown(name: str, result: TaskResult, claims: Mapping[str, _Claim]) -> bool:
    if name.endswith(_NO_VALUES) or name == WEIGHT:
        return False
    if not result.members or name in claims or name == headline(result):
        return True
    return metric_of(name).by in known_benchmarks()[result.benchmark].group_breakdowns


def _weights_of(
    rows: pd.DataFrame, metric: str, result: TaskResult, claim: float | None
) -> Floats | None:
    """Return the weights of rows in the mean of a metric; None if each counts the same.

    In a group that averages its tasks, each task counts the same.
    """
    if not result.members or agree(value_of(rows, metric).mean, claim):
        return None
    counted = rows[WEIGHT] if metric == "bias_index" else rows[metric].notna()
    sizes = counted.groupby(rows["task"], observed=True).transform("sum").to_numpy(float)
    weights: Floats = np.divide(1, sizes, out=np.zeros(len(rows)), where=sizes > 0)
    return weights


def entries_of(
    report: Report, run: Run, result: TaskResult, variant: str
) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """Return a task under a variant and its values, as `tasks` and `entries` of a leaderboard have them."""
    top = headline(result)
    rows = report.rows_of(result, variant)
    task = task_of(result.benchmark, conditions_of(result)._asdict(), variant, top)
    judged = [
        text_of(result.settings[name])
        for name in ("judge.model", "judge.rubric")
        if name in result.settings
    ]
    shared = {"task": task["id"], "run": result.id, "model": run.model}
    shared |= {"judge": ", ".join(judged), "group": setting_id(result)}
    names = result.members or (result.task,)
    limit = cut_off.limit_of(task for task in run.tasks if task.task in names)
    entries = []
    for metric, value in values_of(report, result, variant).items():
        claim = result.totals.get(variant, {}).get(metric)
        entry = entry_of(metric, value) | shared
        if metric == top and not result.members and not agree(value.mean, claim):
            entry["marks"] = [
                f"its results file claims {claim:.4g}, its rows give {value.mean:.4g}"
            ]
        if metric == top and top in rows and rows[top].notna().any():
            entry["unscored"] = int(rows[top].isna().sum())
        cut_offs = _cut_offs_of(rows, result, variant, metric, value.mean, limit)
        entry["cut_off"] = cut_off.rounded(cut_offs)
        note = cut_off.note_of(cut_offs, metric)
        if note:
            entry["notes"] = [note]
        entries.append(entry)
    return task, entries


def _cut_offs_of(
    rows: pd.DataFrame,
    result: TaskResult,
    variant: str,
    metric: str,
    value: float,
    limit: int | None,
) -> CutOffs | None:
    """Return the cut-off responses behind a value; None if there are none, or if it is no mean over rows."""
    claims = result.totals.get(variant, {})
    if rows.empty:
        share = claims.get(cut_off.METRIC) if metric in claims else None
        return cut_off.claimed_cut_offs(value, share, metric, limit)
    if metric not in rows or not cut_off.has_cut_offs(rows):
        return None
    weights = _weights_of(rows, metric, result, claims.get(metric))
    if not agree(value, value_of(rows, metric, weights=weights).mean):
        return None
    return cut_off.cut_offs_of(rows, metric, weights=weights, limit=limit)


def task_of(
    benchmark: str, conditions: Mapping[str, str], variant: str, top: str
) -> dict[str, Any]:
    """Return an entry of `tasks`, of which `id` says how the task was asked and scored."""
    said = [f"{name}={value}" for name, value in conditions.items() if value and name != "task"]
    bias = re.match(r"dynostock_(recency|authority)(?:_w(\d+))?", conditions["task"])
    return {
        "id": "/".join([conditions["task"], variant, *said]),
        "benchmark": benchmark,
        **conditions,
        "variant": variant,
        "bias": bias[1] if bias else "",
        "window": int(bias[2]) if bias and bias[2] else None,
        "headline": top,
    }


def entry_of(metric: str, value: Estimate) -> dict[str, Any]:
    """Return an entry of `entries` without its task and run."""
    return {
        "metric": metric,
        "value": value.mean if math.isfinite(value.mean) else None,
        **{name: six_digits(getattr(value, name)) for name in ("low", "high", "stderr")},
        "method": value.method,
        "n": value.n,
        "unscored": 0,
        "judge": "",
        "group": "",
        "marks": [],
        "notes": [],
        "cut_off": None,
    }


def six_digits(value: float) -> float | None:
    """Round to six significant digits; None if there is no number."""
    return float(f"{value:.6g}") if math.isfinite(value) else None


def agree(mean: float, claim: float | None) -> bool:
    """Return whether a mean is what a results file claims, or that claims nothing."""
    return claim is None or abs(mean - claim) <= 1e-6


def without_interval(n: int, value: float | None) -> Estimate:
    """Return a value of which only the number of rows is known; None if it is not defined."""
    return replace(estimate(np.empty(0)), mean=math.nan if value is None else value, n=n)
