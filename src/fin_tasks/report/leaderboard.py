"""`leaderboard.json`: every value with its interval, ranks and tests of pairs; see `leaderboard.schema.json`."""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

import fin_tasks
from fin_tasks.endpoints.prices import Prices
from fin_tasks.report.conditions import conditions_of, differences, setting_id
from fin_tasks.report.cost import costs_of
from fin_tasks.report.model import Report, TaskResult, known_benchmarks, metric_of
from fin_tasks.report.published import figures
from fin_tasks.report.ranking import Results, rank_runs
from fin_tasks.report.values import entries_of
from fin_tasks.stats.pairs import ALPHA

FORMAT = "fin-tasks leaderboard"
VERSION = "3.0"


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
            list(known_benchmarks()).index(task["benchmark"]),
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
    results: Results,
    reference: str,
) -> tuple[list[dict[str, Any]], list[str]]:
    """Return the entries of `comparisons` and notes, and add marks to entries that are not comparable or not ranked."""
    headlines: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for entry in entries:
        if entry["metric"] == tasks[entry["task"]]["headline"]:
            headlines[entry["task"]].append(entry)
    comparisons: list[dict[str, Any]] = []
    notes: list[str] = []
    marks: dict[tuple[str, str], list[str]] = {}
    for name, of_task in headlines.items():
        standard = reference_of([results[entry["run"]][1] for entry in of_task], reference)
        for members in _groups_of(of_task, setting_id(standard)):
            comparison, left_out = rank_runs(report, members, tasks[name], results)
            comparisons.append(comparison)
            notes += _missing_rows(report, comparison, tasks[name], results)
            _note_open_ranks(members, comparison)
            for entry in members:
                why = left_out.get(entry["run"])
                not_ranked = [f"not ranked: {why}"] if why else []
                apart = differences(results[entry["run"]][1], standard)
                marks[name, entry["run"]] = apart or not_ranked
    for entry in entries:
        entry["marks"] += marks.get((entry["task"], entry["run"]), [])
    return comparisons, notes


def _groups_of(entries: Sequence[dict[str, Any]], first: str) -> list[list[dict[str, Any]]]:
    """Return the entries that may be compared with each other, those with the reference first."""
    by_group: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for entry in entries:
        by_group[entry["group"]].append(entry)
    order = sorted(by_group, key=lambda group: (group != first, group))
    return [by_group[group] for group in order]


def _missing_rows(
    report: Report, comparison: Mapping[str, Any], task: Mapping[str, Any], results: Results
) -> list[str]:
    notes = []
    for place in comparison["ranks"]:
        run, result = results[place["run"]]
        n_missing = comparison["rows"] - len(report.rows_of(result, task["variant"]))
        if n_missing:
            note = f"{run.name} lacks {n_missing} rows; compared on the rows in common."
            notes.append(f"{task['id']}: {note}")
    return notes


def _note_open_ranks(members: Sequence[dict[str, Any]], comparison: Mapping[str, Any]) -> None:
    """Say of runs that another rank is possible, as responses of theirs or of others were cut off."""
    places = {place["run"]: place for place in comparison["ranks"]}
    for entry in members:
        place = places.get(entry["run"])
        if place and place["best_if_finished"] < place["worst_if_finished"]:
            ranks = f"{place['best_if_finished']} to {place['worst_if_finished']}"
            entry["notes"].append(f"rank {ranks} if cut-off responses were finished")


def _runs(results: Results) -> list[dict[str, Any]]:
    """Return `runs`. If a model was asked the same in the same way more than once, labels name the time or the file."""
    asked = {identity: (run.model, *conditions_of(one)) for identity, (run, one) in results.items()}
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


def reference_of(results: Sequence[TaskResult], named: str = "") -> TaskResult:
    """Return the result whose settings others are held against: that of the `Run.id` named, else one with most rows."""
    return max(results, key=lambda one: (one.run == named, one.n, setting_id(one)))
