"""Read answers and compare them with the truth: `paper` as the authors do, oddities included; `robust` with care."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from fin_tasks.answers.numbers import Number, as_written, equal_reading, number_from_float
from fin_tasks.answers.programs import extract_program
from fin_tasks.answers.read import read_quantity
from fin_tasks.answers.types import Reading, Score
from fin_tasks.benchmarks import final_answer
from fin_tasks.benchmarks.contract import ReadingFields, directions_of
from fin_tasks.benchmarks.financemath import paper
from fin_tasks.judging.item import Item, Judged
from fin_tasks.sandbox import Outcome, Ran, Status, execution_rate
from fin_tasks.stats.averages import over_responses, rate

Document = Mapping[str, Any]
Response = str | Ran | Judged
Values = dict[str, float | None]

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


def programs(doc: Document, response: str, *, variant: str) -> tuple[str | None, ...]:
    """Return the program in a response; nothing unless the task asks for programs."""
    if doc["mode"] != "pot":
        return ()
    if variant == "robust":
        return (extract_program(response),)
    return (paper.financemath_program(response),)


def reader_item(doc: Document, response: str) -> Item | None:
    """Return what a model is shown that reads answers; None if the rules read one."""
    if read_quantity(response).answer is not None:
        return None
    return final_answer.item_of("number", doc, response)


def read(doc: Document, response: Response, *, variant: str) -> Reading:
    """Read the number that a response gives, that a model copied from it, or that its program returned.

    A model may read for both variants, because the authors let one read all responses.
    """
    if isinstance(response, Ran):
        return _read_result(response.outcomes[0], variant)
    if isinstance(response, Judged) and final_answer.was_asked(response):
        reading = final_answer.read_by_model("number", response, variant=variant)
    elif isinstance(response, Judged):
        reading = _read_by_rules(response.response, variant)
    else:
        reading = _read_by_rules(response, variant)
    if variant == "paper" and isinstance(reading.answer, Number):
        # The authors drop the unit.
        return replace(reading, answer=as_written(reading.answer))
    return reading


def _read_by_rules(response: str, variant: str) -> Reading:
    extraction = read_quantity(response)
    return Reading(
        variant=variant,
        answer=extraction.answer,
        reason=extraction.reason,
        rule=extraction.rule,
    )


def _read_result(outcome: Outcome, variant: str) -> ResultReading:
    status = outcome.status
    if not outcome.ran:
        return ResultReading(
            variant=variant,
            answer=None,
            reason=f"{status.value}: {outcome.detail}",
            unscored=status in (Status.broken, Status.unsupported),
            status=status.value,
        )
    result = outcome.number
    number = None
    if result is not None:
        number = number_from_float(result)
    reading = ResultReading(
        variant=variant,
        answer=number,
        exact=number.value if number else None,
        reason="" if number else "no finite number returned",
        status=status.value,
    )
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


def _score(reading: Reading, written: int | float | str | None, correct: bool | None) -> Score:
    if correct:
        reason = "right"
    elif reading.answer is None:
        reason = reading.reason or "no answer"
    else:
        reason = reading.reason or "wrong"
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
        result = math.nan if reading.is_nan else reading.exact
        return result is not None and paper.is_equal(result, doc["exact_truth"])
    answer = reading.answer
    return isinstance(answer, float) and paper.is_equal(answer, doc["ground_truth"])


def score(doc: Document, response: Response, *, variant: str) -> Score:
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
    is_silent = reading.answer is None
    if isinstance(reading, ResultReading):
        is_silent = reading.exact is None and not reading.is_nan
    values: Values = {
        "acc": rate(compare(doc, reading).correct),
        "execution_rate": None if reading.unscored else float(not is_silent),
        "no_answer": None if reading.unscored else float(is_silent),
        "cut_off": float(reading.cut_off),
        "unscored": float(reading.unscored),
    }
    if reading.status:
        values["execution_rate"] = execution_rate(reading.status)
    return values


def breakdown_values(
    doc: Document, readings: Sequence[ReadingFields], metrics: Mapping[str, float | None]
) -> Values:
    """Return the accuracy of one document by its topic."""
    del readings
    topic = doc.get("topic_name")
    if topic not in TOPICS.values():
        return {}
    return {f"acc_{topic}": metrics.get("acc")}
