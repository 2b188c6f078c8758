"""Read answers and compare them with the truth: `paper` as the authors do, oddities included; `robust` with care."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from fin_tasks.answers.numbers import Number, as_written, equal_reading, number_from_float
from fin_tasks.answers.programs import extract_program
from fin_tasks.answers.types import Reading, Score
from fin_tasks.benchmarks import short_answers
from fin_tasks.benchmarks.breakdowns import recalled_values
from fin_tasks.benchmarks.contract import Document, ReadingFields, directions_of
from fin_tasks.benchmarks.financemath import paper
from fin_tasks.benchmarks.programs_paper import program_in
from fin_tasks.benchmarks.short_answers import Response, Value, Values, read_answer
from fin_tasks.judging.item import Item
from fin_tasks.sandbox import Outcome, Ran, execution_rate
from fin_tasks.stats.averages import over_responses, rate

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


def programs(
    doc: Document,
    response: str,
    *,
    variant: str,
) -> tuple[str | None, ...]:
    """Return the program in a response; nothing unless the task asks for programs."""
    if doc["mode"] != "pot":
        return ()
    if variant == "robust":
        return (extract_program(response),)
    return (program_in(response),)


def reader_item(doc: Document, response: str) -> Item | None:
    """Return what a model is shown that reads answers; None if the rules read one."""
    return short_answers.reader_item("number", doc, response)


def read(
    doc: Document,
    response: Response,
    *,
    variant: str,
) -> Reading:
    """Read the number that a response gives, that a model copied from it, or that its program returned.

    A model may read for both variants, because the authors let one read all responses.
    """
    del doc
    if isinstance(response, Ran):
        return _read_result(response.outcomes[0], variant)
    reading = read_answer("number", response, variant="robust")
    answer = reading.answer
    if variant == "paper" and isinstance(answer, Number):
        answer = as_written(answer)  # the authors drop the unit
    return replace(reading, variant=variant, answer=answer)


def _read_result(outcome: Outcome, variant: str) -> ResultReading:
    reading = ResultReading(variant=variant, answer=None, status=outcome.status.value)
    if not outcome.ran:
        reason = f"{outcome.status.value}: {outcome.detail}"
        return replace(reading, reason=reason, unscored=outcome.is_unscored)
    result = outcome.number
    number = number_from_float(result) if result is not None else None
    if number is None:
        reading = replace(reading, reason="no finite number returned")
    else:
        reading = replace(reading, answer=number, exact=number.value)
    if variant == "robust":
        return reading
    is_nan = result is not None and math.isnan(result)
    return replace(reading, answer=_recorded(outcome, number), is_nan=is_nan)


def _recorded(outcome: Outcome, number: Number | None) -> float | str | None:
    """Return the value that the authors record: plain numbers rounded to 3 decimals, the text of all else."""
    if number and outcome.value and outcome.is_number:
        return float(outcome.value)
    return outcome.value


def compare(doc: Document, reading: Reading) -> Score:
    """Compare a reading with the exact truth; in `paper`, words with the rounded truth, as the authors do."""
    answer = reading.answer
    if reading.unscored:
        return _score(reading, None, None)
    if isinstance(answer, Number):
        return _score(reading, answer.value, _is_right(answer, doc["exact_truth"]))
    return _score(reading, answer, _is_right_for_authors(doc, reading))


def _score(
    reading: Reading,
    written: Value | None,
    correct: bool | None,
) -> Score:
    reason = reading.reason or "wrong"
    if correct:
        reason = "right"
    return Score(
        answer=written,
        correct=correct,
        correct_err=None,
        reason=reason,
        status=reading.status,
    )


def _is_right(number: Number, truth: float) -> bool:
    if any(paper.is_near(value, truth) for value in number.readings):
        return True
    return equal_reading(number, truth, 0.0) is not None


def _is_right_for_authors(doc: Document, reading: Reading) -> bool:
    if isinstance(reading, ResultReading):
        result = reading.exact
        has_result = result is not None and paper.is_equal(result, doc["exact_truth"])
        return reading.is_nan or has_result
    answer = reading.answer
    return isinstance(answer, float) and paper.is_equal(answer, doc["ground_truth"])


def score(
    doc: Document,
    response: Response,
    *,
    variant: str,
) -> Score:
    """Score a response, or the result of its program, under `paper` or `robust`."""
    return compare(doc, read(doc, response, variant=variant))


def metrics_of(**_: Any) -> dict[str, bool]:
    """Name the metrics of a task, the headline first, and whether more is better."""
    return directions_of(("acc", "execution_rate", "no_answer", "cut_off", "unscored"))


def metric_values(doc: Document, readings: Sequence[Reading]) -> Values:
    """Return a document's metrics, each the mean over its responses."""
    return over_responses([_values(doc, reading) for reading in readings])


def _values(doc: Document, reading: Reading) -> Values:
    """Return the metrics of one response; None if a metric does not apply or it is unscored."""
    has_answer = reading.answer is not None
    if isinstance(reading, ResultReading):
        has_answer = reading.exact is not None or reading.is_nan
    values: Values = {
        "acc": rate(compare(doc, reading).correct),
        "execution_rate": float(has_answer),
        "no_answer": float(not has_answer),
        "cut_off": float(reading.cut_off),
        "unscored": float(reading.unscored),
    }
    if reading.unscored:
        values |= {"execution_rate": None, "no_answer": None}
    if reading.status:
        values["execution_rate"] = execution_rate(reading.status)
    return values


def breakdown_values(
    doc: Document,
    readings: Sequence[ReadingFields],
    metrics: Values,
) -> Values:
    """Return the accuracy of one document by its topic, and whether a variant got the published truth."""
    values = recalled_values(doc, readings)
    topic = doc.get("topic_name")
    if topic in TOPICS.values():
        values[f"acc_{topic}"] = metrics.get("acc")
    return values
