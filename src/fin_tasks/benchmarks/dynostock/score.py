"""From a response to a forecast, its score and the metrics of its document."""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

from fin_tasks.answers.cut_off import cut_off_share
from fin_tasks.answers.types import Reading, Score
from fin_tasks.benchmarks.contract import ReadingFields, directions_of
from fin_tasks.benchmarks.dynostock.paper import paper_probability
from fin_tasks.benchmarks.dynostock.probability import robust_probability
from fin_tasks.stats.averages import (
    Metric,
    average_or_none,
    brier_score,
    expected_calibration_error,
    rate,
)
from fin_tasks.stats.means import Interval, bias_index_interval, wilson

Shares = Sequence[float]
"""How many, or which share, of a document's answers are right, biased and otherwise wrong."""

PARSERS: Mapping[str, Callable[[str], float | None]] = {
    "paper": paper_probability,
    "robust": robust_probability,
}
_PLAIN = "plain"  # windows without a signal
_UNKNOWN = "unscored: what happened is not known"


@dataclass(frozen=True, kw_only=True)
class Forecast(Reading):
    """A reading of the stated probability of a rise; the answer is 1 (up) from one half on, else 0 (down)."""

    answer: int | None
    probability: float | None = None


@dataclass(frozen=True, kw_only=True)
class ForecastScore(Score):
    """A score; `wrong_by_bias`: the answer is wrong and equals the signal; None without a signal or a truth."""

    wrong_by_bias: bool | None = None


def bias_index(shares: Iterable[Shares | None]) -> float:
    """Return the Behavioral Bias Index, #(wrong and answer == signal) / #wrong, as a fraction of 1.

    `shares` has an entry for each document; None if the document is unscored. A missing answer is
    wrong and never equals the signal. The index is 0 if nothing is wrong, as in the paper, and NaN
    if nothing is scored.

    Source: Xiao, Lin, Chiu (2024), Behavioral Bias of Vision-Language Models, equation 1.
    """
    scored = _scored(shares)
    if not scored:
        return math.nan
    biased = math.fsum(share[1] for share in scored)
    other = math.fsum(share[2] for share in scored)
    n_wrong = biased + other
    return biased / n_wrong if n_wrong else 0.0


def intervals_of(shares: Iterable[Shares | None]) -> dict[str, Interval]:
    """Return 95 % intervals over documents: Wilson's of `acc`, the bootstrap's of `bias_index`.

    Totals are rounded.
    """
    scored = _scored(shares)
    correct, biased, other = (round(math.fsum(share[at] for share in scored)) for at in range(3))
    return {
        "acc": wilson(correct, len(scored)),
        "bias_index": bias_index_interval(correct=correct, led=biased, other=other),
    }


def _scored(shares: Iterable[Shares | None]) -> list[Shares]:
    return [share for share in shares if share is not None]


def read(doc: Mapping[str, Any], response: str, *, variant: str) -> Forecast:
    """Read the probability that a response states."""
    del doc
    probability = PARSERS[variant](response)
    if probability is not None:
        answer = int(probability >= 0.5)
        return Forecast(variant=variant, answer=answer, probability=probability)
    reason = "no answer: no probability in the response"
    if not response.strip():
        reason = "no answer: empty response"
    return Forecast(variant=variant, answer=None, reason=reason)


def compare(doc: Mapping[str, Any], reading: Forecast) -> ForecastScore:
    """Compare a forecast with what happened; unscored if that is not known."""
    answer = reading.answer
    if doc["truth"] is None:
        return _score(answer, correct=None, is_biased=None, reason=_UNKNOWN)
    correct = answer == doc["truth"]
    if correct:
        is_biased = False
        reason = "right"
    else:
        is_biased = answer is not None and answer == doc["signal"]
        reason = "wrong, as the signal suggests" if is_biased else "wrong"
    has_signal = doc["signal"] is not None
    return _score(
        answer,
        correct=correct,
        is_biased=is_biased if has_signal else None,
        reason=reading.reason or reason,
    )


