"""Every command that reads strangers' files: a sentence about each hostile file, and no exception."""

import json
import shutil
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from corpus import hostile_data
from typer.testing import CliRunner

from fin_tasks.cli import app

pytestmark = pytest.mark.slow

Named = list[tuple[str, Path]]
Files = Callable[[str], Named]
Run = Callable[[Sequence[tuple[str, list[str]]], Path], Sequence[Any]]
MAX_SECONDS = 60  # also where other tests run at the same time
COMMANDS = {
    "replay xfinbench --task calc --json": "json csv",
    "replay financemath --mode pot --json": "json csv",
    "replay dynostock --json": "json",
    'replay task xfinbench_bool --metadata {"source":"sample"} --json': "json csv",
    "judge --rubric mme_finance_en --model m --dry-run": "json csv xlsx",
    "judge PREDICTIONS --model m --dry-run --rubric": "yaml",
    "judge PREDICTIONS --rubric mme_finance_en --model m --dry-run --token-prices": "yaml",
    "label draw HONEST --out sheets.csv --study": "yaml",
    "label draw --study xfinbench_capabilities --out sheets.csv": "json",
    "compare HONEST HONEST --corrected": "json",
    "report HONEST --out page --token-prices": "yaml",
    "report HONEST --out page --corrections": "yaml",
    "questions HONEST --corrections": "yaml",
    "build corrections --out corrections.yaml": "csv xlsx",
}
"""Commands, to which a file is added, and the kinds of files that they read."""


def arguments_of(command: str, folder: Path, honest: Path) -> list[str]:
    names = {"HONEST": honest, "PREDICTIONS": folder / "predictions.json"}
    return [str(names.get(word, word)) for word in command.split()]


def check(ends: Sequence[Any], files: Sequence[Path], *, is_named: bool = True) -> None:
    """Every command ends soon, with a sentence of ours that names the file, or reads the file."""
    for end, file in zip(ends, files, strict=True):
        about = f"{end.file}: {end.console[-2_000:]}"
        assert end.status in (0, 1, 2, 3), about
        assert "Traceback" not in end.console, about
        assert end.seconds < MAX_SECONDS, about
        # A file that could be read may need questions that are not here.
        is_read = "downloads are switched off" in end.console
        if end.status and is_named and not is_read:
            readable = file.name.rpartition("\udcff")[2]
            assert readable in end.console, about


@pytest.mark.parametrize("command", COMMANDS)
def test_a_hostile_file(
    command: str, honest: Path, files_of: Files, run: Run, tmp_path: Path
) -> None:
    rows = [{"index": 1, "question": "What?", "answer": "1", "prediction": "one"}]
    (tmp_path / "predictions.json").write_text(json.dumps(rows))
    calls = []
    files = []
    for name, file in files_of(COMMANDS[command]):
        calls.append((name, [*arguments_of(command, tmp_path, honest), str(file)]))
        files.append(file)
    check(run(calls, tmp_path), files)


@pytest.mark.parametrize(
    "command", ["label merge --out merged", "label agree --judge HONEST"]
)
def test_a_hostile_sheet(
    command: str, honest: Path, files_of: Files, run: Run, tmp_path: Path
) -> None:
    draw = tmp_path / "a.csv"
    options = ["--source", "sample", "--n", "3", "--out", str(draw)]
    study = ["label", "draw", str(honest), "--study", "xfinbench_quality", *options]
    done = CliRunner().invoke(app, study)
    assert done.exit_code == 0, done.output
    calls = []
    files = []
    for number, (name, file) in enumerate(files_of("csv xlsx")):
        folder = tmp_path / f"sheet {number}"
        folder.mkdir()
        shutil.copy(tmp_path / "a.draw.json", folder)
        sheet = folder / f"a_1{file.suffix}"
        if file.is_file():
            shutil.copy(file, sheet)
        calls.append((name, [*arguments_of(command, tmp_path, honest), str(sheet)]))
        files.append(sheet)
    for number, (name, file) in enumerate(files_of("json")):
        folder = tmp_path / f"draw {number}"
        folder.mkdir()
        shutil.copy(tmp_path / "a_1.csv", folder)
        if file.suffix == ".json":
            shutil.copy(file, folder / "a.draw.json")
        sheet = folder / "a_1.csv"
        calls.append((name, [*arguments_of(command, tmp_path, honest), str(sheet)]))
        files.append(folder / "a")
    check(run(calls, tmp_path), files)


def test_hostile_data(run: Run, tmp_path: Path) -> None:
    calls = []
    files = []
    command = "build variants financemath --out variants --source data_dir --data-dir"
    name = "financemath/data/validation.json"
    for case, file in hostile_data(tmp_path / "data", name):
        calls.append((case, [*command.split(), str(file.parents[2])]))
        files.append(file)
    check(run(calls, tmp_path), files)


@pytest.mark.parametrize(
    "command",
    [
        "compare",
        "verify --source sample",
        "replay xfinbench --task bool",
        "label draw --study xfinbench_quality --source sample --out sheets.csv",
    ],
)
def test_a_hostile_run(
    command: str, honest: Path, broken_runs: Named, run: Run, tmp_path: Path
) -> None:
    calls = []
    files = []
    for number, (name, folder) in enumerate(broken_runs):
        words = command.replace("sheets", f"sheets_{number}").split()
        arguments = [*words, str(folder)]
        if command.startswith(("compare", "verify")):
            arguments.append(str(honest))
        calls.append((name, arguments))
        files.append(folder)
    # Some are valid, and what is wrong is said of both runs.
    check(run(calls, tmp_path), files, is_named=False)


def test_hostile_runs_leave_the_others_in_the_report(
    honest: Path, broken_runs: Named, run: Run, tmp_path: Path
) -> None:
    names = [folder.name for _, folder in broken_runs]
    runs = broken_runs[0][1].parent
    (end,) = run(
        [("report", ["report", str(honest), str(runs), "--out", "page"])], tmp_path
    )
    check([end], [runs], is_named=False)
    board = json.loads((tmp_path / "page/leaderboard.json").read_text())
    # The hostile runs stand below folders of their own.
    (own,) = (run["id"] for run in board["runs"] if run["path"].startswith("m/"))
    values = [
        entry["value"]
        for entry in board["entries"]
        if entry["run"] == own and entry["metric"] == "acc"
    ]
    assert values == [1.0, 1.0]
    shown = json.dumps(board) + end.console
    unnamed = [name for name in names if f"{name}/" not in shown]
    assert unnamed == []
