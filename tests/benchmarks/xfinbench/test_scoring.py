"""Scores in both variants: the case file, the authors' tolerance, programs' results, answers written down and read."""

import csv
import json
import math
import re
import time
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fin_tasks.answers.choices import choice_texts
from fin_tasks.answers.numbers import Number
from fin_tasks.benchmarks.xfinbench.scoring import (
    MARKER,
    compare,
    extract,
    score,
    score_value,
)
from fin_tasks.benchmarks.xfinbench.truths import parse_truth
from fin_tasks.errors import ConfigError

CASES = [
    json.loads(line)
    for line in (Path(__file__).parents[2] / "cases" / "xfinbench.jsonl").read_text(encoding="utf-8").splitlines()
]
VALIDATION = Path(__file__).resolve().parents[3].parent / "shared" / "data" / "xfinbench" / "validation_set.csv"
TASKS = st.sampled_from(["bool", "mcq", "calcu"])
FINITE = st.floats(allow_nan=False, allow_infinity=False)


def test_there_are_cases_for_every_task() -> None:
    assert len(CASES) >= 150
    assert len({case["id"] for case in CASES}) == len(CASES)
    for task in ("bool", "mcq", "calc"):
        assert sum(case["task"] == task for case in CASES) >= 50


@pytest.mark.parametrize("case", CASES, ids=[case["id"] for case in CASES])
def test_case(case: dict[str, Any]) -> None:
    truth = parse_truth(case["task"], case["truth"])
    scores = score(case["task"], case["response"], truth, case.get("choices", ()))
    assert scores.paper.answer == case["paper_answer"], case["why"]
    assert scores.robust.answer == case["robust_answer"], case["why"]
    assert scores.paper.correct is case["paper_correct"], case["why"]
    assert scores.paper.correct_err is case["paper_correct_err"], case["why"]
    assert scores.robust.correct is case["robust_correct"], case["why"]


@pytest.mark.parametrize("case", CASES, ids=[case["id"] for case in CASES])
@pytest.mark.parametrize("variant", ["paper", "robust"])
def test_extracting_first_and_comparing_later_scores_the_same(case: dict[str, Any], variant: str) -> None:
    truth = parse_truth(case["task"], case["truth"])
    choices = case.get("choices", ())
    answer = extract(case["task"], case["response"], variant, choices)
    again = compare(case["task"], answer, truth, variant)
    direct = getattr(score(case["task"], case["response"], truth, choices), variant)
    assert (again.answer, again.correct, again.correct_err) == (direct.answer, direct.correct, direct.correct_err)


@pytest.mark.parametrize(
    ("answer", "truth", "em", "err"),
    [
        ("100.0", "100.0", True, True),
        ("100.5", "100.0", False, True),  # 0.4975 % of the answer
        ("99.5", "100.0", False, False),  # 0.5025 % of the answer
        ("7.66", "0.0766", False, True),
        ("0.0766", "7.66", False, True),
        ("0.00766", "7.66", False, False),
        ("0", "0.0", True, False),
        ("-5", "5.0", False, False),
    ],
)
def test_the_authors_tolerance_is_relative_to_the_answer(answer: str, truth: str, em: bool, err: bool) -> None:
    paper = score("calcu", f"{MARKER} [{answer}].", parse_truth("calcu", truth)).paper
    assert (paper.correct, paper.correct_err) == (em, err)


@pytest.mark.parametrize(
    ("answer", "truth", "em", "err"),
    [
        ("100.4", "100.0", False, True),
        ("100.5", "100.0", False, True),
        ("100.6", "100.0", False, False),
        ("7.66", "0.0766", False, False),
        ("7.66%", "0.0766", True, True),
        ("7.66%", "7.66", True, True),
        ("766%", "7.66", True, True),
        ("0", "0.0", True, True),
        ("0.1", "0.0", False, False),
        ("1.0 million", "1023654.55", False, False),
        ("1.02 million", "1023654.55", True, True),
        ("142.9", "142.86", True, True),
        ("143", "142.86", True, True),
        ("14", "13.31", False, False),
    ],
)
def test_robust_equality_is_rounding_and_nearness_is_half_a_percent_of_the_truth(
    answer: str, truth: str, em: bool, err: bool
) -> None:
    robust = score("calcu", f"{MARKER} [{answer}].", parse_truth("calcu", truth)).robust
    assert (robust.correct, robust.correct_err) == (em, err)


