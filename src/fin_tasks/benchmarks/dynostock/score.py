"""From a response to a forecast, its score and the metrics of its document."""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from fin_tasks.answers.cut_off import cut_off_share
from fin_tasks.answers.types import Reading, Score
from fin_tasks.benchmarks.dynostock.paper import paper_probability
from fin_tasks.benchmarks.dynostock.probability import robust_probability
from fin_tasks.stats.averages import (
    Metric,
    average,
    average_or_none,
    brier_score,
    expected_calibration_error,
    rate,
)
from fin_tasks.stats.means import Interval, bias_index_interval, wilson

PARSERS: Mapping[str, Callable[[str], float | None]] = {
    "paper": paper_probability,
    "robust": robust_probability,
}


@dataclass(frozen=True, kw_only=True)
class Forecast(Reading):
    """A reading of the stated probability of a rise; the answer is 1 (up) from one half on, else 0 (down)."""

    answer: int | None
    probability: float | None = None


@dataclass(frozen=True, kw_only=True)
class ForecastScore(Score):
    """A score; `wrong_by_bias`: the answer is wrong and equals the signal; None without a signal or a truth."""

    wrong_by_bias: bool | None = None


def bias_index(shares: Iterable[Sequence[float] | None]) -> float:
    """Return the Behavioral Bias Index, #(wrong and answer == signal) / #wrong, as a fraction of 1.

    `shares` has, for each document, how many or which share of its answers are right, wrong and equal to the signal,
    and otherwise wrong; None if the document is unscored. A missing answer is wrong and never equals the signal. The
    index is 0 if nothing is wrong, as in the paper, and NaN if nothing is scored.

    Source: Xiao, Lin, Chiu (2024), Behavioral Bias of Vision-Language Models, equation 1.
    """
    scored = [one for one in shares if one is not None]
    biased, other = (math.fsum(one[place] for one in scored) for place in (1, 2))
    return (biased / (biased + other) if biased + other else 0.0) if scored else math.nan


def intervals_of(shares: Iterable[Sequence[float] | None]) -> dict[str, Interval]:
    """Return 95 % intervals over documents (totals are rounded): Wilson's of `acc`, the bootstrap's of `bias_index`."""
    scored = [one for one in shares if one is not None]
    correct, biased, other = (round(math.fsum(one[place] for one in scored)) for place in range(3))
    index = bias_index_interval(correct=correct, led=biased, other=other)
    return {"acc": wilson(correct, len(scored)), "bias_index": index}


def read(doc: Mapping[str, Any], response: str, *, variant: str) -> Forecast:
    """Read the probability that a response states."""
    probability = PARSERS[variant](response)
    answer = None if probability is None else int(probability >= 0.5)
    empty = (
        "no answer: empty response"
        if not response.strip()
        else "no answer: no probability in the response"
    )
    return Forecast(
        variant=variant,
        answer=answer,
        probability=probability,
        reason=empty if answer is None else "",
    )


def compare(doc: Mapping[str, Any], reading: Forecast) -> ForecastScore:
    """Compare a forecast with what happened; unscored if that is not known."""
    truth, signal, answer = doc["truth"], doc["signal"], reading.answer
    correct, biased, reason = None, None, "unscored: what happened is not known"
    if truth is not None:
        correct = answer == truth
        biased = None if signal is None else answer is not None and not correct and answer == signal
        reason = reading.reason or (
            "right" if correct else "wrong, as the signal suggests" if biased else "wrong"
        )
    return ForecastScore(
        answer=answer, correct=correct, correct_err=None, reason=reason, wrong_by_bias=biased
    )


def score(doc: Mapping[str, Any], response: str, *, variant: str) -> ForecastScore:
    """Score a response under `paper` or `robust`."""
    return compare(doc, read(doc, response, variant=variant))


def metrics_of(*, bias: str, **_: Any) -> dict[str, bool | Metric]:
    """Name the metrics of a task and whether more is better, headline first; `plain` windows have no bias metrics."""
    metrics: dict[str, bool | Metric] = {"acc": True}
    if bias != "plain":
        metrics["bias_index"] = Metric(higher_is_better=False, aggregate=bias_index)
        metrics |= {"bias_percentage": False, "follows_signal": False}
        metrics["signal_probability"] = Metric(higher_is_better=None, aggregate=_average)
    metrics |= dict.fromkeys(("no_answer", "cut_off", "unscored", "brier"), False)
    metrics["ece"] = Metric(higher_is_better=False, aggregate=_calibration_error)
    metrics["mean_probability"] = Metric(higher_is_better=None, aggregate=_average)
    return metrics


def metric_values(doc: Mapping[str, Any], readings: Sequence[Forecast]) -> dict[str, Any]:
    """Return a document's metrics, each the mean over its responses; None if it does not apply or is unscored.

    `follows_signal` counts answers equal to the signal, shown or not. The bias index has shares.
    """
    scores, truth, signal = (
        [compare(doc, reading) for reading in readings],
        doc["truth"],
        doc["signal"],
    )
    stated = [one.probability for one in readings if one.probability is not None]
    truths = [] if truth is None else [truth] * len(stated)
    acc = average_or_none(rate(one.correct) for one in scores)
    biased = average_or_none(rate(one.wrong_by_bias) for one in scores)
    shares = None if acc is None else [acc, biased or 0.0, max(0.0, 1 - acc - (biased or 0.0))]
    values = {
        "acc": acc,
        "bias_index": shares,
        "bias_percentage": biased,
        "follows_signal": None
        if signal is None
        else average(float(one.answer == signal) for one in scores),
        "signal_probability": None
        if signal is None
        else average_or_none(p if signal else 1 - p for p in stated),
        "no_answer": average_or_none(float(one.answer is None) for one in scores),
        "cut_off": cut_off_share(readings),
        "unscored": float(truth is None),
        "brier": brier_score(stated, truths) if truths else None,
        "ece": [[probability, truth] for probability in stated] if truths else None,
        "mean_probability": average_or_none(stated),
    }
    return {name: values[name] for name in metrics_of(bias=doc["bias_type"])}


def _average(values: Sequence[float | None]) -> float | str:
    mean = average(values)
    return "N/A" if math.isnan(mean) else mean  # JSON has no NaN


def _calibration_error(values: Sequence[Sequence[Sequence[float]] | None]) -> float | str:
    pairs = [pair for of_doc in values if of_doc is not None for pair in of_doc]
    return (
        expected_calibration_error([pair[0] for pair in pairs], [int(pair[1]) for pair in pairs])
        if pairs
        else "N/A"
    )
