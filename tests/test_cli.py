"""The `fin-tasks` command, run as a user runs it."""

import json
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import typer
from PIL import Image

import fin_tasks
from fin_tasks.cli import app, main
from fin_tasks.resources import task_yaml_dir

RESPONSE = {
    "id": "a",
    "ground_truth": "6",
    "model_response": "```python\ndef solution():\n    return 6\n```",
}


def run(*arguments: str, cwd: Path, **environ: str) -> subprocess.CompletedProcess[str]:
    """Run the command in a process of its own."""
    program = str(Path(sys.executable).with_name("fin-tasks"))
    env = {k: v for k, v in os.environ.items() if not k.startswith("FIN_TASKS")}
    env |= {"FIN_TASKS_CACHE": str(cwd / "cache"), "COLUMNS": "200"}
    env |= {"HF_HUB_OFFLINE": "1", **environ}
    command = [program, *arguments]
    return subprocess.run(command, cwd=cwd, env=env, capture_output=True, text=True)


class Done(NamedTuple):
    """How a command ended, and what it printed."""

    status: int
    stdout: str
    stderr: str


Command = Callable[..., Done]


@pytest.fixture
def command(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> Command:
    """Return a function that runs the command in this process, in a folder of the test's own."""
    for name in [name for name in os.environ if name.startswith("FIN_TASKS")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("FIN_TASKS_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("COLUMNS", "200")
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    monkeypatch.chdir(tmp_path)

    def run_here(*arguments: str, **environ: str) -> Done:
        for name, value in environ.items():
            monkeypatch.setenv(name, value)
        monkeypatch.setattr(sys, "argv", ["fin-tasks", *arguments])
        capfd.readouterr()
        with pytest.raises(SystemExit) as ended:
            main()
            sys.exit(0)
        status = ended.value.code
        return Done(status if isinstance(status, int) else 0, *capfd.readouterr())

    return run_here


def commands(command: Any, *names: str) -> Iterator[tuple[tuple[str, ...], Any]]:
    for name, below in getattr(command, "commands", {}).items():
        yield from commands(below, *names, name)
    if not hasattr(command, "commands"):
        yield names, command


def test_every_command_has_examples_that_it_understands() -> None:
    for names, command in commands(typer.main.get_command(app)):
        examples = re.findall(r"^ *Example: (.+)$", command.help, re.MULTILINE)
        assert examples, names
        for example in examples:
            program, *arguments = shlex.split(example)
            if program == "fin-tasks":
                assert tuple(arguments[: len(names)]) == names
                command.make_context("fin-tasks", arguments[len(names) :])


def test_every_option_is_described() -> None:
    for names, command in commands(typer.main.get_command(app)):
        for parameter in command.params:
            assert parameter.help, (names, parameter.name)


def test_version_path_and_help(tmp_path: Path, command: Command) -> None:
    assert run("--version", cwd=tmp_path).stdout.strip() == fin_tasks.__version__
    assert command("path").stdout.strip() == str(task_yaml_dir())
    assert "fin-tasks demo" in "".join(command()[1:])


def test_doctor_names_the_sandbox_and_why(command: Command) -> None:
    found = json.loads(command("doctor", "--json").stdout)
    assert found["tiers"][found["sandbox"]] == "works"
    chosen = command("doctor", "--json", FIN_TASKS_SANDBOX="landlock")
    assert json.loads(chosen.stdout)["sandbox"] == "landlock"


def test_fetch_verify_compares_what_is_cached_with_the_pins(
    tmp_path: Path, command: Command
) -> None:
    assert "test.json is not here" in command("fetch", "financemath", "--verify").stderr
    revision = "bdddc58655947475da852e241b96a7dbd1478742"
    folder = tmp_path / "cache" / "financemath" / revision / "data"
    folder.mkdir(parents=True)
    (folder.parent / "utils").mkdir()
    for name in ("test.json", "validation.json", "../utils/model_input_utils.py"):
        (folder / name).write_text("[]")
    wrong = command("fetch", "financemath", "--verify")
    assert wrong.status == 1
    assert "test.json: expected sha256 8aaabdc9" in wrong.stderr


def test_fetch_verify_checks_the_folder_that_tasks_read(
    tmp_path: Path, command: Command
) -> None:
    folder = tmp_path / "own" / "financemath" / "data"
    folder.mkdir(parents=True)
    (folder / "test.json").write_text("[]")
    own = {"FIN_TASKS_DATA": str(tmp_path / "own")}
    done = command("fetch", "financemath", "--verify", **own)
    assert done.status == 1
    assert done.stdout == f"financemath: 1 files in {folder.parent}\n"
    assert "data/validation.json is missing" in done.stderr
    assert "data/test.json is not the pinned file" in done.stderr
    (folder / "test.json").unlink()
    (folder / "test.jsonl").write_text("{}")
    bizbench = {"FIN_TASKS_DATA": str(folder)}
    assert command("fetch", "bizbench", "--verify", **bizbench).status == 0


@pytest.mark.parametrize("encoding", ["ascii", "utf-8"])
def test_any_terminal_shows_any_name(tmp_path: Path, encoding: str) -> None:
    name = "\udcff"
    environ = {"PYTHONIOENCODING": encoding, "PYTHONUTF8": "0", "LC_ALL": "C"}
    environ["FIN_TASKS_DATA"] = str(tmp_path / name)
    done = run("fetch", "bizbench", "--verify", cwd=tmp_path, **environ)
    assert "0 files in" in done.stdout
    assert "Traceback" not in done.stderr
    words = ("replay", "financemath", "--mode", "cot", f"{name}.jsonl")
    replayed = run(*words, cwd=tmp_path, **environ)
    assert replayed.stderr.count("\n") == 1 and "Traceback" not in replayed.stderr
    assert replayed.stderr.startswith("fin-tasks: error: ")


def test_chart_draws_and_prints_its_name(tmp_path: Path, command: Command) -> None:
    days = ("--start", "2010-01-04", "--end", "2010-12-31")
    done = command("chart", "AAPL", "--sample", *days)
    assert done.stdout == "AAPL_2010-01-04_2010-12-31.png\n"
    with Image.open(tmp_path / "AAPL_2010-01-04_2010-12-31.png") as picture:
        assert max(picture.size) == 2048  # what models see


def test_replay_prints_one_object_and_writes_a_run_folder(
    tmp_path: Path, command: Command
) -> None:
    (tmp_path / "r.jsonl").write_text(json.dumps(RESPONSE) + "\n")
    arguments = ("replay", "xfinbench", "--task", "calc", "--mode", "pot", "r.jsonl")
    done = command(*arguments, "--json", "--out", "runs", "--model", "org/m")
    summary = json.loads(done.stdout)
    assert summary["n"] == 1
    assert (summary["paper"]["acc"], summary["robust"]["execution_rate"]) == (1.0, 1.0)
    folder = tmp_path / "runs" / "org__m"
    (samples,) = folder.glob("samples_xfinbench_calc_pot_*.jsonl")
    lines = [json.loads(line) for line in samples.read_text().splitlines()]
    scores = [(line["filter"], line["answer"], line["acc"]) for line in lines]
    assert scores == [("paper", 6, 1), ("robust", 6, 1)]
    assert {line["doc"]["id"] for line in lines} == {RESPONSE["id"]}
    assert [line["resps"] for line in lines] == [[[RESPONSE["model_response"]]]] * 2
    (results,) = folder.glob("results_*.json")
    totals = json.loads(results.read_text())["results"]["xfinbench_calc_pot"]
    assert totals["acc,paper"] == 1.0
    assert "paper.acc_err" in command(*arguments, "--all").stdout
    screen = command(*arguments).stdout
    assert "Accuracy, within the margin" in screen and "paper." not in screen
    assert "xfinbench_calc_pot, 1 of 1 questions" in screen
    assert len(screen.splitlines()) <= 24 and "more rows" not in screen
    both = command(*arguments, "r.jsonl", "--json", "--model", "org/m")
    assert [json.loads(line) for line in both.stdout.splitlines()] == [summary, summary]


def test_what_a_strangers_file_says_cannot_steer_the_terminal(
    tmp_path: Path, command: Command
) -> None:
    name = "[red]\x1b[31mb.jsonl"
    (tmp_path / name).write_text(
        json.dumps({"question_id": "a", "output": "6", "ground_truth": 6}) + "\n"
    )
    done = command("replay", "financemath", "--mode", "cot", name)
    assert done.status == 0, done.stderr
    assert "[red]" in done.stdout
    assert "\x1b" not in done.stdout
    (tmp_path / "r.csv").write_text("id,\x1b[31m\n1,2\n")
    refused = command("replay", "xfinbench", "--task", "bool", "r.csv")
    assert refused.status == 1
    assert "\x1b" not in refused.stderr


def test_a_run_folder_holds_any_text(tmp_path: Path, command: Command) -> None:
    row = '{"id": "\\ud800", "ground_truth": 1, "model_response": "Therefore, my answer is true."}\n'
    (tmp_path / "r.jsonl").write_text(row)
    replay = ("replay", "xfinbench", "--task", "bool", "r.jsonl", "--out")
    done = command(*replay, "runs")
    assert done.status == 0, done.stderr
    (samples,) = (tmp_path / "runs" / "r").glob("samples_*.jsonl")
    assert json.loads(samples.read_text().splitlines()[0])["doc"]["id"] == "\ud800"
    (tmp_path / "file").write_text("")
    refused = command(*replay, "file/runs")
    assert refused.status == 1
    assert "expected a folder that can be written" in refused.stderr


SAMPLE_CHART = "--sample --start 2010-01-02 --end 2010-01-03"


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("replay xfinbench --task bool none.csv", "No such file"),
        ("replay financemath --mode cot none.json", "none.json"),
        (f"chart NONE {SAMPLE_CHART}", "expected tickers among AAPL"),
        (f"chart AAPL {SAMPLE_CHART} --prices x.csv", "expected no --prices"),
        (f"chart AAPL {SAMPLE_CHART}", "found prices from 2000-03-01 to 2013-03-01"),
    ],
)
def test_errors_are_one_line_and_status_one(
    words: str, message: str, command: Command
) -> None:
    done = command(*words.split())
    assert (done.status, done.stderr.count("\n")) == (1, 1)
    assert done.stderr.startswith("fin-tasks: error: ") and message in done.stderr
