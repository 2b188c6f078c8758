"""Questions measured by runs: whose answer leads, how questions separate models, distances, the sheet, the command."""

import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pytest
from answered_runs import write_runs
from click.testing import Result
from openpyxl import load_workbook
from typer.testing import CliRunner

from fin_tasks.cli import app
from fin_tasks.errors import DataError
from fin_tasks.report import read
from fin_tasks.report.questions.distance import distance_name
from fin_tasks.report.questions.table import question_table
from fin_tasks.stats.items import item_rest_correlations, rest_means

TRUTHS = [12.0, 250.0, 31.5, 44.0, 7.25]
ANSWERS = {
    "good": [12, 2.5, 31.5, 44, 7.25],  # 4 of 5 right
    "fair": [12, 2.501, 31.5, 44, 7.5],  # 3 of 5
    "weak": [3, 250, 31.5, 8, 6],  # 2 of 5
    "poor": [3, 88, 30, 8, 5],  # none
}


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_runs(tmp_path_factory.mktemp("answered"), TRUTHS, ANSWERS)


def test_the_rival_answer_counts_by_the_rest_of_its_runs(runs: Path) -> None:
    table = question_table(read(runs)).set_index("question")
    first = table.iloc[0]
    assert first.name == "q1"
    # 2.5 and 2.501 are one answer; good has 4 of the 4 other questions right, fair 3 of 4.
    assert first["for_rival"] == pytest.approx(4 / 4 + 3 / 4)
    assert first["for_truth"] == pytest.approx(1 / 4)  # weak
    assert first["lead"] == pytest.approx(7 / 4 - 1 / 4)
    assert (first["given_by"], first["models_giving"], first["models"]) == (2, 2, 4)
    assert first["distance"] == "factor 100 (percent)"
    assert first["right"] == 1 / 4
    # Two give 8 and two the truth, but those who give 8 know less.
    assert table.loc["q3", "for_rival"] == pytest.approx(2 / 4)
    assert table.loc["q3", "for_truth"] == pytest.approx(3 / 4 + 2 / 4)
    assert table.loc["q3", "lead"] < 0
    assert table["lead"].is_monotonic_decreasing


def test_an_answer_that_rounds_the_truth_is_no_rival_answer(tmp_path: Path) -> None:
    answers = {"a": [1.0, 2.497], "b": [1.0, 2.497], "c": [1.0, 9]}
    table = question_table(read(write_runs(tmp_path, [1.0, 2.488], answers)))
    row = table.set_index("question").loc["q1"]
    assert row["right"] == 0  # 0.36 % is too far for FinanceMath
    assert (row["rival"], row["lead"] < 0) == ("9", True)


def test_a_model_asked_twice_counts_once(tmp_path: Path) -> None:
    write_runs(tmp_path / "1", TRUTHS, {"good": [1, 1, 1, 1, 1]})
    write_runs(tmp_path / "2", TRUTHS, {"good": ANSWERS["good"]})
    table = question_table(read(tmp_path)).set_index("question")
    assert table.loc["q0", ["models", "responses", "right"]].tolist() == [1, 1, 1]


def test_item_rest_correlation_equals_numpy() -> None:
    scores = np.random.default_rng(1).integers(0, 2, (9, 6)).astype(float)
    scores[:, 5] = 1
    respondents, questions = np.indices(scores.shape)
    rests = rest_means(scores.ravel(), respondents.ravel())
    found = item_rest_correlations(scores.ravel(), questions.ravel(), rests)
    for number in range(5):
        others = np.delete(scores, number, axis=1).mean(axis=1)
        expected = np.corrcoef(scores[:, number], others)[0, 1]
        assert found[number] == pytest.approx(expected)
    assert np.isnan(found[5])  # all have it right


@pytest.mark.parametrize(
    ("answer", "truth", "name"),
    [
        (0.548, 0.00548, "factor 100 (percent)"),
        (2_250.0, 0.225, "factor 10,000 (basis points)"),
        (458_611_111.11, 458.611111, "factor 1,000,000 (millions)"),
        (800.0, -800.0, "sign"),
        (-120.0, 1.2, "factor 100 (percent), sign"),
        (85_000.0, 85.0, "factor 1,000 (thousands)"),
        (0.85, 0.8549, "rounding"),
        (3.47, 4.1582, ""),
        (0.0, 4.0, ""),
        (float("nan"), 4.0, ""),
    ],
)
def test_distances(answer: float, truth: float, name: str) -> None:
    assert distance_name(answer, truth) == name


