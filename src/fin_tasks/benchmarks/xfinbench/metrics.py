"""Scores of one response to metric values, and the metrics a task of XFinBench reports.

Every document reports every metric of its task, `None` where the metric does not apply (a capability the row does not
name, an unscored answer): lm-eval gathers metrics over several GPUs by name, and a name that one GPU lacks would lose
the run. `stats.averages` leaves the `None`s out.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from fin_tasks.stats.averages import average_or_none, rate
from fin_tasks.stats.executions import REASONS, execution_values

__all__ = ["CAPABILITIES", "metric_values", "metrics_of"]

CAPABILITIES: Mapping[str, str] = {
    "TU": "terminology understanding",
    "TR": "temporal reasoning",
    "FF": "future forecasting",
    "SP": "scenario planning",
    "NM": "numerical modelling",
}

_LOWER_IS_BETTER = ("no_answer", "unscored", *REASONS)


def metrics_of(*, subset: str, mode: str, **_: Any) -> dict[str, bool]:
    """Name the metrics of a task.

    Args:
        subset: `bool`, `mcq`, `mcq_visual` or `calc`.
        mode: `cot`, `da` or `pot`.

    Returns:
        Metric name to whether more of it is better, the headline `acc` first.
    """
    names = ["acc"]
    if subset == "calc":
        names += ["acc_em", "acc_err", "acc_em_table", "acc_em_no_table", "acc_err_table", "acc_err_no_table"]
    names += [f"acc_{code}" for code in CAPABILITIES]
    if subset == "calc":
        names += [f"acc_err_{code}" for code in CAPABILITIES]
    names += ["no_answer", "unscored"]
    if mode == "pot":
        names += ["execution_rate", *REASONS]
    return {name: name not in _LOWER_IS_BETTER for name in names}


def metric_values(doc: Mapping[str, Any], answers: Sequence[Mapping[str, Any]]) -> dict[str, float | None]:
    """Turn the scored responses to one document into its metrics.

    Args:
        doc: The document, as `data.load` makes it.
        answers: One scored answer per response (several with `repeats`), with the keys `answer`, `correct`,
            `correct_err` and, for programs, `status`. `correct` None means unscored.

    Returns:
        Metric name to the mean over the responses, or None where the metric does not apply.
    """
    per_response = [_values(doc, answer) for answer in answers]
    if len(per_response) == 1:
        return per_response[0]
    return {name: average_or_none(values[name] for values in per_response) for name in per_response[0]}


def _values(doc: Mapping[str, Any], answer: Mapping[str, Any]) -> dict[str, float | None]:
    correct, correct_err = rate(answer["correct"]), rate(answer["correct_err"])
    unscored = correct is None
    values: dict[str, float | None] = {
        "acc": correct,
        "no_answer": None if unscored else float(answer["answer"] is None),
        "unscored": float(unscored),
    }
    for code in CAPABILITIES:
        values[f"acc_{code}"] = correct if code in doc["capabilities"] else None
    if doc["subset"] == "calc":
        values |= {"acc_em": correct, "acc_err": correct_err}
        values |= {f"acc_err_{code}": correct_err if code in doc["capabilities"] else None for code in CAPABILITIES}
        for name, applies in (("table", doc["has_table"]), ("no_table", not doc["has_table"])):
            values[f"acc_em_{name}"] = correct if applies else None
            values[f"acc_err_{name}"] = correct_err if applies else None
    if doc["mode"] == "pot":
        values |= execution_values(answer["status"])
    return values
