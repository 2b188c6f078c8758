"""The benchmark's README: what it shows is what comes out, and what it names is there."""

import re
from pathlib import Path

import pytest
from typer.testing import CliRunner

import fin_tasks
from fin_tasks.cli import app

FOLDER = Path(fin_tasks.__file__).parent / "benchmarks" / "dynostock"
README = (FOLDER / "README.md").read_text(encoding="utf-8")


def test_every_file_of_the_benchmark_is_in_the_table() -> None:
    table = set(re.findall(r"`([\w/.]+)`", README.split("## Files")[1]))
    files = {path.name for path in FOLDER.glob("*.py")} - {"__init__.py"}
    folders = {f"{path.name}/" for path in FOLDER.iterdir() if path.is_dir() and path.name != "__pycache__"}
    assert table == files | folders


def test_links_and_pictures_are_there() -> None:
    targets = re.findall(r"\]\(([^)]+)\)", README)
    assert len(targets) >= 3
    missing = [target for target in targets if not (FOLDER / target).resolve().is_file()]
    if missing and not (FOLDER.parents[3] / "docs").is_dir():
        pytest.skip("installed without the documentation")
    assert not missing


def test_the_build_of_the_sample_prints_what_is_shown(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("FIN_TASKS_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("COLUMNS", "100")
    command, shown = re.findall(r"\$ fin-tasks (build .+?)\n(.+?)\n```", README, re.DOTALL)[0]
    result = CliRunner().invoke(app, command.split())
    assert result.exit_code == 0, result.output
    assert [line.rstrip() for line in result.stdout.strip().splitlines()] == shown.splitlines()
