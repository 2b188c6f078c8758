"""The probability a forecast states, under both parsers."""

import json
import time
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fin_tasks.answers.probability import paper_probability, robust_probability
from fin_tasks.answers.shares import find_shares, plain_forecast

CASES = [
    json.loads(line)
    for line in (Path(__file__).parents[1] / "cases" / "dynostock.jsonl").read_text(encoding="utf-8").splitlines()
]
PARSERS = (paper_probability, robust_probability)
PIECES = st.sampled_from(
    [
        *(
            "Final prediction",
            ": ",
            "is ",
            "0.65",
            "65%",
            "-0.3",
            "13/20",
            "7 out of 10",
            "0.6-0.7",
            ".",
            "\n",
            "\n\n",
            "(",
        ),
        *(
            "probability ",
            "of it going down ",
            "chance ",
            "will go down ",
            "not ",
            "P(Yes) = ",
            "{{",
            "<think>",
            "</think>",
        ),
        *(
            "2019-01-31",
            "between 0 and 1",
            "**",
            r"\boxed{",
            "}",
            "I cannot ",
            "1e999",
            "9" * 400,
            "0." + "0" * 80,
            "<|user|>",
        ),
    ]
)


@pytest.mark.parametrize("case", CASES, ids=[case["id"] for case in CASES])
def test_case(case: dict[str, Any]) -> None:
    assert paper_probability(case["response"]) == case["paper"], case["why"]
    assert robust_probability(case["response"]) == case["robust"], case["why"]


def test_the_cases_are_many_and_the_parsers_differ_in_them() -> None:
    assert len(CASES) >= 120
    assert len({case["id"] for case in CASES}) == len(CASES)
    assert sum(case["paper"] != case["robust"] for case in CASES) >= 50
    assert sum(case["robust"] is None for case in CASES) >= 25


@given(st.lists(PIECES | st.text(max_size=12), max_size=14).map("".join))
def test_any_text_gives_a_probability_or_none(text: str) -> None:
    for parser in PARSERS:
        value = parser(text)
        assert value is None or 0.0 <= value <= 1.0


@given(
    st.integers(0, 1000).map(lambda thousandths: thousandths / 1000),
    st.sampled_from(["{}", "**{}**", "\n\n{}.", "`{}`"]),
)
def test_the_form_asked_for_is_read_exactly(probability: float, form: str) -> None:
    text = f"EPS rose by 0.41 on 2014-01-01.\n\nFinal prediction: {form.format(probability)}"
    assert robust_probability(text) == probability
    assert paper_probability(text) == probability


@given(st.integers(0, 1000))
def test_both_sides_add_up_to_one(thousandths: int) -> None:
    up = robust_probability(f"The probability of the price going up is {thousandths / 10}%.")
    down = robust_probability(f"The probability of the price going down is {thousandths / 10}%.")
    assert up is not None and down is not None
    assert up + down == pytest.approx(1.0)


@pytest.mark.parametrize("text", ["0.65", "65%", "13/20", "7 out of 10", "A rise is likely.\n\nI cannot tell."])
def test_a_long_reply_before_changes_nothing(text: str) -> None:
    reply = "The history of 80% counts, and so does the report of 2014-01-01 (EPS 0.52).\n" * 3000
    assert robust_probability(f"{reply}\n\nFinal prediction: {text}") == robust_probability(f"Final prediction: {text}")


@pytest.mark.parametrize(
    "unit",
    [
        *("1", ".", "1.", "0.5 ", "0.1-", "=0.5", "0.5 out of ", "final prediction ", "final prediction: 0.5\n"),
        *(
            "probability of ",
            "chance 0.5 ",
            "P(",
            "(",
            "{",
            "\\boxed{",
            "not ",
            "\n",
            " ",
            ": \n",
            "<|",
            "*",
            "-",
            "50-50 ",
        ),
        *("2014-01-01 ", "0 to 1 ", "positive ", "go ", "recent decline ", "<think>", "the ", "12,345,"),
    ],
)
def test_hostile_text_is_read_in_time(unit: str) -> None:
    text = f"Final prediction: {unit * (100_000 // len(unit))}"
    begin = time.thread_time()
    for parser in PARSERS:
        parser(text)
    assert time.thread_time() - begin < 20.0  # a fifth of a second alone; minutes, if time grew with the square


def test_shares_name_where_they_stand() -> None:
    text = "about 60-70% of it, or 1 in 5"
    assert [(text[share.start : share.end], share.value) for share in find_shares(text)] == [
        ("60-70%", 0.65),
        ("1 in 5", 0.2),
    ]


def test_what_joins_no_two_numbers() -> None:
    assert [share.value for share in find_shares("0.7 to 0.6")] == [0.7, 0.6]
    assert [share.value for share in find_shares("0.7 out of 0")] == [0.7, 0.0]
    assert [share.value for share in find_shares("7 in 2019")] == [7.0, 2019.0]
    assert [share.value for share in find_shares("0.6 and 0.7")] == [0.6, 0.7]


def test_dates_and_the_scale_are_no_numbers() -> None:
    text = "Jan 1, 2014; 2014-01-01; 1/1/2014; 1 March; from 0 to 1; [0, 1]; 0-1"
    assert find_shares(plain_forecast(text)) == []


@pytest.mark.parametrize(
    "unit",
    ["0.5 ", "1-", "Final prediction: ", "Final prediction: 0.5 ", "0.5 + ", "the probability of up is ", "(", "\n"],
)
def test_text_beyond_any_answer_is_read_at_its_ends(unit: str) -> None:
    text = unit * (400_000 // len(unit))
    begin = time.thread_time()
    robust_probability(text)
    assert time.thread_time() - begin < 20.0  # minutes, if every number were looked at
    assert robust_probability(f"{text}\n\nFinal prediction: 0.35") == 0.35


def test_a_number_cut_in_two_is_none() -> None:
    reply = "x" * 9_998 + " 0.7" + "x" * 30_000 + " 0.7" + "x" * 9_998
    assert robust_probability(reply) is None
