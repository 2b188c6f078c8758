"""Ranks of the runs of a task by tests of all pairs."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations

import numpy as np
from pandas import DataFrame, Index, Series

from fin_tasks.stats.means import Codes, cluster_codes
from fin_tasks.stats.pairs import compare_all, rank

from .comparison_model import BoardPair, Comparison, Rank
from .corrections import Corrections
from .counting import (
    Choice,
    Reasons,
    is_whole,
    results_shown,
    runs_that_count,
)
from .entries import Scored
from .model import TaskResult, metric_of

_MAX_PAIRED = 100  # of the best runs, the page has the pairs


@dataclass
class Ranking:
    """The runs of a task, ranked apart for each setting."""

    reference: TaskResult
    """The result whose settings the others are held against."""
    comparisons: list[Comparison] = field(default_factory=list)
    why_not_ranked: Reasons = field(default_factory=dict)
    shown: set[str] = field(default_factory=set)
    """Ids of the results that tables show of each model."""
    notes: list[str] = field(default_factory=list)


def rank_task(
    members: Sequence[Scored],
    reference_run: str,
    corrections: Corrections,
) -> Ranking:
    """Rank the runs of a task, each among the runs with the same settings.

    The settings of the reference come first: those of the reference run, by default those of most models. Of several
    runs of one model the most complete is ranked, then the newest. Which rows a run must have follows from the rows
    of at least half of the models.
    """
    groups = defaultdict[str, list[Scored]](list)
    for member in members:
        groups[member.group].append(member)

    def weight(member: Scored) -> tuple[bool, bool, int, int, str]:
        group = groups[member.group]
        models = {other.run.model for other in group if other.n_scored}
        is_named = member.run.id == reference_run
        return (is_named, is_whole(member), len(models), member.n_scored, member.group)

    scored = [member for member in members if member.n_scored]
    reference = max(scored or members, key=weight)
    ranking = Ranking(reference.result)
    chosen: set[str] = set()
    for group in (groups.pop(reference.group), *groups.values()):
        rows_by_run = {}
        for member in group:
            if member.n_scored:
                rows_by_run[member.result.id] = member.rows
        choice = runs_that_count(group, rows_by_run)
        ranking.why_not_ranked |= choice.reasons
        chosen |= choice.chosen
        ranked = {run: rows_by_run[run] for run in choice.ranked}
        comparison = _comparison_of(group[0], ranked, choice)
        ranking.comparisons.append(comparison)
        corrected = _corrected_comparison(comparison, group[0], ranked, corrections)
        if corrected:
            ranking.comparisons.append(corrected)
        ranking.notes += _notes_on_rows(comparison, group, ranked, choice.standard)
    ranking.shown = results_shown(members, chosen, reference.group)
    return ranking


def _notes_on_rows(
    comparison: Comparison,
    members: Sequence[Scored],
    rows_by_run: Mapping[str, DataFrame],
    standard: "Index[int]",
) -> list[str]:
    """Say which runs lack rows of the others, or have rows that less than half of the models have."""
    notes = []
    for member in members:
        rows = rows_by_run.get(member.result.id)
        if rows is None:
            continue
        n_common = int(rows.index.isin(standard).sum())
        where = f"{comparison.task}: {member.run.name}"
        if n_common < len(standard):
            notes.append(
                f"{where} lacks {len(standard) - n_common} rows; "
                "compared on the rows in common."
            )
        if n_common < len(rows):
            notes.append(
                f"{where} has {len(rows) - n_common} rows that less than half of the models have; "
                "they are not compared."
            )
    return notes


def _comparison_of(
    member: Scored, rows_by_run: Mapping[str, DataFrame], choice: Choice
) -> Comparison:
    """Compare runs pair by pair on the rows in common; `member` is one of them, or of those that are not ranked."""
    task = member.task
    scores: dict[str, Series[float]] = {}
    for run, rows in rows_by_run.items():
        scores[run] = rows[task.headline].reindex(choice.standard)
    table = DataFrame(scores, index=choice.standard)
    clusters = _clusters_of(rows_by_run, choice.standard)
    pairs = compare_all(table.to_dict("series"), clusters=clusters)
    places = rank(table, pairs, higher_is_better=_is_more_better(task.headline))
    best = [place.run for place in places[:_MAX_PAIRED]]
    pairs_of_best = pairs[pairs["first"].isin(best) & pairs["second"].isin(best)]
    return Comparison(
        task=task.id,
        metric=task.headline,
        group=member.group,
        rows=len(table),
        sources=len(np.unique(cluster_codes(clusters, len(table)))),
        test="McNemar" if set(pairs["test"]) == {"McNemar"} else "t",
        is_corrected=False,
        ranks=[Rank(**place._asdict()) for place in places],
        pairs=[BoardPair.model_validate(pair) for pair in pairs_of_best.itertuples()],
    )


def _clusters_of(rows_by_run: Mapping[str, DataFrame], standard: "Index[int]") -> Codes:
    """Return the source of each row that most of the runs name, so that no single run can change it."""
    columns = []
    for rows in rows_by_run.values():
        codes = Series(rows["source"].cat.codes.to_numpy(float), rows.index)
        columns.append(codes.reindex(standard).to_numpy())
    if not columns:
        return np.empty(0, dtype=np.int64)
    codes_by_run = np.array(columns).T
    known = np.where(np.isnan(codes_by_run), -np.inf, codes_by_run)
    clusters = known.max(axis=1, initial=-np.inf)
    differs = (~np.isnan(codes_by_run) & (codes_by_run != clusters[:, None])).any(
        axis=1
    )
    for row in np.flatnonzero(differs):
        values, counts = np.unique(
            codes_by_run[row][~np.isnan(codes_by_run[row])], return_counts=True
        )
        clusters[row] = values[counts.argmax()]
    return np.where(np.isinf(clusters), -1, clusters).astype(np.int64)


def _corrected_comparison(
    comparison: Comparison,
    member: Scored,
    rows_by_run: Mapping[str, DataFrame],
    corrections: Corrections,
) -> Comparison | None:
    """Rank the runs whose values people's labels corrected by these values; None if fewer than two are."""
    task = member.task
    values: dict[str, list[float]] = {}
    n_labels = []
    for run in rows_by_run:
        line = corrections.of(run, task.scoring, task.headline)
        if line and line.corrected is not None:
            values[run] = [line.corrected]
            n_labels.append(line.labels)
    if len(values) < 2:
        return None
    pairs = corrections.pairs(values, task.scoring)
    is_tested = {
        frozenset(pair) for pair in zip(pairs["first"], pairs["second"], strict=True)
    }
    if any(frozenset(pair) not in is_tested for pair in combinations(values, 2)):
        return None
    places = rank(
        DataFrame(values), pairs, higher_is_better=_is_more_better(task.headline)
    )
    return comparison.model_copy(
        update={
            "rows": max(n_labels),
            "sources": max(n_labels),
            "test": "t",
            "is_corrected": True,
            "ranks": [Rank(**place._asdict()) for place in places],
            "pairs": [BoardPair.model_validate(pair) for pair in pairs.itertuples()],
        }
    )


def _is_more_better(metric: str) -> bool:
    return metric_of(metric).higher_is_better is not False
