"""From a response to a forecast, its score and the metrics of its document.

`paper` reads a response as the benchmark's authors do, so that numbers compare with the published ones. `robust` takes
what a careful reader would take for the stated probability.
"""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from fin_tasks.answers.probability import paper_probability, robust_probability
from fin_tasks.answers.score import Reading, Score
from fin_tasks.errors import ConfigError
from fin_tasks.stats.averages import average, average_or_none, rate, standard_error
from fin_tasks.stats.calibration import brier_score, expected_calibration_error, log_loss
from fin_tasks.stats.intervals import Interval, bias_index_interval, wilson
from fin_tasks.stats.metric import Metric

__all__ = [
    *("PARSERS", "SCORER_VERSION", "Counts", "Forecast", "ForecastScore", "bias_index"),
    *("compare", "accuracy_interval", "index_interval", "count", "metric_values", "metrics_of", "read", "score"),
]

SCORER_VERSION = 3
"""Goes up with every change that moves a score; part of the provenance."""

PARSERS: Mapping[str, Callable[[str], float | None]] = {"paper": paper_probability, "robust": robust_probability}


@dataclass(frozen=True, kw_only=True)
class Forecast(Reading):
    """A reading of the stated probability of a rise; the answer is 1 (up) from one half on, else 0 (down)."""

    answer: int | None
    probability: float | None = None


@dataclass(frozen=True, kw_only=True)
class ForecastScore(Score):
    """A score; `led` tells whether the answer is wrong and equals the signal, None without a signal or a truth."""

    probability: float | None = None
    led: bool | None = None


@dataclass(frozen=True, kw_only=True)
class Counts:
    """What the authors count per file: `wrong` includes `no_answer` and `wrong_by_bias`. Rates are fractions of 1."""

    total: int
    correct: int
    wrong_by_bias: int
    no_answer: int

    @property
    def wrong(self) -> int:
        """All responses that are not right."""
        return self.total - self.correct

    @property
    def accuracy(self) -> float:
        """Right answers among all; 0 if there are none."""
        return self.correct / max(self.total, 1)

    @property
    def shares(self) -> tuple[int, int, int]:
        """Right, led and otherwise wrong responses, for `bias_index`."""
        return self.correct, self.wrong_by_bias, self.wrong - self.wrong_by_bias

    @property
    def bias_index(self) -> float:
        """The Behavioral Bias Index."""
        return bias_index([self.shares])

    @property
    def accuracy_interval(self) -> Interval:
        """Wilson's 95 % interval of the accuracy."""
        return wilson(self.correct, self.total)

    @property
    def bias_index_interval(self) -> Interval:
        """95 % bootstrap interval of the bias index; [0, 1] if nothing is wrong."""
        return index_interval([self.shares])


def bias_index(shares: Iterable[Sequence[float] | None]) -> float:
    """Return the Behavioral Bias Index, #(wrong and answer == signal) / #wrong, as a fraction of 1.

    `shares` has, for each document, how many or which share of its answers are right, led (wrong and equal to the
    signal) and otherwise wrong, or None if it is unscored. A missing answer is wrong and never led. The index is 0 if
    nothing is wrong, as the authors have it, and NaN if nothing is scored.

    Source: Xiao, Lin, Chiu (2024), Behavioral Bias of Vision-Language Models, equation 1.

    Example:
        >>> bias_index([[0, 1, 0], [0, 0, 1], [1, 0, 0], None])
        0.5
    """
    scored = [one for one in shares if one is not None]
    led, other = (math.fsum(one[place] for one in scored) for place in (1, 2))
    return (led / (led + other) if led + other else 0.0) if scored else math.nan


def accuracy_interval(shares: Iterable[Sequence[float] | None]) -> Interval:
    """Return Wilson's 95 % interval of the accuracy over documents; totals are rounded to whole documents."""
    correct = [one[0] for one in shares if one is not None]
    return wilson(round(math.fsum(correct)), len(correct))


def index_interval(shares: Iterable[Sequence[float] | None]) -> Interval:
    """Return the 95 % bootstrap interval of the bias index over documents; totals are rounded to whole documents."""
    scored = [one for one in shares if one is not None]
    correct, led, other = (round(math.fsum(one[place] for one in scored)) for place in range(3))
    return bias_index_interval(correct=correct, led=led, other=other)


def read(doc: Mapping[str, Any], response: str, *, variant: str) -> Forecast:
    """Read the probability that a response states."""
    if variant not in PARSERS:
        raise ConfigError(f"variant: expected {' or '.join(map(repr, PARSERS))}, got {variant!r}.")
    probability = PARSERS[variant](response)
    answer = None if probability is None else int(probability >= 0.5)
    empty = "no answer: empty response" if not response.strip() else "no answer: no probability in the response"
    return Forecast(variant=variant, answer=answer, probability=probability, reason=empty if answer is None else "")


