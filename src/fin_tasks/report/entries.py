"""The values of each task of each run, their entries on a leaderboard, and ranks by tests of pairs."""

import math
import os
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

import numpy as np
from pandas import DataFrame, Index, Series

from fin_tasks.stats.means import Estimate, cluster_codes
from fin_tasks.stats.pairs import compare_all, rank

from . import cut_off
from .conditions import Conditions, conditions_of, differences, setting_id, setting_text
from .corrections import Corrections, note_of
from .judges import judge_notes
from .leaderboard_model import BoardPair, BoardTask, Comparison, Entry, Rank
from .model import (
    KNOWN_BENCHMARKS,
    WEIGHTED,
    Report,
    Run,
    TaskResult,
    headline,
    metric_of,
)
from .redact import printable
from .values import Value, values_of

# Of the rows that another run scored, a run must be asked and must score these shares to be ranked.
_MIN_ASKED = 0.98
_MIN_SCORED = 0.5
_MAX_PAIRED = 200  # of the best runs, the pairs stand on a leaderboard
_MIN_SOURCES = 20  # with fewer, an interval is markedly too narrow

Columns = dict[str, "Series[float]"]
"""A value of each row, by the id of a result."""


class Scored(NamedTuple):
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
    corrections: Corrections
    comparisons: list[Comparison] = field(default_factory=list)
    why_not_ranked: dict[str, str] = field(default_factory=dict)
    """By the id of a result."""
    notes: list[str] = field(default_factory=list)


def scored_tasks(report: Report) -> dict[str, list[Scored]]:
    """Return all tasks of all runs under each variant in which they have a value, by the id of the task."""
    by_task = defaultdict[str, list[Scored]](list)
    for run, result in report.results:
        main_metric = headline(result)
        named = [*result.totals, *result.breakdowns, *result.aggregates]
        for variant in dict.fromkeys([*named, "paper", "robust"]):
            rows = report.rows_of(result, variant)
            values = values_of(rows, result, variant)
            if not values:
                continue
            scores = rows.get(main_metric, Series(dtype=float))
            scored = Scored(
                run=run,
                result=result,
                task=task_of(
                    result.benchmark, conditions_of(result), variant, main_metric
                ),
                values=values,
                n_scored=int(scores.count()),
                n_unscored=int(scores.isna().sum()),
                group=setting_id(result),
            )
            by_task[scored.task.id].append(scored)
    return by_task


def task_of(
    benchmark: str,
    conditions: Conditions,
    variant: str,
    main_metric: str,
) -> BoardTask:
    """Return a task as a leaderboard has it."""
    sized_tasks = KNOWN_BENCHMARKS[benchmark].sized_tasks
    name = conditions.task.removeprefix(f"{benchmark}_")
    task = BoardTask(
        id=conditions.id(variant),
        asked=conditions.id(),
        benchmark=benchmark,
        **conditions._asdict(),
        variant=variant,
        headline=main_metric,
    )
    sized = re.fullmatch(sized_tasks, name)
    if sized_tasks and sized:
        task.family = sized["family"]
        task.window = int(sized["size"] or 0) or None
    return task


def entries_of(scored: Scored, ranking: Ranking, out: Path | None) -> Iterator[Entry]:
    """Yield an entry for each value of a task, with marks and notes; `out` is the folder of the report."""
    result = scored.result
    main_metric = scored.task.headline
    judge = [result.settings.get(name) for name in ("judge.model", "judge.rubric")]
    not_comparable = differences(result, ranking.reference)
    if not not_comparable and result.id in ranking.why_not_ranked:
        not_comparable = [f"not ranked: {ranking.why_not_ranked[result.id]}"]
    path = scored.run.path.resolve()
    results_file = None
    if out and path.is_relative_to(out.resolve().parent):
        # A link works where results and report are moved or published together.
        results_file = printable(os.path.relpath(path, out))
    for metric, value in scored.values.items():
        estimate = value.estimate
        marks = list(not_comparable)
        if value.claim is not None:
            marks.insert(
                0,
                f"its results file claims {value.claim:.4g}, "
                f"its rows give {estimate.mean:.4g}",
            )
        corrected = ranking.corrections.of(result.id, scored.task.variant, metric)
        notes = [
            cut_off.note_of(value.cut_offs, metric),
            _note_on_estimate(metric, estimate),
            note_of(corrected),
        ]
        if metric == main_metric:
            notes += judge_notes(result, scored.run.model)
        yield Entry(
            task=scored.task.id,
            model=scored.run.model,
            run=result.id,
            metric=metric,
            value=estimate.mean,
            low=estimate.low,
            high=estimate.high,
            method=estimate.method,
            n=estimate.n,
            unscored=scored.n_unscored if metric == main_metric else 0,
            judge=", ".join(setting_text(text) for text in judge if text),
            group=scored.group,
            marks=marks,
            notes=[note for note in notes if note],
            results_file=results_file,
            cut_off=value.cut_offs,
            corrected=corrected,
        )