def test_a_truth_with_a_per_cent_sign_is_rounded_to_its_own_last_place() -> None:
    assert score("calcu", f"{MARKER} [142.9].", parse_truth("calcu", "143%")).robust.correct
    assert not score("calcu", f"{MARKER} [142.4].", parse_truth("calcu", "143%")).robust.correct


def test_reasons_tell_what_happened() -> None:
    truth = parse_truth("calcu", "142.86")
    assert score("calcu", "no idea", truth).paper.reason == "no marker"
    assert score("calcu", "<think>142.86", truth).robust.reason == "no reply"
    assert score("calcu", f"{MARKER} [5, 7].", truth).robust.reason == "no single answer behind the marker"
    assert score("calcu", f"{MARKER} [143.2].", truth).robust.reason == "near, not equal"
    two = score("calcu", f"{MARKER} [56.14].", parse_truth("calcu", "56.14, -85.77"))
    assert two.paper.reason == "wrong: the truth is two numbers"
    assert two.robust.reason == "unscored: the truth is two numbers"
    assert two.robust.correct_err is None


class TestProgramResults:
    @pytest.mark.parametrize(
        ("value", "text", "truth", "paper", "robust"),
        [
            (142.86, None, "142.86", (142.86, True, True), (142.86, True, True)),
            (142.857142857, None, "142.86", (142.857142857, False, True), (142.857142857, True, True)),
            (143.0, None, "142.86", (143.0, False, True), (143.0, True, True)),
            (7.66, None, "0.0766", (7.66, False, True), (7.66, False, False)),
            (None, "7.66%", "0.0766", (None, False, False), (0.0766, True, True)),
            (None, "$1.09 million", "1090000.0", (None, False, False), (1090000.0, True, True)),
            (None, "$1,234.50", "1234.5", (None, False, False), (1234.5, True, True)),
            (None, "integer of 1329 bits", "1329", (None, False, False), (None, False, False)),
            (None, "\\x35", "35", (None, False, False), (None, False, False)),
            (None, "5\\n", "5", (None, False, False), (None, False, False)),
            (None, "<object at 0x10>", "10", (None, False, False), (None, False, False)),
            (None, "(1, 2)", "1.0", (None, False, False), (None, False, False)),
            (None, None, "1.0", (None, False, False), (None, False, False)),
            (math.nan, "nan", "1.0", (None, False, False), (None, False, False)),
            (-math.inf, "-inf", "1.0", (None, False, False), (None, False, False)),
            (0.0, None, "0", (0.0, True, False), (0.0, True, True)),
            (56.14, None, "56.14, -85.77", (56.14, False, False), (56.14, None, None)),
        ],
    )
    def test_result(self, value: float | None, text: str | None, truth: str, paper: object, robust: object) -> None:
        scores = score_value(value, text, parse_truth("calcu", truth))
        assert (scores.paper.answer, scores.paper.correct, scores.paper.correct_err) == paper
        assert (scores.robust.answer, scores.robust.correct, scores.robust.correct_err) == robust


def test_wrong_names_are_errors() -> None:
    with pytest.raises(ConfigError, match="got 'strict'"):
        extract("bool", "x", "strict")
    with pytest.raises(ConfigError, match="got 'essay'"):
        score("essay", "x", parse_truth("bool", "1"))


