"""`leaderboard.json`: every value with its interval, ranks and tests of pairs; see `leaderboard.schema.json`."""

import hashlib
import math
import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timezone
from itertools import groupby
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from scipy.special import ndtri

import fin_tasks
from fin_tasks.report.comparable import conditions_of, differences, reference_of, setting_id
from fin_tasks.report.cost import Prices, costs_of
from fin_tasks.report.model import BENCHMARKS, Report, Run, TaskResult, largest
from fin_tasks.report.published import figures
from fin_tasks.report.values import Value, headline, higher_is_better, label_of, part_of, values_of
from fin_tasks.stats.pairs import ALPHA, Pair, compare_all, rank

FORMAT, VERSION = "fin-tasks leaderboard", "1.2"
_POWER, _CONFIDENCE = 0.8, 0.95
_SAME_ROWS, _ENOUGH = 0.98, 0.5
_UNITS = {1.0: "fraction", 100.0: "points", math.inf: "number"}


def compare_values(report: Report, values: Sequence[Value], dates: Mapping[str, str]) -> dict[str, Any]:
    """Rank runs and test their pairs; return an entry of `comparisons`.

    The run with most scored rows is the standard. A run that was not asked 98 % of these rows is left out, and so is a
    run that scored less than half of them. All others are compared pair by pair on the rows in common.

    The values are of one column, metric and group. Of several runs of one model only the last by `dates` is ranked.
    """
    left_out: dict[str, str] = {}
    newest: dict[str, Value] = {}
    for value in sorted(values, key=lambda one: dates.get(one.run, "")):
        if value.model in newest:
            left_out[newest[value.model].run] = "the same model ran again later with the same settings"
        newest[value.model] = value
    scores: dict[str, pd.Series] = {}
    sources: dict[int, int] = {}
    for value in newest.values():
        rows = report.rows_of(value.result, value.variant) if value.result else report.rows.iloc[:0]
        if value.metric in rows and rows[value.metric].notna().any():
            keys = rows["task"].cat.codes.to_numpy(np.int64) << 32 | rows["doc_id"].cat.codes.to_numpy(np.int64)
            scores[value.run] = pd.Series(rows[value.metric].to_numpy(), index=keys)
            sources |= zip(keys.tolist(), rows["source"].cat.codes.tolist(), strict=True)
        else:
            left_out[value.run] = "no row is scored" if len(rows) else "its rows are not known"
    standard = max((of.dropna().index for of in scores.values()), key=len, default=pd.Index([]))
    for run, of in list(scores.items()):
        asked, scored = (int(standard.isin(one.index).sum()) for one in (of, of.dropna()))
        if asked < _SAME_ROWS * len(standard) or scored < _ENOUGH * len(standard):
            told = f"was asked {asked}" if asked < _SAME_ROWS * len(standard) else f"has scored {scored}"
            left_out[run] = f"it {told} of the {len(standard)} rows that another run has scored"
            del scores[run]
    table = pd.DataFrame(scores)
    clusters = np.array([sources[key] for key in table.index], dtype=np.int64)
    aligned = {run: table[run].to_numpy() for run in scores}
    pairs = compare_all(aligned, clusters=clusters)
    up = higher_is_better(values[0].metric, values[0].result) is not False
    held = int((clusters < 0).sum()) + len(set(clusters[clusters >= 0].tolist()))
    return {
        "task": values[0].column,
        "metric": values[0].metric,
        "group": values[0].group,
        "rows": len(table),
        "sources": held,
        "clustered": held < len(table),
        "test": "McNemar" if pairs and all(pair.test == "McNemar" for pair in pairs) else "t",
        "detectable": _detectable(pairs, values),
        "ranks": [
            {"run": one.run, "value": _six(one.mean), "n": one.n, "unscored": len(table) - one.n}
            | {"rank": one.rank, "best": one.best, "worst": one.worst}
            for one in rank(aligned, pairs, higher_is_better=up)
        ],
        "pairs": [
            {"first": one.first, "second": one.second, "n": one.n}
            | {n: _six(getattr(one, n)) for n in ("difference", "low", "high", "p", "p_holm")}
            for one in pairs
        ],
        "left_out": [
            {"run": one.run, "n": one.interval.n, "reason": left_out[one.run]} for one in values if one.run in left_out
        ],
    }


