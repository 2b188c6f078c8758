"""Scores of responses and programs, and what a task reports of them."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fin_tasks.answers.numbers import Number, number_from_float
from fin_tasks.benchmarks.financemath.doc_scores import score_outcome, score_reading
from fin_tasks.benchmarks.financemath.metrics import metric_values, metrics_of
from fin_tasks.benchmarks.financemath.reading import Reading, read_all
from fin_tasks.benchmarks.financemath.rows import TOPICS
from fin_tasks.benchmarks.financemath.scoring import paper_equal, robust_equal
from fin_tasks.sandbox import Outcome, Status
from fin_tasks.stats.executions import REASONS

DOC: dict[str, Any] = {"ground_truth": 0.154, "exact_truth": 0.15372, "topic_name": "risk", "mode": "cot"}
POT = {**DOC, "mode": "pot"}


def score_response(doc: dict[str, Any], response: str, *, variant: str) -> dict[str, Any]:
    (reading,) = read_all([response])
    return score_reading(doc, reading, variant=variant)


@pytest.mark.parametrize(
    ("said", "paper", "robust"),
    [
        ("0.1537", True, True),
        ("0.1545", False, False),
        ("0.154", True, True),
        ("15.4%", True, True),
        ("15.4", True, False),  # a factor of a hundred that no sign explains
        ("1.54", True, False),
        ("0.00154", True, False),
        ("-0.154", True, False),
        ("0.2", False, False),
        ("0.15", False, False),  # two digits, and 2.4 % away
        ("0.16", False, False),
    ],
)
def test_variants(said: str, paper: bool, robust: bool) -> None:
    response = f"Therefore, the answer is {said}."
    assert score_response(DOC, response, variant="paper")["correct"] is paper
    assert score_response(DOC, response, variant="robust")["correct"] is robust


def test_scale_words_and_the_number_as_written() -> None:
    doc = {**DOC, "ground_truth": 1.2, "exact_truth": 1.2}
    paper, robust = (
        score_response(doc, "Therefore, the answer is $1.2 million.", variant=v) for v in ("paper", "robust")
    )
    assert (paper["answer"], paper["correct"]) == (1.2, True)
    assert (robust["answer"], robust["correct"]) == (1_200_000.0, True)


@given(st.floats(min_value=1e-6, max_value=1e12), st.sampled_from([10.0, 100.0, 1000.0, 1e5, -1.0]))
def test_robust_forgives_no_factor(truth: float, factor: float) -> None:
    number = number_from_float(truth * factor)
    assert number is not None
    assert not robust_equal(number, truth)
    exact = number_from_float(truth)
    assert exact is not None
    assert robust_equal(exact, truth)
    assert paper_equal(truth, truth)


def test_no_number_is_equal_to_what_is_no_number() -> None:
    assert not robust_equal(Number(value=1.0, readings=(1.0,), step=1.0), float("nan"))


@pytest.mark.parametrize(
    ("outcome", "correct", "ran"),
    [
        (Outcome(status=Status.ok, value="0.15372", number=0.15372, is_number=True), 1.0, 1.0),
        (Outcome(status=Status.ok, value="(1, 2)"), 0.0, 1.0),
        (Outcome(status=Status.exception, detail="ZeroDivisionError"), 0.0, 0.0),
        (Outcome(status=Status.no_code), 0.0, 0.0),
        (Outcome(status=Status.broken, detail="gone"), None, None),
        (Outcome(status=Status.unsupported, detail="numpy"), None, None),
    ],
)
def test_programs(outcome: Outcome, correct: float | None, ran: float | None) -> None:
    values = metric_values(POT, [score_outcome(POT, outcome, variant="paper")])
    assert (values["acc"], values["execution_rate"]) == (correct, ran)
    assert values["unscored"] == float(correct is None)
    if outcome.status.value in REASONS:
        assert values[outcome.status.value] == 1.0


@pytest.mark.parametrize("mode", ["cot", "pot"])
def test_every_metric_is_reported_for_every_document(mode: str) -> None:
    declared = metrics_of(mode=mode)
    assert next(iter(declared)) == "acc"
    doc = {**DOC, "mode": mode}
    if mode == "cot":
        answers = [score_response(doc, text, variant="paper") for text in ("Therefore, the answer is 0.154.", "")]
    else:
        right = Outcome(status=Status.ok, value="0.15372", number=0.15372, is_number=True)
        answers = [score_outcome(doc, o, variant="paper") for o in (right, Outcome(status=Status.timeout))]
    values = metric_values(doc, answers)
    assert values.keys() == declared.keys()
    assert values["acc"] == values["acc_risk"] == values["execution_rate"] == 0.5
    assert all(values[f"acc_{name}"] is None for name in TOPICS.values() if name != "risk")
    assert not declared["no_answer"]
    assert declared["execution_rate"]


@pytest.mark.parametrize(
    ("reading", "correct", "error"),
    [
        (Reading(number=None, read_by="rules"), 0.0, None),
        (Reading(number=number_from_float(0.154), read_by="judge"), 1.0, 0.0),
        (Reading(number=None, read_by="judge"), 0.0, 0.0),
        (Reading(number=None, read_by=None, judge_error="down"), None, 1.0),
        (Reading(number=number_from_float(0.154), read_by="rules", judge_error="down"), 1.0, 1.0),
    ],
)
def test_a_judge_that_fails_is_no_wrong_answer(reading: Reading, correct: float | None, error: float | None) -> None:
    values = metric_values(DOC, [score_reading(DOC, reading, variant="paper")])
    assert values.keys() == metrics_of(mode="cot").keys()
    assert (values["acc"], values["judge_error"], values["unscored"]) == (correct, error, float(correct is None))
