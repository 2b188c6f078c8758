"""Read answers and compare them with the truth: `paper` as the authors do, `robust` with care."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal

from fin_tasks.answers.numbers import Number, as_written, equal_reading, number_from_float
from fin_tasks.answers.programs import extract_program
from fin_tasks.answers.read import read_quantity, read_verdict
from fin_tasks.answers.types import Extraction, Reading, Score
from fin_tasks.benchmarks import final_answer
from fin_tasks.benchmarks.breakdowns import recalled_values
from fin_tasks.benchmarks.contract import ReadingFields, directions_of
from fin_tasks.benchmarks.financereasoning import paper
from fin_tasks.benchmarks.programs_paper import program_in
from fin_tasks.judging.item import Item, Judged
from fin_tasks.sandbox import Outcome, Ran, Status, execution_rate
from fin_tasks.stats.averages import over_responses, rate

Document = Mapping[str, Any]
Response = str | Ran | Judged
Values = dict[str, float | None]
Level = Literal["easy", "medium", "hard"]
Reader = Callable[[str], Extraction[Number] | Extraction[int]]

_EXTRACTORS = {"paper": program_in, "robust": extract_program}
_READERS: Mapping[str, Reader] = {"number": read_quantity, "verdict": read_verdict}
ORIGINS: Mapping[str, str] = {
    "CodeFinQA": "codefinqa",
    "CodeTAT-QA": "codetatqa",
    "FinanceMath": "financemath",
    "FinCode": "fincode",
    "FinanceReasoning": "new",
}
"""Data set of the question -> its name in metrics."""


def programs(doc: Document, response: str, *, variant: str) -> tuple[str | None, ...]:
    """Return the program in a response; nothing unless the task asks for programs."""
    if doc["mode"] != "pot":
        return ()
    return (_EXTRACTORS[variant](response),)


def reader_item(doc: Document, response: str) -> Item | None:
    """Return what a model is shown that reads answers; None if the rules read one."""
    kind = doc["kind"]
    if _READERS[kind](response).answer is not None:
        return None
    return final_answer.item_of(kind, doc, response)


def read(doc: Document, response: Response, *, variant: str) -> Reading:
    """Read a number or a verdict in a response, in a model's copy of it, or in a program's result.

    A model may read for both variants, because the authors let one read all responses.
    """
    if isinstance(response, Ran):
        return _read_result(doc, response.outcomes[0], variant)
    if isinstance(response, Judged) and final_answer.was_asked(response):
        return final_answer.read_by_model(doc["kind"], response, variant=variant)
    text = response.response if isinstance(response, Judged) else response
    extraction = _READERS[doc["kind"]](text)
    return Reading(
        variant=variant,
        answer=extraction.answer,
        reason=extraction.reason,
        rule=extraction.rule,
    )


def _read_result(doc: Document, outcome: Outcome, variant: str) -> Reading:
    reading = Reading(variant=variant, answer=None, status=outcome.status.value)
    if not outcome.ran:
        is_unscored = outcome.status in (Status.broken, Status.unsupported)
        reason = f"{outcome.status.value}: {outcome.detail}"
        return replace(reading, reason=reason, unscored=is_unscored)
    value = _value_of(outcome)
    if value is None:
        return replace(reading, reason="no number, true or false returned")
    if doc["kind"] == "verdict" and value in (0, 1):
        return replace(reading, answer=int(value))
    number = number_from_float(float(value))
    reason = "" if number else "no finite number returned"
    return replace(reading, answer=number, reason=reason)


def _value_of(outcome: Outcome) -> paper.Value | None:
    if outcome.is_number:
        return outcome.number
    value = paper.value_in(outcome.value or "")
    return outcome.number if value is None else value


def compare(doc: Document, reading: Reading) -> Score:
    """Compare a reading with the truth."""
    answer = reading.answer
    if not isinstance(answer, Number):
        written = answer
    elif reading.variant == "robust":
        written = answer.value
    else:
        written = as_written(answer)
    correct: bool | None = None
    if not reading.unscored:
        correct = _is_right(doc, answer, reading.variant)
    reason = reading.reason or ("right" if correct else "wrong")
    return Score(
        answer=written,
        correct=correct,
        correct_err=None,
        reason=reason,
        status=reading.status,
    )


def _is_right(doc: Document, answer: object, variant: str) -> bool:
    truth = doc["ground_truth"]
    if doc["kind"] == "verdict":
        return isinstance(answer, int) and answer == truth
    if not isinstance(answer, Number):
        return False
    if variant == "paper":
        # The authors drop the unit.
        return paper.is_near(as_written(answer), truth)
    if any(paper.is_near(value, truth) for value in answer.readings):
        return True
    return equal_reading(answer, truth, 0.0) is not None


def score(doc: Document, response: Response, *, variant: str) -> Score:
    """Score a response, or the result of its program, under `paper` or `robust`."""
    return compare(doc, read(doc, response, variant=variant))


def metrics_of(**_: object) -> dict[str, bool]:
    """Name the metrics of a task, the headline first, and whether more is better."""
    return directions_of(("acc", "execution_rate", "no_answer", "cut_off", "unscored"))


def metric_values(doc: Document, readings: Sequence[Reading]) -> Values:
    """Return a document's metrics, each the mean over its responses."""
    return over_responses([_values(doc, reading) for reading in readings])


def _values(doc: Document, reading: Reading) -> Values:
    """Return the metrics of one response; None if a metric does not apply or it is unscored."""
    is_silent = reading.answer is None
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
    """Return the accuracy of one document by its data set, and whether a variant got the published truth."""
    values = recalled_values(doc, readings)
    origin = ORIGINS.get(str(doc.get("origin")))
    if origin is not None:
        values[f"acc_{origin}"] = metrics.get("acc")
    return values
