"""Run folders of strangers: a sentence about each, and no exception but ours."""

import json
import shutil
from dataclasses import asdict
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from mutations import mutate

from fin_tasks.errors import FinTasksError
from fin_tasks.report import read
from fin_tasks.report.model import Report
from fin_tasks.report.questions.table import question_table
from fin_tasks.report.verify.admission import admit
from fin_tasks.report.verify.items import Options
from fin_tasks.report.verify.verification import verify

OPTIONS = Options(metadata={"source": "sample"}, n_rows=3)


def check(folder: Path) -> None:
    try:
        report = read([folder])
        list(report.problems)
        check_questions(report)
        verification = verify([folder], OPTIONS)
    except FinTasksError as error:
        assert str(error)
    else:
        json.dumps(asdict(verification))
    check_board(folder)


def check_questions(report: Report) -> None:
    try:
        table = question_table(report)
    except FinTasksError as error:
        assert "expected runs" in str(error)
    else:
        assert table.to_json()


def check_board(folder: Path) -> None:
    board = folder.with_name("board")
    shutil.rmtree(board, ignore_errors=True)
    verdict = admit(folder, board, OPTIONS)
    assert verdict.refused or verdict.admitted
    for admission in verdict.admitted.values():
        assert admission.model_dump_json()
    if verdict.admitted:
        assert not read([board]).problems


def test_the_honest_run_has_only_open_prompts(honest: Path) -> None:
    (task,) = verify([honest], OPTIONS).tasks
    assert [item.name for item in task.items if item.status != "verified"] == [
        "prompts"
    ]


HOSTILE = settings(
    max_examples=20,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)


@pytest.mark.slow
@pytest.mark.parametrize("part", ["results_*.json", "samples_*.jsonl"])
@HOSTILE
@given(data=st.data())
def test_mutated_runs(
    honest: Path, tmp_path: Path, data: st.DataObject, part: str
) -> None:
    folder = tmp_path / "run"
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(honest, folder)
    (file,) = folder.rglob(part)
    text = file.read_text()
    # A results file is one value over many lines.
    lines = [text] if part.startswith("results") else text.splitlines()
    values = [json.loads(line) for line in lines]
    mutate(values, data)
    file.write_text("".join(json.dumps(value) + "\n" for value in values))
    check(folder)
