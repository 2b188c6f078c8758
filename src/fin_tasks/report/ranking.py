"""Rank the runs of a task, and test their pairs on the rows in common."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd

from fin_tasks.report import cut_off
from fin_tasks.report.model import Report, Run, TaskResult, metric_of
from fin_tasks.report.values import six_digits
from fin_tasks.stats.means import Floats
from fin_tasks.stats.pairs import Pair, compare_all, rank

Results = Mapping[str, tuple[Run, TaskResult]]
"""Runs and their results by `TaskResult.id`."""

_SAME_ROWS = 0.98
_ENOUGH = 0.5
_PAIR_NUMBERS = ("difference", "low", "high", "p", "p_holm")


@dataclass
class _Scores:
    """The scores of each run by row, as they are and if all cut-off responses had been right."""

    by_run: dict[str, "pd.Series[float]"] = field(default_factory=dict)
    if_right: dict[str, "pd.Series[float]"] = field(default_factory=dict)
    source_by_row: dict[int, int] = field(default_factory=dict)
    left_out: dict[str, str] = field(default_factory=dict)
    """Why a run is not ranked."""


def rank_runs(
    report: Report,
    members: Sequence[Mapping[str, Any]],
    task: Mapping[str, Any],
    results: Results,
) -> tuple[dict[str, Any], dict[str, str]]:
    """Rank runs and test their pairs; return an entry of `comparisons`, and why a run is left out.

    The run with most scored rows is the standard. A run that was not asked 98 % of these rows is left out, and so is a
    run that scored less than half of them. All others are compared pair by pair on the rows in common. Of several runs
    of one model only the last is ranked.
    """
    metric = task["headline"]
    scores = _Scores()
    for identity in _newest_runs(members, results, scores.left_out):
        rows = report.rows_of(results[identity][1], task["variant"])
        _add_run(scores, identity, rows, metric)
    _leave_out_short_runs(scores)
    table = pd.DataFrame(scores.by_run)
    # Both tables have the same rows in the same order.
    bounds = pd.DataFrame({run: scores.if_right[run] for run in scores.by_run})
    clusters = np.array([scores.source_by_row[row] for row in table.index], dtype=np.int64)
    aligned = {run: table[run].to_numpy() for run in table}
    pairs = compare_all(aligned, clusters=clusters)
    n_alone = int((clusters < 0).sum())
    n_shared = len(set(clusters[clusters >= 0].tolist()))
    all_mcnemar = all(pair.test == "McNemar" for pair in pairs)
    comparison = {
        "task": task["id"],
        "metric": metric,
        "group": members[0]["group"],
        "rows": len(table),
        "sources": n_alone + n_shared,
        "test": "McNemar" if pairs and all_mcnemar else "t",
        "ranks": _ranks(aligned, {run: bounds[run].to_numpy() for run in bounds}, pairs, metric),
        "pairs": [_pair_entry(pair) for pair in pairs],
    }
    return comparison, scores.left_out


def _newest_runs(
    members: Sequence[Mapping[str, Any]],
    results: Results,
    left_out: dict[str, str],
) -> list[str]:
    """Return the last run of each model."""
    newest: dict[str, str] = {}
    for entry in sorted(members, key=lambda entry: results[entry["run"]][0].date):
        earlier = newest.get(entry["model"])
        if earlier:
            left_out[earlier] = "the same model ran again later with the same settings"
        newest[entry["model"]] = entry["run"]
    return list(newest.values())


def _add_run(scores: _Scores, identity: str, rows: pd.DataFrame, metric: str) -> None:
    if metric not in rows or not rows[metric].notna().any():
        reason = "no row is scored" if len(rows) else "its rows are not known"
        scores.left_out[identity] = reason
        return
    tasks = rows["task"].cat.codes.to_numpy(np.int64)
    keys = tasks << 32 | rows["doc_id"].cat.codes.to_numpy(np.int64)
    scores.by_run[identity] = pd.Series(rows[metric].to_numpy(), index=keys)
    scores.if_right[identity] = pd.Series(cut_off.if_right(rows, metric), index=keys)
    sources = rows["source"].cat.codes.tolist()
    scores.source_by_row.update(zip(keys.tolist(), sources, strict=True))


def _leave_out_short_runs(scores: _Scores) -> None:
    scored_rows = [column.dropna().index for column in scores.by_run.values()]
    standard = max(scored_rows, key=len, default=pd.Index([]))
    n = len(standard)
    for run, column in list(scores.by_run.items()):
        n_asked = int(standard.isin(column.index).sum())
        n_scored = int(standard.isin(column.dropna().index).sum())
        if n_asked < _SAME_ROWS * n or n_scored < _ENOUGH * n:
            reason = f"it has {n_asked} and scored {n_scored} of {n} rows that another run scored"
            scores.left_out[run] = reason
            del scores.by_run[run]


def _ranks(
    lower: Mapping[str, Floats],
    upper: Mapping[str, Floats],
    pairs: Sequence[Pair],
    metric: str,
) -> list[dict[str, Any]]:
    higher_is_better = metric_of(metric).higher_is_better is not False
    open_ranks: Mapping[str, cut_off.OpenRank] = {}
    if any(_differ(lower[run], upper[run]) for run in lower):
        open_ranks = cut_off.open_ranks(lower, upper)
    ranks = []
    for ranked in rank(lower, pairs, higher_is_better=higher_is_better):
        certain = cut_off.OpenRank(best=ranked.rank, worst=ranked.rank)
        possible = open_ranks.get(ranked.run, certain)
        entry = {
            "run": ranked.run,
            "rank": ranked.rank,
            "best": ranked.best,
            "worst": ranked.worst,
            "best_if_finished": possible.best,
            "worst_if_finished": possible.worst,
        }
        ranks.append(entry)
    return ranks


def _differ(lower: Floats, upper: Floats) -> bool:
    return not np.array_equal(lower, upper, equal_nan=True)


def _pair_entry(pair: Pair) -> dict[str, Any]:
    numbers = {name: six_digits(getattr(pair, name)) for name in _PAIR_NUMBERS}
    return {"first": pair.first, "second": pair.second, "n": pair.n, **numbers}
