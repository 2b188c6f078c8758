"""The parser of results takes any bytes, and every way to end has its status."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fin_tasks.sandbox import Outcome, Status
from fin_tasks.sandbox.outcome import classify, parse_frame
from fin_tasks.sandbox.server import ENDED, RAN_ON, TOO_MUCH, WALL, run_program

_words = st.sampled_from(["ok", "exception", "timeout", "broken", "0", "1", "nan", "1e999", "٣", "1_0", "9" * 70, ""])
_lines = st.lists(_words | st.text(), max_size=6).map(lambda lines: "\n".join(lines).encode("utf-8", "replace"))


@given(st.binary(max_size=300) | _lines)
def test_a_result_is_safe_to_show_and_of_a_kind_that_a_program_may_claim(data: bytes) -> None:
    outcome = parse_frame(data)
    if outcome is not None:
        assert outcome.status.value in ("ok", "syntax", "exception", "memory", "forbidden")
        assert outcome.detail.isprintable()
        assert (outcome.value is not None) == outcome.ran


@pytest.mark.parametrize(
    ("returned", "value", "number", "is_number"),
    [
        ("7", "7.0", 7.0, True),
        ("1 / 3", "0.333", 1 / 3, True),
        ("1e-9", "0.0", 1e-9, True),
        ("-0.0", "-0.0", -0.0, True),
        ("float('inf')", "inf", math.inf, True),
        ("10 ** 400", "integer of 1329 bits", None, True),
        ("True", "True", 1.0, False),
        ("None", "None", None, False),
        ("'12.5'", "12.5", 12.5, False),
        ("'9' * 101", "9" * 101, None, False),
        ("'two\\nlines\\n\\n'", "two\nlines\n\n", None, False),
        ("'\\ud800'", "\\ud800", None, False),
        ("1 + 2j", "(1+2j)", None, False),
        ("__import__('numpy').float64(0.1234567)", "0.1234567", 0.1234567, False),
        ("__import__('sympy').Rational(1, 3)", "1/3", 1 / 3, False),
        ("__import__('decimal').Decimal('2.50')", "2.50", 2.5, False),
        ("'x' * 3000", "x" * 2000, None, False),
    ],
)
def test_the_authors_terms(returned: str, value: str, number: float | None, is_number: bool) -> None:
    outcome = parse_frame(run_program(f"def solution():\n    return {returned}\n".encode()))
    assert outcome == Outcome(status=Status.ok, value=value, number=number, is_number=is_number)


@pytest.mark.parametrize(
    ("data", "wait_status", "ending", "cpu_s", "status", "again"),
    [
        (b"", 0, ENDED, 0.1, Status.broken, True),
        (b"x", 0, ENDED, 0.1, Status.broken, True),
        (b"+", 9, WALL, 0.1, Status.timeout, False),  # it slept, and would again
        (b"+" + b"x" * 70_000, 9, TOO_MUCH, 0.1, Status.forbidden, False),
        (b"+", 9, RAN_ON, 0.1, Status.forbidden, False),
        (b"+{}", 0, ENDED, 0.1, Status.forbidden, False),
        (b"+timeout\n0\n\n", 0, ENDED, 0.1, Status.forbidden, False),
        (b"+", 9, ENDED, 2.0, Status.timeout, False),
        (b"+", 24, ENDED, 2.9, Status.timeout, False),
        (b"+", 9, ENDED, 0.2, Status.memory, True),
        (b"+", 11, ENDED, 0.1, Status.exception, False),
        (b"+", 3 << 8, ENDED, 0.1, Status.exception, False),
        (b"+ok\n1\n3.0\n3.0", 0, ENDED, 0.1, Status.ok, False),
    ],
)
def test_classify(data: bytes, wait_status: int, ending: int, cpu_s: float, status: Status, again: bool) -> None:
    outcome, second_try = classify(data, wait_status, ending, cpu_s, 3.0)
    assert (outcome.status, second_try) == (status, again)
