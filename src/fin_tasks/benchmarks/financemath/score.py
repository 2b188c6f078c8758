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
from fin_tasks.benchmarks.final_answer import READ_BY_MODEL, share_read_by_model
from fin_tasks.benchmarks.financemath import paper
from fin_tasks.judging.item import Item, Judged
from fin_tasks.sandbox import REASONS, Outcome, Ran, Status, execution_values
from fin_tasks.stats.averages import average_or_none, rate

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


def programs(doc: Mapping[str, Any], response: str, *, variant: str) -> tuple[str | None, ...]:
    """Return the program in a response; nothing unless the task asks for programs."""
    if doc["mode"] != "pot":
        return ()
    if variant == "robust":
        return (extract_program(response),)
    return (paper.financemath_program(response),)


def reader_item(doc: Mapping[str, Any], response: str) -> Item | None:
    """Return what a model is shown that reads answers; None if the rules read one."""
    if read_quantity(response).answer is not None:
        return None
    return final_answer.item_of("number", doc, response)


def read(doc: Mapping[str, Any], response: str | Ran | Judged, *, variant: str) -> Reading:
    """Read the number that a response gives, that a model copied from it, or that its program returned.

    A model may read for both variants, because the authors let one read all responses.
    """
    if isinstance(response, Ran):
        return _read_result(response.outcomes[0], variant)
    if isinstance(response, Judged) and final_answer.was_asked(response):
        reading = final_answer.read_by_model("number", response, variant=variant)
    else:
        text = response.response if isinstance(response, Judged) else response
        extraction = read_quantity(text)
        reading = Reading(
            variant=variant,
            answer=extraction.answer,
            reason=extraction.reason,
            rule=extraction.rule,
        )
    if variant == "paper" and isinstance(reading.answer, Number):
        # The authors drop the unit.
        return replace(reading, answer=as_written(reading.answer))
    return reading


def _read_result(outcome: Outcome, variant: str) -> ResultReading:
    result = outcome.number if outcome.ran else None
    number = None if result is None else number_from_float(result)
    reason = ""
    if not outcome.ran:
        reason = f"{outcome.status.value}: {outcome.detail}"
    elif number is None:
        reason = "no finite number returned"
    return ResultReading(
        variant=variant,
        answer=number if variant == "robust" else _recorded(outcome, number),
        exact=number.value if number else None,
        is_nan=variant == "paper" and result is not None and math.isnan(result),
        reason=reason,
        unscored=outcome.status in (Status.broken, Status.unsupported),
        status=outcome.status.value,
    )


def _recorded(outcome: Outcome, number: Number | None) -> float | str | None:
    """Return the value that the authors record: plain numbers rounded to 3 decimals, the text of all else."""
    if number and outcome.value and outcome.is_number:
        return float(outcome.value)
    return outcome.value


def compare(doc: Mapping[str, Any], reading: Reading) -> Score:
    """Compare a reading with the exact truth; in `paper`, words with the rounded truth, as the authors do."""
    answer = reading.answer
    written = answer.value if isinstance(answer, Number) else answer
    if reading.unscored:
        written = correct = None
    elif isinstance(answer, Number):
        correct = _is_right(answer, doc["exact_truth"])
    else:
        correct = _is_right_for_authors(doc, reading)
    reason = reading.reason or ("no answer" if answer is None else "wrong")
    return Score(
        answer=written,
        correct=correct,
        correct_err=None,
        reason="right" if correct else reason,
        status=reading.status,
    )


def _is_right(number: Number, truth: float) -> bool:
    if any(paper.is_near(value, truth) for value in number.readings):
        return True
    return equal_reading(number, truth, 0.0) is not None


def _is_right_for_authors(doc: Mapping[str, Any], reading: Reading) -> bool:
    if isinstance(reading, ResultReading):
        result = math.nan if reading.is_nan else reading.exact
        return result is not None and paper.is_equal(result, doc["exact_truth"])
    answer = reading.answer
    return isinstance(answer, float) and paper.is_equal(answer, doc["ground_truth"])


def score(doc: Mapping[str, Any], response: str | Ran | Judged, *, variant: str) -> Score:
    """Score a response, or the result of its program, under `paper` or `robust`."""
    return compare(doc, read(doc, response, variant=variant))


def metrics_of(*, mode: str, **_: Any) -> dict[str, bool]:
    """Name the metrics of a task, the headline first, and whether more is better."""
    higher_is_better = ["acc", *(f"acc_{topic}" for topic in TOPICS.values()), "execution_rate"]
    lower_is_better = ["no_answer", "unscored"]
    lower_is_better += REASONS if mode == "pot" else (READ_BY_MODEL,)
    return dict.fromkeys(higher_is_better, True) | dict.fromkeys(lower_is_better, False)


def metric_values(doc: Mapping[str, Any], readings: Sequence[Reading]) -> dict[str, float | None]:
    """Return a document's metrics, each the mean over its responses; None if it does not apply or is unscored."""
    rows = [_values(doc, reading) for reading in readings]
    names = metrics_of(mode=doc["mode"])
    return {name: average_or_none(row.get(name) for row in rows) for name in names}


def _values(doc: Mapping[str, Any], reading: Reading) -> dict[str, float | None]:
    correct = rate(compare(doc, reading).correct)
    is_silent = reading.answer is None
    if isinstance(reading, ResultReading):
        is_silent = reading.exact is None and not reading.is_nan
    values = {
        "acc": correct,
        f"acc_{doc['topic_name']}": correct,
        "execution_rate": None if reading.unscored else float(not is_silent),
        "no_answer": None if reading.unscored else float(is_silent),
        "unscored": float(reading.unscored),
        READ_BY_MODEL: share_read_by_model([reading]),
    }
    if reading.status:
        values |= execution_values(reading.status)
    return values
