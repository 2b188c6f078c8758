"""Runs per style: what is asked of lm-eval, what is not run again, and what never reaches the disk."""

import json
import os
from pathlib import Path
from typing import Any

import pytest

from fin_tasks.benchmarks.xfinbench.prompts import STYLES
from fin_tasks.errors import ConfigError
from fin_tasks.report import style_runs
from fin_tasks.report.held_run import alone_in
from fin_tasks.report.style_runs import Failure, run_styles


class Runs:
    """Stands for lm-eval: notes the commands, leaves samples, and fails in one style where told."""

    def __init__(self) -> None:
        self.commands: list[list[str]] = []
        self.fails = ""

    def __call__(self, command: list[str], held: int, **_: Any) -> int:
        os.fstat(held)  # still open
        self.commands.append(command)
        folder = Path(command[command.index("--output_path") + 1])
        if folder.name == self.fails:
            return 7
        (folder / "model").mkdir(exist_ok=True)
        (folder / "model" / "samples_xfinbench_bool_2026-03-01T10-00-00.1.jsonl").touch()
        return 0

    @property
    def styles(self) -> list[str]:
        return [json.loads(command[-1])["style"] for command in self.commands]


@pytest.fixture
def runs(monkeypatch: pytest.MonkeyPatch) -> Runs:
    found = Runs()
    monkeypatch.setattr(style_runs, "run_held", found)
    return found


def run(out: Path, *arguments: str, tasks: str = "xfinbench_text") -> Failure | None:
    return run_styles(out, tasks=tasks, arguments=arguments, notify=lambda _: None)


def test_every_style_is_run_once(runs: Runs, tmp_path: Path) -> None:
    assert run(tmp_path, "--model", "hf") is None
    assert runs.styles == list(STYLES)
    command = runs.commands[1]
    assert command[1:6] == ["-m", "fin_tasks.cli", "lm-eval", "--model", "hf"]
    assert command[command.index("--tasks") + 1] == "xfinbench_text"
    assert command[command.index("--output_path") + 1] == str(tmp_path / "da_role")
    assert "--log_samples" in command
    assert run(tmp_path, "--model", "hf") is None
    assert len(runs.commands) == 4


def test_a_stopped_study_goes_on_where_it_failed(runs: Runs, tmp_path: Path) -> None:
    runs.fails = "cot"
    assert run(tmp_path) == Failure("cot", 7)
    assert runs.styles == ["cot_role", "da_role", "cot"]
    runs.fails = ""
    assert run(tmp_path) is None
    assert runs.styles[3:] == ["cot", "da"]


def test_a_run_that_was_killed_at_its_end_is_run_again(runs: Runs, tmp_path: Path) -> None:
    run(tmp_path)
    mark = tmp_path / "da" / "run.json"
    mark.write_text(json.dumps({**json.loads(mark.read_text()), "finished": False}))
    run(tmp_path)
    assert runs.styles[4:] == ["da"]


@pytest.mark.parametrize("change", [{"arguments": ("--limit", "4")}, {"tasks": "xfinbench_bool"}])
def test_results_of_other_arguments_are_not_mixed_in(change: dict[str, Any], runs: Runs, tmp_path: Path) -> None:
    run(tmp_path)
    with pytest.raises(ConfigError, match="cot_role: expected results of the same arguments or none, found others"):
        run(tmp_path, *change.get("arguments", ()), tasks=change.get("tasks", "xfinbench_text"))
    (tmp_path / "cot_role" / "run.json").write_text("{")
    with pytest.raises(ConfigError, match="found others"):
        run(tmp_path)
    assert len(runs.commands) == 4


@pytest.mark.parametrize("argument", ["--tasks", "-t", "--output_path=x", "-o"])
def test_what_the_command_sets_itself_is_refused(argument: str, runs: Runs, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="tasks and folders are set here"):
        run(tmp_path, "--model", "hf", argument, "x")
    assert not runs.commands


def test_keys_among_the_arguments_are_not_written(runs: Runs, tmp_path: Path) -> None:
    run(tmp_path, "--model_args", "model=m,api_key=hush")
    written = [path.read_text() for path in tmp_path.rglob("*") if path.is_file()]
    assert len(written) == 12  # mark, lock and samples of each
    assert not any("hush" in text for text in written)


def test_a_style_that_somebody_else_runs_is_refused(runs: Runs, tmp_path: Path) -> None:
    with alone_in(tmp_path / "da_role"), pytest.raises(ConfigError, match="da_role: expected nobody at work there"):
        run(tmp_path)
    assert runs.styles == ["cot_role"]
    assert run(tmp_path) is None
    assert runs.styles == list(STYLES)
