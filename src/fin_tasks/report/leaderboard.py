"""`leaderboard.json`: every value with its interval, ranks and tests of pairs; see `leaderboard.schema.json`."""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

import fin_tasks
from fin_tasks.benchmarks import all_benchmarks
from fin_tasks.endpoints.prices import Prices
from fin_tasks.report.comparable import conditions_of, differences, reference_of, setting_id
from fin_tasks.report.cost import costs_of
from fin_tasks.report.model import Report, Run, TaskResult, metric_of
from fin_tasks.report.published import figures
from fin_tasks.report.values import entries_of, six_digits
from fin_tasks.stats.pairs import ALPHA, compare_all, rank

FORMAT, VERSION = "fin-tasks leaderboard", "2.0"
_SAME_ROWS, _ENOUGH = 0.98, 0.5
_Results = Mapping[str, tuple[Run, TaskResult]]  # by `TaskResult.id`


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
    results = {one.id: (run, one) for run in report.runs for one in run.tasks}
    tasks: dict[str, dict[str, Any]] = {}
    entries: list[dict[str, Any]] = []
    for run, result in results.values():
        for variant in dict.fromkeys([*result.totals, "paper", "robust"]):
            task, found = entries_of(report, run, result, variant)
            tasks |= {task["id"]: task} if found else {}
            entries += found
    comparisons, notes = _compare(report, tasks, entries, results, reference)
    runs = _runs(results)
    if papers:
        printed = figures({task["benchmark"] for task in tasks.values()})
        tasks, entries, runs = printed[0] | tasks, entries + printed[1], runs + printed[2]
    if prices:
        unused = sorted(prices.models.keys() - {run.model for run in report.runs})
        notes += [f"The prices name {name}, but no run is of that model." for name in unused]
    costs = []
    for run in report.runs:
        ids = {result.task: result.id for result in run.tasks}
        for name, cost in costs_of(run, prices).items():
            costs.append(
                {
                    "run": ids.get(name, run.id),
                    "model": run.model,
                    "task": name,
                    "path": run.name,
                    **cost,
                }
            )
    metrics: dict[str, set[str]] = defaultdict(set)
    for entry in entries:
        metrics[entry["task"]].add(entry["metric"])
    for name, task in tasks.items():
        task["metrics"] = sorted(
            metrics[name], key=lambda metric: (metric != task["headline"], metric)
        )

    def task_place(task: Mapping[str, Any]) -> tuple[Any, ...]:
        return (
            list(all_benchmarks()).index(task["benchmark"]),
            task["bias"],
            task["window"] or 0,
            task["id"],
        )

    order = sorted(tasks, key=lambda name: task_place(tasks[name]))

    def place(entry: Mapping[str, Any]) -> tuple[Any, ...]:
        task = entry["task"]
        at = tasks[task]["metrics"].index(entry["metric"])
        return order.index(task), entry["model"].casefold(), entry["model"], entry["run"], at

    return {
        "format": FORMAT,
        "version": VERSION,
        "fin_tasks": fin_tasks.__version__,
        "title": title,
        "generated": datetime.now(timezone.utc).isoformat(timespec="seconds"),
        "alpha": ALPHA,
        "runs": runs,
        "tasks": [tasks[name] for name in order],
        "metrics": {
            name: asdict(metric_of(name)) for name in sorted(set().union(*metrics.values()))
        },
        "groups": {setting_id(result): dict(result.settings) for _, result in results.values()},
        "entries": sorted(entries, key=place),
        "comparisons": comparisons,
        "costs": costs,
        "prices": prices.model_dump(mode="json", exclude={"models"}) if prices else None,
        "problems": [{"path": one.path, "message": one.message} for one in report.problems],
        "notes": notes,
    }


def _compare(
    report: Report,
    tasks: Mapping[str, Mapping[str, Any]],
    entries: Sequence[dict[str, Any]],
    results: _Results,
    reference: str,
) -> tuple[list[dict[str, Any]], list[str]]:
    """Return the entries of `comparisons` and notes, and add marks to entries that are not comparable or not ranked."""
    columns: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for entry in entries:
        if entry["metric"] == tasks[entry["task"]]["headline"]:
            columns[entry["task"]].append(entry)
    comparisons: list[dict[str, Any]] = []
    notes: list[str] = []
    marks: dict[tuple[str, str], list[str]] = {}
    for column, own in columns.items():
        standard = reference_of([results[entry["run"]][1] for entry in own], reference)
        for group in sorted(
            {entry["group"] for entry in own}, key=lambda one: (one != setting_id(standard), one)
        ):
            members = [entry for entry in own if entry["group"] == group]
            found, left_out = _ranked(report, members, tasks[column], results)
            comparisons.append(found)
            for one in found["ranks"]:
                run, result = results[one["run"]]
                if lacking := found["rows"] - len(report.rows_of(result, tasks[column]["variant"])):
                    notes.append(
                        f"{column}: {run.name} lacks {lacking} rows; compared on the rows in common."
                    )
            for entry in members:
                apart = differences(results[entry["run"]][1], standard)
                why = left_out.get(entry["run"])
                marks[column, entry["run"]] = apart or ([f"not ranked: {why}"] if why else [])
    for entry in entries:
        entry["marks"] += marks.get((entry["task"], entry["run"]), [])
    return comparisons, notes


