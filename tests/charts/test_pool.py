"""Many charts: drawn once, whole or not at all, by one process or several. `tests/test_workers.py` draws on Ray."""

import subprocess
import sys
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from fin_tasks.charts import pool
from fin_tasks.charts.candlestick import draw
from fin_tasks.charts.chart import Chart
from fin_tasks.charts.pool import draw_charts
from fin_tasks.errors import DataError


def charts(n: int = 2) -> list[Chart]:
    days = pd.bdate_range("2010-01-04", periods=40)
    reports = pd.DataFrame(
        {"reported": days[[20]], "fiscal_end": days[[5]], "surprise": [0.1]}
    )
    made: dict[str, Any] = {
        "ticker": "T",
        "start": days[0].date(),
        "end": days[-1].date(),
        "reports": reports,
    }
    prices = pd.DataFrame(
        dict.fromkeys(["open", "high", "low", "close", "volume"], 1.0), index=days
    )
    return [Chart(**made, prices=prices * k, pixels=256) for k in range(1, n + 1)]


@pytest.fixture
def fast(monkeypatch: pytest.MonkeyPatch) -> None:
    """Write the name of a chart in place of its picture."""

    def write_name(chart: Chart) -> bytes:
        if len(chart.reports) > 1:
            raise DataError("no room")
        return 3 * chart.file_name.encode()

    monkeypatch.setattr(pool, "draw", write_name)


@pytest.mark.slow
def test_two_processes_draw_the_same(tmp_path: Path) -> None:
    paths, drawn = draw_charts(iter(charts()), tmp_path, jobs=2)
    assert drawn == 2
    assert [path.read_bytes() for path in paths] == [draw(chart) for chart in charts()]
    assert set(tmp_path.glob("*.p*")) == set(paths)


def test_only_missing_charts_are_drawn(tmp_path: Path, fast: None) -> None:
    paths, drawn = draw_charts([*charts(3), *charts(1)], tmp_path)
    assert (len(paths), len(set(paths)), drawn) == (4, 3, 3)
    assert paths[0].name.startswith("T_2010-01-04_2010-02-26_")
    paths[1].unlink()
    times = {path: path.stat().st_mtime_ns for path in (paths[0], paths[2])}
    assert draw_charts(charts(3), tmp_path) == (paths[:3], 1)
    assert times == {path: path.stat().st_mtime_ns for path in times}


def test_a_killed_run_leaves_whole_charts_only(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fast: None
) -> None:
    write = Path.write_bytes

    def half(path: Path, image: bytes) -> int:
        write(path, image[:100])
        raise KeyboardInterrupt

    draw_charts(charts(1), tmp_path)
    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr(Path, "write_bytes", half)
        draw_charts(charts(3), tmp_path)
    assert len(list(tmp_path.glob("*.png"))) == len(list(tmp_path.glob("*.part"))) == 1
    paths, drawn = draw_charts(charts(3), tmp_path)
    assert drawn == 2 and not list(tmp_path.glob("*.part"))
    for path in paths:
        assert path.read_bytes() == 3 * path.name.encode()


def test_one_bad_chart_does_not_stop_the_others(tmp_path: Path, fast: None) -> None:
    bad, *good = charts(3)
    bad.reports = pd.concat([bad.reports] * 2)
    with pytest.raises(DataError, match="1 charts could not be drawn"):
        draw_charts([bad, *good], tmp_path)
    assert len(list(tmp_path.glob("*.png"))) == 2


WITHOUT_SHM = (
    *("bwrap", "--bind", "/", "/", "--proc", "/proc", "--tmpfs", "/dev"),
    *("--dev-bind", "/dev/null", "/dev/null"),
    *("--dev-bind", "/dev/urandom", "/dev/urandom"),
    *("--remount-ro", "/dev"),
)


def works(*command: str) -> bool:
    try:
        return subprocess.run(command, capture_output=True, check=False).returncode == 0
    except OSError:
        return False


@pytest.mark.skipif(
    not works(*WITHOUT_SHM, "true"), reason="bwrap cannot hide /dev/shm here"
)
def test_a_machine_without_shared_memory(tmp_path: Path) -> None:
    code = (
        "import sys, pathlib; sys.path.insert(0, sys.argv[1]); import test_pool as t; "
        "print([t.draw_charts(t.charts(), pathlib.Path(sys.argv[2], str(jobs)), jobs=jobs)[1] for jobs in (1, 2)])"
    )
    folder = str(Path(__file__).parent)
    command = (sys.executable, "-c", code, folder, str(tmp_path))
    done = subprocess.run(
        [*WITHOUT_SHM, *command], capture_output=True, text=True, check=False
    )
    assert done.stdout == "[2, 2]\n", done.stderr
    assert done.stderr.count("one process does all the work") == 1
