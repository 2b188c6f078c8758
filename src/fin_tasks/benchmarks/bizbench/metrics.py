"""Scores of one response to metric values, and the metrics a task of BizBench reports.

Every document reports every metric of its task, `None` where the metric does not apply.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from fin_tasks.benchmarks.bizbench.sampling import PAPER_PARTS
from fin_tasks.stats.averages import average_or_none, rate
from fin_tasks.stats.executions import REASONS, execution_values

__all__ = ["metric_values", "metrics_of"]

_LOWER_IS_BETTER = ("no_answer", "unscored", "context_cut", *REASONS)


def metrics_of(*, part: str, mode: str) -> dict[str, bool]:
    """Name the metrics of a task.

    Args:
        part: As in `data.load`.
        mode: `cot`, `pot` or `code`.

    Returns:
        Metric name to whether more of it is better. `acc_err` is defined for every kind of row, so that it can be
        averaged over all: where an answer is no number, and near means nothing, it is `acc`.
    """
    names = ["acc", "acc_err"]
    names += [f"acc_{held}" for held in PAPER_PARTS.get(part, ())]
    names += ["no_answer", "unscored", "context_cut"]
    if mode != "cot":
        names += ["execution_rate", *REASONS]
    return {name: name not in _LOWER_IS_BETTER for name in names}


def metric_values(doc: Mapping[str, Any], answers: Sequence[Mapping[str, Any]]) -> dict[str, float | None]:
    """Turn the scored responses to one document into its metrics.

    Args:
        doc: The document, as `data.load` makes it.
        answers: One scored answer per response (several with `repeats`), with the keys `answer`, `correct`,
            `correct_err` and, where a program ran, `status`. `correct` None means unscored.

    Returns:
        Metric name to the mean over the responses, or None where the metric does not apply.
    """
    per_response = [_values(doc, answer) for answer in answers]
    names = metrics_of(part=doc["subset"], mode=doc["task_mode"])
    return {name: average_or_none(values.get(name) for values in per_response) for name in names}


def _values(doc: Mapping[str, Any], answer: Mapping[str, Any]) -> dict[str, float | None]:
    correct = rate(answer["correct"])
    near = rate(answer["correct_err"]) if doc["kind"] == "number" else correct
    unscored = correct is None
    values: dict[str, float | None] = {
        "acc": correct,
        "acc_err": near,
        f"acc_{doc['part']}": correct,
        "no_answer": None if unscored else float(answer["answer"] is None),
        "unscored": float(unscored),
        "context_cut": float(doc["context_cut"] > 0),
    }
    if (status := answer.get("status")) is not None:
        values |= execution_values(status)
    return values
