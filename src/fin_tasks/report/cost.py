"""Tokens, seconds and cost of runs, by task."""

from collections.abc import Sequence

from fin_tasks.endpoints.prices import Prices

from . import Json
from .comparison_model import finite_or_none
from .leaderboard_model import Cost
from .model import Run, TaskResult

COSTS = ("tokens_in", "tokens_out", "seconds", "cost")


def costs_of(run: Run, prices: Prices | None = None) -> list[Cost]:
    """Return what each task and group of a run used, and last the whole run; what is not known is None.

    lm-eval measures the seconds of all tasks together, so they are known of the run, and of a task only if it is alone.
    """
    costs = {}
    seconds = None
    for result in run.tasks:
        if not result.members:
            costs[result.task] = _cost_of(run, result, prices)
            seconds = seconds or finite_or_none(
                result.usage.get("seconds_of_all_tasks")
            )
    if not costs:
        return []
    whole = _sum(list(costs.values()), "", run.id)
    if seconds:
        whole.seconds = seconds
        if len(costs) == 1:
            (single,) = costs.values()
            single.seconds = seconds
    sums = []
    for result in run.tasks:
        members = [costs[name] for name in result.members if name in costs]
        if members:
            sums.append(_sum(members, result.task, result.id))
    return [*costs.values(), *sums, whole]


def _cost_of(run: Run, result: TaskResult, prices: Prices | None) -> Cost:
    """Return what one task used."""
    usage = result.usage
    cost = Cost(
        run=result.id,
        model=run.model,
        task=result.task,
        path=run.name,
        tokens_in=usage.get("prompt_tokens"),
        tokens_out=usage.get("response_tokens"),
        seconds=usage.get("seconds"),
    )
    if prices:
        cost.cost = prices.cost(run.model, cost.tokens_in, cost.tokens_out)
    if usage.get("estimated") is not False:
        names = ("tokens_in", "tokens_out", "cost")
        cost.estimated = [name for name in names if getattr(cost, name) is not None]
    return cost


def _sum(parts: Sequence[Cost], task: str, identity: str) -> Cost:
    """Return the sum of several costs; a number that one of them lacks is not known."""
    estimated: list[str] = []
    sums: Json = {"run": identity, "task": task, "estimated": estimated}
    for name in COSTS:
        numbers = [getattr(part, name) for part in parts]
        sums[name] = None if None in numbers else sum(numbers)
        if any(name in part.estimated for part in parts):
            estimated.append(name)
    return parts[0].model_copy(update=sums)
