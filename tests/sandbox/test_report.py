"""Any bytes have an outcome, and every way to end has its status."""

import math
from typing import Any

import pytest
from case_files import rows
from forged_frames import forged_frames
from hypothesis import given
from hypothesis import strategies as st

from fin_tasks.sandbox import Outcome, Status
from fin_tasks.sandbox.process import Report, classify, decode_frame
from fin_tasks.sandbox.server import ENDED, TOO_MUCH, WALL, run_program


def outcome_of(returned: str) -> Outcome:
    return decode_frame(
        run_program(f"def solution():\n    return {returned}\n".encode())
    )


@given(st.binary(max_size=300) | forged_frames())
def test_a_result_is_of_a_kind_that_a_program_may_have(frame: bytes) -> None:
    outcome = decode_frame(frame)
    assert outcome.status.value in ("ok", "syntax", "exception", "memory", "forbidden")
    assert outcome.detail.isprintable()
    assert (outcome.value is not None) == (outcome.status is Status.ok)
    if outcome.is_number and outcome.number is not None:
        assert outcome.value == repr(round(outcome.number, 3))


@given(st.floats() | st.integers() | st.booleans() | st.text(max_size=20) | st.none())
def test_an_honest_result_arrives_as_it_is(result: Any) -> None:
    text = f"float('{result!r}')" if isinstance(result, float) else repr(result)
    outcome = outcome_of(text)
    assert outcome.status is Status.ok
    if type(result) in (int, float):
        assert (outcome.is_number, outcome.value) == (
            True,
            repr(round(float(result), 3)),
        )
        number = math.nan if outcome.number is None else outcome.number
        assert math.isclose(number, result) or number is result or math.isnan(result)
    else:
        shown = str(result).encode("utf-8", "backslashreplace").decode()
        assert (outcome.is_number, outcome.value) == (False, shown)


@pytest.mark.parametrize(
    "row", rows("program_results"), ids=lambda row: row["returned"]
)
def test_the_authors_terms(row: dict[str, Any]) -> None:
    fields = {name: row[name] for name in ("value", "number", "is_number")}
    assert outcome_of(row["returned"]) == Outcome(status=Status.ok, **fields)


@pytest.mark.parametrize(
    "frame",
    [
        "ok\n1\n3.0\nabc",
        "ok\n1\n\nabc",
        "ok\n1\n\n",
        "ok\n1\nabc\n",
        "ok\n0\nabc\nabc",
        "ok\n1\n1_0\n",
        "ok\n1\n٣\n",
        "ok\n1\n 3.0\n",
        "ok\n2\n3.0\n",
        "ok\n1\n3.0",
        "exception\n1\n\nno",
        "exception\n0\n3.0\nno",
        "broken\n0\n\nunscored, please",
        "no_code\n0\n\n",
        "",
    ],
)
def test_a_frame_that_no_honest_program_has_is_forbidden(frame: str) -> None:
    assert decode_frame(frame.encode()).status is Status.forbidden


@pytest.mark.parametrize(
    ("data", "wait_status", "ending", "cpu_s", "status", "worth_repeating"),
    [
        (b"", 0, ENDED, 0.1, Status.broken, True),
        (b"x", 0, ENDED, 0.1, Status.broken, True),
        (b"+", 9, WALL, 0.1, Status.timeout, False),  # it slept, and would again
        (b"+" + b"x" * 70_000, 9, TOO_MUCH, 0.1, Status.forbidden, False),
        (b"+{}", 0, ENDED, 0.1, Status.forbidden, False),
        (b"+timeout\n0\n\n", 0, ENDED, 0.1, Status.forbidden, False),
        (b"+", 9, ENDED, 2.0, Status.timeout, False),
        (b"+", 24, ENDED, 2.9, Status.timeout, False),
        (b"+", 9, ENDED, 0.2, Status.memory, True),
        (b"+", 11, ENDED, 0.1, Status.exception, False),
        (b"+", 3 << 8, ENDED, 0.1, Status.exception, False),
        (b"+ok\n1\n3.0\n", 0, ENDED, 0.1, Status.ok, False),
    ],
)
def test_classify(
    data: bytes,
    wait_status: int,
    ending: int,
    cpu_s: float,
    status: Status,
    worth_repeating: bool,
) -> None:
    attempt = classify(Report(data, wait_status, ending, cpu_s), cpu_limit_s=3.0)
    assert (attempt.outcome.status, attempt.worth_repeating) == (
        status,
        worth_repeating,
    )
