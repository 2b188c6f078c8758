"""Many charts into one folder: each once, whole, and the same however many draw."""

import os
import signal
import subprocess
import sys
import time
from dataclasses import replace
from hashlib import sha256
from pathlib import Path

import pandas as pd
import pytest
from PIL import Image

from fin_tasks.charts import pool
from fin_tasks.charts.pool import draw
from fin_tasks.charts.spec import ChartSpec, Mark
from fin_tasks.errors import ConfigError, DataError


@pytest.fixture
def specs(prices: pd.DataFrame) -> list[ChartSpec]:
    mark = Mark(prices.index[60].date(), "meet", "+0.1")
    parts = [prices.iloc[n : n + 100] for n in range(6)]
    return [ChartSpec(title=f"T{n}", stem=f"T{n}", prices=part, marks=(mark,), dpi=60) for n, part in enumerate(parts)]


def hashes(paths: list[Path]) -> list[str]:
    return [sha256(path.read_bytes()).hexdigest() for path in paths]


def pictures(folder: Path) -> dict[str, int]:
    return {path.name: path.stat().st_mtime_ns for path in folder.glob("*.png")}


def test_two_processes_draw_what_one_draws(specs: list[ChartSpec], tmp_path: Path) -> None:
    told: list[int] = []
    one = draw(specs, tmp_path / "one", on_done=told.append)
    assert [path.name for path in one] == [spec.file_name for spec in specs]
    assert told == [0, 1, 2, 3, 4, 5, 6]
    told.clear()
    two = draw(specs, tmp_path / "two", jobs=2, on_done=told.append)
    assert told == [0, 1, 2, 3, 4, 5, 6]
    assert hashes(one) == hashes(two)


@pytest.mark.slow
def test_ray_draws_what_one_process_draws(specs: list[ChartSpec], tmp_path: Path) -> None:
    ray = pytest.importorskip("ray", reason="ray is not installed")
    told: list[int] = []
    workers = draw(specs, tmp_path / "ray", jobs=2, engine="ray", on_done=told.append)
    assert not ray.is_initialized()
    assert told == [0, 1, 2, 3, 4, 5, 6]
    assert hashes(workers) == hashes(draw(specs, tmp_path / "one"))


