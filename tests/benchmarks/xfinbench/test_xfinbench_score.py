"""Scores in both scorings: the case file, programs, and numbers and texts that hypothesis makes up."""

import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import pytest
from case_files import name_of, rows
from figures import figures_of, score_with
from hypothesis import given
from hypothesis import strategies as st

from fin_tasks.benchmarks.request import MARKER
from fin_tasks.benchmarks.task_file import TaskFile
from fin_tasks.benchmarks.xfinbench import score as scorer
from fin_tasks.benchmarks.xfinbench.rows import parse_truth
from fin_tasks.benchmarks.xfinbench.score import (
    metric_values,
    programs,
    read,
)
from fin_tasks.sandbox import REASONS, Outcome, Ran, Runner, Status, open_runner

FINITE = st.floats(allow_nan=False, allow_infinity=False)


def doc_of(task: str, truth: str, mode: str = "cot", **more: Any) -> dict[str, Any]:
    name = "calcu" if task == "calc" else task
    doc = {
        "task": name,
        "subset": task,
        "mode": mode,
        "ground_truth": truth,
        "choices": ["up", "down", "flat"],
    }
    return {**doc, "capabilities": ["TU", "NM"], "has_table": True, **more}


@pytest.fixture(scope="module")
def runner() -> Iterator[Runner]:
    with open_runner(workers=1) as opened:
        yield opened


@pytest.mark.parametrize("case", rows("xfinbench"), ids=name_of)
def test_case(case: dict[str, Any], runner: Runner) -> None:
    doc = doc_of(
        case["task"],
        case["truth"],
        case.get("mode", "cot"),
        choices=case.get("choices", []),
    )
    found = {}
    for scoring in ("paper", "robust"):
        response = case["response"]
        made = programs(doc, response, scoring=scoring)
        if made:
            response = Ran(response, tuple(runner.run(list(made))))
        found[scoring] = score_with(scorer, doc, response, scoring)
    paper, robust = found["paper"], found["robust"]
    for name in ("answer", "correct", "within_margin"):
        assert getattr(paper, name) == case[f"paper_{name}"], case["why"]
    for name in ("answer", "correct"):
        assert getattr(robust, name) == case[f"robust_{name}"], case["why"]


@pytest.mark.parametrize("case", rows("xfinbench_truths"))
def test_truths(case: dict[str, Any]) -> None:
    assert parse_truth(case["task"], case["cell"])[:2] == (case["value"], case["flaw"])


@pytest.mark.parametrize("scoring", ["paper", "robust"])
@pytest.mark.parametrize("status", list(Status))
def test_how_a_program_ended(status: Status, scoring: str) -> None:
    ended = Outcome(
        status=status,
        value="5.0" if status is Status.ok else None,
        number=5.0,
        detail="what happened",
    )
    doc = doc_of("calc", "5", "pot")
    readings = [read(doc, Ran("", (ended,)), scoring=scoring)]
    values = metric_values(doc, readings)
    figures = figures_of("xfinbench", doc, readings)
    assert values.keys() == TaskFile("xfinbench_calc_pot").metrics.keys()
    assert figures["acc_em"] == values["acc"]
    is_broken = status is Status.broken
    has_run = status is Status.ok
    assert values["unscored"] == float(is_broken)
    for name in ("acc", "execution_rate"):
        assert values[name] == (None if is_broken else has_run)
    for reason in REASONS:
        assert figures[reason] == (None if is_broken else status.value == reason)
    has_no_answer = not has_run and scoring == "robust"
    assert values["no_answer"] == (None if is_broken else has_no_answer)


def test_metrics_of_a_document() -> None:
    doc = doc_of("calc", "142.86", has_table=False)
    readings = [
        read(doc, f"{MARKER} [{said}].", scoring="paper") for said in ("142.86", "143")
    ]
    metrics = TaskFile("xfinbench_calc").metrics
    assert metric_values(doc, readings).keys() == metrics.keys()
    assert figures_of("xfinbench", doc, readings) == {
        "acc": 0.5,
        "acc_em": 0.5,
        "acc_err": 1.0,
        "acc_em_no_table": 0.5,
        "acc_err_no_table": 1.0,
        "acc_TU": 0.5,
        "acc_NM": 0.5,
        "acc_err_TU": 1.0,
        "acc_err_NM": 1.0,
        "no_answer": 0.0,
        "cut_off": 0.0,
        "unscored": 0.0,
        "read_by_model": 0.0,
    }
    unusable = doc_of("calc", "1, 2")
    reading = read(unusable, f"{MARKER} [1].", scoring="robust")
    assert metric_values(unusable, [reading])["acc"] is None


@given(FINITE, FINITE)
def test_results_of_programs(value: float, truth: float) -> None:
    ended = Ran("", (Outcome(status=Status.ok, value=str(value), number=value),))
    doc = doc_of("calc", repr(truth), "pot")
    paper, robust = (
        score_with(scorer, doc, ended, scoring) for scoring in ("paper", "robust")
    )
    assert paper.correct is (value == truth)
    assert robust.correct or value != truth
    assert robust.within_margin or not robust.correct  # equal is also near


def test_a_scorer_imports_no_client_of_models() -> None:
    names = ("xfinbench", "bizbench", "financemath", "dynostock")
    modules = ", ".join(f"fin_tasks.benchmarks.{name}.score" for name in names)
    program = (
        f"import sys, {modules}\n"
        "print([name for name in sys.modules if name.startswith('fin_tasks.endpoints')])"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True
    )
    assert done.stdout.strip() == "[]", done