def _detectable(pairs: Sequence[Pair], values: Sequence[Value]) -> dict[str, float | None]:
    """Return the differences between two runs that would be found with a chance of `_POWER`."""
    errors = [pair.stderr for pair in pairs if pair.stderr > 0]
    own = [one.interval.stderr for one in values if one.interval.stderr > 0]
    level = ALPHA / max(1, len(pairs))  # Holm's correction at its strictest
    times = float(ndtri(1 - level / 2) + ndtri(_POWER))
    return {
        "paired": _six(times * float(np.median(errors))) if errors else None,
        "unpaired": _six(times * math.sqrt(2) * float(np.median(own))) if own and pairs else None,
    }


def board(
    report: Report,
    *,
    title: str = "Finance benchmarks",
    reference: str = "",
    papers: bool = True,
    prices: Prices | None = None,
) -> dict[str, Any]:
    """Return a leaderboard as `leaderboard.schema.json` describes it.

    `reference` is the `Run.id` whose settings are the reference, by default those with most rows. `papers` adds the
    published figures of the benchmarks that the runs have, `prices` the cost of the runs.
    """
    results = {_hash(run.id, one.task): (run, one) for run in report.runs for one in run.tasks}
    values: list[Value] = []
    for identity, (run, one) in results.items():
        for variant in dict.fromkeys([*one.totals, *("paper", "robust")]):
            values += values_of(report, one, variant, run=identity, model=run.model)
    columns: dict[str, list[Value]] = defaultdict(list)
    for value in values:
        if value.is_headline:
            columns[value.column].append(value)
    dates = {identity: run.date for identity, (run, _) in results.items()}
    comparisons: list[dict[str, Any]] = []
    notes: list[str] = []
    marks: dict[tuple[str, str], list[str]] = {}
    for column, own in columns.items():
        standard = reference_of([one.result for one in own if one.result is not None], reference)
        for group in sorted({one.group for one in own}, key=lambda group: group != setting_id(standard)):
            members = [one for one in own if one.group == group]
            found = compare_values(report, members, dates)
            comparisons.append(found)
            for one in found["ranks"]:
                asked = len(report.rows_of(results[one["run"]][1], members[0].variant))
                if lacking := found["rows"] - asked:
                    name = results[one["run"]][0].name
                    notes.append(f"{column}: {name} lacks {lacking} rows; compared on the rows in common.")
            left_out = {one["run"]: one["reason"] for one in found["left_out"]}
            for member in members:
                apart = differences(member.result, standard) if member.result else []
                why = left_out.get(member.run)
                marks[column, member.run] = [*apart, *([f"not ranked: {why}"] if why and not apart else [])]
    values = [replace(one, marks=(*one.marks, *marks.get((one.column, one.run), ()))) for one in values]
    labels = _labels(results)
    runs: list[dict[str, Any]] = [
        {"id": identity, "label": labels[identity], "source": run.harness, "model": run.model}
        | {"task": one.task, "date": run.date, "path": run.name, "provenance": {**run.settings, **one.settings}}
        | {"samples": Path(run.name).with_name(one.samples.name).as_posix() if one.samples else ""}
        for identity, (run, one) in results.items()
    ]
    if papers:
        printed, tables = figures({one.benchmark for one in values})
        values, runs = values + printed, runs + tables
    values.sort(key=_place)
    if prices:
        unused = sorted(prices.models.keys() - {run.model for run in report.runs})
        notes += [f"The prices name {name}, but no run is of that model." for name in unused]
    return {
        "format": FORMAT,
        "version": VERSION,
        "fin_tasks": fin_tasks.__version__,
        "title": title,
        "generated": datetime.now(timezone.utc).isoformat(timespec="seconds"),
        "baseline": None,
        "mixed": False,
        "alpha": ALPHA,
        "confidence": _CONFIDENCE,
        "power": _POWER,
        "models": _models(runs),
        "runs": runs,
        "tasks": [_task_entry(list(own)) for _, own in groupby(values, key=lambda one: one.column)],
        "metrics": {one.metric: _metric_entry(one) for one in reversed(values)},
        "groups": {one.group: dict(one.result.settings) for one in values if one.result is not None},
        "entries": [_entry(one) for one in values],
        "comparisons": comparisons,
        "costs": [
            {"run": _hash(run.id, task) if task else run.id, "model": run.model, "task": task, "path": run.name, **cost}
            for run in report.runs
            for task, cost in costs_of(run, prices).items()
        ],
        "prices": prices.model_dump(mode="json", exclude={"models"}) if prices else None,
        "problems": [{"path": one.path, "message": one.message} for one in report.problems],
        "notes": notes,
    }


