"""Ranks of the runs of a task by tests of all pairs, and why some runs are not ranked."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from pandas import DataFrame, Index, Series

from fin_tasks.stats.means import cluster_codes
from fin_tasks.stats.pairs import compare_all, rank

from .corrections import Corrections
from .entries import Scored
from .leaderboard_model import BoardPair, Comparison, Rank
from .model import Report, TaskResult, metric_of

# Of the rows that another run scored, a run must be asked and must score these shares to be ranked.
_MIN_ASKED = 0.98
_MIN_SCORED = 0.5
_MAX_PAIRED = 200  # of the best runs, the page has the pairs

Reasons = dict[str, str]
"""Why results are not ranked, by their ids."""


@dataclass
class Ranking:
    """The runs of a task, ranked apart for each setting."""

    reference: TaskResult
    """The result whose settings the others are held against."""
    comparisons: list[Comparison] = field(default_factory=list)
    why_not_ranked: Reasons = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)


def rank_task(
    report: Report,
    members: Sequence[Scored],
    reference_run: str,
    corrections: Corrections,
) -> Ranking:
    """Rank the runs of a task, each among the runs with the same settings.

    The settings of the reference come first: those of the reference run, by default those with most scored rows. Of
    several runs of one model only the last with a scored row is ranked. The run with most scored rows is the standard:
    a run that was not asked 98 % of these rows, or scored less than half of them, is not ranked.
    """
    groups = defaultdict[str, list[Scored]](list)
    for member in members:
        groups[member.group].append(member)

    def weight(member: Scored) -> tuple[bool, int, int, str]:
        is_named = member.run.id == reference_run
        return (is_named, member.n_scored, len(groups[member.group]), member.group)

    reference = max(members, key=weight)
    ranking = Ranking(reference.result)
    for group in (groups.pop(reference.group), *groups.values()):
        newest, reasons = _newest_runs(group)
        ranking.why_not_ranked |= reasons
        rows_by_run = {}
        for member in newest:
            rows_by_run[member.result.id] = _rows_of(report, member)
        reasons = _short_runs(rows_by_run, reference.task.headline)
        ranking.why_not_ranked |= reasons
        for run in reasons:
            del rows_by_run[run]
        comparison = _comparison_of(group[0], rows_by_run, corrections)
        ranking.comparisons.append(comparison)
        if comparison.is_corrected:
            note = f"{comparison.task}: ranks are by values that people corrected."
            ranking.notes.append(note)
        for member in newest:
            rows = rows_by_run.get(member.result.id)
            if rows is not None and len(rows) < comparison.rows:
                ranking.notes.append(
                    f"{comparison.task}: {member.run.name} lacks {comparison.rows - len(rows)} rows; "
                    "compared on the rows in common."
                )
    return ranking


def _newest_runs(members: Sequence[Scored]) -> tuple[list[Scored], Reasons]:
    """Return the last run of each model that has scored rows, and why others are left out."""
    reasons = {}
    newest: dict[str, Scored] = {}
    for member in members:
        if not member.n_scored:
            reasons[member.result.id] = (
                "no row is scored" if member.n_unscored else "its rows are not known"
            )
            continue
        earlier = newest.get(member.run.model)
        if earlier:
            reason = "the same model ran again later with the same settings"
            reasons[earlier.result.id] = reason
        newest[member.run.model] = member
    return list(newest.values()), reasons


def _rows_of(report: Report, member: Scored) -> DataFrame:
    """Return the rows of a task; the index is the same number for a document in all runs."""
    rows = report.rows_of(member.result, member.task.scoring)
    tasks = rows["task"].cat.codes.to_numpy(np.int64)
    return rows.set_index(tasks << 32 | rows["doc_id"].cat.codes.to_numpy())


def _short_runs(rows_by_run: Mapping[str, DataFrame], metric: str) -> Reasons:
    """Return the runs that were asked or scored too few of the rows that another run scored."""
    scored_rows = [rows[metric].dropna().index for rows in rows_by_run.values()]
    standard = max(scored_rows, key=len, default=Index([]))
    n = len(standard)
    reasons = {}
    for run, rows in rows_by_run.items():
        of_standard = rows[metric][rows.index.isin(standard)]
        n_asked = len(of_standard)
        n_scored = of_standard.count()
        if n_asked < _MIN_ASKED * n or n_scored < _MIN_SCORED * n:
            reasons[run] = (
                f"it has {n_asked} and scored {n_scored} of {n} rows that another run scored"
            )
    return reasons


def _comparison_of(
    member: Scored,
    rows_by_run: Mapping[str, DataFrame],
    corrections: Corrections,
) -> Comparison:
    """Compare runs pair by pair on the rows in common; `member` is one of them, or of those that are not ranked."""
    task = member.task
    scores: dict[str, Series[float]] = {}
    source_by_row: dict[int, int] = {}
    for run, rows in rows_by_run.items():
        scores[run] = rows[task.headline]
        source_by_row |= rows["source"].cat.codes.to_dict()
    table = DataFrame(scores)
    clusters = table.index.map(source_by_row).to_numpy(np.int64)
    pairs = compare_all(table.to_dict("series"), clusters=clusters)
    higher_is_better = metric_of(task.headline).higher_is_better is not False
    corrected = {}
    for run in scores:
        line = corrections.of(run, task.scoring, task.headline)
        if line:
            corrected[run] = [line.corrected]
    is_corrected = len(corrected) == len(scores) > 1
    if is_corrected:
        own_pairs = corrections.pairs(corrected, task.scoring)
        places = rank(
            DataFrame(corrected), own_pairs, higher_is_better=higher_is_better
        )
    else:
        places = rank(table, pairs, higher_is_better=higher_is_better)
    best = [place.run for place in places[:_MAX_PAIRED]]
    shown = pairs[pairs["first"].isin(best) & pairs["second"].isin(best)]
    return Comparison(
        task=task.id,
        metric=task.headline,
        group=member.group,
        rows=len(table),
        sources=len(np.unique(cluster_codes(clusters, len(table)))),
        test="McNemar" if set(pairs["test"]) == {"McNemar"} else "t",
        is_corrected=is_corrected,
        ranks=[Rank(**place._asdict()) for place in places],
        pairs=[BoardPair.model_validate(pair) for pair in shown.itertuples()],
    )
