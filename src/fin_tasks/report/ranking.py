"""Rank the runs of a task, and test their pairs on the rows in common."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import pandas as pd

from fin_tasks.report import cut_off
from fin_tasks.report.entries import Scored, Standing
from fin_tasks.report.leaderboard_model import BoardPair, Comparison, Rank
from fin_tasks.report.model import Report, TaskResult, metric_of
from fin_tasks.stats.means import Floats
from fin_tasks.stats.pairs import Pair, compare_all, rank

_SAME_ROWS = 0.98
_ENOUGH = 0.5


@dataclass
class Ranking:
    """The runs of one task, ranked apart for each setting."""

    reference: TaskResult
    """The result whose settings the others are held against."""
    comparisons: list[Comparison] = field(default_factory=list)
    standings: dict[str, Standing] = field(default_factory=lambda: defaultdict(Standing))
    """By the id of a result."""
    notes: list[str] = field(default_factory=list)


@dataclass
class _Scores:
    """The scores of each run by row, as they are and if all cut-off responses had been right."""

    by_run: dict[str, "pd.Series[float]"] = field(default_factory=dict)
    if_right: dict[str, "pd.Series[float]"] = field(default_factory=dict)
    source_by_row: dict[int, int] = field(default_factory=dict)


def rank_task(report: Report, members: Sequence[Scored], reference_run: str) -> Ranking:
    """Rank the runs of a task among those of the same settings, those of the reference first.

    The reference is the setting of the run that is named, else that with most scored rows.
    """
    by_group: dict[str, list[Scored]] = defaultdict(list)
    for member in members:
        by_group[member.group].append(member)

    def weight(group: str) -> tuple[bool, int, int, str]:
        group_members = by_group[group]
        is_named = any(member.run.id == reference_run for member in group_members)
        return (
            is_named,
            max(member.n_scored for member in group_members),
            len(group_members),
            group,
        )

    groups = sorted(by_group, key=weight, reverse=True)
    ranking = Ranking(by_group[groups[0]][0].result)
    for group in groups:
        _rank_group(report, by_group[group], ranking)
    return ranking


def _rank_group(report: Report, members: Sequence[Scored], ranking: Ranking) -> None:
    """Rank runs of the same settings and test their pairs.

    The run with most scored rows is the standard. A run that was not asked 98 % of these rows is left out, and so is a
    run that scored less than half of them. All others are compared pair by pair on the rows in common. Of several runs
    of one model only the last with a scored row is ranked.
    """
    task = members[0].task
    scores = _Scores()
    for member in _newest_runs(members, ranking):
        rows = report.rows_of(member.result, task.variant)
        if member.n_scored:
            _add_run(scores, member.result.id, rows, task.headline)
        else:
            reason = "no row is scored" if len(rows) else "its rows are not known"
            ranking.standings[member.result.id].why_not_ranked = reason
    _leave_out_short_runs(scores, ranking)
    table = pd.DataFrame(scores.by_run)
    # Both tables have the same rows in the same order.
    bounds = pd.DataFrame({run: scores.if_right[run] for run in scores.by_run})
    clusters = np.array([scores.source_by_row[row] for row in table.index], dtype=np.int64)
    lower = {run: table[run].to_numpy() for run in table}
    upper = {run: bounds[run].to_numpy() for run in bounds}
    pairs = compare_all(lower, clusters=clusters)
    n_shared = len(np.unique(clusters[clusters >= 0]))
    is_mcnemar = pairs and all(pair.test == "McNemar" for pair in pairs)
    comparison = Comparison(
        task=task.id,
        metric=task.headline,
        group=members[0].group,
        rows=len(table),
        sources=int((clusters < 0).sum()) + n_shared,
        test="McNemar" if is_mcnemar else "t",
        ranks=_ranks(lower, upper, pairs, task.headline),
        pairs=[BoardPair.model_validate(_fields(pair)) for pair in pairs],
    )
    ranking.comparisons.append(comparison)
    _note_open_ranks(comparison, ranking)
    _note_missing_rows(report, members, comparison, ranking)


def _newest_runs(members: Sequence[Scored], ranking: Ranking) -> list[Scored]:
    """Return the last run of each model; one with scored rows goes before one without."""
    newest: dict[str, Scored] = {}
    for member in sorted(members, key=lambda member: (member.n_scored > 0, member.run.date)):
        earlier = newest.get(member.run.model)
        if earlier is not None:
            reason = "its rows are not known"
            if earlier.n_scored:
                reason = "the same model ran again later with the same settings"
            elif earlier.n_unscored:
                reason = "no row is scored"
            ranking.standings[earlier.result.id].why_not_ranked = reason
        newest[member.run.model] = member
    return list(newest.values())


def _add_run(scores: _Scores, identity: str, rows: pd.DataFrame, metric: str) -> None:
    tasks = rows["task"].cat.codes.to_numpy(np.int64)
    keys = tasks << 32 | rows["doc_id"].cat.codes.to_numpy(np.int64)
    scores.by_run[identity] = pd.Series(rows[metric].to_numpy(), index=keys)
    scores.if_right[identity] = pd.Series(cut_off.if_right(rows, metric), index=keys)
    sources = rows["source"].cat.codes.tolist()
    scores.source_by_row.update(zip(keys.tolist(), sources, strict=True))


def _leave_out_short_runs(scores: _Scores, ranking: Ranking) -> None:
    scored_rows = [column.dropna().index for column in scores.by_run.values()]
    standard = max(scored_rows, key=len, default=pd.Index([]))
    n = len(standard)
    for run, column in list(scores.by_run.items()):
        n_asked = int(standard.isin(column.index).sum())
        n_scored = int(standard.isin(column.dropna().index).sum())
        if n_asked < _SAME_ROWS * n or n_scored < _ENOUGH * n:
            reason = f"it has {n_asked} and scored {n_scored} of {n} rows that another run scored"
            ranking.standings[run].why_not_ranked = reason
            del scores.by_run[run]


def _ranks(
    lower: Mapping[str, Floats],
    upper: Mapping[str, Floats],
    pairs: Sequence[Pair],
    metric: str,
) -> list[Rank]:
    higher_is_better = metric_of(metric).higher_is_better is not False
    open_ranks: Mapping[str, cut_off.OpenRank] = {}
    if any(not np.array_equal(lower[run], upper[run], equal_nan=True) for run in lower):
        open_ranks = cut_off.open_ranks(lower, upper)
    ranks = []
    for ranked in rank(lower, pairs, higher_is_better=higher_is_better):
        certain = cut_off.OpenRank(best=ranked.rank, worst=ranked.rank)
        possible = open_ranks.get(ranked.run, certain)
        entry = Rank(
            **ranked._asdict(),
            best_if_finished=possible.best,
            worst_if_finished=possible.worst,
        )
        ranks.append(entry)
    return ranks


def _fields(pair: Pair) -> dict[str, str | float]:
    return {name: getattr(pair, name) for name in BoardPair.model_fields}


def _note_open_ranks(comparison: Comparison, ranking: Ranking) -> None:
    """Say of runs that another rank is possible, as responses of theirs or of others were cut off."""
    for ranked in comparison.ranks:
        if ranked.best_if_finished < ranked.worst_if_finished:
            ranks = f"{ranked.best_if_finished} to {ranked.worst_if_finished}"
            ranking.standings[ranked.run].open_rank = ranks


def _note_missing_rows(
    report: Report,
    members: Sequence[Scored],
    comparison: Comparison,
    ranking: Ranking,
) -> None:
    scored_by_id = {member.result.id: member for member in members}
    for ranked in comparison.ranks:
        member = scored_by_id[ranked.run]
        n_missing = comparison.rows - len(report.rows_of(member.result, member.task.variant))
        if n_missing:
            note = f"{member.run.name} lacks {n_missing} rows; compared on the rows in common."
            ranking.notes.append(f"{comparison.task}: {note}")
