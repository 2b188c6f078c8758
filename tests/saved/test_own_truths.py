"""`replay xfinbench`, `financemath` and `financereasoning` score by the benchmark's truths, not by those in a file."""

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import Result
from typer.testing import CliRunner

from fin_tasks.cli import app
from fin_tasks.errors import DataError

QUESTIONS = [
    ("vali_1", "bool", "Is a bond a loan?", "", "1"),
    ("vali_2", "bool", "Is a share a loan?", "", "0"),
    ("vali_3", "calcu", "What is 2 + 2?", "", "4"),
    ("vali_4", "mcq", "Which is a bond?", "A. Gilt B. Share", "A"),
]
ANSWERS = ["true", "true", "[4]", "A"]


@pytest.fixture(autouse=True)
def _no_downloads(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FIN_TASKS_OFFLINE", "1")


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """Write files of both benchmarks that hold a few questions."""
    folder = tmp_path / "data"
    (folder / "xfinbench").mkdir(parents=True)
    header = (
        "id,task,question,choice,ground_truth,figure,fin_capability,gold_fin_term_id"
    )
    lines = [",".join([*question, "", "TU", ""]) for question in QUESTIONS]
    table = folder / "xfinbench" / "validation_set.csv"
    table.write_text("\n".join([header, *lines]))
    (folder / "financemath").mkdir()
    rows = [
        {
            "question_id": f"validation-{number}",
            "question": f"What is {number} + 1?",
            "ground_truth": number + 1,
        }
        for number in range(900, 903)
    ]
    (folder / "financemath" / "validation.json").write_text(json.dumps(rows))
    return folder


def replay(file: Path, *words: object) -> Result:
    command = ["replay", words[0], str(file), "--json", *words[1:]]
    return CliRunner().invoke(app, [str(word) for word in command])


def financemath(folder: Path, **changes: Any) -> Path:
    rows = [
        {
            "question_id": f"validation-{number}",
            "output": f"Therefore, the answer is {number + 1}.",
            "ground_truth": number + 1,
            **changes,
        }
        for number in range(900, 903)
    ]
    file = folder / "m.json"
    file.write_text(json.dumps(rows))
    return file


def test_truths_in_a_file_change_no_score_and_are_named(
    tmp_path: Path, data: Path, caplog: pytest.LogCaptureFixture
) -> None:
    file = financemath(tmp_path, ground_truth=7)
    done = replay(file, "financemath", "--mode", "cot", "--data-dir", data)
    assert json.loads(done.stdout)["acc"] == 1.0
    assert "financemath: 3 of 3 truths in the file are not ours" in caplog.text
    assert "validation-900 (7, ours is 901" in caplog.text
    words = ["--mode", "cot", "--data-dir", data, "--strict"]
    strict = replay(file, "financemath", *words)
    assert "truths in the file are not ours" in str(strict.exception)


def test_the_ids_say_kind_and_split(tmp_path: Path, data: Path) -> None:
    file = tmp_path / "m.tsv"
    cells = [
        f"{row[0]}\tTherefore, my answer is {answer}."
        for row, answer in zip(QUESTIONS, ANSWERS, strict=True)
    ]
    file.write_text("\n".join(["Nr\tText", *cells, "vali_9\tA"]))
    words = ["--data-dir", data, "--columns", "id=Nr,response=Text"]
    out = tmp_path / "out"
    done = replay(file, "xfinbench", *words, "--out", out)
    figures = json.loads(done.stdout)
    assert figures["task"] == ["xfinbench_bool", "xfinbench_calc", "xfinbench_mcq"]
    assert (figures["n"], figures["acc"], figures["split"]) == (4, 0.75, "own")
    one = json.loads(replay(file, "xfinbench", *words, "--task", "calc").stdout)
    assert (one["task"], one["n"]) == ("xfinbench_calc", 1)
    message = str(replay(file, "xfinbench", *words, "--strict").exception)
    assert "1 of 5 rows have the id of no question of xfinbench" in message


def test_a_mode_that_a_task_lacks(tmp_path: Path) -> None:
    words = ["--task", "bool", "--mode", "pot"]
    done = replay(financemath(tmp_path), "xfinbench", *words)
    assert "expected cot or da for bool, got pot" in str(done.exception)


def test_questions_of_nobody_are_refused(tmp_path: Path, data: Path) -> None:
    file = financemath(tmp_path, question_id="q-1")
    done = replay(file, "financemath", "--mode", "cot", "--data-dir", data)
    assert isinstance(done.exception, DataError)
    assert "found none; the first row has 'q-1'" in str(done.exception)


def test_without_the_files_the_truths_in_a_file_count_and_this_is_said(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    file = financemath(tmp_path, ground_truth=7)
    done = replay(file, "financemath", "--mode", "cot")
    assert json.loads(done.stdout)["acc"] == 0.0
    assert "scored by the truths in the file" in caplog.text
    strict = replay(file, "financemath", "--mode", "cot", "--strict")
    assert "downloads are switched off" in str(strict.exception)
