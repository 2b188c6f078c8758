"""What `fin-tasks replay --json` prints of scored responses."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from typing import Any

from fin_tasks.benchmarks import benchmark_of
from fin_tasks.benchmarks.scored_task import ScoredTask
from fin_tasks.stats.averages import average_or_none

Row = Mapping[str, Mapping[str, Any]]
"""The metrics of one document by variant."""

_RATES = (
    ("acc", "paper", "acc"),
    ("robust_acc", "robust", "acc"),
    ("execution_rate", "paper", "execution_rate"),
    ("robust_execution_rate", "robust", "execution_rate"),
)
"""A rate of the summary, and the variant and the metric whose mean it is."""
_RATES_OF_PARTS = ("acc", "robust_acc", "execution_rate")


def summary_of(tasks: Sequence[ScoredTask]) -> dict[str, Any]:
    """Return the rates over all documents of some tasks, and by part; counts where the name is plural."""
    rows = list(chain.from_iterable(_rows_of(task) for task in tasks))
    names = [task.name for task in tasks]
    summary: dict[str, Any] = {
        "task": names[0] if len(names) == 1 else names,
        "n": len(rows),
        "n_all": sum(task.n_all or len(task.docs) for task in tasks),
        **_rates(rows),
        "no_answer": _count_of("no_answer", rows),
        "unscored": _count_of("unscored", rows),
    }
    if len(tasks) == 1:
        summary |= _variants(tasks[0])
    statuses = [reading.status for reading in _readings(tasks) if reading.status]
    if statuses:
        summary["outcomes"] = dict(Counter(statuses))
    for column, parts in _parts(tasks, rows).items():
        by_part = {}
        for name in sorted(parts):
            by_part[name] = _rates_of_part(parts[name])
        summary[f"by_{column}"] = by_part
    if tasks[0].judge:
        summary["reader"] = tasks[0].judge["model"]
    return summary


def _rows_of(task: ScoredTask) -> list[Row]:
    rows: list[Row] = []
    for number in range(len(task.docs)):
        rows.append({variant: values[number] for variant, values in task.values.items()})
    return rows


def _rates(rows: Sequence[Row]) -> dict[str, float | None]:
    """Return the mean of each rate that the tasks have."""
    rates = {}
    for name, variant, metric in _RATES:
        if metric in rows[0][variant]:
            rates[name] = average_or_none(row[variant][metric] for row in rows)
    return rates


def _count_of(metric: str, rows: Iterable[Row]) -> int:
    return [row["paper"].get(metric) for row in rows].count(1.0)


def _variants(task: ScoredTask) -> dict[str, dict[str, float | None]]:
    """Return all metrics and figures of parts of one task, by variant."""
    totals = task.totals()
    summary = {}
    for variant, parts in task.breakdowns().items():
        figures = {name: totals[f"{name},{variant}"] for name in task.metrics}
        for name, part in parts.items():
            figures[name] = part["value"]
        summary[variant] = figures
    return summary


def _readings(tasks: Iterable[ScoredTask]) -> Iterable[Any]:
    for task in tasks:
        yield from chain.from_iterable(task.readings["paper"])


def _parts(tasks: Sequence[ScoredTask], rows: Iterable[Row]) -> dict[str, dict[str, list[Row]]]:
    """Return the rows by column and part, such as `topic` and `Accounting`."""
    benchmark = benchmark_of(tasks[0].name)
    parts: dict[str, dict[str, list[Row]]] = {}
    if benchmark is None:
        return parts
    docs = chain.from_iterable(task.docs for task in tasks)
    for doc, row in zip(docs, rows, strict=True):
        for column, names in benchmark.parts_of(doc).items():
            for name in names:
                parts.setdefault(column, {}).setdefault(name, []).append(row)
    return parts


def _rates_of_part(rows: Sequence[Row]) -> dict[str, Any]:
    """Return the rates of a part, by variant where accuracy has more than one measure."""
    rates = _rates(rows)
    part: dict[str, Any] = {"n": len(rows)}
    part |= {name: rates[name] for name in _RATES_OF_PARTS if name in rates}
    if "acc_err" in rows[0]["paper"]:
        for variant in rows[0]:
            metrics = ("acc", "acc_err", "no_answer")
            means = {name: average_or_none(row[variant][name] for row in rows) for name in metrics}
            part[variant] = {"acc_em": means["acc"], **means}
    return part
