"""Scored answers to metrics."""

from typing import Any

import pytest

from fin_tasks.benchmarks.xfinbench.metrics import metric_values, metrics_of


def doc(**changes: Any) -> dict[str, Any]:
    return {"subset": "calc", "mode": "cot", "capabilities": ["TR", "NM"], "has_table": True, **changes}


def answer(**changes: Any) -> dict[str, Any]:
    return {"answer": 5.0, "correct": False, "correct_err": True, "status": "ok", **changes}


@pytest.mark.parametrize(("subset", "mode"), [("bool", "cot"), ("mcq_visual", "da"), ("calc", "cot"), ("calc", "pot")])
def test_every_declared_metric_is_reported_and_no_other(subset: str, mode: str) -> None:
    declared = metrics_of(subset=subset, mode=mode)
    assert list(metric_values(doc(subset=subset, mode=mode), [answer()]).keys() ^ declared.keys()) == []
    assert declared["acc"] and not declared["no_answer"]


def test_values_of_a_calculation() -> None:
    values = metric_values(doc(), [answer()])
    assert (values["acc"], values["acc_em"], values["acc_err"]) == (0.0, 0.0, 1.0)
    assert (values["acc_em_table"], values["acc_err_table"]) == (0.0, 1.0)
    assert (values["acc_em_no_table"], values["acc_err_no_table"]) == (None, None)
    assert (values["acc_TR"], values["acc_NM"], values["acc_TU"]) == (0.0, 0.0, None)
    assert (values["acc_err_TR"], values["acc_err_NM"], values["acc_err_TU"]) == (1.0, 1.0, None)
    assert (values["no_answer"], values["unscored"]) == (0.0, 0.0)


def test_no_answer_is_wrong_and_counted() -> None:
    values = metric_values(doc(), [answer(answer=None, correct=False, correct_err=False)])
    assert (values["acc"], values["no_answer"]) == (0.0, 1.0)


def test_unscored_is_neither_right_nor_wrong() -> None:
    values = metric_values(doc(), [answer(correct=None, correct_err=None)])
    assert (values["acc"], values["acc_err"], values["no_answer"], values["unscored"]) == (None, None, None, 1.0)


def test_programs_are_counted_by_how_they_ended() -> None:
    values = metric_values(doc(mode="pot"), [answer(status="timeout", answer=None, correct_err=False)])
    assert (values["execution_rate"], values["timeout"], values["syntax"]) == (0.0, 1.0, 0.0)
    broken = metric_values(doc(mode="pot"), [answer(status="broken", answer=None, correct=None, correct_err=None)])
    assert (broken["execution_rate"], broken["timeout"], broken["acc"], broken["unscored"]) == (None, None, None, 1.0)
    lacking = metric_values(doc(mode="pot"), [answer(status="unsupported", correct=None, correct_err=None)])
    assert (lacking["execution_rate"], lacking["unsupported"], lacking["timeout"]) == (None, 1.0, 0.0)


def test_repeats_are_averaged() -> None:
    values = metric_values(doc(), [answer(correct=True), answer(correct=False), answer(correct=None, correct_err=None)])
    assert values["acc"] == 0.5
    assert values["unscored"] == pytest.approx(1 / 3)
