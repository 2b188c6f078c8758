"""Broken runs and rows among good ones: each command uses all good ones, and names the others."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from corpus import ROWS, hostile_runs
from submissions import submit

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two good runs, and copies of one of them that are broken in every way we know."""
    folder = tmp_path_factory.mktemp("among") / "runs"
    submit(folder / "a", model="model-a")
    submit(folder / "b", model="model-b")
    names = [name for name, _ in hostile_runs(folder / "a", folder / "broken")]
    assert len(names) > 30
    return folder


def parsed(console: str) -> Any:
    start = min(i for i in (console.find("{"), console.find("[")) if i >= 0)
    value, _ = json.JSONDecoder().raw_decode(console[start:])
    return value


@pytest.mark.parametrize("command", ["compare", "questions", "verify --source sample"])
def test_good_runs_are_used(command: str, runs: Path, run: Any, tmp_path: Path) -> None:
    words = command.split()
    alone = tmp_path / "alone"
    for name in ("a", "b"):
        shutil.copytree(runs / name, alone / name)
    ends = run(
        [
            ("alone", [*words, str(alone), "--json"]),
            ("among others", [*words, str(runs), "--json"]),
        ],
        tmp_path,
    )
    for end in ends:
        assert end.status in (0, 1, 3), end.console[-2000:]
        assert "Traceback" not in end.console
    told = [end.console for end in ends]
    for model in ("model-a", "model-b"):
        assert all(model in text for text in told) or command == "questions"
    if command == "questions":
        first, second = (parsed(text)["questions"] for text in told)
        assert {row["question"] for row in first} == {row["question"] for row in second}


def test_good_rows_are_scored(run: Any, tmp_path: Path) -> None:
    sample = tmp_path / "sample.jsonl"
    submit(tmp_path / "sent", model="model-a")
    (samples,) = (tmp_path / "sent").rglob("samples_*")
    docs = [json.loads(line)["doc"] for line in samples.read_text().splitlines()[::2]]
    good = [
        {"id": doc["id"], "response": f"Therefore, my answer is {doc['target']}."}
        for doc in docs
    ]
    rows = [json.dumps(row) for row in good]
    broken = [json.dumps(row) for row in ROWS.values()]
    sample.write_text("\n".join([*rows[:5], *broken, *rows[5:]]) + "\n")
    words = ["replay", "task", "xfinbench_bool", str(sample), "--json"]
    (end,) = run([("replay", [*words, "--metadata", '{"source": "sample"}'])], tmp_path)
    assert end.status == 0, end.console[-2000:]
    assert "Traceback" not in end.console
    told = parsed(end.console)
    assert (told["n"], told["n_all"], told["acc"]) == (len(good), len(good), 1.0)
