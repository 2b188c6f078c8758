"""Tokens, seconds and cost of runs, by task."""

from collections.abc import Iterable, Mapping
from typing import Any

from fin_tasks.endpoints.prices import Prices
from fin_tasks.report.model import Run

COSTS = ("tokens_in", "tokens_out", "seconds", "cost")


def costs_of(run: Run, prices: Prices | None = None) -> dict[str, dict[str, Any]]:
    """Return `tokens_in`, `tokens_out`, `seconds`, `cost` and `estimated` by task; those of the whole run under "".

    What is not known is None; `estimated` names the values that are estimates. lm-eval measures the seconds of all
    tasks together, so they are known of the run, and of a task only if it is alone.
    """
    tasks = [task for task in run.tasks if not task.members]
    found = {task.task: _cost(task.usage, run.model, prices) for task in tasks}
    whole = [
        seconds
        for task in tasks
        if (seconds := _number(task.usage.get("seconds_of_all_tasks"))) is not None
    ]
    if whole and len(tasks) == 1:
        found[tasks[0].task]["seconds"] = whole[0]
    groups = {task.task: task.members for task in run.tasks if task.members} | {"": tuple(found)}
    sums = {
        group: _sum([found[one] for one in members if one in found])
        for group, members in groups.items()
    }
    if whole:
        sums[""]["seconds"] = whole[0]
    return {**found, **sums}


def pareto(points: Iterable[tuple[float, float]]) -> list[tuple[float, float]]:
    """Return the points of cost and quality that no other beats in both, the cheapest first."""
    front: list[tuple[float, float]] = []
    for cost, value in sorted(points, key=lambda one: (one[0], -one[1])):
        if not front or value > front[-1][1]:
            front.append((cost, value))
    return front


def _cost(usage: Mapping[str, Any], model: str, prices: Prices | None) -> dict[str, Any]:
    tokens_in, tokens_out = (
        _number(usage.get("prompt_tokens")),
        _number(usage.get("response_tokens")),
    )
    cost = prices.cost(model, tokens_in, tokens_out) if prices else None
    found = {"tokens_in": tokens_in, "tokens_out": tokens_out, "cost": cost}
    estimated = (
        []
        if usage.get("estimated") is False
        else [name for name, one in found.items() if one is not None]
    )
    return {**found, "seconds": _number(usage.get("seconds")), "estimated": estimated}


def _sum(parts: list[dict[str, Any]]) -> dict[str, Any]:
    columns = {name: [part[name] for part in parts] for name in COSTS}
    sums = {name: sum(of) if of and None not in of else None for name, of in columns.items()}
    return {
        **sums,
        "estimated": list(dict.fromkeys(name for part in parts for name in part["estimated"])),
    }


def _number(value: Any) -> float | None:
    return (
        value
        if isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value < 1e15
        else None
    )
