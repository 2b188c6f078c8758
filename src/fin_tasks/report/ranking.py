"""Rank the runs of a task, and test their pairs on the rows in common."""

from collections import Counter
from collections.abc import Sequence

import numpy as np
import pandas as pd

from fin_tasks.report import cut_off
from fin_tasks.report.entries import Ranking, Scored
from fin_tasks.report.leaderboard_model import BoardPair, Comparison, Rank
from fin_tasks.report.model import Report, metric_of
from fin_tasks.stats.pairs import compare_all, rank

_SAME_ROWS = 0.98
_ENOUGH = 0.5

Columns = dict[str, "pd.Series[float]"]
"""A value of each row, by the id of a result."""


def rank_task(report: Report, members: Sequence[Scored], reference_run: str) -> Ranking:
    """Rank the runs of a task among those of the same settings, those of the reference first.

    The reference is the setting of the run that is named, else that with most scored rows.
    """
    sizes = Counter(member.group for member in members)

    def weight(member: Scored) -> tuple[bool, int, int, str]:
        is_named = member.run.id == reference_run
        return (is_named, member.n_scored, sizes[member.group], member.group)

    reference = max(members, key=weight)
    ranking = Ranking(reference.result)
    for group in sorted(sizes, key=lambda group: group != reference.group):
        _rank_group(
            report, [member for member in members if member.group == group], ranking
        )
    return ranking


def _rank_group(report: Report, members: Sequence[Scored], ranking: Ranking) -> None:
    """Rank runs of the same settings and test their pairs.

    The run with most scored rows is the standard. A run that was not asked 98 % of these rows is left out, and so is a
    run that scored less than half of them. All others are compared pair by pair on the rows in common. Of several runs
    of one model only the last with a scored row is ranked.
    """
    task = members[0].task
    scores: Columns = {}
    if_right: Columns = {}
    source_by_row: dict[int, int] = {}
    newest = _newest_runs(members, ranking)
    for member in newest:
        rows = report.rows_of(member.result, task.variant)
        tasks = rows["task"].cat.codes.to_numpy(np.int64)
        rows = rows.set_index(tasks << 32 | rows["doc_id"].cat.codes.to_numpy())
        scores[member.result.id] = rows[task.headline]
        if_right[member.result.id] = cut_off.if_right(rows, task.headline)
        source_by_row |= rows["source"].cat.codes.to_dict()
    _leave_out_short_runs(scores, ranking)
    table = pd.DataFrame(scores)
    clusters = table.index.map(source_by_row).to_numpy(np.int64)
    values = {str(run): column.to_numpy() for run, column in table.items()}
    pairs = compare_all(values, clusters=clusters)
    is_mcnemar = set(pairs["test"]) == {"McNemar"}
    comparison = Comparison(
        task=task.id,
        metric=task.headline,
        group=members[0].group,
        rows=len(table),
        sources=int((clusters < 0).sum()) + len(np.unique(clusters[clusters >= 0])),
        test="McNemar" if is_mcnemar else "t",
        ranks=_ranks(table, if_right, pairs, task.headline, ranking),
        pairs=[BoardPair.model_validate(pair) for pair in pairs.itertuples()],
    )
    ranking.comparisons.append(comparison)
    for member in newest:
        n_missing = len(table) - len(scores.get(member.result.id, table))
        if n_missing:
            note = f"{member.run.name} lacks {n_missing} rows; compared on the rows in common."
            ranking.notes.append(f"{task.id}: {note}")


def _newest_runs(members: Sequence[Scored], ranking: Ranking) -> list[Scored]:
    """Return the last run of each model that has scored rows."""
    newest: dict[str, Scored] = {}
    for member in sorted(members, key=lambda member: member.run.date):
        if not member.n_scored:
            reason = (
                "no row is scored" if member.n_unscored else "its rows are not known"
            )
            ranking.why_not_ranked[member.result.id] = reason
            continue
        earlier = newest.get(member.run.model)
        if earlier is not None:
            reason = "the same model ran again later with the same settings"
            ranking.why_not_ranked[earlier.result.id] = reason
        newest[member.run.model] = member
    return list(newest.values())


def _leave_out_short_runs(scores: Columns, ranking: Ranking) -> None:
    scored_rows = [column.dropna().index for column in scores.values()]
    standard = max(scored_rows, key=len, default=pd.Index([]))
    n = len(standard)
    for run, column in list(scores.items()):
        of_standard = column[column.index.isin(standard)]
        n_asked = len(of_standard)
        n_scored = of_standard.count()
        if n_asked < _SAME_ROWS * n or n_scored < _ENOUGH * n:
            reason = f"it has {n_asked} and scored {n_scored} of {n} rows that another run scored"
            ranking.why_not_ranked[run] = reason
            del scores[run]


def _ranks(
    scores: pd.DataFrame,
    if_right: Columns,
    pairs: pd.DataFrame,
    metric: str,
    ranking: Ranking,
) -> list[Rank]:
    sign = -1 if metric_of(metric).higher_is_better is False else 1
    bounds = pd.DataFrame(if_right).reindex_like(scores)
    possible = cut_off.open_ranks(sign * scores, sign * bounds)
    ranks = []
    for place in rank(scores, pairs, higher_is_better=sign > 0):
        best, worst = possible.loc[place.run]
        ranks.append(
            Rank(**place._asdict(), best_if_finished=best, worst_if_finished=worst)
        )
        if best < worst:
            note = f"rank {best} to {worst} if cut-off responses were finished"
            ranking.open_ranks[place.run] = note
    return ranks
