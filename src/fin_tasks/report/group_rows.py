"""The rows of a group's tasks, put together: all alike, or each for as much as its task counts."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from fin_tasks.report.entry import Scores
from fin_tasks.report.estimates import Weighted, largest, unit_of
from fin_tasks.report.lm_eval_results import TaskClaims
from fin_tasks.report.runs import benchmark_of
from fin_tasks.report.task_entries import SAME, TaskRead

__all__ = ["GroupRows", "rows_of_group"]


@dataclass(frozen=True, kw_only=True)
class GroupRows:
    """The rows that a group's values are over.

    Attributes:
        scores: Variant to scores, of metrics of which the group's value is the mean over all rows.
        weighted: Variant to metrics of which it is such a mean, or one of the tasks' values, with what each row counts
            for and the task it is of.
    """

    scores: Mapping[str, Scores]
    weighted: Mapping[str, Mapping[str, Weighted]]


def rows_of_group(claims: TaskClaims, members: Sequence[TaskRead]) -> GroupRows:
    """Put the rows of a group's tasks together, in the way that gives the group's values.

    A value that neither way gives, as of a task without its rows, has none.

    Args:
        claims: The group's values.
        members: Its tasks, none where one of them is missing.
    """
    scores: dict[str, Scores] = {}
    weighted: dict[str, dict[str, Weighted]] = {}
    for variant, claimed in claims.variants.items():
        rows = _rows_of(variant, members)
        if not rows:
            continue
        ids = tuple(name for one in rows for name in one.ids)
        known = any(one.clusters for one in rows)  # rows of a task without sources stand for themselves
        clusters = tuple(name for one in rows for name in one.clusters or one.ids) if known else None
        tasks = np.repeat(np.arange(len(rows)), [len(one.ids) for one in rows])
        values = {}
        for metric, claim in claimed.items():
            if claim.value is None:
                continue
            found = _mean_over_rows(rows, metric, clusters, tasks, claim.value)
            if found is not None:
                values[metric] = found.values
            else:
                parts = [_part(member, variant, metric) for member in members]
                found = _mean_of_means(parts, clusters, tasks, claim.value)
            if found is not None and math.isfinite(largest(unit_of(benchmark_of(claims.task), metric), metric)):
                weighted.setdefault(variant, {})[metric] = found
        if values:
            scores[variant] = Scores(ids=ids, clusters=clusters, values=values)
    return GroupRows(scores=scores, weighted=weighted)


def _rows_of(variant: str, members: Sequence[TaskRead]) -> list[Scores]:
    """Return the rows of each task; none where one lacks them, or some are of two tasks."""
    found = [member.scores[variant] for member in members if variant in member.scores]
    ids = [name for one in found for name in one.ids]
    return found if len(found) == len(members) and len(set(ids)) == len(ids) else []


def _part(member: TaskRead, variant: str, metric: str) -> Weighted | None:
    """Give the rows of a task with what each counts for in it; None where it has no value."""
    if (known := member.weighted.get(variant, {}).get(metric)) is not None:
        return known
    values = member.scores[variant].values.get(metric)
    if values is None or np.isnan(values).all():
        return None
    return Weighted(values=values, weights=(~np.isnan(values)).astype(np.float64), clusters=None)


def _mean_over_rows(
    rows: Sequence[Scores], metric: str, clusters: tuple[str, ...] | None, tasks: npt.NDArray[np.int64], claimed: float
) -> Weighted | None:
    """Let all rows that have a value count alike."""
    if not all(metric in one.values for one in rows):
        return None
    values = np.concatenate([one.values[metric] for one in rows])
    there = ~np.isnan(values)
    if not there.any() or not _same(float(values[there].mean()), claimed):
        return None
    return Weighted(values=values, weights=there.astype(np.float64), clusters=clusters, tasks=tasks)


def _mean_of_means(
    parts: Sequence[Weighted | None],
    clusters: tuple[str, ...] | None,
    tasks: npt.NDArray[np.int64],
    claimed: float,
) -> Weighted | None:
    """Weight each task alike, as our groups do, or by the rows it was asked, as lm-eval does otherwise."""
    known = [part for part in parts if part is not None]
    if len(known) < len(parts):
        return None
    for sizes in ([1] * len(known), [len(part.values) for part in known]):
        shares = [part.weights * (size / part.weights.sum()) for part, size in zip(known, sizes, strict=True)]
        values = np.concatenate([part.values for part in known])
        found = Weighted(values=values, weights=np.concatenate(shares), clusters=clusters, tasks=tasks)
        if _same(found.mean, claimed):
            return found
    return None


def _same(mean: float, claimed: float) -> bool:
    return abs(mean - claimed) <= SAME * max(1.0, claimed)
