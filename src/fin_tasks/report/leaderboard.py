"""A leaderboard of runs: every value with its interval, ranks and tests of pairs."""

from collections import defaultdict
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import fin_tasks
from fin_tasks.endpoints.prices import Prices
from fin_tasks.report.badges import Badges, read_badges
from fin_tasks.report.compare import Options
from fin_tasks.report.conditions import (
    Conditions,
    conditions_of,
    differing,
    setting_id,
    setting_note,
)
from fin_tasks.report.corrections import Corrections
from fin_tasks.report.cost import costs_of
from fin_tasks.report.entries import entries_of, scored_tasks
from fin_tasks.report.leaderboard_model import (
    BoardRun,
    BoardTask,
    Comparison,
    Cost,
    Entry,
    Gap,
    Leaderboard,
)
from fin_tasks.report.memorization import gaps_of
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
    corrections: Corrections | None = None,
    out: Path | None = None,
) -> Leaderboard:
    """Return a leaderboard.

    `reference` is the `Run.id` whose settings are the reference, by default those with most scored rows. `papers` adds
    the published figures of the benchmarks that the runs have, `prices` the cost of the runs.
    `out` is the folder of the report, to which the paths of results files are relative.
    """
    benchmarks = {result.benchmark for _, result in report.results}
    badges, unread = read_badges(report)
    shown = figures(benchmarks) if papers else Published()
    corrections = corrections or Corrections()
    comparisons: list[Comparison] = []
    known_results = {result.id for _, result in report.results}
    notes = [
        f"Labels correct {line.model} on {line.task}, but that run is not here."
        for line in corrections.runs
        if line.run not in known_results
    ]
    for name, members in scored_tasks(report).items():
        ranking = rank_task(report, members, reference)
        comparisons += ranking.comparisons
        notes += ranking.notes
        shown.tasks[name] = members[0].task
        for member in members:
            shown.entries += entries_of(member, ranking, corrections, out)
    entries, tasks = _in_order(shown)
    costs: list[Cost] = []
    for run in report.runs:
        costs += costs_of(run, prices)
    if prices:
        unused = prices.models.keys() - {run.model for run in report.runs}
        notes += [
            f"The prices name {name}, but no run is of that model."
            for name in sorted(unused)
        ]
    gaps: list[Gap] = []
    for variant in ("paper", "robust"):
        own_gaps, gap_notes = gaps_of(report, Options(variant=variant))
        gaps += own_gaps
        notes += gap_notes
    metrics = sorted({entry.metric for entry in entries})
    return Leaderboard(
        fin_tasks=fin_tasks.__version__,
        title=title,
        generated=datetime.now(UTC).isoformat(timespec="seconds"),
        alpha=ALPHA,
        runs=[*_board_runs(report, badges), *shown.runs.values()],
        tasks=tasks,
        metrics={name: metric_of(name) for name in metrics},
        groups={
            setting_id(result): dict(result.settings) for _, result in report.results
        },
        entries=entries,
        comparisons=comparisons,
        gaps=gaps,
        costs=costs,
        prices=prices,
        problems=[*report.problems, *unread],
        notes=notes,
    )


def _in_order(shown: Published) -> tuple[list[Entry], list[BoardTask]]:
    """Return entries by task, model and metric, the headline first; and their tasks with the names of their metrics."""
    tasks = shown.tasks
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

    entries = sorted(shown.entries, key=place)
    metrics: dict[str, set[str]] = defaultdict(set)
    for entry in entries:
        metrics[entry.task].add(entry.metric)
    for name, names in metrics.items():
        top = tasks[name].headline
        tasks[name].metrics = sorted(names, key=lambda metric: (metric != top, metric))
    return entries, [tasks[name] for name in metrics]


def _board_runs(
    report: Report,
    badges: Badges,
) -> list[BoardRun]:
    labels = _labels(report)
    runs = []
    for run, result in report.results:
        samples = ""
        if result.samples:
            samples = printable(
                Path(run.name).with_name(result.samples.name).as_posix()
            )
        board_run = BoardRun(
            id=result.id,
            label=labels[result.id],
            source=run.harness,
            model=run.model,
            task=result.task,
            date=run.date,
            path=run.name,
            samples=samples,
            provenance={**run.settings, **result.settings},
            verified=badges.get(result.id),
        )
        runs.append(board_run)
    return runs


def _labels(report: Report) -> dict[str, str]:
    """Return a label for each result: its model, and what differs if that was asked the same several times."""
    repeats: dict[tuple[str, Conditions], list[tuple[Run, TaskResult]]] = defaultdict(
        list
    )
    for run, result in report.results:
        repeats[run.model, conditions_of(result)].append((run, result))
    labels = {}
    for (model, _), members in repeats.items():
        names: dict[str, None] = {}
        for _, result in members:
            names |= dict.fromkeys(differing(members[0][1].settings, result.settings))
        names_of_details = [name for name in names if not name.endswith("sha256")][
            :_MAX_DETAILS
        ]
        texts = []
        for _, result in members:
            details = [setting_note(name, result) for name in names_of_details]
            texts.append(", ".join([model, *details]))
        for (run, result), text in zip(members, texts, strict=True):
            labels[result.id] = text
            if texts.count(text) > 1:
                time = run.date[:19].replace("T", " ")
                labels[result.id] = f"{text}, {time or run.name}"
    return labels
