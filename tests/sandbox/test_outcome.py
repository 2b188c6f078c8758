"""The parser of frames is total, and every way to end has its class."""

import json
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fin_tasks.sandbox import Outcome, Status, escape
from fin_tasks.sandbox.child import FRAME_KEYS, run_program
from fin_tasks.sandbox.outcome import classify, parse_frame
from fin_tasks.sandbox.wire import ENDED, RAN_ON, TOO_MUCH, WALL

GOOD = {"status": "ok", "value": "3.0", "number": "3.0", "is_number": "1", "detail": ""}

_json = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=8,
)
_texts = st.text(st.characters(codec=None)) | st.sampled_from(["ok", "timeout", "0", "1", "nan", "1e999", "٣", "1_0"])


def _classified(**changes: object) -> Outcome:
    facts = {"data": b"+", "wait_status": 0, "ending": ENDED, "cpu_s": 0.1, "cpu_limit_s": 3.0, **changes}
    return classify(**facts)  # type: ignore[arg-type]


def _frame(**changes: object) -> bytes:
    return json.dumps({**GOOD, **changes}).encode()


@given(st.binary(max_size=300))
def test_parse_frame_takes_any_bytes(data: bytes) -> None:
    assert parse_frame(data) is None or json.loads(data)


@given(_json)
def test_parse_frame_takes_any_json(value: object) -> None:
    assert parse_frame(json.dumps(value).encode()) is None


@given(st.fixed_dictionaries({key: st.none() | _texts | st.integers() for key in FRAME_KEYS}))
def test_what_parses_is_safe_to_show_and_of_a_kind_a_program_may_claim(fields: dict[str, object]) -> None:
    outcome = parse_frame(json.dumps(fields).encode())
    if outcome is not None:
        assert outcome.status in (Status.ok, Status.syntax, Status.exception, Status.memory, Status.forbidden)
        assert outcome.detail.isprintable()
        (outcome.value or "").encode("utf-8")
        assert (outcome.value is not None) == outcome.ran


@given(
    st.binary(max_size=200),
    st.integers(min_value=-(2**31), max_value=2**31 - 1),
    st.sampled_from([ENDED, WALL, TOO_MUCH, RAN_ON, 9]),
    st.floats(),
)
def test_classify_never_raises(data: bytes, wait_status: int, ending: int, cpu_s: float) -> None:
    assert isinstance(_classified(data=data, wait_status=wait_status, ending=ending, cpu_s=cpu_s), Outcome)


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"null",
        b"{}",
        b"[" * 20_000,
        b'{"status":' * 2_000,
        b"9" * 10_000,
        b"\xff\xfe",
        _frame() + _frame(),
        _frame(status="timeout"),
        _frame(status="broken"),
        _frame(status="nonsense"),
        _frame(status=["ok"]),
        _frame(value=3.0),
        _frame(value=None),
        _frame(value="x" * 2_001),
        _frame(number="three"),
        _frame(number="1" * 65),
        _frame(number=3),
        _frame(is_number=True),
        _frame(detail=None),
        _frame(detail="x" * 601),
        _frame(extra="x"),
        json.dumps({"value": "3.0", **GOOD}).encode(),
        json.dumps({key: GOOD[key] for key in FRAME_KEYS if key != "detail"}).encode(),
    ],
    ids=lambda data: repr(data[:40]),
)
def test_parse_frame_refuses(data: bytes) -> None:
    assert parse_frame(data) is None


def test_parse_frame_reads_what_the_child_writes() -> None:
    outcome = parse_frame(run_program(b"def solution():\n    return 2 / 3\n"))
    assert outcome == Outcome(status=Status.ok, value="0.667", number=2 / 3, is_number=True)


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
        ("[1, 2]", "[1, 2]", None, False),
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
    ("source", "status", "detail"),
    [
        ("def solution(:", Status.syntax, "SyntaxError: invalid syntax (<program>, line 1)"),
        ("def solution():\n\treturn 1\n        return 2", Status.syntax, "TabError"),
        ("x = 1\0", Status.syntax, "source code string cannot contain null bytes"),
        ("x = 1", Status.exception, "NameError: the program defines no solution()"),
        ("def solution(): return 1 / 0", Status.exception, "ZeroDivisionError: division by zero"),
        ("def solution(x): return x", Status.exception, "TypeError"),
        ("def solution(): raise SystemExit(3)", Status.exception, "SystemExit: 3"),
        ("def solution(): raise MemoryError", Status.memory, "MemoryError"),
        ("def solution(): raise PermissionError('no')", Status.forbidden, "PermissionError: no"),
        ("def solution(): raise OSError(12, 'no')", Status.memory, "OSError"),
        ("def solution(): raise ValueError('a\\nb\\x1b')", Status.exception, r"ValueError: a\nb\x1b"),
    ],
)
def test_failures(source: str, status: Status, detail: str) -> None:
    outcome = parse_frame(run_program(source.encode()))
    assert outcome is not None
    assert outcome.status is status
    assert detail in outcome.detail
    assert outcome.value is None


@pytest.mark.parametrize(
    ("facts", "status", "detail"),
    [
        ({"data": b""}, Status.broken, "locked down"),
        ({"data": b"x"}, Status.broken, "locked down"),
        ({"ending": WALL, "wait_status": 9}, Status.timeout, "wall time"),
        ({"ending": TOO_MUCH, "data": b"+" + b"x" * 70_000}, Status.forbidden, "more than a result"),
        ({"ending": RAN_ON, "wait_status": 9}, Status.forbidden, "ran on"),
        ({"data": b"+{}"}, Status.forbidden, "not a result"),
        ({"wait_status": 9, "cpu_s": 3.0}, Status.timeout, "CPU time"),
        ({"wait_status": 9, "cpu_s": 2.0}, Status.timeout, "CPU time"),
        ({"wait_status": 24, "cpu_s": 2.9}, Status.timeout, "CPU time"),
        ({"wait_status": 9, "cpu_s": 0.2}, Status.memory, "killed by the system"),
        ({"wait_status": 11}, Status.exception, "SIGSEGV"),
        ({"wait_status": 3 << 8}, Status.exception, "exit code 3"),
        ({"data": b"+" + _frame()}, Status.ok, ""),
    ],
)
def test_classify(facts: dict[str, object], status: Status, detail: str) -> None:
    outcome = _classified(**facts)
    assert outcome.status is status
    assert detail in outcome.detail
    assert outcome.ran is (status is Status.ok)


@given(st.text(st.characters(codec=None)))
def test_escaped_text_is_printable(text: str) -> None:
    assert escape(text).isprintable()
