"""Truths that need no judge."""

import time
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from fin_tasks.benchmarks.mme_finance.exact_days import days_in
from fin_tasks.benchmarks.mme_finance.old_exact import Truth, score_exact
from fin_tasks.errors import DataError

CASES: list[dict[str, Any]] = yaml.safe_load(
    (Path(__file__).parents[2] / "cases/mme_finance_exact.yaml").read_text(encoding="utf-8")
)
TRUTHS = [Truth(kind="number", value=128.4, unit="USD"), Truth(kind="not_applicable")]
TRUTHS += [Truth(kind="number", value=4.0, margin=0.011, unit="%", worked=True), Truth(kind="day", day="2012-05-03")]
TRUTHS += [Truth(kind="choice", accepted=("MA5",), wrong=("MA10",)), Truth(kind="text", accepted=("Net profit",))]
TRUTHS += [Truth(kind="all", parts=(("K",), ("D",)), wrong=("J",))]


def truth_of(case: dict[str, Any]) -> Truth:
    fields = {key: tuple(map(tuple, value)) if key == "parts" else value for key, value in case["truth"].items()}
    return Truth(**{key: tuple(value) if isinstance(value, list) else value for key, value in fields.items()})


def pairs(key: str) -> list[Any]:
    return [pytest.param(case, text, id=f"{case['name']}: {text[:40]}") for case in CASES for text in case[key]]


@pytest.mark.parametrize(("case", "response"), pairs("right"))
def test_a_right_answer_is_right(case: dict[str, Any], response: str) -> None:
    assert score_exact(truth_of(case), response, language=case["language"]) is True


@pytest.mark.parametrize(("case", "response"), pairs("wrong"))
def test_a_wrong_answer_is_wrong(case: dict[str, Any], response: str) -> None:
    assert score_exact(truth_of(case), response, language=case["language"]) is False


@pytest.mark.parametrize("truth", TRUTHS, ids=lambda truth: truth.kind)
def test_no_response_is_not_scored(truth: Truth) -> None:
    assert score_exact(truth, " \n", language="en") is None


@pytest.mark.parametrize("truth", [*TRUTHS, *map(truth_of, CASES)], ids=lambda truth: truth.kind)
def test_a_truth_survives_json(truth: Truth) -> None:
    assert Truth.from_json(truth.to_json()) == truth


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        "{}",
        '{"kind": "number"}',
        '{"kind": "guess", "value": 1}',
        '{"kind": "number", "value": "1"}',
        '{"kind": "number", "value": NaN}',
        '{"kind": "choice"}',
        '{"kind": "choice", "accepted": [1]}',
        '{"kind": "day", "day": "31 May"}',
        '{"kind": "number", "value": 1, "surprise": 2}',
    ],
)
def test_a_broken_truth_is_named(text: str) -> None:
    with pytest.raises(DataError, match="truth: expected JSON"):
        Truth.from_json(text)


@pytest.mark.parametrize("language", ["en", "zh"])
@given(response=st.text(max_size=200) | st.text("0123456789.,-=%年月日亿万是 \nMAKD为not$()", max_size=80))
def test_any_response_can_be_scored(language: Any, response: str) -> None:
    for truth in TRUTHS:
        assert score_exact(truth, response, language=language) in (True, False, None)


@given(st.decimals("-99999999", "99999999", places=2, allow_nan=False))
def test_a_number_with_commas_is_the_number(value: Any) -> None:
    truth = Truth(kind="number", value=float(value))
    assert score_exact(truth, f"{value:,}", language="en") is True
    assert score_exact(truth, f"结果为{value:,}。", language="zh") is True
    assert score_exact(truth, f"{value + 1:,}", language="en") is False


@given(st.dates())
def test_a_day_is_found_in_iso_form(day: Any) -> None:
    assert [day] == [one for found in days_in(day.isoformat(), year=2000) for one in found if one == day]


@pytest.mark.parametrize("piece", ["5, ", "so 5 K above ", " ", "which ", "一百", "1-", "= 5 ", "not ", "("])
def test_a_reply_that_repeats_itself_takes_no_time(piece: str) -> None:
    begun = time.thread_time()
    for truth in TRUTHS:
        score_exact(truth, piece * 400, language="en")
    assert time.thread_time() - begun < 30
