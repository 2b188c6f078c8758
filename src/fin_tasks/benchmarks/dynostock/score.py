"""From a response to a forecast, its score and the metrics of its document."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain

import numpy as np

from fin_tasks.answers.types import Reading, Score
from fin_tasks.benchmarks.contract import Document, ReadingFields, directions_of
from fin_tasks.benchmarks.dynostock.paper import paper_probability
from fin_tasks.benchmarks.dynostock.probability import robust_probability
from fin_tasks.stats.averages import (
    Metric,
    average_or_none,
    brier_score,
    expected_calibration_error,
    rate,
)

Shares = Sequence[float]
"""How many, or which share, of a document's answers are right, biased and otherwise wrong."""

_PARSERS = {
    "paper": paper_probability,
    "robust": robust_probability,
}
_PLAIN = "plain"  # windows without a signal


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
    scored = [share for share in shares if share is not None]
    if not scored:
        return math.nan
    _, biased, other = np.sum(scored, axis=0)
    n_wrong = biased + other
    return float(biased / n_wrong) if n_wrong else 0.0


def read(
    doc: Document,
    response: str,
    *,
    variant: str,
) -> Forecast:
    """Read the probability that a response states."""
    del doc
    probability = _PARSERS[variant](response)
    if probability is not None:
        answer = int(probability >= 0.5)
        return Forecast(variant=variant, answer=answer, probability=probability)
    what = "no probability in the response" if response.strip() else "empty response"
    return Forecast(variant=variant, answer=None, reason=f"no answer: {what}")


def compare(doc: Document, reading: Forecast) -> ForecastScore:
    """Compare a forecast with what happened; unscored if that is not known."""
    if doc["truth"] is None:
        reason = "unscored: what happened is not known"
        return ForecastScore(
            answer=reading.answer,
            correct=None,
            correct_err=None,
            reason=reason,
        )
    correct = reading.answer == doc["truth"]
    reason = reading.reason or ("right" if correct else "wrong")
    is_biased = None
    if doc["signal"] is not None:
        is_biased = not correct and reading.answer == doc["signal"]
    if is_biased:
        reason = "wrong, as the signal suggests"
    return ForecastScore(
        answer=reading.answer,
        correct=correct,
        correct_err=None,
        reason=reason,
        wrong_by_bias=is_biased,
    )


def score(
    doc: Document,
    response: str,
    *,
    variant: str,
) -> ForecastScore:
    """Score a response under `paper` or `robust`."""
    return compare(doc, read(doc, response, variant=variant))


def metrics_of(*, bias: str, **_: object) -> dict[str, bool | Metric]:
    """Name the metrics of a task, the headline first, and whether more is better."""
    metrics: dict[str, bool | Metric] = {"acc": True}
    if bias != _PLAIN:
        metrics["bias_index"] = Metric(higher_is_better=False, aggregate=bias_index)
    return metrics | directions_of(("no_answer", "cut_off", "unscored", "brier"))


def metric_values(doc: Document, readings: Sequence[Forecast]) -> dict[str, object]:
    """Return a document's metrics, each the mean over its responses; None if it is unscored.

    The bias index has shares: of right, biased and otherwise wrong responses.
    """
    scores = [compare(doc, reading) for reading in readings]
    truth = doc["truth"]
    acc = average_or_none(rate(score.correct) for score in scores)
    values: dict[str, object] = {"acc": acc}
    if doc["bias_type"] != _PLAIN:
        biased = average_or_none(rate(score.wrong_by_bias) for score in scores) or 0.0
        values["bias_index"] = (
            None if acc is None else [acc, biased, max(0.0, 1 - acc - biased)]
        )
    stated = [
        reading.probability for reading in readings if reading.probability is not None
    ]
    return {
        **values,
        "no_answer": average_or_none(float(score.answer is None) for score in scores),
        "cut_off": average_or_none(reading.cut_off for reading in readings),
        "unscored": float(truth is None),
        "brier": None if truth is None else _brier_of(stated, truth),
    }


def _brier_of(stated: Sequence[float], truth: int) -> float | None:
    return brier_score(stated, [truth] * len(stated)) if stated else None


def breakdown_values(
    doc: Document,
    readings: Sequence[ReadingFields],
    metrics: Mapping[str, object],
) -> dict[str, object]:
    """Return what the stated probabilities and the signal of one document give.

    `follows_signal` counts answers equal to the signal, shown or not. The calibration error has
    pairs of probability and truth.
    """
    stated = []
    for reading in readings:
        probability = reading.get("probability")
        if isinstance(probability, int | float) and 0 <= probability <= 1:
            stated.append(float(probability))
    values: dict[str, object] = {"mean_probability": average_or_none(stated)}
    truth = doc.get("truth")
    if truth in (0, 1) and stated:
        values["ece"] = [[probability, truth] for probability in stated]
    signal = doc.get("signal")
    if signal not in (0, 1) or doc.get("bias_type") == _PLAIN:
        return values
    values["follows_signal"] = average_or_none(
        float(reading.get("answer") == signal) for reading in readings
    )
    values["signal_probability"] = average_or_none(abs(1 - signal - p) for p in stated)
    shares = metrics.get("bias_index")
    if isinstance(shares, list) and len(shares) == 3:
        values["bias_percentage"] = shares[1]
    return values


def _calibration_error(pairs_by_document: Sequence[Sequence[Sequence[float]]]) -> float:
    stated, truths = zip(*chain.from_iterable(pairs_by_document), strict=True)
    return expected_calibration_error(stated, list(map(int, truths)))


BREAKDOWN_AGGREGATES = {"ece": _calibration_error}
"""The figures of `breakdown_values` that are not means over documents."""
