"""The totals of groups of tasks, averaged as lm-eval does."""

from collections.abc import Mapping

import numpy as np

from fin_tasks.benchmarks import task_folders
from fin_tasks.benchmarks.scored_task import ScoredTask
from fin_tasks.report.model import TaskResult
from fin_tasks.report.verify.items import Item
from fin_tasks.report.verify.scores import compare_totals


def check_group(
    result: TaskResult,
    scored: Mapping[str, ScoredTask],
) -> Item:
    """Average the totals of a group's tasks, and compare."""
    from lm_eval.tasks import TaskManager

    manager = TaskManager(include_path=task_folders(), include_defaults=False)
    group = manager.task_index.get(result.task)
    config = getattr(group, "cfg", None) or {"task": []}
    tasks = [scored.get(name) for name in config["task"]]
    if not tasks or None in tasks:
        return Item("totals", "not verified", "not all tasks of the group have scores here")
    ours: dict[str, float] = {}
    for mean in config["aggregate_metric_list"]:
        for variant in mean["filter_list"]:
            key = f"{mean['metric']},{variant}"
            values = []
            sizes = []
            for task in filter(None, tasks):
                total = task.totals().get(key)
                if total is not None:
                    values.append(total)
                    sizes.append(len(task.docs) if mean["weight_by_size"] else 1)
            if values:
                ours[key] = float(np.average(values, weights=sizes))
    return compare_totals(result, ours, is_proven=True)
