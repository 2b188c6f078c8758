"""A leaderboard of runs: every value with its interval, ranks and tests of pairs."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import fin_tasks
from fin_tasks.endpoints.prices import Prices
from fin_tasks.report.conditions import (
    Conditions,
    conditions_of,
    differing,
    setting_id,
    setting_label,
    short_text,
)
from fin_tasks.report.cost import costs_of
from fin_tasks.report.entries import Scored, entries_of, scored_tasks
from fin_tasks.report.leaderboard_model import (
    BoardPrices,
    BoardRun,
    BoardTask,
    Comparison,
    Entry,
    Leaderboard,
)
from fin_tasks.report.model import Report, Run, TaskResult, known_benchmarks, metric_of
from fin_tasks.report.published import Published, figures
from fin_tasks.report.ranking import rank_task
from fin_tasks.report.redact import printable
from fin_tasks.stats.pairs import ALPHA

_MAX_DETAILS = 3  # of a label


def board(
    report: Report,
    *,
    title: str = "Finance benchmarks",
    reference: str = "",
    papers: bool = True,
    prices: Prices | None = None,
) -> Leaderboard:
    """Return a leaderboard.

    `reference` is the `Run.id` whose settings are the reference, by default those with most scored rows. `papers` adds
    the published figures of the benchmarks that the runs have, `prices` the cost of the runs.
    """
    by_task: dict[str, list[Scored]] = defaultdict(list)
    for scored in scored_tasks(report):
        by_task[scored.task.id].append(scored)
    entries: list[Entry] = []
    comparisons: list[Comparison] = []
    notes: list[str] = []
    for members in by_task.values():
        ranking = rank_task(report, members, reference)
        comparisons += ranking.comparisons
        notes += ranking.notes
        for member in members:
            entries += entries_of(member, ranking)
    tasks = {name: members[0].task for name, members in by_task.items()}
    printed = figures({task.benchmark for task in tasks.values()}) if papers else Published()
    entries, shown_tasks = _in_order(entries + printed.entries, printed.tasks | tasks)
    results = [(run, result) for run in report.runs for result in run.tasks]
    costs = [cost for run in report.runs for cost in costs_of(run, prices)]
    metrics = sorted({entry.metric for entry in entries})
    return Leaderboard(
        fin_tasks=fin_tasks.__version__,
        title=title,
        generated=datetime.now(UTC).isoformat(timespec="seconds"),
        alpha=ALPHA,
        runs=[*_board_runs(results), *printed.runs.values()],
        tasks=shown_tasks,
        metrics={name: metric_of(name) for name in metrics},
        groups={setting_id(result): dict(result.settings) for _, result in results},
        entries=entries,
        comparisons=comparisons,
        costs=costs,
        prices=BoardPrices.model_validate(prices) if prices else None,
        problems=list(report.problems),
        notes=notes + _unused_prices(report, prices),
    )


def _in_order(
    entries: Iterable[Entry],
    tasks: Mapping[str, BoardTask],
) -> tuple[list[Entry], list[BoardTask]]:
    """Return entries by task, model and metric, the headline first; and their tasks with the names of their metrics."""
    benchmarks = list(known_benchmarks())

    def place(entry: Entry) -> tuple[Any, ...]:
        task = tasks[entry.task]
        return (
            benchmarks.index(task.benchmark),
            task.family,
            task.window or 0,
            task.id,
            entry.model.casefold(),
            entry.run,
            entry.metric != task.headline,
            entry.metric,
        )

    ordered = sorted(entries, key=place)
    metrics: dict[str, set[str]] = defaultdict(set)
    for entry in ordered:
        metrics[entry.task].add(entry.metric)
    completed = []
    for name, names in metrics.items():
        top = tasks[name].headline
        by_importance = sorted(names, key=lambda metric: (metric != top, metric))
        completed.append(tasks[name].model_copy(update={"metrics": by_importance}))
    return ordered, completed


def _unused_prices(report: Report, prices: Prices | None) -> list[str]:
    models = {run.model for run in report.runs}
    unused = sorted(prices.models.keys() - models) if prices else []
    return [f"The prices name {name}, but no run is of that model." for name in unused]


def _board_runs(results: Sequence[tuple[Run, TaskResult]]) -> list[BoardRun]:
    labels = _labels(results)
    runs = []
    for run, result in results:
        samples = Path(run.name).with_name(result.samples.name) if result.samples else None
        board_run = BoardRun(
            id=result.id,
            label=labels[result.id],
            source=run.harness,
            model=run.model,
            task=result.task,
            date=run.date,
            path=run.name,
            samples=printable(samples.as_posix()) if samples else "",
            provenance={**run.settings, **result.settings},
        )
        runs.append(board_run)
    return runs


def _labels(results: Sequence[tuple[Run, TaskResult]]) -> dict[str, str]:
    """Return a label for each result: its model, and what differs if that was asked the same several times."""
    repeats: dict[tuple[str, Conditions], list[tuple[Run, TaskResult]]] = defaultdict(list)
    for run, result in results:
        repeats[run.model, conditions_of(result)].append((run, result))
    labels = {}
    for (model, _), members in repeats.items():
        names: dict[str, None] = {}
        for _, result in members:
            names |= dict.fromkeys(differing(members[0][1].settings, result.settings))
        names_of_details = [name for name in names if not name.endswith("sha256")][:_MAX_DETAILS]
        texts = []
        for _, result in members:
            text = model
            for name in names_of_details:
                text += f", {setting_label(name)} {short_text(result.settings.get(name))}"
            texts.append(text)
        for (run, result), text in zip(members, texts, strict=True):
            labels[result.id] = text
            if texts.count(text) > 1:
                time = run.date[:19].replace("T", " ")
                labels[result.id] = f"{text}, {time or run.name}"
    return labels
