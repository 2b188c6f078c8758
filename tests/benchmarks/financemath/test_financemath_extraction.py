"""Reading the answer out of a chain of thought."""

import json
import math
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fin_tasks.benchmarks.financemath.extraction import as_written, read_answer

CASES = [
    json.loads(line)
    for line in (Path(__file__).resolve().parents[2] / "cases" / "financemath.jsonl").read_text("utf-8").splitlines()
]


def test_there_are_cases_of_every_kind() -> None:
    assert len(CASES) >= 60
    assert sum(case["written"] is None for case in CASES) >= 10
    assert len({case["note"] for case in CASES}) == len(CASES)


@pytest.mark.parametrize("case", CASES, ids=[case["note"] for case in CASES])
def test_case(case: dict[str, object]) -> None:
    number = read_answer(str(case["response"]))
    read = (None, None) if number is None else (as_written(number), number.value)
    assert read == (case["written"], case["value"])


@given(st.text(st.characters(codec="utf-8"), max_size=300))
def test_any_text_is_read_or_not(text: str) -> None:
    for response in (
        text,
        f"Therefore, the answer is {text}",
        f"Therefore, 3 are:\n{text}",
        f"{text}\n\nTherefore, the answer is 7.",
    ):
        number = read_answer(response)
        assert number is None or all(math.isfinite(reading) for reading in number.readings)


@given(
    st.decimals(min_value=-(10**9), max_value=10**9, places=3, allow_nan=False),
    st.sampled_from(["{}", "${}", "**{}**", "{} per share", "\\boxed{{{}}}", "${} million", "{}%", "about {}"]),
    st.sampled_from([".", "", ". This is the answer to the question.", "\n"]),
)
def test_every_number_is_read_back(value: object, form: str, end: str) -> None:
    text = f"{value:,}"
    number = read_answer(f"We work it out.\n\nTherefore, the answer is {form.format(text)}{end}")
    assert number is not None
    assert as_written(number) == float(value)  # type: ignore[arg-type]


@pytest.mark.parametrize("text", ["(" * 50_000, "1," * 50_000, "Therefore, the answer is " * 4_000, "is 1 " * 20_000])
def test_hostile_texts_take_no_time(text: str) -> None:
    read_answer(text)
    read_answer(f"Therefore, the answer is {text}")
