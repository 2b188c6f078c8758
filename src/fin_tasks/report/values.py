"""The mean of a metric over rows with its interval, and all values of a task as a leaderboard has them."""

import math
import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from fin_tasks.report import cut_off
from fin_tasks.report.comparable import conditions_of, setting_id, text_of
from fin_tasks.report.cut_off import CutOffs
from fin_tasks.report.model import (
    COLUMNS,
    WEIGHT,
    Report,
    Run,
    TaskResult,
    headline,
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


def values_of(report: Report, result: TaskResult, variant: str) -> dict[str, Estimate]:
    """Return the values of a task, or of a group of tasks, by metric.

    A value is the mean over its rows. A group averages rows or the means of its tasks, as its results file does. What
    is no mean over rows, such as a calibration error, is taken from the results file and has no interval.
    """
    rows, claims, top = (
        report.rows_of(result, variant),
        result.totals.get(variant, {}),
        headline(result),
    )
    if result.members and result.benchmark == "xfinbench":  # statements and choices have no margin
        within = [
            name
            for name in rows
            if metric_of(str(name)).by == "capability" and str(name).startswith("acc_err_")
        ]
        rows = rows.assign(
            **{name: rows[name].fillna(rows[name.replace("_err", "")]) for name in within}
        )
    measured = [name for name in rows.columns if name not in COLUMNS and rows[name].notna().any()]
    names = [
        name
        for name in dict.fromkeys([*claims, *measured])
        if not name.endswith(_NO_VALUES) and name != WEIGHT
    ]
    if result.members:
        names = [
            name
            for name in names
            if name in claims or name == top or metric_of(name).by == "capability"
        ]
    found: dict[str, Estimate] = {}
    for name in names:
        claim = claims.get(name)
        found[name] = without_interval(result.n, claim)
        if name in measured:
            own = value_of(rows, name, weights=_weights_of(rows, name, result, claim))
            if agree(own.mean, claim) or (name == top and not result.members):
                found[name] = own
    if result.benchmark == "mme_finance" and "score" in measured:
        for column, prefix in (("image_type", "score_type"), ("image_style", "score_style")):
            for kind, of_kind in rows.groupby(column, observed=True):
                found[f"{prefix}_{str(kind).replace(' ', '_')}"] = value_of(of_kind, "score")
    return found


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
    task = task_of(result.benchmark, conditions_of(result), variant, top)
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
        share = claims.get(cut_off.METRIC)
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
