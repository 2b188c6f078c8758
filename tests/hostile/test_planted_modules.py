"""Modules that a stranger put beside the runs are never imported, also not by other processes."""

import subprocess
import sys
from pathlib import Path

import pytest
from run_files import write_run

MODULES = ("lz4", "joblib", "numpy", "sitecustomize", "multiprocessing", "encodings")
N_RUNS = 2
N_BLANKS = 40_000_000  # two files of such a size are read by several processes


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return a folder with runs, and with modules that leave a file where they are imported."""
    folder = tmp_path / "submissions"
    for number in range(N_RUNS):
        task = {"xfinbench_calc": [{"acc": value} for value in (1.0, 0.0)]}
        file = write_run(folder / f"model-{number}", task, model=f"model-{number}")
        file.write_text(file.read_text() + " " * N_BLANKS)
    for name in MODULES:
        code = f"open({str(tmp_path / 'imported')!r}, 'a').write({name!r})\n"
        if name in ("joblib", "multiprocessing"):
            (folder / name).mkdir()
            (folder / name / "__init__.py").write_text(code)
        else:
            (folder / f"{name}.py").write_text(code)
    return folder


@pytest.mark.slow
@pytest.mark.parametrize("started", ["fin-tasks", "python -m fin_tasks"])
def test_workers_import_nothing_of_the_current_folder(
    started: str, folder: Path, tmp_path: Path
) -> None:
    command = [str(Path(sys.executable).with_name("fin-tasks"))]
    if started != "fin-tasks":
        command = [sys.executable, "-m", "fin_tasks"]
    done = subprocess.run(
        [*command, "report", ".", "--out", str(tmp_path / "page")],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )
    assert not (tmp_path / "imported").exists(), (tmp_path / "imported").read_text()
    assert done.returncode == 0, done.stderr
    assert f"Runs: {N_RUNS}" in done.stdout
