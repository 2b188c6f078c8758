"""Which run stands for a model, and which rows a run must have to be ranked."""

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple

import numpy as np
from pandas import DataFrame, Index

from .entries import Scored

# Of the rows that at least half of the models have, a run must be asked and must score these shares.
_MIN_ASKED = 0.98
_MIN_SCORED = 0.5

Reasons = dict[str, str]
"""Why results are not ranked, by their ids."""


class Choice(NamedTuple):
    """The runs of one task and setting that are ranked."""

    chosen: set[str]
    """Ids of the results that stand for their models, ranked or not."""
    ranked: list[str]
    reasons: Reasons
    standard: "Index[int]"
    """The rows that are compared: those that at least half of the models have."""


def runs_that_count(
    members: Sequence[Scored], rows_by_run: Mapping[str, DataFrame]
) -> Choice:
    """Choose the run that stands for each model: the most complete, then the newest.

    A run that failed, that was not admitted to the board, or that lacks rows which at least half of the models have,
    is not ranked.
    """
    scored = [member for member in members if member.n_scored]
    reasons = {}
    for member in members:
        if not member.n_scored:
            reasons[member.result.id] = (
                "no row is scored" if member.n_unscored else "its rows are not known"
            )
    candidates = [member for member in scored if not member.run.is_refused]
    for member in scored:
        if member.run.is_refused:
            reasons[member.result.id] = "it was not admitted to this board"
    standard = _standard_of(candidates, rows_by_run)
    best, others = _best_by_model(candidates, rows_by_run, standard)
    ranked = []
    for member in best:
        rows = rows_by_run[member.result.id]
        reason = _why_too_short(rows, member.task.headline, standard)
        if reason:
            reasons[member.result.id] = reason
        else:
            ranked.append(member.result.id)
    chosen = {member.result.id for member in best}
    return Choice(chosen, ranked, reasons | others, standard)


def _best_by_model(
    members: Sequence[Scored],
    rows_by_run: Mapping[str, DataFrame],
    standard: "Index[int]",
) -> tuple[list[Scored], Reasons]:
    """Return the run that stands for each model, and why the others do not."""
    members_by_model = defaultdict[str, list[Scored]](list)
    n_scored = {}
    for member in members:
        members_by_model[member.run.model].append(member)
        rows = rows_by_run[member.result.id]
        of_standard = rows[member.task.headline][rows.index.isin(standard)]
        n_scored[member.result.id] = int(of_standard.count())

    def place(member: Scored) -> tuple[int, str]:
        return n_scored[member.result.id], member.run.date

    best = []
    reasons = {}
    for candidates in members_by_model.values():
        # Of equal ones the last one counts.
        *others, chosen = sorted(candidates, key=place)
        best.append(chosen)
        for member in others:
            is_as_complete = n_scored[member.result.id] == n_scored[chosen.result.id]
            quality = "newer" if is_as_complete else "more complete"
            reason = f"another run of the model with the same settings is {quality}"
            reasons[member.result.id] = reason
    return best, reasons


def results_shown(
    members: Sequence[Scored], chosen: Collection[str], reference_group: str
) -> set[str]:
    """Return the ids of the results that tables show of each model, whatever their settings.

    Those with the settings of the reference come first, then the most complete, then the newest.
    """
    best: dict[str, tuple[tuple[bool, bool, int, str], str]] = {}
    for member in members:
        result = member.result.id
        is_reference = member.group == reference_group
        key = (result in chosen, is_reference, member.n_scored, member.run.date)
        rival = best.get(member.run.model)
        if rival is None or key >= rival[0]:
            best[member.run.model] = (key, result)
    return {result for _, result in best.values()}


def _standard_of(
    members: Sequence[Scored], rows_by_run: Mapping[str, DataFrame]
) -> "Index[int]":
    """Return the rows that at least half of the models have, so that no single run can add or remove one.

    Runs that say they asked only a part of the questions do not count, if there are others.
    """
    rows_by_model: dict[str, Index[int]] = {}
    for member in [member for member in members if is_whole(member)] or members:
        rows = rows_by_run[member.result.id].index
        known = rows_by_model.get(member.run.model)
        rows_by_model[member.run.model] = rows if known is None else known.union(rows)
    if not rows_by_model:
        return Index([], dtype=np.int64)
    every = np.concatenate([rows.to_numpy() for rows in rows_by_model.values()])
    rows, n_models = np.unique(every, return_counts=True)
    return Index(rows[n_models >= len(rows_by_model) / 2])


def is_whole(member: Scored) -> bool:
    """Return whether a run says that it asked at least 98 % of its task's questions."""
    return member.result.n >= _MIN_ASKED * member.result.n_all


def _why_too_short(rows: DataFrame, metric: str, standard: "Index[int]") -> str:
    """Say that a run was asked or scored too few rows; empty if it has enough."""
    n = len(standard)
    of_standard = rows[metric][rows.index.isin(standard)]
    n_asked = len(of_standard)
    n_scored = of_standard.count()
    if n_asked >= _MIN_ASKED * n and n_scored >= _MIN_SCORED * n:
        return ""
    return f"it has {n_asked} and scored {n_scored} of {n} rows that at least half of the models have"
