"""Badges: what a report shows of `verified.json`, and of one for other files."""

import json
from pathlib import Path
from typing import Any

import pytest
from run_files import scored, write_run
from typer.testing import CliRunner

from fin_tasks.cli import app
from fin_tasks.report import read
from fin_tasks.report.leaderboard import board


def badges(folder: Path) -> list[dict[str, Any] | None]:
    """Return the badges of all runs."""
    runs = board(read([folder]), papers=False).model_dump(mode="json")["runs"]
    return [run["verified"] for run in runs]


@pytest.fixture
def verified_run(tmp_path: Path) -> Path:
    """A run folder with the verified.json that the command wrote above it."""
    write_run(tmp_path / "model", {"xfinbench_bool": scored(1.0, 0.0)})
    out = ["--source", "sample", "--out", str(tmp_path / "verified.json")]
    done = CliRunner().invoke(app, ["verify", str(tmp_path / "model"), *out])
    assert done.exit_code in (1, 3), done.output
    return tmp_path


def test_a_run_shows_what_the_command_established(verified_run: Path) -> None:
    written = json.loads((verified_run / "verified.json").read_text())
    (task,) = written["tasks"]
    (badge,) = badges(verified_run)
    assert badge == {
        "status": task["status"],
        "date": written["date"],
        "fin_tasks": written["fin_tasks"],
        "items": {item["name"]: item["status"] for item in task["items"]},
    }


def test_a_changed_file_was_not_verified(verified_run: Path) -> None:
    (samples,) = verified_run.rglob("samples_*")
    samples.write_text(samples.read_text() + "\n")
    (badge,) = badges(verified_run)
    assert badge is not None
    assert badge["status"] == "verified other files"
    assert badge["items"] == {}


def test_without_the_file_there_is_no_badge(verified_run: Path) -> None:
    (verified_run / "verified.json").unlink()
    assert badges(verified_run) == [None]


@pytest.mark.parametrize("text", ["", "{", "[]", "{}", '{"tasks": 1}', '"\\ud800"'])
def test_a_broken_file_is_named_and_the_run_shown(
    verified_run: Path, text: str
) -> None:
    (verified_run / "verified.json").write_text(text)
    document = board(read([verified_run]), papers=False)
    assert [run.verified for run in document.runs] == [None]
    (problem,) = document.problems
    assert str(verified_run / "verified.json") in problem.message
