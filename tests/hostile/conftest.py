"""A small honest run, of which hostile tests make changed copies."""

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest
from corpus import hostile_files, hostile_runs

import fin_tasks
from fin_tasks.benchmarks.scored_task import score_task
from fin_tasks.benchmarks.task_file import TaskFile
from fin_tasks.saved.run_folder import SavedRun, write_run

TASK = "xfinbench_bool"
MAX_MEMORY = 1_500_000_000  # bytes
CHILD = Path(__file__).with_name("run_commands.py")
Named = list[tuple[str, Path]]
"""What is hostile, by name."""


@dataclass(frozen=True)
class End:
    """How a command ended."""

    file: str
    status: int
    console: str
    seconds: float


Run = Callable[[Sequence[tuple[str, list[str]]], Path], list[End]]
"""Run commands, each with the name of a file, in a folder."""


@pytest.fixture(scope="session")
def run() -> Iterator[Run]:
    """Start a process that runs all commands, which may use little memory."""
    environ = {k: v for k, v in os.environ.items() if not k.startswith("FIN_TASKS")}
    environ |= {"OPENAI_API_KEY": "sk-made-up", "HF_HUB_OFFLINE": "1"}
    process = subprocess.Popen(
        [sys.executable, str(CHILD)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env={**environ, "COLUMNS": "1000"},
    )
    assert process.stdin and process.stdout
    requests, answers = process.stdin, process.stdout

    def run_all(calls: Sequence[tuple[str, list[str]]], folder: Path) -> list[End]:
        arguments = [arguments for _, arguments in calls]
        print(json.dumps([str(folder), arguments]), file=requests, flush=True)
        answer = json.loads(answers.readline())
        assert answer["peak"] < MAX_MEMORY
        ends = zip(calls, answer["ends"], strict=True)
        return [End(name, **end) for (name, _), end in ends]

    yield run_all
    requests.close()
    assert process.wait(60) == 0
    answers.close()


@pytest.fixture(scope="session")
def files_of(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Named]:
    """Write hostile files of some kinds, once for all commands, which only read them."""

    @cache
    def write(kinds: str) -> Named:
        return [*hostile_files(tmp_path_factory.mktemp("hostile") / "files", kinds)]

    return write


@pytest.fixture(scope="session")
def broken_runs(honest: Path, tmp_path_factory: pytest.TempPathFactory) -> Named:
    """Copies of the honest run, each broken in another way, for commands that only read them."""
    return [*hostile_runs(honest, tmp_path_factory.mktemp("broken") / "runs")]


@pytest.fixture(scope="session")
def honest(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run of three rows."""
    documents = fin_tasks.load(TASK, source="sample")
    docs = documents.to_list()[:3]
    texts = [[doc["target"]] for doc in docs]
    scored = score_task(TaskFile(TASK), docs, texts)
    facts = json.loads(documents.info.description)
    folder = tmp_path_factory.mktemp("honest")
    run = SavedRun(scored, facts, {})
    write_run(folder, [run], model="m", made_by="replay")
    return folder
