"""The parser of results takes any bytes, and every way to end has its status."""

from typing import Any

import pytest
from case_files import rows
from hypothesis import given
from hypothesis import strategies as st

from fin_tasks.sandbox import Outcome, Status
from fin_tasks.sandbox.outcome import classify, parse_frame
from fin_tasks.sandbox.server import ENDED, TOO_MUCH, WALL, run_program

_words = st.sampled_from(
    ["ok", "exception", "timeout", "broken", "0", "1", "nan", "1e999", "٣", "1_0", "9" * 70, ""]
)
_lines = st.lists(_words | st.text(), max_size=6).map(
    lambda lines: "\n".join(lines).encode("utf-8", "replace")
)


@given(st.binary(max_size=300) | _lines)
def test_a_result_is_safe_to_show_and_of_a_kind_that_a_program_may_claim(data: bytes) -> None:
    outcome = parse_frame(data)
    if outcome is not None:
        assert outcome.status.value in ("ok", "syntax", "exception", "memory", "forbidden")
        assert outcome.detail.isprintable()
        assert (outcome.value is not None) == outcome.ran


@pytest.mark.parametrize("row", rows("program_results"), ids=lambda row: row["returned"])
def test_the_authors_terms(row: dict[str, Any]) -> None:
    outcome = parse_frame(run_program(f"def solution():\n    return {row['returned']}\n".encode()))
    assert outcome == Outcome(
        status=Status.ok, **{name: row[name] for name in ("value", "number", "is_number")}
    )


@pytest.mark.parametrize(
    ("data", "wait_status", "ending", "cpu_s", "status", "again"),
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
        (b"+ok\n1\n3.0\n3.0", 0, ENDED, 0.1, Status.ok, False),
    ],
)
def test_classify(
    data: bytes, wait_status: int, ending: int, cpu_s: float, status: Status, again: bool
) -> None:
    outcome, second_try = classify(data, wait_status, ending, cpu_s, 3.0)
    assert (outcome.status, second_try) == (status, again)
