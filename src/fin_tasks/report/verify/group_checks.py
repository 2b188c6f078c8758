"""Checks that the totals of groups are those of their tasks."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from fin_tasks.report.lm_eval_entries import members_of
from fin_tasks.report.lm_eval_results import Claim, TaskClaims
from fin_tasks.report.verify.closeness import same
from fin_tasks.report.verify.findings import Finding, Place, finding, not_checked
from fin_tasks.report.verify.task_files import Group, group_file

__all__ = ["Made", "Totals", "check_groups"]

Totals = Mapping[str, Mapping[str, Claim]]
"""Variant to metric to a total that was worked out."""


@dataclass(frozen=True, kw_only=True)
class Made:
    """What was worked out for a task: how much its responses hold, its rows and its totals."""

    characters: int
    rows: int = 0
    totals: Totals = field(default_factory=dict)


def check_groups(name: str, claims: Mapping[str, TaskClaims], made: Mapping[str, Made]) -> Iterator[Finding]:
    """Compare the totals of groups with those of their tasks."""
    groups = {one.task: one.members for one in claims.values() if one.members}
    for claim in claims.values():
        group, place = group_file(claim.task), Place(claim.task, name)
        if group is None or not claim.variants:
            continue
        members = members_of(claim.task, groups) if claim.members else []
        if lacking := [member for member in members if member not in made or not made[member].totals]:
            yield not_checked("groups", place, f"tasks that were not scored: {', '.join(lacking):.200}")
            continue
        parts = [made[member] for member in members]
        wrong = [
            f"{metric},{variant}: is {right!r:.20}, claimed {stated.value!r:.20}"
            for variant, said in claim.variants.items()
            for metric, stated in said.items()
            if not same(right := _over_tasks(group, metric, variant, parts), stated.value)
        ]
        yield finding(
            "groups", place, "{n} totals are not those of the tasks", wrong, fine=f"the means over {len(members)} tasks"
        )


def _over_tasks(group: Group, metric: str, variant: str, parts: Sequence[Made]) -> float | None:
    """Average a metric over tasks as lm-eval does; None where a task has none, or the group does not average it."""
    totals_of = [part.totals.get(variant, {}).get(metric) for part in parts]
    values = [None if total is None else total.value for total in totals_of]
    if metric not in group.weighted or not values or None in values:
        return None
    sizes = [part.rows if group.weighted[metric] else 1 for part in parts]
    # in lm-eval's own words: a `Spread` makes something else of them
    products = [value * size for value, size in zip(values, sizes, strict=True) if value is not None]
    return sum(products) / sum(sizes)
