"""What `fin-tasks replay --json` prints of scored responses."""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

from fin_tasks.benchmarks.scored_task import ScoredTask
from fin_tasks.stats.averages import average_or_none

from .run_folder import SavedRun

Figures = dict[str, Any]
Row = Mapping[str, Mapping[str, Any]]
"""The metrics of one document by scoring."""

_FACTS = ("mode", "style", "scorer", "split", "source")
"""Parts of a provenance that are printed beside the figures."""
_RATES = {
    "acc": ("paper", "acc"),
    "robust_acc": ("robust", "acc"),
    "execution_rate": ("paper", "execution_rate"),
    "robust_execution_rate": ("robust", "execution_rate"),
}
"""A rate of the summary, and the scoring and the metric whose mean it is."""
_NEAR_METRICS = ("acc", "acc_err", "no_answer")


def summary_of(runs: Sequence[SavedRun]) -> Figures:
    """Return how tasks were asked, and the rates over all documents and by part; counts where the name is plural."""
    first = runs[0]
    tasks = [run.scored for run in runs]
    rows = []
    rows_by_part: dict[tuple[str, str], list[Row]] = defaultdict(list)
    statuses: Counter[str] = Counter()
    for task in tasks:
        for number, doc in enumerate(task.docs):
            row = {scoring: values[number] for scoring, values in task.values.items()}
            rows.append(row)
            for column, names in task.benchmark.groups_of(doc).items():
                for name in names:
                    rows_by_part[f"by_{column}", name].append(row)
            readings = task.readings["paper"][number]
            statuses.update(reading.status for reading in readings if reading.status)
    task_names = [task.name for task in tasks]
    summary: Figures = {}
    for name in _FACTS:
        if name in first.provenance:
            summary[name] = first.provenance[name]
    summary |= {
        "task": task_names[0] if len(tasks) == 1 else task_names,
        "n_all": sum(task.n_all or len(task.docs) for task in tasks),
        **_rates(rows),
    }
    for metric in ("no_answer", "unscored"):
        summary[metric] = [row["paper"].get(metric) for row in rows].count(1.0)
    if len(tasks) == 1:
        summary |= _figures_of(tasks[0])
    if statuses:
        summary["outcomes"] = dict(statuses)
    for (column, name), part in sorted(rows_by_part.items()):
        summary.setdefault(column, {})[name] = _rates_of_part(part)
    if tasks[0].judge:
        summary["reader"] = tasks[0].judge["model"]
    if "sandbox" in first.metadata:
        summary["sandbox"] = first.metadata["sandbox"]["tier"]
    return summary


def _mean(rows: Sequence[Row], scoring: str, metric: str) -> float | None:
    return average_or_none(row[scoring][metric] for row in rows)


def _rates(rows: Sequence[Row]) -> Figures:
    """Return the number of rows, and the mean of each rate that they have."""
    rates: Figures = {"n": len(rows)}
    for name, (scoring, metric) in _RATES.items():
        if metric in rows[0][scoring]:
            rates[name] = _mean(rows, scoring, metric)
    return rates


def _figures_of(task: ScoredTask) -> dict[str, dict[str, float | None]]:
    """Return all metrics and figures of parts of one task, by scoring."""
    totals = task.totals()
    figures_by_scoring = {}
    for scoring, parts in task.breakdowns().items():
        figures = {name: totals[f"{name},{scoring}"] for name in task.metrics}
        figures |= {name: part["value"] for name, part in parts.items()}
        figures_by_scoring[scoring] = figures
    return figures_by_scoring


def _rates_of_part(rows: Sequence[Row]) -> Figures:
    """Return the rates of a part, by scoring where accuracy has more than one measure."""
    part = _rates(rows)
    if "acc_err" in rows[0]["paper"]:
        for scoring in rows[0]:
            means = {metric: _mean(rows, scoring, metric) for metric in _NEAR_METRICS}
            part[scoring] = {"acc_em": means["acc"], **means}
    return part
