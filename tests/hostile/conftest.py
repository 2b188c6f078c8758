"""A small honest run, of which hostile tests make changed copies."""

import json
from pathlib import Path

import pytest

import fin_tasks
from fin_tasks.benchmarks.scored_task import score_task
from fin_tasks.benchmarks.task_file import TaskFile
from fin_tasks.saved.run_folder import SavedRun, write_run

TASK = "xfinbench_bool"


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
