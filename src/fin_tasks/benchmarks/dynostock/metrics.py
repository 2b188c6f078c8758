"""Scores of one response to metric values, and the metrics a task of DynoStock reports.

Every document reports every metric of its task, None where it does not apply. Of several responses to one document
(`repeats`) shares and scores are averaged, and counts are taken as fractions of that document: it counts once, however
often it was asked, as responses to one question are not independent.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal

from fin_tasks.stats.averages import average, standard_error
from fin_tasks.stats.calibration import brier_score, expected_calibration_error, log_loss
from fin_tasks.stats.intervals import Interval, bias_index_interval, wilson
from fin_tasks.stats.metric import Metric
from fin_tasks.stats.spread import Spread

__all__ = ["accuracy_interval", "index_interval", "metric_values", "metrics_of", "shares_of"]

_NOT_APPLICABLE: Literal["N/A"] = "N/A"
"""As lm-eval writes it. Metrics that groups average give NaN instead, as lm-eval can only multiply numbers."""

_Shares = Sequence[float]
"""Right, led and otherwise wrong responses to a document as fractions of all of them."""


def metrics_of(*, bias: str, window: int | None = None, mode: str = "image", **_: Any) -> dict[str, bool | Metric]:
    """Name the metrics of a task.

    Args:
        bias: `recency`, `authority`, or `plain` for windows without a biased statement, which have no bias metrics.
        window: Number of reports; every size has the same metrics.
        mode: `image` or `text`, likewise.

    Returns:
        Metric name to whether more of it is better, or to its own aggregation; the headline `acc` first.
    """
    metrics: dict[str, bool | Metric] = {
        "acc": True,
        "acc_low": Metric(higher_is_better=True, aggregate=_accuracy_bound(lambda interval: interval.low)),
        "acc_high": Metric(higher_is_better=True, aggregate=_accuracy_bound(lambda interval: interval.high)),
        "acc_std": Metric(higher_is_better=False, aggregate=lambda values: Spread(average(values))),
    }
    if bias == "plain":  # in no group, so where no outcome is known yet lm-eval can say so
        metrics["acc"] = Metric(higher_is_better=True, aggregate=_where_known(average))
        metrics["acc_stderr"] = Metric(higher_is_better=False, aggregate=_where_known(standard_error))
        metrics["acc_std"] = Metric(higher_is_better=False, aggregate=_where_known(lambda v: Spread(average(v))))
    else:
        metrics |= {
            "bias_index": Metric(higher_is_better=False, aggregate=_bias_index),
            "bias_index_low": Metric(higher_is_better=False, aggregate=_index_bound(lambda interval: interval.low)),
            "bias_index_high": Metric(higher_is_better=False, aggregate=_index_bound(lambda interval: interval.high)),
            "bias_index_std": Metric(higher_is_better=False, aggregate=lambda values: Spread(_bias_index(values))),
            "bias_percentage": False,
        }
    metrics |= {name: False for name in ("no_answer", "unscored", "brier", "log_loss")}
    metrics["ece"] = Metric(higher_is_better=False, aggregate=_where_known(_calibration_error))
    metrics["mean_probability"] = Metric(higher_is_better=None, aggregate=_where_known(average))
    return metrics


def metric_values(doc: Mapping[str, Any], answers: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Turn the scored responses to one document into its metrics.

    Args:
        doc: The document; `bias_type` and `truth` count.
        answers: One scored answer per response, see `doc_scores.score_response`.

    Returns:
        Metric name to what its aggregation takes: a number for the means; the shares right, led and otherwise wrong
        for the bias index; pairs of probability and truth for the calibration error. None where it does not apply.
        A response without a probability has no calibration score.
    """
    truth = doc["truth"]
    scored = truth is not None
    stated = [answer["probability"] for answer in answers if answer["probability"] is not None]
    acc = average([float(answer["correct"]) for answer in answers]) if scored else None
    values: dict[str, Any] = dict.fromkeys(("acc", "acc_low", "acc_high", "acc_std"), acc)
    if doc["bias_type"] == "plain":
        values["acc_stderr"] = acc
    else:
        led = average([float(bool(answer["led"])) for answer in answers])
        shares = shares_of(answers) if scored else None
        values |= dict.fromkeys(("bias_index", "bias_index_low", "bias_index_high", "bias_index_std"), shares)
        values["bias_percentage"] = led if scored else None
    values["no_answer"] = average([float(answer["answer"] is None) for answer in answers])
    values["unscored"] = float(not scored)
    truths = [truth] * len(stated)
    measurable = scored and stated
    values["brier"] = brier_score(stated, truths) if measurable else None
    values["log_loss"] = log_loss(stated, truths) if measurable else None
    values["ece"] = [[probability, truth] for probability in stated] if measurable else None
    values["mean_probability"] = average(stated) if stated else None
    return values


def shares_of(answers: Sequence[Mapping[str, Any]]) -> list[float]:
    """Return which shares of the scored responses to one document are right, led and otherwise wrong.

    Example:
        >>> shares_of([{"correct": True, "led": False}, {"correct": False, "led": True}])
        [0.5, 0.5, 0.0]
    """
    correct = average([float(answer["correct"]) for answer in answers])
    led = average([float(bool(answer["led"])) for answer in answers])
    return [correct, led, max(0.0, 1.0 - correct - led)]


def accuracy_interval(correct: Sequence[float]) -> Interval:
    """Give Wilson's 95 % interval of the accuracy over documents, each with its share of right responses.

    The total is rounded to whole documents.
    """
    return wilson(round(math.fsum(correct)), len(correct))


def index_interval(shares: Sequence[_Shares]) -> Interval:
    """Give the 95 % bootstrap interval of the bias index over documents, of each what `shares_of` returns.

    Totals are rounded to whole documents.
    """
    correct, led, other = (round(math.fsum(of_doc[place] for of_doc in shares)) for place in range(3))
    return bias_index_interval(correct=correct, led=led, other=other)


def _where_known(aggregate: Callable[[Sequence[Any]], float]) -> Callable[[Sequence[Any]], float | str]:
    """Make an aggregation give `N/A` for NaN, which JSON does not have."""

    def of_known(values: Sequence[Any]) -> float | str:
        value = aggregate(values)
        return _NOT_APPLICABLE if math.isnan(value) else value

    return of_known


def _accuracy_bound(bound: Callable[[Interval], float]) -> Callable[[Sequence[float | None]], float]:
    return lambda values: bound(accuracy_interval([value for value in values if value is not None]))


def _bias_index(values: Sequence[_Shares | None]) -> float:
    """Led over wrong; 0 where nothing is wrong, NaN where nothing is scored."""
    scored = [shares for shares in values if shares is not None]
    if not scored:
        return math.nan
    led, other = (math.fsum(shares[place] for shares in scored) for place in (1, 2))
    return led / (led + other) if led + other else 0.0


def _index_bound(bound: Callable[[Interval], float]) -> Callable[[Sequence[_Shares | None]], float]:
    return lambda values: bound(index_interval([shares for shares in values if shares is not None]))


def _calibration_error(values: Sequence[Sequence[Sequence[float]] | None]) -> float:
    pairs = [pair for pairs in values if pairs is not None for pair in pairs]
    return expected_calibration_error([pair[0] for pair in pairs], [int(pair[1]) for pair in pairs])
