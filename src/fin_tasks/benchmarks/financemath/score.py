"""Read answers and compare them with the truth: `paper` as the authors do, oddities included; `robust` with care.

Under the protocol of XFinBench, `paper` is the rule of XFinBench's authors, with their margin of 0.5 %.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from fin_tasks.answers.numbers import Number, as_written, number_from_float
from fin_tasks.answers.types import Reading, Score
from fin_tasks.benchmarks import short_answers
from fin_tasks.judging.item import Item
from fin_tasks.sandbox import Outcome, Ran, Status

from ..contract import Document, ReadingFields
from ..programs_paper import is_near, is_right, mean_values
from ..programs_paper import programs as own_programs
from ..short_answers import Response, Values, compare_with, read_answer, score_of
from ..xfinbench_protocol import PROTOCOL

TOLERANCE = 0.0015
"""A number may be off by this share of the truth."""
TOPICS: Mapping[str, str] = {
    "Accounting": "accounting",
    "Asset Classes & Derivatives": "asset_classes",
    "Corporate & Securities Issuance": "corporate_issuance",
    "Market Analysis & Economics": "market_analysis",
    "Portfolio Management & Strategy": "portfolio",
    "Quantitative Analysis & Valuation": "quantitative",
    "Risk Management": "risk",
}
"""Topic in the file -> its name in metrics."""


@dataclass(frozen=True, kw_only=True)
class ResultReading(Reading):
    """The reading of a program's result. In `paper` the answer is the value that the authors record."""

    exact: float | None = None
    """The result, not rounded; None if it is no finite number."""
    is_nan: bool = False
    """In `paper`: the result is not a number, which the authors count as right."""

    @property
    def has_answer(self) -> bool:
        """Whether the result is a number; the authors record other results, too."""
        return self.exact is not None or self.is_nan


READING = ResultReading
"""The type of readings with fields of their own."""


def programs(doc: Document, response: str, *, scoring: str) -> tuple[str | None, ...]:
    """Return the program in a response; nothing unless the task asks for programs."""
    if doc.get("protocol") == PROTOCOL:
        return short_answers.programs(doc, response, scoring=scoring)
    return own_programs(doc, response, scoring=scoring)


def reader_item(doc: Document, response: str) -> Item | None:
    """Return what a model is shown that reads answers; None if the rules read one."""
    return short_answers.reader_item("number", doc, response)


def read(doc: Document, response: Response, *, scoring: str) -> Reading:
    """Read the number that a response gives, that a model copied from it, or that its program returned.

    A model may read for both scorings, because the authors let one read all responses.
    """
    if doc.get("protocol") == PROTOCOL:
        return read_answer("number", response, scoring=scoring)
    if isinstance(response, Ran):
        return _read_result(response.outcomes[0], scoring)
    reading = read_answer("number", response, scoring="robust")
    answer = reading.answer
    if scoring == "paper" and isinstance(answer, Number):
        answer = as_written(answer)  # the authors drop the unit
    return replace(reading, scoring=scoring, answer=answer)


def _read_result(outcome: Outcome, scoring: str) -> ResultReading:
    reading = ResultReading(scoring=scoring, answer=None, status=outcome.status.value)
    if outcome.status is not Status.ok:
        reason = f"{outcome.status.value}: {outcome.detail}"
        return replace(reading, reason=reason, unscored=outcome.is_unscored)
    result = outcome.number
    number = number_from_float(result) if result is not None else None
    if number is None:
        reading = replace(reading, reason="no finite number returned")
    else:
        reading = replace(reading, answer=number, exact=number.value)
    if scoring == "robust":
        return reading
    # The authors record plain numbers, rounded to 3 decimals, and the text of all else.
    recorded: float | str | None = outcome.value
    if number and outcome.value and outcome.is_number:
        recorded = float(outcome.value)
    is_nan = result is not None and math.isnan(result)
    return replace(reading, answer=recorded, is_nan=is_nan)


def compare(doc: Document, reading: Reading) -> Score:
    """Compare a reading with the exact truth; in `paper`, words with the rounded truth, as the authors do."""
    if doc.get("protocol") == PROTOCOL:
        return _compare_by_protocol(doc, reading)
    answer = reading.answer
    if reading.unscored:
        return score_of(reading, None, None)
    if isinstance(answer, Number):
        correct = is_right(answer, doc["exact_truth"], TOLERANCE)
        return score_of(reading, answer.value, correct)
    truth = doc["ground_truth"]
    result = answer
    if isinstance(reading, ResultReading):
        truth = doc["exact_truth"]
        result = math.nan if reading.is_nan else reading.exact
    correct = isinstance(result, float) and is_equal_for_authors(result, truth)
    return score_of(reading, answer, correct)


def _compare_by_protocol(doc: Document, reading: Reading) -> Score:
    """Compare a reading as XFinBench does; right is what lies within its margin, as its paper counts."""
    truth = doc["exact_truth"]
    if reading.scoring == "paper":
        truth = doc["ground_truth"]
    score = compare_with([(truth, 0.0)], reading, numeric=True)
    if score.within_margin:
        return replace(score, correct=True, reason="right")
    return replace(score, correct=score.within_margin)


def is_equal_for_authors(result: float, truth: float) -> bool:
    """Compare two numbers as the authors do: a power of ten is forgiven, signs hardly count, NaN is right."""
    if math.isnan(result):
        return True
    if math.isinf(result) or not math.isfinite(truth):
        return False
    if is_near(result, truth, TOLERANCE):
        return True
    large = max(abs(result), abs(truth))
    small = min(abs(result), abs(truth))
    ratio = large / small if small else math.inf
    if math.isfinite(ratio) and math.log10(ratio).is_integer():
        return True
    can_be_rounded_up = math.isfinite(large * 1000)
    if can_be_rounded_up and math.ceil(large * 1000) == math.ceil(small * 1000):
        return True
    return any(
        is_near(small * factor, large, TOLERANCE) for factor in (100, 1_000, 100_000)
    )


metric_values = partial(mean_values, compare)
"""Return the metrics of a document and its readings."""


def process_results(doc: Document, results: Sequence[Any]) -> dict[str, Any]:
    """Return the metrics of a document that have a value; lm-eval calls this after a filter."""
    (texts,) = results
    values = metric_values(doc, [text.reading for text in texts])
    return {name: value for name, value in values.items() if value is not None}


def breakdown_values(
    doc: Document, readings: Sequence[ReadingFields], metrics: Values
) -> Values:
    """Return the accuracy of one document by its topic."""
    topic = doc.get("topic_name")
    return {f"acc_{topic}": metrics.get("acc")} if topic in TOPICS.values() else {}
