"""A small honest run, of which hostile tests make changed copies."""

import json
from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest
from corpus import hostile_files, hostile_runs

import fin_tasks
from fin_tasks.benchmarks.scored_task import score_task
from fin_tasks.benchmarks.task_file import TaskFile
from fin_tasks.saved.run_folder import SavedRun, write_run

TASK = "xfinbench_bool"


Named = list[tuple[str, Path]]
"""What is hostile, by name."""


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
