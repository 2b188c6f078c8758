"""Charts by processes of this machine, and on a Ray cluster of one machine."""

import os
import sys
from collections.abc import Iterator
from pathlib import Path

import joblib
import pytest
from typer.testing import CliRunner

from fin_tasks.cli import app
from fin_tasks.errors import ConfigError
from fin_tasks.workers import workers

BUILD = ["build", "dynostock", "--sample", "--tickers", "MSFT", "--windows", "4"]


def build(out: Path, engine: str) -> dict[str, bytes]:
    options = ["--samples", "1", "--jobs", "2", f"--engine={engine}", f"--out={out}"]
    done = CliRunner().invoke(app, [*BUILD, *options])
    assert done.exit_code == 0, done.output
    return {path.name: path.read_bytes() for path in out.glob("charts/*.png")}


@pytest.fixture
def without_ray_later(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    ray = pytest.importorskip("ray")
    monkeypatch.setenv("RAY_agent_register_timeout_ms", "300000")  # a busy machine
    yield
    ray.shutdown()


@pytest.mark.thorough  # to start Ray takes minutes
@pytest.mark.filterwarnings("ignore")  # of Ray
def test_ray_draws_the_same_charts(tmp_path: Path, without_ray_later: None) -> None:
    local = build(tmp_path / "local", "local")
    assert local and build(tmp_path / "ray", "ray") == local


def test_no_process_waits_for_more_work() -> None:
    with workers(2) as parallel:
        pids = parallel(joblib.delayed(os.getpid)() for _ in range(4))
    for pid in pids:
        with pytest.raises(ProcessLookupError):
            os.kill(pid, 0)


def test_without_the_package_ray(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)
    options = ["--engine", "ray", "--out", str(tmp_path)]
    error = CliRunner().invoke(app, [*BUILD, *options]).exception
    assert isinstance(error, ConfigError)
    assert "pip install ray" in str(error)
