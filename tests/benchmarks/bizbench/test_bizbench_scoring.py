"""Scores in both variants: the case file, read as documents are and run where they are programs."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fin_tasks import sandbox
from fin_tasks.answers.programs import extract_program
from fin_tasks.benchmarks.bizbench.doc_scores import score_attempt, score_outcome, score_response
from fin_tasks.benchmarks.bizbench.formulas import programs_of, reference_of
from fin_tasks.benchmarks.bizbench.scoring import score_number, score_result
from fin_tasks.benchmarks.bizbench.truths import number_truth
from fin_tasks.errors import ConfigError
from fin_tasks.sandbox import Outcome, Status

CASES = [
    json.loads(line)
    for line in (Path(__file__).parents[2] / "cases" / "bizbench.jsonl").read_text(encoding="utf-8").splitlines()
]
MARKER = "Therefore, my answer is"
FINITE = st.floats(allow_nan=False, allow_infinity=False)


@pytest.fixture(scope="module")
def runner() -> Iterator[sandbox.Runner]:
    with sandbox.open_runner() as opened:
        yield opened


def doc_of(case: dict[str, Any]) -> dict[str, Any]:
    choice = case["kind"] == "choice"
    return {
        "kind": "number" if case["kind"] == "program" else case["kind"],
        "ground_truth": case.get("truth", ""),
        "letter": case["truth"] if choice else "",
        "options": case.get("options", []),
        "stub": case.get("question", ""),
        "program": reference_of(case["question"], [case["reference"]]) if case["kind"] == "code" else "",
    }


def scores_of(case: dict[str, Any], runner: sandbox.Runner, variant: str) -> dict[str, Any]:
    doc = doc_of(case)
    if case["kind"] == "program":
        (outcome,) = runner.run([extract_program(case["response"])])
        return score_outcome(doc, outcome, variant=variant)
    if case["kind"] == "code":
        outcomes = runner.run(programs_of(doc, case["response"]))
        return score_attempt(doc, (case["response"], outcomes), variant=variant)
    return score_response(doc, case["response"], variant=variant)


def test_there_are_cases_of_every_kind() -> None:
    assert len({case["id"] for case in CASES}) == len(CASES) >= 80
    for kind, least in {"number": 40, "choice": 12, "program": 12, "code": 16}.items():
        assert sum(case["kind"] == kind for case in CASES) >= least


@pytest.mark.parametrize("variant", ["paper", "robust"])
@pytest.mark.parametrize("case", CASES, ids=[case["id"] for case in CASES])
def test_case(case: dict[str, Any], variant: str, runner: sandbox.Runner) -> None:
    scored = scores_of(case, runner, variant)
    answer, correct, near = case[variant]
    assert scored["answer"] == answer, case["why"]
    assert (scored["correct"], scored["correct_err"]) == (correct, near), case["why"]
    assert scored.get("status") == case.get("status"), case["why"]


def test_a_choice_in_a_task_of_functions_is_read_from_the_response() -> None:
    doc = {"kind": "choice", "letter": "B", "options": ["x", "y"]}
    assert programs_of(doc, f"{MARKER} B.") == ()
    assert score_attempt(doc, (f"{MARKER} B.", ()), variant="robust")["correct"]


@pytest.mark.parametrize("status", [Status.broken, Status.unsupported])
def test_a_program_that_could_not_be_tried_is_unscored(status: Status) -> None:
    doc = {"kind": "number", "ground_truth": "5"}
    for variant in ("paper", "robust"):
        scored = score_outcome(doc, Outcome(status=status, detail="no luck"), variant=variant)
        assert (scored["correct"], scored["status"], scored["reason"]) == (None, status.value, "unscored: no luck")


def test_reasons_tell_what_happened() -> None:
    assert score_number("no idea", number_truth("5")).paper.reason == "no marker"
    assert score_number("<think>5", number_truth("5")).robust.reason == "no reply"
    assert score_number(f"{MARKER} [5, 7].", number_truth("5")).robust.reason == "no single answer behind the marker"
    assert score_number(f"{MARKER} [1004].", number_truth("1000")).robust.reason == "near, not equal"
    assert score_number(f"{MARKER} [5].", number_truth("a lot")).paper.reason == "wrong: the truth is not one number"
    assert (
        score_number(f"{MARKER} [5].", number_truth("a lot")).robust.reason == "unscored: the truth is not one number"
    )
    timeout = Outcome(status=Status.timeout, detail="ran out of CPU time")
    assert score_outcome({"kind": "number", "ground_truth": "5"}, timeout, variant="paper")["reason"] == timeout.detail


def test_a_wrong_variant_is_an_error() -> None:
    with pytest.raises(ConfigError, match="got 'strict'"):
        score_response({"kind": "number", "ground_truth": "5"}, "5", variant="strict")


@pytest.mark.parametrize(
    ("text", "written", "value"),
    [
        ("1,234", 1234.0, 1234.0),
        ("(5.2)", -5.2, -5.2),
        ("( 1,234 )", -1234.0, -1234.0),
        ("$(1,234)", -1234.0, -1234.0),
        ("$ (4.5) million", -4.5, -4500000.0),
        ("12.3%", 12.3, 0.123),
        ("(12.3%)", -12.3, -0.123),
        ("(12.3)%", -12.3, -0.123),
        ("$ 4.5 million", 4.5, 4500000.0),
        ("US$ 4 billion", 4.0, 4e9),
        ("\u20136.0", -6.0, -6.0),
        ("1e-05", 1e-05, 1e-05),
        ("5 years", 5.0, 5.0),
        ("['12.3']", 12.3, 12.3),
        ("2019", 2019.0, 2019.0),
        ("3/4", 0.75, 0.75),
    ],
)
def test_truths(text: str, written: float, value: float) -> None:
    truth = number_truth(text)
    assert truth.number is not None
    assert (truth.written, truth.number.value) == (written, value)


@pytest.mark.parametrize("text", ["", "  ", "n/a", "yes", "5 and 7", "7 to 9", "nan", "inf", "9" * 400])
def test_what_is_no_truth(text: str) -> None:
    truth = number_truth(text)
    assert (truth.kind, truth.number, truth.written) == ("unusable", None, None)
    assert truth.reason


@given(st.text(), st.sampled_from(["1,234", "(5.2)", "12.3%", "$ 4.5 million", "none"]))
def test_no_response_breaks_the_scorer(response: str, truth: str) -> None:
    for text in (response, f"{MARKER} {response}", f"{MARKER} [{response}]"):
        scores = score_number(text, number_truth(truth))
        assert scores.paper.correct is not None
        assert (scores.robust.correct is None) == (truth == "none")


@given(st.text())
def test_no_truth_breaks_the_reader(text: str) -> None:
    truth = number_truth(text)
    assert (truth.kind == "unusable") == (truth.number is None) == bool(truth.reason)


@given(FINITE)
def test_a_program_that_returns_the_truth_is_right(value: float) -> None:
    scores = score_result(value, None, number_truth(repr(value)))
    assert scores.paper.correct and scores.robust.correct
