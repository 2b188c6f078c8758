"""The values of each task of each run, and the entries of a leaderboard that are made of them."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import pandas as pd

from fin_tasks.report import cut_off
from fin_tasks.report.conditions import (
    Conditions,
    conditions_of,
    differences,
    setting_id,
    setting_text,
)
from fin_tasks.report.leaderboard_model import BoardTask, CutOffs, Entry
from fin_tasks.report.model import (
    Report,
    Run,
    TaskResult,
    headline,
    known_benchmarks,
    metric_of,
)
from fin_tasks.report.values import Value, rows_of_group, values_of

_FEW_SOURCES = 20  # with fewer, an interval is markedly too narrow


@dataclass(frozen=True, kw_only=True)
class Scored:
    """A task of a run under one variant."""

    run: Run
    result: TaskResult
    task: BoardTask
    values: Mapping[str, Value]
    cut_offs: Mapping[str, CutOffs | None]
    n_scored: int
    """Rows with a value of the headline."""
    n_unscored: int

    @property
    def group(self) -> str:
        """What the results share that may be compared."""
        return setting_id(self.result)


@dataclass
class Standing:
    """What a comparison with other runs says of a run."""

    why_not_ranked: str = ""
    open_rank: str = ""
    """Ranks that are possible if cut-off responses are finished; empty if only one is."""


def scored_tasks(report: Report) -> list[Scored]:
    """Return all tasks of all runs under each variant in which they have a value."""
    scored = []
    for run in report.runs:
        for result in run.tasks:
            for variant in _variants(report, result):
                task = _scored(report, run, result, variant)
                if task.values:
                    scored.append(task)
    return scored


def _variants(report: Report, result: TaskResult) -> Sequence[str]:
    known = ("paper", "robust")
    with_rows = [name for name in known if not report.rows_of(result, name).empty]
    return list(dict.fromkeys([*result.totals, *result.breakdowns, *result.aggregates, *with_rows]))


def _scored(report: Report, run: Run, result: TaskResult, variant: str) -> Scored:
    values = values_of(report, result, variant)
    rows = rows_of_group(report, result, variant)
    top = headline(result)
    scores = rows[top] if top in rows else pd.Series(dtype=float)
    limit = cut_off.limit_of(_tasks_of(run, result))
    cut_offs = {}
    for metric, value in values.items():
        cut_offs[metric] = _cut_offs_of(rows, metric, value, result, variant, limit)
    return Scored(
        run=run,
        result=result,
        task=task_of(result.benchmark, conditions_of(result), variant, top),
        values=values,
        cut_offs=cut_offs,
        n_scored=int(scores.notna().sum()),
        n_unscored=int(scores.isna().sum()),
    )


def _tasks_of(run: Run, result: TaskResult) -> Iterator[TaskResult]:
    names = result.members or (result.task,)
    return (task for task in run.tasks if task.task in names)


def _cut_offs_of(
    rows: pd.DataFrame,
    metric: str,
    value: Value,
    result: TaskResult,
    variant: str,
    limit: int | None,
) -> CutOffs | None:
    """Return the cut-off responses behind a value; None if there are none, or if it is no mean over rows."""
    if value.is_mean:
        return cut_off.cut_offs_of(rows, metric, weights=value.weights, limit=limit)
    totals = result.totals.get(variant, {})
    if not rows.empty or metric not in totals:
        return None
    share = totals.get(cut_off.METRIC)
    return cut_off.claimed_cut_offs(value.estimate.mean, share, metric, limit)


def task_of(benchmark: str, conditions: Conditions, variant: str, top: str) -> BoardTask:
    """Return a task as a leaderboard has it."""
    about = known_benchmarks()[benchmark]
    name = conditions.task.removeprefix(f"{about.name}_")
    sized = re.fullmatch(about.sized_tasks, name) if about.sized_tasks else None
    size = sized["size"] if sized else None
    return BoardTask(
        id=conditions.id(variant),
        asked=conditions.id(),
        benchmark=benchmark,
        **conditions._asdict(),
        variant=variant,
        family=sized["family"] if sized else "",
        window=int(size) if size else None,
        headline=top,
    )


def entries_of(scored: Scored, standing: Standing, reference: TaskResult) -> list[Entry]:
    """Return the values of a task as a leaderboard has them, with all that is to be said of them."""
    result = scored.result
    top = scored.task.headline
    judge = [result.settings.get(name) for name in ("judge.model", "judge.rubric")]
    not_comparable = differences(result, reference)
    if standing.why_not_ranked and not not_comparable:
        not_comparable = [f"not ranked: {standing.why_not_ranked}"]
    entries = []
    for metric, value in scored.values.items():
        estimate = value.estimate
        cut_offs = scored.cut_offs[metric]
        notes = [cut_off.note_of(cut_offs, metric), _note_on_sources(metric, value)]
        if metric == top and standing.open_rank:
            notes.append(f"rank {standing.open_rank} if cut-off responses were finished")
        entry = Entry(
            task=scored.task.id,
            model=scored.run.model,
            run=result.id,
            metric=metric,
            value=estimate.mean,
            low=estimate.low,
            high=estimate.high,
            stderr=estimate.stderr,
            method=estimate.method,
            n=estimate.n,
            unscored=scored.n_unscored if metric == top else 0,
            judge=", ".join(setting_text(text) for text in judge if text),
            group=scored.group,
            marks=_claim_marks(value) + not_comparable,
            notes=[note for note in notes if note],
            cut_off=cut_offs,
        )
        entries.append(entry)
    return entries


def _claim_marks(value: Value) -> list[str]:
    if value.claim is None:
        return []
    return [f"its results file claims {value.claim:.4g}, its rows give {value.estimate.mean:.4g}"]


def _note_on_sources(metric: str, value: Value) -> str:
    n_sources = value.estimate.clusters
    has_enough = n_sources >= min(_FEW_SOURCES, value.estimate.n)
    if has_enough or not value.estimate.method or metric_of(metric).by:
        return ""
    return f"rough interval: the rows share only {n_sources} sources"
