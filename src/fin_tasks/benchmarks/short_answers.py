"""Score a letter, a verdict or a number, as XFinBench's authors do (`paper`) or with care (`robust`).

BizBench is scored like this too: the long XFinBench paper reports it with its own scorer.
"""

import math
from collections.abc import Mapping, Sequence
from typing import Any

from fin_tasks.answers import read as careful
from fin_tasks.answers.numbers import Number, equal_reading, near_reading
from fin_tasks.answers.paper import (
    marked_letter,
    marked_number,
    marked_verdict,
    near_marked,
    xfinbench_program,
)
from fin_tasks.answers.programs import extract_program
from fin_tasks.answers.read import number_of_result
from fin_tasks.answers.types import Extraction, Reading, Score
from fin_tasks.sandbox import Outcome, Ran, Status

# The authors' last line; and as they read a returned text as a response, the sandbox must not take "5" for 5.
_CALL = "\nval_ = solution()\nsolution = lambda: 'text: ' + val_ if isinstance(val_, str) else val_"


def programs(doc: Mapping[str, Any], response: str, *, variant: str) -> tuple[str | None, ...]:
    """Return the program in a response; nothing unless the task asks for programs."""
    if doc["mode"] != "pot":
        return ()
    return (
        extract_program(response) if variant == "robust" else xfinbench_program(response) + _CALL,
    )


def read_answer(
    kind: str, response: str | Ran, *, variant: str, choices: Sequence[str] = ()
) -> Reading:
    """Read a `verdict`, a `letter` or a `number` in a response, or what its program returned once that ran."""
    text, outcomes = response if isinstance(response, Ran) else (response, ())
    robust = variant == "robust"
    extraction: Extraction[int] | Extraction[str] | Extraction[float] | Extraction[Number]
    if outcomes:
        return _read_result(outcomes[0], variant)
    if kind == "verdict":
        extraction = careful.read_verdict(text) if robust else marked_verdict(text)
    elif kind == "letter":
        extraction = careful.read_choice(text, choices) if robust else marked_letter(text)
    else:
        extraction = careful.read_quantity(text) if robust else marked_number(text)
    return Reading(
        variant=variant,
        answer=extraction.answer,
        reason=extraction.reason,
        rule=extraction.rule,
    )


def _read_result(outcome: Outcome, variant: str) -> Reading:
    answer: float | Number | None = None
    reason = "" if outcome.ran else outcome.detail or outcome.status.value
    unscored = outcome.status in (Status.broken, Status.unsupported)
    if not outcome.ran:
        answer = (
            None if unscored or variant == "robust" else 0.0
        )  # the authors' answer of a program that fails
    elif variant == "robust":
        answer = number_of_result(outcome.number, outcome.value)
    elif outcome.number is None:
        extraction = marked_number(outcome.value or "")
        answer, reason = extraction.answer, extraction.reason
    elif math.isfinite(outcome.number):
        answer = outcome.number
    if outcome.ran and answer is None:
        reason = reason or "no finite number returned"
    return Reading(
        variant=variant,
        answer=answer,
        reason=reason,
        unscored=unscored,
        status=outcome.status.value,
    )


def compare_with(
    truths: Sequence[tuple[int | float | str, float]],
    reading: Reading,
    *,
    numeric: bool,
    flaw: str = "",
) -> Score:
    """Compare a reading with the truth, which has a value and a last written place for each way to read it.

    The last reading is the number without its unit. The flaw says why the file has no usable truth; the answer is then
    wrong in `paper` and unscored in `robust`. `correct_err` is for numeric questions.
    """
    read_as, reason = reading.answer, reading.reason or "wrong"
    answer = read_as.value + 0.0 if isinstance(read_as, Number) else read_as
    if reading.unscored or (flaw and reading.variant == "robust"):
        reason = f"unscored: {flaw or reading.reason}"
        return Score(
            answer=answer, correct=None, correct_err=None, reason=reason, status=reading.status
        )
    correct, near = False, False if numeric else None
    if answer is not None and flaw:
        reason = f"wrong: {flaw}"
    elif isinstance(read_as, Number):
        equal = [equal_reading(read_as, float(value), step) for value, step in truths]
        close = [*equal, *(near_reading(read_as, float(value)) for value, _ in truths)]
        correct, near = set(equal) != {None}, set(close) != {None}
        answer = next((value for value in close if value is not None), answer)
    elif answer is not None:
        correct = answer == truths[-1][0]
        near = near_marked(float(answer), float(truths[-1][0])) if numeric else None
    reason = "right" if correct else "near, not equal" if near else reason
    return Score(
        answer=answer, correct=correct, correct_err=near, reason=reason, status=reading.status
    )
