"""Scores of one response to metric values, and the metrics a task of FinanceMath reports.

Every document reports every metric of its task, None where it does not apply (another topic, an unscored answer).
"""

from collections.abc import Mapping, Sequence
from typing import Any

from fin_tasks.benchmarks.financemath.rows import TOPICS
from fin_tasks.stats.averages import average_or_none
from fin_tasks.stats.executions import REASONS, execution_values

__all__ = ["metric_values", "metrics_of"]

_LOWER_IS_BETTER = ("no_answer", "unscored", "judge_error", *REASONS)


def metrics_of(*, mode: str) -> dict[str, bool]:
    """Name the metrics of a task.

    Args:
        mode: `cot` or `pot`.

    Returns:
        Metric name to whether more of it is better, the headline `acc` first. `execution_rate` is the share of programs
        that ran, or of responses that give an answer, as the authors' tables have it; `no_answer` is the share without
        a number to compare; `judge_error`, of the responses that a judge was asked about, the share on which it failed.
    """
    names = ["acc", *(f"acc_{name}" for name in TOPICS.values()), "execution_rate", "no_answer", "unscored"]
    names += REASONS if mode == "pot" else ("judge_error",)
    return {name: name not in _LOWER_IS_BETTER for name in names}


def metric_values(doc: Mapping[str, Any], answers: Sequence[Mapping[str, Any]]) -> dict[str, float | None]:
    """Turn the scored responses to one document into its metrics.

    Args:
        doc: The document, as `data.load` makes it.
        answers: One scored answer of `doc_scores` per response (several with `repeats`); `correct` None means unscored.

    Returns:
        Metric name to the mean over the responses, or None where the metric does not apply.
    """
    per_response = [_values(doc, answer) for answer in answers]
    return {name: average_or_none([values[name] for values in per_response]) for name in per_response[0]}


def _values(doc: Mapping[str, Any], answer: Mapping[str, Any]) -> dict[str, float | None]:
    unscored = answer["correct"] is None
    correct = None if unscored else float(answer["correct"])
    answered = answer["answer"] is not None
    values: dict[str, float | None] = {"acc": correct}
    values |= {f"acc_{name}": correct if doc["topic_name"] == name else None for name in TOPICS.values()}
    values |= {
        "execution_rate": None if unscored else float(answered),
        "no_answer": None if unscored else float(not answered),
        "unscored": float(unscored),
    }
    if doc["mode"] == "pot":
        values |= execution_values(answer["status"])
    else:
        # of the responses the judge was asked about: those it read, and those on which it failed
        asked = answer["read_by"] == "judge" or answer["judge_error"] is not None
        values["judge_error"] = float(answer["judge_error"] is not None) if asked else None
    return values