def test_letters_and_verdicts_are_answers_too(tmp_path: Path) -> None:
    table = question_table(_report([["A", "B", "B", "A"], ["A", "B", "C", "A"]], "A"))
    assert table["rival"].tolist()[:1] == ["B"]
    assert table.loc[0, "given_by"] == 2


def _report(answers: list[list[Any]], truth: str) -> Any:
    """Return a report of models that answer questions by letters; a row of answers for each model."""
    n_questions = len(answers[0])
    texts = np.array(answers).ravel()
    rows = pd.DataFrame(
        {
            "run": np.repeat([f"r{n}" for n in range(len(answers))], n_questions),
            "doc_id": np.tile([f"q{n}" for n in range(n_questions)], len(answers)),
            "answer": texts,
        }
    ).assign(benchmark="xfinbench", task="xfinbench_mcq", scoring="robust", truth=truth)
    rows = rows.astype("category").assign(acc=(texts == truth).astype(float))
    runs = [SimpleNamespace(id=f"r{n}", model=f"m{n}") for n in range(len(answers))]
    return SimpleNamespace(rows=rows, runs=runs)


@pytest.mark.parametrize(
    "answers",
    [
        [["A", "A"], ["A", "A"]],  # nobody is wrong
        [[None, None], [None, None]],  # nobody answers
        [["A", "B"]],  # one model
        [["B"]],  # one question
        [["1e999", "nan"], ["-inf", "1"]],
    ],
)
def test_runs_without_a_rival_have_a_table_too(answers: list[list[Any]]) -> None:
    table = question_table(_report(answers, "A"))
    assert len(table) == len(answers[0])
    assert table["lead"].max() <= 1 or table["lead"].isna().all()


def test_judged_runs_are_refused() -> None:
    report = _report([["A"]], "A")
    report.rows = report.rows.rename(columns={"acc": "score"})
    with pytest.raises(DataError, match="judge"):
        question_table(report)


@pytest.mark.slow
def test_a_hundred_runs_take_seconds() -> None:
    generator = np.random.default_rng(0)
    answers = generator.integers(0, 40, (100, 4235)).astype(str).tolist()
    report = _report(answers, "7")
    start = time.process_time()
    assert len(question_table(report)) == 4235
    assert time.process_time() - start < 20


def questions(*words: object) -> Result:
    return CliRunner().invoke(app, ["questions", *map(str, words)])


def test_command_prints_the_list_and_writes_a_sheet(runs: Path, tmp_path: Path) -> None:
    out = tmp_path / "questions.xlsx"
    result = questions(runs, "--out", out)
    assert result.exit_code == 0
    assert "q1" in result.output
    assert "Models share mistakes" in result.output
    rows = list(load_workbook(out).active.iter_rows(values_only=True))
    first = dict(zip(rows[0], rows[1], strict=True))
    assert (first["id"], first["truth"], first["rival_answer"]) == ("q1", "250", "2.5")
    assert first["asked"] == "What is number 1?"
    assert first["tables"] == "| n |\n|---|\n| 1 |"
    assert first["response_1"] == "good:\nTherefore, my answer is 2.5."
    assert first["response_2"].startswith("fair:")
    assert {"decision", "new_truth", "reason", "by", "date"} <= first.keys()
    assert "expected a new name" in str(questions(runs, "--out", out).exception)


def test_one_run_has_no_rivals(runs: Path) -> None:
    assert "name runs of several models" in questions(runs / "good").output


def test_command_writes_csv_and_json(runs: Path, tmp_path: Path) -> None:
    out = tmp_path / "questions.csv"
    result = questions(runs, "--out", out, "--json")
    assert result.stdout.startswith('{"scoring": "robust", "questions": [{')
    assert pd.read_csv(out)["id"].tolist()[0] == "q1"
