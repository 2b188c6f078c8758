"""From a response to a forecast, its score and the metrics of its document."""

import logging
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from fin_tasks.answers.numbers import Number
from fin_tasks.answers.quantities import read_quantity
from fin_tasks.answers.types import Reading, Score
from fin_tasks.stats.averages import (
    average,
    average_or_none,
    expected_calibration_error,
)

from ..contract import Document, ReadingFields
from ..short_answers import score_of
from .chart_answers import compare_chart_answer, read_chart_answer
from .probability import paper_probability, robust_probability

RECALL = "recall"
"""The `bias` of the task that asks for prices from memory."""
CHARTS = "reading"
"""The `bias` of the tasks that ask what a chart shows."""

_log = logging.getLogger(__name__)
_PRICE_TOLERANCE = 0.01
"""A recalled price is right within this share of the close."""


@dataclass(frozen=True, kw_only=True)
class Forecast(Reading):
    """A reading of the stated probability of a rise; the answer is 1 (up) from one half on, else 0 (down)."""

    answer: int | None
    probability: float | None = None


READING = Forecast
"""The type of readings with fields of their own."""


@dataclass(frozen=True, kw_only=True)
class ForecastScore(Score):
    """The score of a forecast."""

    wrong_by_bias: bool | None = None
    """Whether the answer is wrong and equals the signal; None without a truth."""


def bias_index(shares: Iterable[Sequence[float] | None]) -> float:
    """Return the Behavioral Bias Index, #(wrong and answer == signal) / #wrong, as a fraction of 1.

    `shares` has an entry for each document: the number, or the share, of its answers that are right,
    wrong and equal to the signal, and otherwise wrong; None if the document is unscored. A missing
    answer is wrong and never equals the signal. The index is 0 if nothing is wrong, as in the paper, and NaN
    if nothing is scored.

    Source: Xiao, Lin, Chiu (2024), Behavioral Bias of Vision-Language Models, equation 1.
    """
    scored = [share for share in shares if share is not None]
    if not scored:
        return math.nan
    _, biased, other = np.sum(scored, axis=0)
    n_wrong = biased + other
    if not n_wrong:
        _log.warning(
            "None of %d forecasts is wrong, so there is no bias index, and the 0 that stands for it means nothing.",
            len(scored),
        )
        return 0.0
    return float(biased / n_wrong)


def read(
    doc: Document,
    response: str,
    *,
    scoring: str,
) -> Reading:
    """Read the probability that a response states, the price that it recalls, or what it sees on a chart.

    The paper has no tasks of recall or of reading, so both scorings read their answers in the same way.
    """
    if doc["bias_type"] == RECALL:
        return Reading(scoring=scoring, **vars(read_quantity(response)))
    if doc["bias_type"] == CHARTS:
        return read_chart_answer(doc, response, scoring=scoring)
    parse = paper_probability if scoring == "paper" else robust_probability
    probability = parse(response)
    if probability is not None:
        answer = int(probability >= 0.5)
        return Forecast(scoring=scoring, answer=answer, probability=probability)
    flaw = "no probability in the response" if response.strip() else "empty response"
    return Forecast(scoring=scoring, answer=None, reason=f"no answer: {flaw}")


def compare(doc: Document, reading: Any) -> Score:
    """Compare a forecast with what happened, unscored if that is not known, or a recalled price with the close."""
    if doc["bias_type"] == RECALL:
        return _compare_price(doc["truth"], reading)
    if doc["bias_type"] == CHARTS:
        return compare_chart_answer(doc, reading)
    correct = None
    is_biased = None
    if reading.unscored:
        reason = f"unscored: {reading.reason}"
    elif doc["truth"] is None:
        reason = "unscored: what happened is not known"
    else:
        correct = reading.answer == doc["truth"]
        is_biased = not correct and reading.answer == doc["signal"]
        reason = reading.reason or ("right" if correct else "wrong")
    if is_biased:
        reason = "wrong, as the signal suggests"
    return ForecastScore(
        answer=reading.answer,
        correct=correct,
        within_margin=None,
        reason=reason,
        wrong_by_bias=is_biased,
    )


def _compare_price(close: float, reading: Reading) -> Score:
    if reading.unscored:
        return score_of(reading, None, None, reason=f"unscored: {reading.reason}")
    price = reading.answer.value if isinstance(reading.answer, Number) else None
    is_right = price is not None and abs(price - close) <= _PRICE_TOLERANCE * close
    return score_of(reading, price, is_right)


def metric_values(doc: Document, readings: Sequence[Any]) -> dict[str, Any]:
    """Return a document's metrics, each the mean over its responses; None if the document is unscored.

    The value of the bias index is the document's entry of `shares` in `bias_index`.
    """
    scores: list[Any] = [compare(doc, reading) for reading in readings]
    has_no_answer = [
        reading.answer is None
        for reading, score in zip(readings, scores, strict=True)
        if score.correct is not None
    ]
    acc = average_or_none(score.correct for score in scores)
    values: dict[str, Any] = {
        "acc": acc,
        "no_answer": average_or_none(has_no_answer),
        "cut_off": average(reading.cut_off for reading in readings),
        "unscored": average(score.correct is None for score in scores),
    }
    if doc["bias_type"] in (RECALL, CHARTS):
        return values
    truth = doc["truth"]
    stated = [reading.probability for reading in readings]
    values["brier"] = average_or_none(
        None if None in (p, truth) else (p - truth) ** 2 for p in stated
    )
    values["bias_index"] = None
    if acc is not None:
        biased = average(score.wrong_by_bias for score in scores)
        values["bias_index"] = [acc, biased, max(0.0, 1 - acc - biased)]
    return values


def process_results(doc: Document, results: Sequence[Any]) -> dict[str, Any]:
    """Return the metrics of a document that have a value; lm-eval calls this after a filter."""
    (texts,) = results
    values = metric_values(doc, [text.reading for text in texts])
    return {name: value for name, value in values.items() if value is not None}


def breakdown_values(
    doc: Document,
    readings: Sequence[ReadingFields],
    metrics: Mapping[str, object],
) -> dict[str, object]:
    """Return the figures of one document that follow from the stated probabilities and the signal.

    `follows_signal` counts answers equal to the signal, even if the statement was not shown. The
    value of the calibration error `ece` is pairs of probability and truth.
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
    if signal not in (0, 1):
        return values
    values["follows_signal"] = average_or_none(
        float(reading.get("answer") == signal)
        for reading in readings
        if reading.get("unscored") is not True
    )
    values["signal_probability"] = average_or_none(abs(1 - signal - p) for p in stated)
    shares = metrics.get("bias_index")
    if isinstance(shares, list) and len(shares) == 3:
        values["bias_percentage"] = shares[1]
    return values


BREAKDOWN_AGGREGATES = {"ece": expected_calibration_error}
"""The figures of `breakdown_values` that are not means over documents."""