def _note_on_estimate(metric: str, estimate: Estimate) -> str:
    if metric == WEIGHTED and math.isnan(estimate.mean):
        return "not defined: no answer is wrong"
    has_enough = estimate.clusters >= min(_MIN_SOURCES, estimate.n)
    if has_enough or not estimate.method or metric_of(metric).by:
        return ""
    return f"rough interval: the rows share only {estimate.clusters} sources"


def rank_task(
    report: Report,
    members: Sequence[Scored],
    reference_run: str,
    corrections: Corrections,
) -> Ranking:
    """Rank the runs of a task, each among the runs with the same settings.

    The settings of the reference come first: those of the reference run, by default those with most scored rows.
    """
    groups = defaultdict[str, list[Scored]](list)
    for member in members:
        groups[member.group].append(member)

    def weight(member: Scored) -> tuple[bool, int, int, str]:
        is_named = member.run.id == reference_run
        return (is_named, member.n_scored, len(groups[member.group]), member.group)

    reference = max(members, key=weight)
    ranking = Ranking(reference.result, corrections)
    for group in (groups.pop(reference.group), *groups.values()):
        _rank_group(report, group, ranking)
    return ranking


def _rank_group(report: Report, members: Sequence[Scored], ranking: Ranking) -> None:
    """Rank runs of the same settings and test their pairs.

    The run with most scored rows is the standard. A run that was not asked 98 % of these rows is left out, and so is a
    run that scored less than half of them. All others are compared pair by pair on the rows in common. Of several runs
    of one model only the last with a scored row is ranked.
    """
    task = members[0].task
    scores = {}
    source_by_row: dict[int, int] = {}
    newest = _newest_runs(members, ranking)
    for member in newest:
        rows = report.rows_of(member.result, task.variant)
        tasks = rows["task"].cat.codes.to_numpy(np.int64)
        rows = rows.set_index(tasks << 32 | rows["doc_id"].cat.codes.to_numpy())
        scores[member.result.id] = rows[task.headline]
        source_by_row |= rows["source"].cat.codes.to_dict()
    _leave_out_short_runs(scores, ranking)
    table = DataFrame(scores)
    clusters = table.index.map(source_by_row).to_numpy(np.int64)
    pairs = compare_all(table.to_dict("series"), clusters=clusters)
    ranks = _ranks(table, pairs, task, ranking)
    best = [place.run for place in ranks[:_MAX_PAIRED]]
    shown = pairs[pairs["first"].isin(best) & pairs["second"].isin(best)]
    ranking.comparisons.append(
        Comparison(
            task=task.id,
            metric=task.headline,
            group=members[0].group,
            rows=len(table),
            sources=len(np.unique(cluster_codes(clusters, len(table)))),
            test="McNemar" if set(pairs["test"]) == {"McNemar"} else "t",
            ranks=ranks,
            pairs=[BoardPair.model_validate(pair) for pair in shown.itertuples()],
        )
    )
    for member in newest:
        n_missing = len(table) - len(scores.get(member.result.id, table))
        if n_missing:
            ranking.notes.append(
                f"{task.id}: {member.run.name} lacks {n_missing} rows; "
                "compared on the rows in common."
            )


def _newest_runs(members: Sequence[Scored], ranking: Ranking) -> list[Scored]:
    """Return the last run of each model that has scored rows."""
    newest: dict[str, Scored] = {}
    for member in members:
        if not member.n_scored:
            ranking.why_not_ranked[member.result.id] = (
                "no row is scored" if member.n_unscored else "its rows are not known"
            )
            continue
        earlier = newest.get(member.run.model)
        if earlier:
            reason = "the same model ran again later with the same settings"
            ranking.why_not_ranked[earlier.result.id] = reason
        newest[member.run.model] = member
    return list(newest.values())


def _leave_out_short_runs(scores: Columns, ranking: Ranking) -> None:
    scored_rows = [column.dropna().index for column in scores.values()]
    standard = max(scored_rows, key=len, default=Index([]))
    n = len(standard)
    for run, column in list(scores.items()):
        of_standard = column[column.index.isin(standard)]
        n_asked = len(of_standard)
        n_scored = of_standard.count()
        if n_asked < _MIN_ASKED * n or n_scored < _MIN_SCORED * n:
            reason = f"it has {n_asked} and scored {n_scored} of {n} rows that another run scored"
            ranking.why_not_ranked[run] = reason
            del scores[run]


def _ranks(
    scores: DataFrame,
    pairs: DataFrame,
    task: BoardTask,
    ranking: Ranking,
) -> list[Rank]:
    """Rank runs, by the values that people corrected if all of them have one."""
    higher_is_better = metric_of(task.headline).higher_is_better is not False
    corrected = {}
    for run in scores:
        line = ranking.corrections.of(run, task.variant, task.headline)
        if line:
            corrected[run] = [line.corrected]
    if len(corrected) == len(scores.columns) > 1:
        scores = DataFrame(corrected)
        pairs = ranking.corrections.pairs(corrected, task.variant)
        ranking.notes.append(f"{task.id}: ranks are by values that people corrected.")
    places = rank(scores, pairs, higher_is_better=higher_is_better)
    return [Rank(**place._asdict()) for place in places]
