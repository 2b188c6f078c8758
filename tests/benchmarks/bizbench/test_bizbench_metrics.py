"""Scored answers to metrics."""

from typing import Any

import pytest

from fin_tasks.benchmarks.bizbench.metrics import metric_values, metrics_of

TASKS = [
    ("fincode", "pot"),
    ("tatqa_e", "cot"),
    ("finknow", "cot"),
    ("formulaeval", "code"),
    ("paper_choice", "cot"),
    ("paper_quantity", "cot"),
    ("paper_quantity", "pot"),
]


def doc(subset: str = "tatqa_e", mode: str = "cot", **changes: Any) -> dict[str, Any]:
    return {"part": subset, "subset": subset, "kind": "number", "task_mode": mode, "context_cut": 0, **changes}


def answer(**changes: Any) -> dict[str, Any]:
    return {"answer": 5.0, "correct": False, "correct_err": True, **changes}


@pytest.mark.parametrize(("subset", "mode"), TASKS)
def test_every_declared_metric_is_reported_and_no_other(subset: str, mode: str) -> None:
    declared = metrics_of(part=subset, mode=mode)
    assert metric_values(doc(subset, mode), [answer()]).keys() == declared.keys()
    assert next(iter(declared)) == "acc" and declared["acc"]
    assert not declared["context_cut"] and not declared["unscored"]
    assert ("execution_rate" in declared) == (mode != "cot")


def test_values() -> None:
    values = metric_values(doc(context_cut=7), [answer()])
    assert values == {"acc": 0.0, "acc_err": 1.0, "no_answer": 0.0, "unscored": 0.0, "context_cut": 1.0}


def test_unscored_is_neither_right_nor_wrong() -> None:
    values = metric_values(doc(), [answer(correct=None, correct_err=None)])
    assert values == {"acc": None, "acc_err": None, "no_answer": None, "unscored": 1.0, "context_cut": 0.0}


def test_a_row_counts_for_its_part_in_the_papers_sample() -> None:
    values = metric_values(doc("paper_quantity", part="codetatqa"), [answer(correct=True)])
    parts = {name: value for name, value in values.items() if name.startswith("acc_") and name != "acc_err"}
    assert parts.pop("acc_codetatqa") == 1.0
    assert set(parts.values()) == {None} and len(parts) == 4


def test_choices_among_functions_run_nothing() -> None:
    values = metric_values(doc("formulaeval", "code", kind="choice"), [answer(correct=True, correct_err=None)])
    assert (values["acc"], values["execution_rate"], values["no_code"]) == (1.0, None, None)
    code = metric_values(doc("formulaeval", "code", kind="code"), [answer(status="syntax", answer=None)])
    assert (code["execution_rate"], code["syntax"], code["no_answer"]) == (0.0, 1.0, 1.0)


def test_programs_are_counted_by_how_they_ended() -> None:
    broken = metric_values(doc("fincode", "pot"), [answer(status="broken", correct=None, correct_err=None)])
    assert (broken["execution_rate"], broken["timeout"], broken["acc"]) == (None, None, None)
    lacking = metric_values(doc("fincode", "pot"), [answer(status="unsupported", correct=None, correct_err=None)])
    assert (lacking["execution_rate"], lacking["unsupported"], lacking["timeout"]) == (None, 1.0, 0.0)


@pytest.mark.parametrize("kind", ["choice", "code"])
@pytest.mark.parametrize("correct", [True, False, None])
def test_near_is_right_where_no_number_is_asked_for(kind: str, correct: bool | None) -> None:
    values = metric_values(doc("formulaeval", "code", kind=kind), [answer(correct=correct, correct_err=None)])
    assert values["acc_err"] == values["acc"] == (None if correct is None else float(correct))


def test_repeats_are_averaged() -> None:
    values = metric_values(doc(), [answer(correct=True), answer(), answer(correct=None, correct_err=None)])
    assert values["acc"] == 0.5
    assert values["unscored"] == pytest.approx(1 / 3)
