"""Scores in both scorings: the case file, unscored programs, truths, functions, metrics."""

from collections.abc import Iterator
from typing import Any

import pytest
from case_files import name_of, rows
from figures import figures_of, score_with
from hypothesis import given
from hypothesis import strategies as st

from fin_tasks.answers.numbers import as_written
from fin_tasks.answers.types import Reading, Score
from fin_tasks.benchmarks.bizbench import formulas, score
from fin_tasks.sandbox import Outcome, Ran, Runner, Status, open_runner

SCORINGS = ("paper", "robust")
STUB = "def margin(profit, sales):\n    '''Profit as a share of sales.'''\n"
RIGHT = "return profit / sales"


@pytest.fixture(scope="module")
def runner() -> Iterator[Runner]:
    with open_runner() as opened:
        yield opened


def doc_of(kind: str = "number", **case: Any) -> dict[str, Any]:
    question = case.get("question", "")
    return {
        "kind": "number" if kind == "program" else kind,
        "mode": {"program": "pot", "code": "code"}.get(kind, "cot"),
        "ground_truth": case.get("truth", ""),
        "letter": case["truth"] if kind == "choice" else "",
        "options": case.get("options", []),
        "stub": question,
        "program": formulas.reference_of(question, [case["reference"]])
        if kind == "code"
        else "",
    }


def scored(
    doc: dict[str, Any], response: str, runner: Runner, scoring: str = "robust"
) -> Score:
    programs = score.programs(doc, response, scoring=scoring)
    ran = Ran(response, tuple(runner.run(programs))) if programs else response
    return score_with(score, doc, ran, scoring)


@pytest.mark.parametrize("scoring", SCORINGS)
@pytest.mark.parametrize("case", rows("bizbench"), ids=name_of)
def test_case(case: dict[str, Any], scoring: str, runner: Runner) -> None:
    found = scored(doc_of(**case), case["response"], runner, scoring)
    assert [found.answer, found.correct, found.within_margin] == case[scoring]
    assert found.status == case.get(f"{scoring}_status", case.get("status"))


@pytest.mark.parametrize("scoring", SCORINGS)
def test_a_program_that_could_not_run_is_unscored(scoring: str, runner: Runner) -> None:
    failed = Outcome(status=Status.broken, detail="no luck")
    code = doc_of("code", question=STUB, reference=RIGHT)
    mine, reference = runner.run(score.programs(code, RIGHT, scoring=scoring))
    for outcomes in ((failed, reference), (mine, failed)):
        assert score_with(score, code, Ran("", outcomes), scoring).correct is None


@pytest.mark.parametrize("row", rows("bizbench_truths"), ids=name_of)
def test_truths(row: dict[str, Any]) -> None:
    truth = score.number_truth(row["text"])
    if row["value"] is None:
        assert truth is None
    else:
        assert truth is not None
        assert (as_written(truth), truth.value) == (row["written"], row["value"])


@given(st.text(alphabet="def f(a):\n  '\"`#=,returnimport0 "))
def test_no_text_breaks_the_reader_of_functions(text: str) -> None:
    doc = {"stub": f"def f(a):\n{text}", "program": "def f(a):\n    return a"}
    formulas.programs(doc, text)


def test_the_model_never_shares_a_process_with_the_reference(runner: Runner) -> None:
    doc = doc_of("code", question=STUB, reference=RIGHT)
    mine, reference = score.programs(doc, "return 1 - sales / sales", scoring="paper")
    assert "profit / sales" not in str(mine) and "profit / sales" in str(reference)
    (outcome,) = runner.run([reference])
    for value in ("[1.0, 2.0]", "[" * 5000, "__import__('os')", "", None, "[[1.0]]"):
        lying = Ran("", (Outcome(status=Status.ok, value=value), outcome))
        assert score_with(score, doc, lying, "paper").correct is False, value


def test_calls_without_a_result_of_the_reference_do_not_count(runner: Runner) -> None:
    for reference in ("", "no idea", "return missing + 1", "return float('nan')"):
        doc = doc_of("code", question=STUB, reference=reference)
        found = scored(doc, RIGHT, runner)
        assert found.correct is None
        assert found.reason.startswith("unscored: the reference gives no results")
    reference = f"{RIGHT} if profit > 300 else 1 / 0"
    doc = doc_of("code", question=STUB, reference=reference)
    agreed, counted = str(scored(doc, RIGHT, runner).answer).split("/")
    assert agreed == counted
    assert 0 < int(counted) < 8


def test_metrics() -> None:
    doc = doc_of(truth="1000")
    doc |= {"part": "tatqa_e", "subset": "paper_quantity", "task_mode": "pot"}
    near = Reading(scoring="paper", answer=1004.0, status="ok")
    broken = Reading(scoring="paper", answer=None, unscored=True, status="broken")
    failed = Reading(scoring="paper", answer=0.0, status="timeout")
    readings = [near, failed, broken]
    values = score.metric_values(doc, readings)
    names = {"acc", "acc_err", "execution_rate", "no_answer", "cut_off", "unscored"}
    assert values.keys() == names
    values_in_words = score.metric_values({**doc, "task_mode": "cot"}, readings)
    assert values_in_words.keys() == names - {"execution_rate"}
    assert (values["acc"], values["acc_err"]) == (0.0, 0.5)
    assert (values["execution_rate"], values["no_answer"]) == (0.5, 0.0)
    assert values["unscored"] == pytest.approx(1 / 3)
    figures = figures_of("bizbench", doc, readings)
    assert (figures["acc_tatqa_e"], figures["timeout"]) == (0.0, 0.5)
    assert "acc_fincode" not in figures
    choice = doc | {"kind": "choice", "letter": "B"}
    values = score.metric_values(choice, [Reading(scoring="robust", answer="B")])
    assert (values["acc"], values["acc_err"]) == (1.0, 1.0)
    assert values["execution_rate"] is None
