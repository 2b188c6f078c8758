"""What `fin-tasks replay --json` prints of scored responses."""

from collections.abc import Sequence
from itertools import chain
from typing import Any

from fin_tasks.benchmarks.scored_task import ScoredTask
from fin_tasks.stats.averages import average_or_none

_RATES = ("acc", "execution_rate")
_PREFIXES = {"paper": "", "robust": "robust_"}


def summary_of(tasks: Sequence[ScoredTask]) -> dict[str, Any]:
    """Return the rates over all documents of some tasks; of a single task also all its figures, by variant."""
    names = [task.name for task in tasks]
    summary: dict[str, Any] = {
        "task": names[0] if len(names) == 1 else names,
        "n": sum(len(task.docs) for task in tasks),
        "n_all": sum(task.n_all or len(task.docs) for task in tasks),
    }
    for variant, prefix in _PREFIXES.items():
        rows = list(chain.from_iterable(task.values[variant] for task in tasks))
        for metric in _RATES:
            if metric in rows[0]:
                rate = average_or_none(row[metric] for row in rows)
                summary[f"{prefix}{metric}"] = rate
    if len(tasks) == 1:
        for variant, figures in tasks[0].breakdowns().items():
            summary[variant] = {name: part["value"] for name, part in figures.items()}
        for name, total in tasks[0].totals().items():
            metric, _, variant = name.partition(",")
            summary[variant][metric] = total
    if tasks[0].judge:
        summary["reader"] = tasks[0].judge["model"]
    return summary
