"""Read answers and compare them with the truth: `paper` as the authors do, `robust` with care."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, Literal

from fin_tasks.answers.numbers import Number, as_written, number_from_float
from fin_tasks.answers.quantities import read_quantity
from fin_tasks.answers.types import Reading, Score
from fin_tasks.benchmarks import short_answers
from fin_tasks.judging.item import Item
from fin_tasks.sandbox import Outcome, Ran, Status

from ..contract import Document, ReadingFields
from ..programs_paper import is_right, mean_values
from ..programs_paper import programs as programs
from ..short_answers import (
    LONGEST_RESULT,
    Response,
    Value,
    Values,
    read_answer,
    score_of,
)
from . import paper

Level = Literal["easy", "medium", "hard"]

ORIGINS: Mapping[str, str] = {
    "CodeFinQA": "codefinqa",
    "CodeTAT-QA": "codetatqa",
    "FinanceMath": "financemath",
    "FinCode": "fincode",
    "FinanceReasoning": "new",
}
"""Data set of the question -> its name in metrics."""


def reader_item(doc: Document, response: str) -> Item | None:
    """Return what a model is shown that reads answers; None if the rules read one."""
    return short_answers.reader_item(doc["kind"], doc, response)


def read(doc: Document, response: Response, *, scoring: str) -> Reading:
    """Read a number or a verdict in a response, in a model's copy of it, or in a program's result.

    A model may read for both scorings, because the authors let one read all responses.
    """
    if isinstance(response, Ran):
        return _read_result(doc, response.outcomes[0], scoring)
    reading = read_answer(doc["kind"], response, scoring="robust")
    return replace(reading, scoring=scoring)


def _read_result(doc: Document, outcome: Outcome, scoring: str) -> Reading:
    reading = Reading(scoring=scoring, answer=None, status=outcome.status.value)
    if outcome.status is not Status.ok:
        reason = f"{outcome.status.value}: {outcome.detail}"
        return replace(reading, reason=reason, unscored=outcome.is_unscored)
    value: Value | None = outcome.number
    text = outcome.value or ""
    if not outcome.is_number:
        value = paper.value_in(text, outcome.number)
    answer: Number | int | None = None
    if doc["kind"] == "verdict" and value in (0, 1):
        answer = int(value)
    elif value is not None:
        answer = number_from_float(float(value))
    elif scoring == "robust":
        # A careful reader also finds the number in a sentence.
        answer = read_quantity(text[:LONGEST_RESULT]).answer
    reason = "no finite number, true or false returned" if answer is None else ""
    return replace(reading, answer=answer, reason=reason)


def compare(doc: Document, reading: Reading) -> Score:
    """Compare a reading with the truth."""
    answer = reading.answer
    truth = doc["ground_truth"]
    value: Value | None
    correct: bool
    if not isinstance(answer, Number):
        value = answer
        correct = doc["kind"] == "verdict" and answer == truth
    elif reading.scoring == "paper":
        value = as_written(answer)  # the authors drop the unit
        correct = doc["kind"] == "number" and paper.is_near(value, truth)
    else:
        value = answer.value
        correct = doc["kind"] == "number" and is_right(answer, truth, paper.TOLERANCE)
    return score_of(reading, value, None if reading.unscored else correct)


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
    """Return the accuracy of one document by its data set."""
    origin = ORIGINS.get(str(doc.get("origin")))
    return {f"acc_{origin}": metrics.get("acc")} if origin else {}