def _ranked(
    report: Report, members: Sequence[Mapping[str, Any]], task: Mapping[str, Any], results: _Results
) -> tuple[dict[str, Any], dict[str, str]]:
    """Rank runs and test their pairs; return an entry of `comparisons`, and why a run is left out.

    The run with most scored rows is the standard. A run that was not asked 98 % of these rows is left out, and so is a
    run that scored less than half of them. All others are compared pair by pair on the rows in common. Of several runs
    of one model only the last is ranked.
    """
    metric, left_out = task["headline"], dict[str, str]()
    newest: dict[str, str] = {}
    for entry in sorted(members, key=lambda entry: results[entry["run"]][0].date):
        if earlier := newest.get(entry["model"]):
            left_out[earlier] = "the same model ran again later with the same settings"
        newest[entry["model"]] = entry["run"]
    scores: dict[str, pd.Series] = {}
    sources: dict[int, int] = {}
    for identity in newest.values():
        rows = report.rows_of(results[identity][1], task["variant"])
        if metric in rows and rows[metric].notna().any():
            keys = rows["task"].cat.codes.to_numpy(np.int64) << 32 | rows[
                "doc_id"
            ].cat.codes.to_numpy(np.int64)
            scores[identity] = pd.Series(rows[metric].to_numpy(), index=keys)
            sources |= zip(keys.tolist(), rows["source"].cat.codes.tolist(), strict=True)
        else:
            left_out[identity] = "no row is scored" if len(rows) else "its rows are not known"
    standard = max((of.dropna().index for of in scores.values()), key=len, default=pd.Index([]))
    for identity, of in list(scores.items()):
        asked, scored = (int(standard.isin(one.index).sum()) for one in (of, of.dropna()))
        if asked < _SAME_ROWS * len(standard) or scored < _ENOUGH * len(standard):
            left_out[identity] = (
                f"it has {asked} and scored {scored} of {len(standard)} rows that another run scored"
            )
            del scores[identity]
    table = pd.DataFrame(scores)
    clusters = np.array([sources[key] for key in table.index], dtype=np.int64)
    aligned = {identity: table[identity].to_numpy() for identity in scores}
    pairs = compare_all(aligned, clusters=clusters)
    places = rank(aligned, pairs, higher_is_better=metric_of(metric).higher_is_better is not False)
    found = {
        "task": task["id"],
        "metric": metric,
        "group": members[0]["group"],
        "rows": len(table),
        "sources": int((clusters < 0).sum()) + len(set(clusters[clusters >= 0].tolist())),
        "test": "McNemar" if pairs and all(pair.test == "McNemar" for pair in pairs) else "t",
        "ranks": [
            {"run": one.run, "rank": one.rank, "best": one.best, "worst": one.worst}
            for one in places
        ],
        "pairs": [
            {"first": one.first, "second": one.second, "n": one.n}
            | {
                name: six_digits(getattr(one, name))
                for name in ("difference", "low", "high", "p", "p_holm")
            }
            for one in pairs
        ],
    }
    return found, left_out


def _runs(results: _Results) -> list[dict[str, Any]]:
    """Return `runs`. If a model was asked the same in the same way more than once, labels name the time or the file."""
    asked = {
        identity: (run.model, *conditions_of(one).values())
        for identity, (run, one) in results.items()
    }
    times = {identity: run.date[:16].replace("T", " ") for identity, (run, _) in results.items()}
    several = Counter(asked.values())
    at_once = Counter((asked[identity], times[identity]) for identity in results)
    found = []
    for identity, (run, one) in results.items():
        is_known = times[identity] and at_once[asked[identity], times[identity]] == 1
        which = times[identity] if is_known else run.name
        found.append(
            {
                "id": identity,
                "label": run.model if several[asked[identity]] == 1 else f"{run.model}, {which}",
                "source": run.harness,
                "model": run.model,
                "task": one.task,
                "date": run.date,
                "path": run.name,
                "samples": Path(run.name).with_name(one.samples.name).as_posix()
                if one.samples
                else "",
                "provenance": {**run.settings, **one.settings},
            }
        )
    return found
