"""Tokens, seconds and cost of runs, by task."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from fin_tasks.endpoints.prices import Prices
from fin_tasks.report.leaderboard_model import Cost
from fin_tasks.report.model import Run, TaskResult

COSTS = ("tokens_in", "tokens_out", "seconds", "cost")


def costs_of(run: Run, prices: Prices | None = None) -> list[Cost]:
    """Return what each task and group of a run used, and last the whole run; what is not known is None.

    lm-eval measures the seconds of all tasks together, so they are known of the run, and of a task only if it is alone.
    """
    costs: dict[str, Cost] = {}
    seconds = None
    for result in run.tasks:
        if not result.members:
            costs[result.task] = _cost_of(run, result, prices)
            seconds = seconds or _number(result.usage.get("seconds_of_all_tasks"))
    if not costs:
        return []
    if len(costs) == 1 and seconds:
        next(iter(costs.values())).seconds = seconds
    sums = []
    for result in run.tasks:
        members = [costs[name] for name in result.members if name in costs]
        if members:
            sums.append(_sum(members, result.task, result.id))
    whole = _sum(list(costs.values()), "", run.id)
    whole.seconds = seconds or whole.seconds
    return [*costs.values(), *sums, whole]


def pareto(points: Iterable[tuple[float, float]]) -> list[tuple[float, float]]:
    """Return the points of cost and quality that no other beats in both, the cheapest first."""
    front: list[tuple[float, float]] = []
    for cost, value in sorted(points, key=lambda point: (point[0], -point[1])):
        if not front or value > front[-1][1]:
            front.append((cost, value))
    return front


def _cost_of(run: Run, result: TaskResult, prices: Prices | None) -> Cost:
    usage: Mapping[str, Any] = result.usage
    tokens_in = _number(usage.get("prompt_tokens"))
    tokens_out = _number(usage.get("response_tokens"))
    cost = prices.cost(run.model, tokens_in, tokens_out) if prices else None
    numbers = {"tokens_in": tokens_in, "tokens_out": tokens_out, "cost": cost}
    known = [name for name, number in numbers.items() if number is not None]
    return Cost(
        run=result.id,
        model=run.model,
        task=result.task,
        path=run.name,
        seconds=_number(usage.get("seconds")),
        estimated=[] if usage.get("estimated") is False else known,
        **numbers,
    )


def _sum(parts: Sequence[Cost], task: str, identity: str) -> Cost:
    sums: dict[str, Any] = {"run": identity, "task": task}
    estimated: list[str] = []
    for name in COSTS:
        numbers = [getattr(part, name) for part in parts]
        sums[name] = None if None in numbers else sum(numbers)
    for part in parts:
        estimated += part.estimated
    return parts[0].model_copy(update={**sums, "estimated": list(dict.fromkeys(estimated))})


def _number(value: Any) -> float | None:
    if not isinstance(value, int | float) or isinstance(value, bool):
        return None
    return value if 0 <= value < 1e15 else None
