"""The values of each task of each run, and the entries of a leaderboard that are made of them."""

import math
import os
import re
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import pandas as pd

from fin_tasks.report import cut_off
from fin_tasks.report.conditions import (
    Conditions,
    conditions_of,
    differences,
    setting_id,
    setting_text,
)
from fin_tasks.report.corrections import Corrections, note_of
from fin_tasks.report.judges import judge_notes
from fin_tasks.report.leaderboard_model import BoardTask, Comparison, Entry
from fin_tasks.report.model import (
    WEIGHTED,
    Report,
    Run,
    TaskResult,
    headline,
    known_benchmarks,
    metric_of,
)
from fin_tasks.report.redact import printable
from fin_tasks.report.values import Value, values_of
from fin_tasks.stats.means import Estimate

_FEW_SOURCES = 20  # with fewer, an interval is markedly too narrow


@dataclass(frozen=True, kw_only=True)
class Scored:
    """A task of a run under one variant."""

    run: Run
    result: TaskResult
    task: BoardTask
    values: Mapping[str, Value]
    n_scored: int
    """Rows with a value of the headline."""
    n_unscored: int
    group: str
    """What results share that may be compared."""


@dataclass
class Ranking:
    """The runs of one task, ranked apart for each setting."""

    reference: TaskResult
    """The result whose settings the others are held against."""
    comparisons: list[Comparison] = field(default_factory=list)
    why_not_ranked: dict[str, str] = field(default_factory=dict)
    """By the id of a result."""
    open_ranks: dict[str, str] = field(default_factory=dict)
    """Notes on ranks that are possible if cut-off responses are finished, by the id of a result."""
    notes: list[str] = field(default_factory=list)


def scored_tasks(report: Report) -> dict[str, list[Scored]]:
    """Return all tasks of all runs under each variant in which they have a value, by the id of the task."""
    by_task: dict[str, list[Scored]] = defaultdict(list)
    for run, result in report.results:
        top = headline(result)
        named = [*result.totals, *result.breakdowns, *result.aggregates]
        for variant in dict.fromkeys([*named, "paper", "robust"]):
            values = values_of(report, result, variant)
            if not values:
                continue
            scores = report.rows_of(result, variant).get(top, pd.Series(dtype=float))
            scored = Scored(
                run=run,
                result=result,
                task=task_of(result.benchmark, conditions_of(result), variant, top),
                values=values,
                n_scored=int(scores.count()),
                n_unscored=int(scores.isna().sum()),
                group=setting_id(result),
            )
            by_task[scored.task.id].append(scored)
    return by_task


def task_of(
    benchmark: str, conditions: Conditions, variant: str, top: str
) -> BoardTask:
    """Return a task as a leaderboard has it."""
    about = known_benchmarks()[benchmark]
    name = conditions.task.removeprefix(f"{about.name}_")
    task = BoardTask(
        id=conditions.id(variant),
        asked=conditions.id(),
        benchmark=benchmark,
        **conditions._asdict(),
        variant=variant,
        headline=top,
    )
    sized = re.fullmatch(about.sized_tasks or "", name)
    if about.sized_tasks and sized:
        task.family = sized["family"]
        task.window = int(sized["size"] or 0) or None
    return task


def entries_of(
    scored: Scored, ranking: Ranking, corrections: Corrections, out: Path | None
) -> list[Entry]:
    """Return the values of a task as a leaderboard has them, with all that is to be said of them.

    `out` is the folder of the report.
    """
    result = scored.result
    top = scored.task.headline
    judge = [result.settings.get(name) for name in ("judge.model", "judge.rubric")]
    not_comparable = differences(result, ranking.reference)
    if not not_comparable and result.id in ranking.why_not_ranked:
        not_comparable = [f"not ranked: {ranking.why_not_ranked[result.id]}"]
    path = scored.run.path.resolve()
    results_file = None
    if out and path.is_relative_to(out.resolve().parent):
        # A link works where results and report are moved or published together.
        results_file = printable(os.path.relpath(path, out))
    entries = []
    for metric, value in scored.values.items():
        estimate = value.estimate
        marks = list(not_comparable)
        if value.claim is not None:
            claim = f"its results file claims {value.claim:.4g}, its rows give {estimate.mean:.4g}"
            marks.insert(0, claim)
        corrected = corrections.of(result.id, scored.task.variant, metric)
        notes = [
            cut_off.note_of(value.cut_offs, metric),
            _note_on_estimate(metric, estimate),
            note_of(corrected),
        ]
        if metric == top:
            notes.append(ranking.open_ranks.get(result.id, ""))
            notes += judge_notes(result, scored.run.model)
        entry = Entry(
            task=scored.task.id,
            model=scored.run.model,
            run=result.id,
            metric=metric,
            value=estimate.mean,
            low=estimate.low,
            high=estimate.high,
            method=estimate.method,
            n=estimate.n,
            unscored=scored.n_unscored if metric == top else 0,
            judge=", ".join(setting_text(text) for text in judge if text),
            group=scored.group,
            marks=marks,
            notes=[note for note in notes if note],
            results_file=results_file,
            cut_off=value.cut_offs,
            corrected=corrected,
        )
        entries.append(entry)
    return entries


def _note_on_estimate(metric: str, estimate: Estimate) -> str:
    if metric == WEIGHTED and math.isnan(estimate.mean):
        return "not defined: no answer is wrong"
    has_enough = estimate.clusters >= min(_FEW_SOURCES, estimate.n)
    if has_enough or not estimate.method or metric_of(metric).by:
        return ""
    return f"rough interval: the rows share only {estimate.clusters} sources"
