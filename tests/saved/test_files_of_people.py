"""Files as people have them, in `tests/files`: replay, judge and label score each, or refuse it in one sentence."""

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from click.testing import Result
from people_files import HERE, sample_answers, write_files
from typer.testing import CliRunner

from fin_tasks.cli import app
from fin_tasks.errors import DataError, FinTasksError
from fin_tasks.saved.origin import models_of
from fin_tasks.saved.records import read_records

TASK = "bizbench_finknow"
REFUSED = {
    "archive.json": "got a ZIP archive",
    "bytes.csv": "expected text in UTF-8, UTF-16, Windows-1252 or GB 18030",
    "no_responses.csv": "got id, question",
    "no_rows.csv": "expected at least one row, got none",
    "old_excel.xls": "got a workbook of an old Excel; save it as .xlsx",
    "other_questions.csv": "the first row has 'x1'|such as .* got 'x1'|expected to look up",
    "report.pdf": "got a PDF",
    "results.json": "got a results file of lm-eval|expected results_TIME.json",
    "unquoted_commas.csv": "line 8: expected as many cells as columns",
}
SAID = {
    "excel_germany.csv": "read as Windows-1252 with semicolons between cells",
    "unicode_text.txt": "read as UTF-16 with tabs between cells",
    "separator_named.csv": "read as UTF-8 with semicolons",
    "bars.csv": "read as UTF-8 with bars",
    "questions_without_ids.csv": "has no ids, so its rows are found by the text in question",
    "too_many_rows.csv": "2 of 8 rows are not of",
    "missing_rows.csv": "questions have no row and are in no figure",
    "repeated_row.csv": r"1 of them with the same text in each row, such as .* \(2 rows\)",
    "other_truths.csv": "1 of 6 truths in the file are not ours, such as .*something else",
    "stopped.jsonl": "1 of 7 lines hold no JSON object and are left out, first line 7",
    "unfinished_batch.jsonl": "1 of 6 responses are missing",
}
"""What is logged of a file that is scored."""
ACCURACY = {"missing_rows.csv": (0.6, 0.6), "unfinished_batch.jsonl": (0.5, 0.6)}
"""Of the others it is 4 of 6."""
FILES = sorted(
    file.name for file in HERE.iterdir() if file.suffix != ".py" and file.is_file()
)
OF_EACH_KIND = [
    *("workbook.xlsx", "log.eval", "openai_batch.jsonl", "several_responses.jsonl"),
    *("samples_mine_2026-03-01T10-00-00.123456.jsonl", "chats_without_ids.jsonl"),
    *("unusual_names.csv", "questions_without_ids.csv", "repeated_row.csv"),
    *("missing_rows.csv", "unfinished_batch.jsonl", "stopped.jsonl"),
    *("other_questions.csv", "results.json", "no_responses.csv", "bytes.csv"),
]
"""All commands have the same reader, and replay tries every file."""
COLUMNS = ["--columns", "id=Nr.,response=Antwort"]
STUDY = """
name: mine
title: Mine
instructions: Read.
benchmark: bizbench
tasks: {bizbench_finknow: {part: finknow, mode: cot}}
n: 6
show: [question, response]
questions:
  clear: {ask: "Is the response clear?"}
"""


