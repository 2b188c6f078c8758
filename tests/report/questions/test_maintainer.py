"""A maintainer excludes a question in one line of a file, and it is gone everywhere."""

import json
from pathlib import Path

import pandas as pd
import pytest
from typer.testing import CliRunner

from fin_tasks.benchmarks.task_file import TaskFile
from fin_tasks.cli import app

TASK = "xfinbench_bool"
SAMPLE = json.dumps({"source": "sample"})


def run(*arguments: object, status: int = 0) -> str:
    done = CliRunner().invoke(app, list(map(str, arguments)))
    if done.exception is not None and not isinstance(done.exception, SystemExit):
        raise done.exception
    assert done.exit_code == status, done.output
    return done.stdout


@pytest.fixture
def ids() -> list[str]:
    docs, _ = TaskFile(TASK).load({"source": "sample"})
    return [doc["id"] for doc in docs]


def replay(file: Path, out: Path, *options: object) -> None:
    named = ("--model", file.stem, "--metadata", SAMPLE, "--out", out)
    run("replay", "task", TASK, file, *named, *options)


@pytest.fixture
def board(tmp_path: Path, ids: list[str]) -> Path:
    """Two models that say TRUE and FALSE to all questions."""
    for verdict in ("TRUE", "FALSE"):
        file = tmp_path / f"{verdict}.csv"
        response = f"Therefore, my answer is {verdict}."
        pd.DataFrame({"id": ids, "response": response}).to_csv(file, index=False)
        replay(file, tmp_path / "board" / verdict)
    return tmp_path / "board"


def test_one_line_takes_a_question_out_everywhere(
    board: Path, tmp_path: Path, ids: list[str]
) -> None:
    """test_corrections.py has the commands that take a file of corrections."""
    gone, n_left = ids[0], len(ids) - 1
    file = board / "corrections.yaml"
    line = f"corrections: [{{benchmark: xfinbench, id: {gone}, exclude: true}}]\n"
    file.write_text(line)
    (board / "board.yaml").write_text("corrections: corrections.yaml\n")

    run("report", board, "--out", tmp_path / "page", "--no-published")
    page = json.loads((tmp_path / "page" / "leaderboard.json").read_text())
    accuracies = [one for one in page["entries"] if one["metric"] == "acc"]
    assert {one["n"] for one in accuracies} == {n_left}
    notes = {one["question_corrections"] for one in accuracies}
    assert notes == {"1 question excluded"}
    assert [one["id"] for one in page["question_corrections"]] == [gone]
    scripts = (tmp_path / "page" / "page").glob("*.js")
    lists = [path for path in scripts if path.name.startswith(("list-", "questions"))]
    assert len(lists) == 3
    assert not any(f'\\"{gone}\\"' in path.read_text() for path in lists)

    # A host with the same file has the same questions, one without it has one more.
    under = ("--corrections", file)
    replay(tmp_path / "TRUE.csv", tmp_path / "again", *under)
    statuses = []
    for options in (under, ()):
        command = ["verify", tmp_path / "again", "--source", "sample", *options]
        told = CliRunner().invoke(app, [*map(str, command), "--json"]).stdout
        (task,) = json.loads(told)["tasks"]
        statuses.append({item["name"]: item["status"] for item in task["items"]})
    assert statuses[0]["rows"] == "verified"
    assert statuses[1]["rows"] != "verified"
