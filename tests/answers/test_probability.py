"""The probability a forecast states, as the authors read it and as a careful reader does."""

import json
import time
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fin_tasks.answers.probability import paper_probability, robust_probability

CASES = [
    json.loads(line)
    for line in (Path(__file__).parents[1] / "cases" / "dynostock.jsonl").read_text(encoding="utf-8").splitlines()
]
PIECES = [
    *("Final prediction", ": ", "is ", "0.65", "65%", "-0.3", "13/20", "7 out of 10", "0/0", "0.6-0.7", ".", "\n", "("),
    *("probability ", "of it going down ", "will go down ", "not ", "P(Yes) = ", "{{", "<think>", "</think>", "**"),
    *("2019-01-31", "between 0 and 1", r"\boxed{", "}", "I cannot ", "1e999", "9" * 400, "0." + "0" * 80, "<|user|>"),
]


@pytest.mark.parametrize("case", CASES, ids=[case["id"] for case in CASES])
def test_case(case: dict[str, Any]) -> None:
    assert paper_probability(case["response"]) == case["paper"], case["why"]
    assert robust_probability(case["response"]) == case["robust"], case["why"]


@given(st.lists(st.sampled_from(PIECES) | st.text(max_size=12), max_size=14).map("".join))
def test_any_text_gives_a_probability_or_none(text: str) -> None:
    for value in (paper_probability(text), robust_probability(text)):
        assert value is None or 0.0 <= value <= 1.0


@given(st.integers(0, 1000), st.sampled_from(["{}", "**{}**", "\n\n{}.", "`{}`", "${}$"]))
def test_the_requested_form_is_read_exactly(thousandths: int, form: str) -> None:
    text = f"EPS rose by 0.41 on 2014-01-01.\n\nFinal prediction: {form.format(thousandths / 1000)}"
    assert robust_probability(text) == paper_probability(text) == thousandths / 1000


@given(st.integers(0, 1000))
def test_both_sides_add_up_to_one(thousandths: int) -> None:
    up = robust_probability(f"The probability of the price going up is {thousandths / 10}%.")
    down = robust_probability(f"The probability of the price going down is {thousandths / 10}%.")
    assert up is not None
    assert down is not None
    assert up + down == pytest.approx(1.0)


@pytest.mark.parametrize("unit", [*PIECES, " ", "=", "0.5 + ", "the probability of ", "Final prediction: to ", "my "])
@pytest.mark.parametrize("start", ["", "Final prediction: "])
def test_long_responses_are_read_fast(start: str, unit: str) -> None:
    text = start + unit * (64_000 // len(unit))
    begin = time.thread_time()
    paper_probability(text)
    robust_probability(text)
    assert time.thread_time() - begin < 0.5
    if unit not in ("<think>", "P(Yes) = "):
        assert robust_probability(f"{text}\n\nFinal prediction: 0.35") == 0.35