@pytest.fixture(autouse=True)
def _offline(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ids that no sample has would be looked for in the whole benchmarks, which are downloaded."""
    monkeypatch.setenv("FIN_TASKS_OFFLINE", "1")


def run(*words: object) -> Result:
    return CliRunner().invoke(app, [str(word) for word in words])


def columns_of(name: str) -> list[str]:
    return COLUMNS if name == "unusual_names.csv" else []


def check_refusal(done: Result, name: str) -> None:
    assert done.exit_code == 1
    assert isinstance(done.exception, FinTasksError), done.exception
    message = str(done.exception)
    assert re.search(REFUSED[name], message), message
    assert "\n" not in message


@pytest.mark.slow
def test_the_files_are_those_that_the_script_writes(tmp_path: Path) -> None:
    names = write_files(tmp_path, sample_answers(TASK))
    assert sorted(names) == FILES
    for name in names:
        if not name.endswith((".xlsx", ".parquet", ".eval", "log.json")):
            assert (tmp_path / name).read_bytes() == (HERE / name).read_bytes()


@pytest.mark.parametrize("name", FILES)
def test_replay_scores_a_file_or_refuses_it(
    name: str, caplog: pytest.LogCaptureFixture
) -> None:
    options = columns_of(name)
    if name == "other_questions.csv":
        options = ["--metadata", '{"source": "sample"}']
    done = run("replay", "task", TASK, HERE / name, "--json", *options)
    if name in REFUSED:
        check_refusal(done, name)
        return
    assert done.exit_code == 0, done.exception
    figures = json.loads(done.stdout)
    expected = ACCURACY.get(name, (4 / 6, 4 / 6))
    assert (figures["acc"], figures["robust_acc"]) == pytest.approx(expected)
    assert figures["n_all"] == 6
    said = SAID.get(name, "its rows are answers to the questions with source sample")
    assert re.search(said, caplog.text)


@pytest.fixture(scope="module")
def grades(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Write the same forms about six questions of MME-Finance."""
    folder = tmp_path_factory.mktemp("grades")
    write_files(folder, sample_answers("mme_finance_en")[:6], has_logs=False)
    return folder


@pytest.mark.parametrize("name", [name for name in OF_EACH_KIND if name != "log.eval"])
def test_judge_asks_about_a_file_or_refuses_it(
    name: str, grades: Path, caplog: pytest.LogCaptureFixture
) -> None:
    words = ["--rubric", "mme_finance_en", "--model", "m", "--base-url", "http://x/v1"]
    options = ["--no-image", "--dry-run", "--json", *columns_of(name)]
    done = run("judge", grades / name, *words, *options)
    if name == "repeated_row.csv":
        assert "expected each id once" in str(done.exception)
        return
    if name in REFUSED:
        check_refusal(done, name)
        return
    assert done.exit_code == 0, done.exception
    expected = 5 if name in ("missing_rows.csv", "unfinished_batch.jsonl") else 6
    assert json.loads(done.stdout)["requests"] == expected


@pytest.mark.parametrize("name", OF_EACH_KIND)
def test_label_draws_from_a_file_or_refuses_it(name: str, tmp_path: Path) -> None:
    (tmp_path / "study.yaml").write_text(STUDY)
    options = ["--study", tmp_path / "study.yaml", "--out", tmp_path / "sheet.csv"]
    done = run("label", "draw", HERE / name, *options, *columns_of(name))
    if name in REFUSED:
        check_refusal(done, name)
        return
    assert done.exit_code == 0, done.exception
    drawn = json.loads((tmp_path / "sheet.draw.json").read_text())
    assert len(drawn["rows"]) == (5 if name == "missing_rows.csv" else 6)
    responses = {row["response"][:12] for row in drawn["rows"]}
    assert responses <= {"Therefore, m", "I cannot say", ""}


@pytest.mark.parametrize(
    "name",
    [name for name in SAID if name not in ("bars.csv", "questions_without_ids.csv")],
)
def test_strict_refuses_what_would_be_left_out(name: str) -> None:
    done = run("replay", "task", TASK, HERE / name, "--strict")
    is_about_form = "read as" in SAID[name]
    assert (done.exit_code == 0) == is_about_form
    if not is_about_form:
        assert isinstance(done.exception, FinTasksError)


@pytest.mark.slow
def test_a_new_process_reads_a_log() -> None:
    """Its parts are compressed in a way that `zipfile` learns from inspect_ai."""
    code = "import sys, pathlib, fin_tasks.saved.inspect_log as log\n"
    code += "print(len(log.records_of_log(pathlib.Path(sys.argv[1]))))"
    command = [sys.executable, "-c", code, str(HERE / "log.eval")]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout == "6\n"


def test_rows_of_other_tasks_are_named(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    answered = sample_answers("xfinbench_bool")[:3]
    answered += sample_answers("xfinbench_calc")[:2]
    objects = [{"id": row.id, "response": row.response} for row in answered]
    objects.append({"id": "x", "response": ""})
    (tmp_path / "a.json").write_text(json.dumps(objects))
    done = run("replay", "task", "xfinbench_bool", tmp_path / "a.json", "--json")
    assert json.loads(done.stdout)["n"] == 3
    assert "3 of 6 rows are not of xfinbench_bool" in caplog.text
    assert "2 of xfinbench_calc, 1 of no question that is known here" in caplog.text


def test_other_questions_under_our_ids_are_said(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    rows = sample_answers(TASK)
    objects = [{"id": row.id, "question": "Why?", "response": ""} for row in rows]
    (tmp_path / "a.json").write_text(json.dumps(objects))
    run("replay", "task", TASK, tmp_path / "a.json", "--json")
    assert "6 of 6 questions have another text in the file than here" in caplog.text


@pytest.mark.parametrize(
    ("paths", "names"),
    [
        (["a/gpt-4o.csv", "a/claude-3.5.csv"], ["gpt-4o", "claude-3.5"]),
        (["gpt-4o/responses.csv", "claude/responses.csv"], ["gpt-4o", "claude"]),
        (["a/gpt_bizbench_finknow.jsonl.gz", "a/o1-predictions.xlsx"], ["gpt", "o1"]),
        (["a/m.csv", "a/m.json"], ["a/m.csv", "a/m.json"]),
        (["org__m/samples_xfinbench_calc_2026-03-01T10-00-00.1.jsonl"], ["org/m"]),
    ],
)
def test_several_files_have_names_that_a_person_would_choose(
    paths: list[str], names: list[str]
) -> None:
    assert models_of([Path(path) for path in paths], TASK) == names


def test_several_files_are_several_runs(tmp_path: Path) -> None:
    files = []
    for model in ("gpt-4o", "claude"):
        (tmp_path / model).mkdir()
        file = tmp_path / model / "responses.csv"
        files.append(shutil.copy(HERE / "plain.csv", file))
    done = run("replay", "task", TASK, *files, "--out", tmp_path / "out")
    assert done.exit_code == 0, done.exception
    folders = {path.parent.name for path in (tmp_path / "out").rglob("results_*.json")}
    assert folders == {"gpt-4o", "claude"}


@pytest.mark.parametrize("text", ["id", "number=Nr", "id=", "id=Nr,response", "id=Nr"])
def test_columns_that_cannot_be_named(text: str) -> None:
    done = run("replay", "task", TASK, HERE / "plain.csv", "--columns", text)
    expected = "--columns: expected id=..., response=..."
    if text == "id=Nr":
        expected = "expected a column 'Nr', as --columns says"
    assert expected in str(done.exception)


@pytest.mark.parametrize("is_nested", [False, True])
def test_a_small_parquet_file_of_many_equal_texts_is_refused(
    is_nested: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("fin_tasks.saved.parquet.ROWS_MB", 1)
    response: Any = "x" * 10_000
    if is_nested:
        response = [{"role": "assistant", "content": response}]
    file = tmp_path / "packed.parquet"
    rows = pd.DataFrame({"id": "a", "response": [response] * 1_000})
    rows.to_parquet(file)
    assert file.stat().st_size < 10_000
    with pytest.raises(DataError, match="got more"):
        read_records(file)
    rows[:100].to_parquet(file)
    assert len(read_records(file)) == 100


@pytest.mark.parametrize(
    ("end", "sentence"),
    [("kill -9 $$", "got more"), ("echo no lz4 >&2; exit 1", r"\(no lz4\)")],
)
def test_what_ends_the_first_reader_of_a_parquet_file_is_said(
    end: str, sentence: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    reader = tmp_path / "python"
    reader.write_text(f"#!/bin/sh\n{end}\n")
    reader.chmod(0o700)
    monkeypatch.setattr("sys.executable", str(reader))
    with pytest.raises(DataError, match=sentence):
        read_records(HERE / "frame.parquet")


def test_a_parquet_file_of_very_many_columns_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "wide.parquet"
    pd.DataFrame([[1] * 300], columns=[f"c{n}" for n in range(300)]).to_parquet(file)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("fin_tasks.saved.parquet._MAX_CHUNKS", 200)
        with pytest.raises(DataError, match="200 columns"):
            read_records(file)