def _place(one: Value) -> tuple[Any, ...]:
    numbers = [(part.isdigit(), int(part) if part.isdigit() else part) for part in re.split(r"(\d+)", one.column)]
    name = (one.model.casefold(), one.model, one.run)
    return list(BENCHMARKS).index(one.benchmark), numbers, name, not one.is_headline, one.metric


def _labels(results: Mapping[str, tuple[Run, TaskResult]]) -> dict[str, str]:
    """Return the models' names; with the time if a model was asked the same task in the same way more than once."""
    asked: dict[tuple[str, ...], list[str]] = defaultdict(list)
    for identity, (run, one) in results.items():
        key = (run.model, *conditions_of(one).values())
        asked[key].append(identity)
    labels = {}
    for (model, *_), several in asked.items():
        times = [results[one][0].date[:16].replace("T", " ") for one in several]
        for identity, time in zip(several, times, strict=True):
            which = time if time and times.count(time) == 1 else results[identity][0].name
            labels[identity] = model if len(several) == 1 else f"{model}, {which}"
    return labels


def _models(runs: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    own: dict[str, list[Mapping[str, Any]]] = defaultdict(list)
    for run in runs:
        own[run["model"]].append(run)
    sources = {name: sorted({run["source"] for run in of}) for name, of in own.items()}
    return [
        {"name": name, "runs": [run["id"] for run in own[name]], "sources": sources[name]}
        | {"published": sources[name] == ["published"]}
        for name in sorted(own, key=str.casefold)
    ]


def _task_entry(values: Sequence[Value]) -> dict[str, Any]:
    first = values[0]
    conditions, top = dict(first.conditions), headline(first.benchmark, first.result)
    bias = re.match(r"dynostock_(recency|authority)(?:_w(\d+))?", conditions["task"])
    split = f"{conditions['split']} split" if conditions["split"] not in ("", "sample") else conditions["split"]
    name = BENCHMARKS[first.benchmark] + conditions["task"].removeprefix(first.benchmark).replace("_", " ")
    retrieval = "" if conditions["retrieval"] == "none" else conditions["retrieval"]
    parts = [name, split, conditions["mode"], conditions["style"], retrieval, conditions["arm"], first.variant]
    return {
        "id": first.column,
        "title": " · ".join(part for part in parts if part),
        "benchmark": first.benchmark,
        **conditions,
        "variant": first.variant,
        "bias": bias[1] if bias else "",
        "window": int(bias[2]) if bias and bias[2] else None,
        "headline": top,
        "metrics": sorted({one.metric for one in values}, key=lambda metric: (metric != top, metric)),
    }


def _metric_entry(one: Value) -> dict[str, Any]:
    by, part = part_of(one.metric, one.benchmark)
    unit, up = _UNITS[largest(one.benchmark, one.metric)], higher_is_better(one.metric, one.result)
    return {"label": label_of(one.metric, one.benchmark), "unit": unit, "higher_is_better": up, "by": by, "of": part}


def _entry(one: Value) -> dict[str, Any]:
    found = one.interval
    value = found.mean if math.isfinite(found.mean) else None
    return {
        "task": one.column,
        **{name: getattr(one, name) for name in ("model", "run", "metric", "unscored", "judge", "group")},
        **{"value": value, "low": _six(found.low), "high": _six(found.high), "n": found.n, "marks": list(one.marks)},
    }


def _six(value: float) -> float | None:
    """Round to six significant digits; None if there is no number."""
    return float(f"{value:.6g}") if math.isfinite(value) else None


def _hash(*parts: str) -> str:
    return hashlib.sha256("\0".join(parts).encode("utf-8", "replace")).hexdigest()[:16]
