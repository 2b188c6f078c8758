"""Score a letter, a verdict or a number, as XFinBench's authors do (`paper`) or with care (`robust`).

XFinBench and BizBench share this scorer: the long XFinBench paper reports BizBench with its own.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from fin_tasks.answers.numbers import Number, equal_reading, near_reading
from fin_tasks.answers.programs import extract_program
from fin_tasks.answers.read import number_of_result, read_choice, read_quantity, read_verdict
from fin_tasks.answers.types import Reading, Score
from fin_tasks.benchmarks import final_answer
from fin_tasks.benchmarks import short_answers_paper as paper
from fin_tasks.benchmarks.final_answer import AnyExtraction, Kind
from fin_tasks.judging.item import Item, Judged
from fin_tasks.sandbox import Outcome, Ran, Status

Value = int | float | str
Truth = tuple[Value, float]

_FAILED_PROGRAM = 0.0
"""The authors' answer where a program fails."""


def programs(doc: Mapping[str, Any], response: str, *, variant: str) -> tuple[str | None, ...]:
    """Return the program in a response; nothing unless the task asks for programs."""
    if doc["mode"] != "pot":
        return ()
    if variant == "robust":
        return (extract_program(response),)
    return (paper.sandboxed_program(response),)


def reader_item(
    kind: Kind, doc: Mapping[str, Any], response: str, choices: Sequence[str] = ()
) -> Item | None:
    """Return what a model is shown that reads answers; None if the rules read one, or need not look for one."""
    if _extract(kind, response, "robust", choices).answer is not None:
        return None
    return final_answer.item_of(kind, doc, response, choices)


def read_answer(
    kind: Kind, response: str | Ran | Judged, *, variant: str, choices: Sequence[str] = ()
) -> Reading:
    """Read the answer in a response, or the result of its program once that ran.

    Only `robust` takes the answer that a model read.
    """
    if isinstance(response, Ran) and response.outcomes:
        return _read_result(response.outcomes[0], variant)
    if isinstance(response, Judged) and variant == "robust" and final_answer.was_asked(response):
        return final_answer.read_by_model(kind, response, variant=variant, choices=choices)
    if not isinstance(response, str):
        response = response.response
    extraction = _extract(kind, response, variant, choices)
    return Reading(
        variant=variant,
        answer=extraction.answer,
        reason=extraction.reason,
        rule=extraction.rule,
    )


def _extract(kind: Kind, response: str, variant: str, choices: Sequence[str]) -> AnyExtraction:
    if variant == "paper":
        return _read_as_authors(kind, response)
    if kind == "verdict":
        return read_verdict(response)
    if kind == "letter":
        return read_choice(response, choices)
    return read_quantity(response)


def _read_as_authors(kind: Kind, response: str) -> AnyExtraction:
    if kind == "verdict":
        return paper.marked_verdict(response)
    if kind == "letter":
        return paper.marked_letter(response)
    return paper.marked_number(response)


def _read_result(outcome: Outcome, variant: str) -> Reading:
    status = outcome.status.value
    if not outcome.ran:
        reading = Reading(
            variant=variant,
            answer=None,
            reason=outcome.detail or status,
            unscored=outcome.status in (Status.broken, Status.unsupported),
            status=status,
        )
        if variant == "robust" or reading.unscored:
            return reading
        return replace(reading, answer=_FAILED_PROGRAM)
    answer: float | Number | None = outcome.number
    reason = "no finite number returned"
    if variant == "robust":
        answer = number_of_result(outcome.number, outcome.value)
    elif outcome.number is None:
        extraction = paper.returned_text(outcome.value)
        answer = extraction.answer
        reason = extraction.reason
    elif not math.isfinite(outcome.number):
        answer = None
    if answer is not None:
        reason = ""
    return Reading(variant=variant, answer=answer, reason=reason, status=status)


def compare_with(
    truths: Sequence[Truth],
    reading: Reading,
    *,
    numeric: bool,
    flaw: str = "",
) -> Score:
    """Compare a reading with the truth, which has a value and a last written place for each way to read it.

    Args:
        truths: The last one is the number without its unit.
        reading: What was read in the response.
        numeric: Whether the question asks for a number. Only then `correct_err` is known.
        flaw: Why the file has no usable truth. The answer is then wrong in `paper`, and unscored in `robust`.
    """
    answer = reading.answer
    written = answer.value + 0.0 if isinstance(answer, Number) else answer
    not_near = False if numeric else None
    reason = reading.reason or "wrong"
    if reading.unscored or (flaw and reading.variant == "robust"):
        comparison = _Comparison(written, correct=None, near=None)
        reason = f"unscored: {flaw or reading.reason}"
    elif answer is None:
        comparison = _Comparison(None, correct=False, near=not_near)
    elif flaw:
        comparison = _Comparison(written, correct=False, near=not_near)
        reason = f"wrong: {flaw}"
    elif isinstance(answer, Number):
        comparison = _compare_with_care(answer, truths)
    else:
        comparison = _compare_as_authors(answer, truths[-1][0], numeric)
    if comparison.correct:
        reason = "right"
    elif comparison.near:
        reason = "near, not equal"
    return Score(
        answer=comparison.answer,
        correct=comparison.correct,
        correct_err=comparison.near,
        reason=reason,
        status=reading.status,
    )


class _Comparison(NamedTuple):
    """An answer, and whether it is equal to the truth and near it; None if that is not known."""

    answer: Value | None
    correct: bool | None
    near: bool | None


def _compare_with_care(number: Number, truths: Sequence[Truth]) -> _Comparison:
    """Compare a number under each of its units; the answer is the value that fits."""
    for value, step in truths:
        equal_value = equal_reading(number, float(value), step)
        if equal_value is not None:
            return _Comparison(equal_value, correct=True, near=True)
    for value, _ in truths:
        near_value = near_reading(number, float(value))
        if near_value is not None:
            return _Comparison(near_value, correct=False, near=True)
    return _Comparison(number.value + 0.0, correct=False, near=False)


def _compare_as_authors(answer: Value, truth: Value, numeric: bool) -> _Comparison:
    near = paper.near_marked(float(answer), float(truth)) if numeric else None
    return _Comparison(answer, correct=answer == truth, near=near)