@given(task=TASKS, response=st.text(), truth=st.sampled_from(["1", "B", "-6.0", "1, 2"]))
def test_no_response_breaks_the_scorer(task: str, response: str, truth: str) -> None:
    for text in (response, f"{MARKER} {response}", f"{MARKER} [{response}]"):
        scores = score(task, text, parse_truth(task, truth), ["A. up", "B. down", "C. flat"])
        assert scores.paper.correct is not None


@given(value=FINITE, truth=FINITE)
def test_any_float_against_any_truth(value: float, truth: float) -> None:
    scores = score_value(value, None, parse_truth("calcu", repr(truth)))
    assert scores.paper.correct is (value == truth)
    if value == truth:
        assert scores.robust.correct


@given(value=FINITE, truth=FINITE)
def test_the_sign_of_both_together_does_not_matter(value: float, truth: float) -> None:
    one = score_value(value, None, parse_truth("calcu", repr(truth)))
    other = score_value(-value, None, parse_truth("calcu", repr(-truth)))
    assert (one.paper.correct, one.paper.correct_err) == (other.paper.correct, other.paper.correct_err)
    assert (one.robust.correct, one.robust.correct_err) == (other.robust.correct, other.robust.correct_err)


@given(value=FINITE, truth=FINITE, step=st.sampled_from([0.0, 0.01, 1.0]))
def test_right_is_also_near(value: float, truth: float, step: float) -> None:
    answer = Number(value=value, readings=(value,), step=step)
    robust = compare("calcu", answer, parse_truth("calcu", repr(truth)), "robust")
    assert robust.correct_err or not robust.correct


def test_four_thousand_responses_take_a_moment() -> None:
    body = "At 5% the value of $1,234.56 is 1,234.56/(1.05)^2 = 1119.8, so the answer depends on the option.\n" * 15
    ends = {"bool": ("1.0", "true."), "mcq": ("B", "B. The rate rises"), "calcu": ("1119.8", "[$1,119.80].")}
    work = [(task, f"{body}{MARKER} {end}", parse_truth(task, truth)) for task, (truth, end) in ends.items()]
    started = time.thread_time()
    right = sum(score(*work[i % 3]).robust.correct is True for i in range(4000))
    assert right == 4000
    assert time.thread_time() - started < 20  # about 0.4 s alone


@pytest.fixture(scope="module")
def rows() -> list[dict[str, str]]:
    if not VALIDATION.is_file():
        pytest.skip("the shared validation file is not beside this checkout")
    with VALIDATION.open(encoding="utf-8-sig", newline="") as file:
        return list(csv.DictReader(file))


def test_every_real_choice_is_read_by_letter_and_by_text(rows: list[dict[str, str]]) -> None:
    checked = 0
    for row in (row for row in rows if row["task"] == "mcq"):
        choices = re.split(r"(?:\\n|\n)\s*(?=[BC]\.)", row["choice"])
        for letter, text in zip("ABCD", choice_texts(choices), strict=False):
            for said in (f"{letter}. {text}", f"**{letter}) {text}**.", f"{text}."):
                assert extract("mcq", f"{MARKER} {said}", "robust", choices) == letter, (row["id"], said)
                checked += 1
    assert checked == 169 * 3 * 3


@pytest.mark.parametrize(
    "written",
    [
        "[{0}].",
        "[{0:,.10g}].",
        "[${0}].",
        "{0} dollars per share",
        "$\\boxed{{{0}}}$",
        "**{0}**",
        "[x = {0}].",
        "[about {0} years].",
        "[{1}%].",
        "[{2} thousand].",
        "[{0:.12e}].",
    ],
)
def test_every_real_number_is_right_however_it_is_written(rows: list[dict[str, str]], written: str) -> None:
    for row in (row for row in rows if row["task"] == "calcu"):
        truth = parse_truth("calcu", row["ground_truth"])
        assert isinstance(truth.value, float)
        said = written.format(truth.value, f"{truth.value * 100:.12g}", f"{truth.value / 1000:.12g}")
        assert score("calcu", f"{MARKER} {said}", truth).robust.correct, (row["id"], said)