def test_a_second_run_draws_nothing(specs: list[ChartSpec], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    draw(specs[:4], tmp_path)
    before = pictures(tmp_path)
    told: list[int] = []
    draw(specs, tmp_path, on_done=told.append)
    assert told == [4, 5, 6]
    after = pictures(tmp_path)
    assert len(after) == 6
    assert before.items() <= after.items()
    monkeypatch.setattr(pool, "render", None)
    told.clear()
    assert [path.name for path in draw(specs, tmp_path, on_done=told.append)] == [spec.file_name for spec in specs]
    assert told == [6]


def test_equal_charts_share_a_file(specs: list[ChartSpec], tmp_path: Path) -> None:
    told: list[int] = []
    paths = draw([specs[0], specs[1], specs[0]], tmp_path, on_done=told.append)
    assert paths[0] == paths[2] != paths[1]
    assert told == [1, 2, 3]
    assert set(pictures(tmp_path)) == {path.name for path in paths}


@pytest.mark.parametrize("jobs", [1, 2])
def test_the_others_are_finished_when_one_fails(specs: list[ChartSpec], tmp_path: Path, jobs: int) -> None:
    mark = specs[0].marks[0]
    crowded = replace(specs[2], marks=tuple(replace(mark, label=f"{mark.date} {n}") for n in range(120)), width=7.5)
    told: list[int] = []
    with pytest.raises(DataError, match=rf"expected 4 charts, 1 could not be drawn.*{crowded.file_name}: chart 'T2'"):
        draw([specs[0], crowded, *specs[3:5]], tmp_path, jobs=jobs, on_done=told.append)
    assert told == [0, 1, 2, 3, 4]
    assert set(pictures(tmp_path)) == {spec.file_name for spec in (specs[0], *specs[3:5])}


BUILD = """
import sys
from pathlib import Path
import numpy as np, pandas as pd
from fin_tasks.charts.pool import draw
from fin_tasks.charts.spec import ChartSpec

def specs():
    days = pd.bdate_range("2010-01-04", periods=400)
    close = 50 + np.random.default_rng(1).normal(0, 1, 400).cumsum()
    frame = pd.DataFrame({"open": close, "high": close + 1, "low": close - 1, "close": close, "volume": 1.0}, days)
    return [ChartSpec(title="K", stem="K", prices=frame.iloc[n:n + 200], dpi=60) for n in range(9)]

if __name__ == "__main__":
    draw(specs(), Path(sys.argv[1]), jobs=int(sys.argv[2]))
"""


@pytest.mark.parametrize("jobs", [1, 2])
def test_a_killed_run_leaves_whole_charts_and_the_next_one_draws_the_rest(tmp_path: Path, jobs: int) -> None:
    script, folder = tmp_path / "build.py", tmp_path / "charts"
    script.write_text(BUILD)
    command = [sys.executable, str(script), str(folder), str(jobs)]
    with subprocess.Popen(command, start_new_session=True) as process:
        deadline = time.monotonic() + 60
        while len(pictures(folder)) < 3 and time.monotonic() < deadline:
            time.sleep(0.01)
        os.killpg(process.pid, signal.SIGKILL)
    assert process.returncode == -signal.SIGKILL
    kept = pictures(folder)
    assert 3 <= len(kept) < 9
    for name in kept:
        with Image.open(folder / name) as picture:
            picture.load()
            assert picture.size == (600, 360)
    (folder / "K_0123456789ab.png.17.tmp").write_bytes(b"half a chart")
    subprocess.run(command, check=True)
    after = pictures(folder)
    assert len(after) == 9
    assert kept.items() <= after.items()
    assert not list(folder.glob("*.tmp"))


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="looks for processes in /proc")
def test_workers_end_with_their_parent(tmp_path: Path) -> None:
    script, folder = tmp_path / "build.py", tmp_path / "charts"
    script.write_text(BUILD)
    with subprocess.Popen([sys.executable, str(script), str(folder), "2"], start_new_session=True) as process:
        deadline = time.monotonic() + 60
        while len(pictures(folder)) < 2 and time.monotonic() < deadline:
            time.sleep(0.01)
        assert len(alive(process.pid)) >= 3
        process.kill()
    deadline = time.monotonic() + 60
    while (left := alive(process.pid)) and time.monotonic() < deadline:
        time.sleep(0.1)
    for worker in left:
        os.kill(worker, signal.SIGKILL)
    assert not left


def alive(session: int) -> list[int]:
    """The processes of a session that are not zombies."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            state, _, _, of = (folder / "stat").read_text().rpartition(")")[2].split()[:4]
        except OSError:  # it ended while we looked
            continue
        if int(of) == session and state not in "ZX":
            found.append(int(folder.name))
    return found


def test_ray_that_is_not_there(specs: list[ChartSpec], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(ConfigError, match=r"pip install 'fin-tasks\[ray\]'"):
        draw(specs, tmp_path, engine="ray")
    assert not pictures(tmp_path)


def test_options_that_mean_nothing(specs: list[ChartSpec], tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="expected local or ray, got 'dask'"):
        draw(specs, tmp_path, engine="dask")
    with pytest.raises(ConfigError, match="expected at least 1 process, got 0"):
        draw(specs, tmp_path, jobs=0)


def test_a_folder_that_cannot_be_written(specs: list[ChartSpec], tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(ConfigError, match="expected a folder that charts can be written to"):
        draw(specs, tmp_path / "file")


def test_a_full_disk_ends_the_run(specs: list[ChartSpec], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(self: Path, data: bytes) -> int:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "write_bytes", fail)
    with pytest.raises(ConfigError, match="No space left on device"):
        draw(specs, tmp_path)


def test_no_charts_at_all(tmp_path: Path) -> None:
    assert draw([], tmp_path / "none") == []
    assert not (tmp_path / "none").exists()