def compare(doc: Mapping[str, Any], reading: Forecast) -> ForecastScore:
    """Compare a forecast with what happened; unscored if that is not known.

    Example:
        >>> doc = {"truth": 1, "signal": 0}
        >>> compare(doc, read(doc, "Final prediction: 0.2", variant="robust")).reason
        'wrong, as the signal suggests'
    """
    truth, signal, answer = doc["truth"], doc["signal"], reading.answer
    correct, led, reason = None, None, "unscored: what happened is not known"
    if truth is not None:
        correct = answer == truth
        led = None if signal is None else answer is not None and not correct and answer == signal
        reason = reading.reason or ("right" if correct else "wrong, as the signal suggests" if led else "wrong")
    return ForecastScore(
        answer=answer, correct=correct, correct_err=None, reason=reason, probability=reading.probability, led=led
    )


def score(doc: Mapping[str, Any], response: str, *, variant: str) -> ForecastScore:
    """Score a response under `paper` or `robust`."""
    return compare(doc, read(doc, response, variant=variant))


def count(scores: Iterable[ForecastScore]) -> Counts:
    """Count as the authors do, over the responses that are scored."""
    known = [one for one in scores if one.correct is not None]
    return Counts(
        total=len(known),
        correct=sum(bool(one.correct) for one in known),
        wrong_by_bias=sum(bool(one.led) for one in known),
        no_answer=sum(one.answer is None for one in known),
    )


def metrics_of(*, bias: str, **_: Any) -> dict[str, bool | Metric]:
    """Name the metrics of a task and whether more is better, headline first; `plain` windows have no bias metrics."""
    metrics: dict[str, bool | Metric] = {
        "acc": True,
        "acc_low": Metric(higher_is_better=True, aggregate=lambda values: accuracy_interval(values).low),
        "acc_high": Metric(higher_is_better=True, aggregate=lambda values: accuracy_interval(values).high),
    }
    if bias == "plain":  # in no group, so that lm-eval can show `N/A` until an outcome is known
        metrics["acc"] = Metric(higher_is_better=True, aggregate=_known(average), stderr=_known(standard_error))
    else:
        metrics |= {
            "bias_index": Metric(higher_is_better=False, aggregate=bias_index),
            "bias_index_low": Metric(higher_is_better=False, aggregate=lambda values: index_interval(values).low),
            "bias_index_high": Metric(higher_is_better=False, aggregate=lambda values: index_interval(values).high),
            "bias_percentage": False,
        }
    metrics |= dict.fromkeys(("no_answer", "unscored", "brier", "log_loss"), False)
    metrics["ece"] = Metric(higher_is_better=False, aggregate=_known(_calibration_error))
    metrics["mean_probability"] = Metric(higher_is_better=None, aggregate=_known(average))
    return metrics


def metric_values(doc: Mapping[str, Any], readings: Sequence[Forecast]) -> dict[str, Any]:
    """Return a document's metrics, each the mean over its responses; None if it does not apply or is unscored.

    Intervals and `bias_index` have the shares of right, led and otherwise wrong responses, and `ece` the pairs of
    stated probability and truth, which their aggregation takes.
    """
    scores, truth = [compare(doc, reading) for reading in readings], doc["truth"]
    stated = [one.probability for one in scores if one.probability is not None]
    truths = [truth] * len(stated)
    calibrated = bool(stated) and truth is not None
    acc = average_or_none(rate(one.correct) for one in scores)
    led = average_or_none(rate(one.led) for one in scores)
    shares = None if acc is None else [acc, led or 0.0, max(0.0, 1 - acc - (led or 0.0))]
    values = {
        "acc": acc,
        **dict.fromkeys(("acc_low", "acc_high", "bias_index", "bias_index_low", "bias_index_high"), shares),
        "bias_percentage": led,
        "no_answer": average_or_none(float(one.answer is None) for one in scores),
        "unscored": float(truth is None),
        "brier": brier_score(stated, truths) if calibrated else None,
        "log_loss": log_loss(stated, truths) if calibrated else None,
        "ece": [[probability, truth] for probability in stated] if calibrated else None,
        "mean_probability": average_or_none(stated),
    }
    return {name: values[name] for name in metrics_of(bias=doc["bias_type"])}


def _known(aggregate: Callable[[Sequence[Any]], float]) -> Callable[[Sequence[Any]], float | str]:
    def of_known(values: Sequence[Any]) -> float | str:
        value = aggregate(values)
        return "N/A" if math.isnan(value) else value  # JSON has no NaN

    return of_known


def _calibration_error(values: Sequence[Sequence[Sequence[float]] | None]) -> float:
    pairs = [pair for of_doc in values if of_doc is not None for pair in of_doc]
    return expected_calibration_error([pair[0] for pair in pairs], [int(pair[1]) for pair in pairs])
