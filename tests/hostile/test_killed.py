"""Commands that are killed: run again, they give what they would have given, and leave nothing else."""

import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import pytest
from submissions import content_of, submit

from fin_tasks.saved.run_folder import folder_of, write_files

pytestmark = pytest.mark.slow

MOMENTS = (0.7, 0.9)
"""When a command is killed, as parts of the time that it takes."""
Shown = dict[str, object]


def start(words: Sequence[str | Path], folder: Path) -> subprocess.Popen[bytes]:
    environ = {**os.environ, "FIN_TASKS_CACHE": str(folder / "cache")}
    command = [sys.executable, "-m", "fin_tasks", *map(str, words)]
    return subprocess.Popen(
        command,
        cwd=folder,
        env=environ,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )


def kill_often(words: Sequence[str | Path], folder: Path, seconds: float) -> None:
    """Start a command again and again, and kill it with all its processes at another moment."""
    for moment in MOMENTS:
        process = start(words, folder)
        time.sleep(seconds * moment)
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def run(words: Sequence[str | Path], folder: Path) -> float:
    """Run a command to its end; return the seconds that it took."""
    begun = time.monotonic()
    assert start(words, folder).wait(timeout=120) == 0
    return time.monotonic() - begun


def files_of(folder: Path) -> set[str]:
    return {str(path.relative_to(folder)) for path in folder.rglob("*")}


def test_a_report(tmp_path: Path) -> None:
    submit(tmp_path / "runs" / "a", model="model-a")
    submit(tmp_path / "runs" / "b", model="model-b")
    words = ["report", "runs", "--no-published", "--out"]
    seconds = run([*words, "whole"], tmp_path)
    kill_often([*words, "page"], tmp_path, seconds)
    run([*words, "page"], tmp_path)
    assert files_of(tmp_path / "page") == files_of(tmp_path / "whole")
    boards: list[Shown] = []
    for name in ("page", "whole"):
        board = json.loads((tmp_path / name / "leaderboard.json").read_text())
        boards.append({key: board[key] for key in ("entries", "comparisons", "runs")})
    assert boards[0] == boards[1]


def test_saved_responses(tmp_path: Path) -> None:
    submit(tmp_path / "sent", model="model-a")
    (samples,) = (tmp_path / "sent").rglob("samples_*")
    words = ["replay", "xfinbench", "--task", "bool", samples, "--out"]
    seconds = run([*words, "whole"], tmp_path)
    kill_often([*words, "killed"], tmp_path, seconds)
    (tmp_path / "killed").mkdir(exist_ok=True)
    complete = len([*(tmp_path / "killed").rglob("results_*")])
    run([*words, "killed"], tmp_path)
    results = [*(tmp_path / "killed").rglob("results_*")]
    samples_files = [*(tmp_path / "killed").rglob("samples_*")]
    assert len(results) == len(samples_files) == complete + 1
    values = set()
    for file in (*results, *(tmp_path / "whole").rglob("results_*")):
        values.add(json.dumps(json.loads(file.read_text())["results"]))
    assert len(values) == 1


def test_a_board(tmp_path: Path) -> None:
    submission = submit(tmp_path / "alpha", model="model-a")
    words = ["verify", submission, "--source", "sample", "--board"]
    seconds = run([*words, "whole"], tmp_path)
    kill_often([*words, "board"], tmp_path, seconds)
    run([*words, "board"], tmp_path)
    kinds = []
    for name in ("whole", "board"):
        files = content_of(tmp_path / name)
        kinds.append(sorted(re.sub(r"_20\d\d-.*\.", ".", file) for file in files))
    assert kinds[0] == kinds[1]
    assert not [*(tmp_path / "board").glob(".admitting-*")]


def test_what_a_killed_command_left_is_removed_a_day_later(tmp_path: Path) -> None:
    folder = folder_of(tmp_path, "model")
    folder.mkdir()
    for name, age in (("old", 25 * 3600), ("new", 60)):
        part = folder / f".unfinished-{name}.jsonl"
        part.touch()
        os.utime(part, (time.time() - age,) * 2)
    write_files(folder, [], model="model", made_by="replay", facts={})
    assert {path.name for path in folder.glob(".*")} == {".unfinished-new.jsonl"}