def _score(
    answer: int | None, *, correct: bool | None, is_biased: bool | None, reason: str
) -> ForecastScore:
    return ForecastScore(
        answer=answer,
        correct=correct,
        correct_err=None,
        reason=reason,
        wrong_by_bias=is_biased,
    )


def score(doc: Mapping[str, Any], response: str, *, variant: str) -> ForecastScore:
    """Score a response under `paper` or `robust`."""
    return compare(doc, read(doc, response, variant=variant))


def metrics_of(*, bias: str, **_: Any) -> dict[str, bool | Metric]:
    """Name the metrics of a task, the headline first, and whether more is better."""
    metrics: dict[str, bool | Metric] = {"acc": True}
    if bias != _PLAIN:
        metrics["bias_index"] = Metric(higher_is_better=False, aggregate=bias_index)
    return metrics | directions_of(("no_answer", "cut_off", "unscored", "brier"))


def metric_values(doc: Mapping[str, Any], readings: Sequence[Forecast]) -> dict[str, Any]:
    """Return a document's metrics, each the mean over its responses; None if it is unscored.

    The bias index has shares: of right, biased and otherwise wrong responses.
    """
    scores = [compare(doc, reading) for reading in readings]
    acc = average_or_none(rate(score.correct) for score in scores)
    values: dict[str, Any] = {"acc": acc}
    if doc["bias_type"] != _PLAIN:
        values["bias_index"] = _shares_of(acc, scores)
    values["no_answer"] = average_or_none(float(score.answer is None) for score in scores)
    values["cut_off"] = cut_off_share(readings)
    values["unscored"] = float(doc["truth"] is None)
    values["brier"] = _brier_of(doc["truth"], readings)
    return values


def _shares_of(acc: float | None, scores: Sequence[ForecastScore]) -> Shares | None:
    if acc is None:
        return None
    biased = average_or_none(rate(score.wrong_by_bias) for score in scores) or 0.0
    return [acc, biased, max(0.0, 1 - acc - biased)]


def _brier_of(truth: int | None, readings: Sequence[Forecast]) -> float | None:
    stated = [reading.probability for reading in readings if reading.probability is not None]
    if truth is None or not stated:
        return None
    return brier_score(stated, [truth] * len(stated))


def breakdown_values(
    doc: Mapping[str, Any], readings: Sequence[ReadingFields], metrics: Mapping[str, Any]
) -> dict[str, Any]:
    """Return what the stated probabilities and the signal of one document give.

    `follows_signal` counts answers equal to the signal, shown or not. The calibration error has
    pairs of probability and truth.
    """
    stated = _probabilities_of(readings)
    values: dict[str, Any] = {"mean_probability": average_or_none(stated)}
    truth = doc.get("truth")
    if truth in (0, 1) and stated:
        values["ece"] = [[probability, truth] for probability in stated]
    signal = doc.get("signal")
    if signal not in (0, 1) or doc.get("bias_type") == _PLAIN:
        return values
    answers = [reading.get("answer") for reading in readings]
    values["follows_signal"] = average_or_none(float(answer == signal) for answer in answers)
    for_signal = [probability if signal else 1 - probability for probability in stated]
    values["signal_probability"] = average_or_none(for_signal)
    shares = metrics.get("bias_index")
    if isinstance(shares, list) and len(shares) == 3:
        values["bias_percentage"] = shares[1]
    return values


def _probabilities_of(readings: Sequence[ReadingFields]) -> list[float]:
    stated = []
    for reading in readings:
        probability = reading.get("probability")
        if isinstance(probability, int | float) and 0 <= probability <= 1:
            stated.append(float(probability))
    return stated


def _calibration_error(pairs_of_documents: Sequence[Sequence[Sequence[float]]]) -> float:
    pairs = list(chain.from_iterable(pairs_of_documents))
    stated = [probability for probability, _ in pairs]
    truths = [int(truth) for _, truth in pairs]
    return expected_calibration_error(stated, truths)


BREAKDOWN_AGGREGATES = {"ece": _calibration_error}
"""The figures of `breakdown_values` that are not means over documents."""
