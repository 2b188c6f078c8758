"""Scores of one response to metric values, and the metrics a task of BizBench reports.

Every document reports every metric of its task, `None` where the metric does not apply.
"""

import math
from collections.abc import Mapping, Sequence
from typing import Any

from fin_tasks.stats.averages import average

__all__ = ["PAPER_PARTS", "REASONS", "metric_values", "metrics_of"]

PAPER_PARTS: Mapping[str, tuple[str, ...]] = {
    "paper_choice": ("finknow", "formulaeval"),
    "paper_quantity": ("fincode", "codefinqa", "codetatqa", "convfinqa_e", "tatqa_e"),
}
"""Column of the XFinBench paper to the parts its rows come from."""

REASONS = ("no_code", "syntax", "exception", "timeout", "memory", "forbidden", "unsupported")
"""Why a program gave no value, in the words of `sandbox.Status`."""

_CHOICES = ("finknow", "formulaeval", "paper_choice")
_LOWER_IS_BETTER = ("no_answer", "unscored", "context_cut", *REASONS)


def metrics_of(*, part: str, mode: str) -> dict[str, bool]:
    """Name the metrics of a task.

    Args:
        part: As in `data.load`.
        mode: `cot`, `pot` or `code`.

    Returns:
        Metric name to whether more of it is better, the headline `acc` first.
    """
    names = ["acc"]
    if part not in _CHOICES:
        names.append("acc_err")
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
    return {name: _mean_or_none([values.get(name) for values in per_response]) for name in names}


def _values(doc: Mapping[str, Any], answer: Mapping[str, Any]) -> dict[str, float | None]:
    correct, near = _as_float(answer["correct"]), _as_float(answer["correct_err"])
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
        values["execution_rate"] = None if status in ("broken", "unsupported") else float(status == "ok")
        values |= {reason: None if status == "broken" else float(status == reason) for reason in REASONS}
    return values


def _as_float(correct: bool | None) -> float | None:
    return None if correct is None else float(correct)


def _mean_or_none(values: Sequence[float | None]) -> float | None:
    mean = average(values)
    return None if math.isnan(mean) else mean
