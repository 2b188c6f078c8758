"""The authors' recordings, scored again."""

import json
import statistics
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from fin_tasks.benchmarks.dynostock import SAMPLINGS
from fin_tasks.benchmarks.dynostock.data import Options
from fin_tasks.benchmarks.dynostock.replay import metadata_of, read_recording
from fin_tasks.cli import app
from fin_tasks.errors import DataError


def row(**changes: Any) -> dict[str, Any]:
    times = {"start_time": "2014-03-24", "end_time": "2017-02-07"}
    usual = {"ticker": "ORLY", "bias": 0, "gt": 1, "response": "Final prediction: 0.7"}
    return {**usual, **times, **changes}


RIGHT = row()
LED = row(response="0.2")
OTHER = row(response="0.2", bias=1)
NONE = row(response="no idea")


def write(path: Path, rows: Any) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(rows), encoding="utf-8")
    return path


def run(*arguments: Any) -> Any:
    command = ["replay", "dynostock", *map(str, arguments)]
    return CliRunner().invoke(app, command, env={"COLUMNS": "120"})


def test_a_recording(tmp_path: Path) -> None:
    file = tmp_path / "m" / "exp_recency_12.json"
    found = read_recording(write(file, [row(), row(response=None)]))
    assert found.responses == [["Final prediction: 0.7"], [""]]
    assert (found.bias, found.window) == ("recency", 12)
    assert (found.docs[0]["end"], found.docs[0]["truth"]) == ("2017-02-07", 1)
    ids = {doc["id"] for doc in found.docs}
    assert len(ids) == 2, "a recording may hold a window twice"


@pytest.mark.parametrize(
    "rows", [3, {}, None, [row(gt=2)], [row(bias=None)], [row(), {"gt": 1}], ["text"]]
)
def test_files_that_cannot_be_used(tmp_path: Path, rows: Any) -> None:
    with pytest.raises(DataError, match=r"exp_recency_4\.json: expected"):
        read_recording(write(tmp_path / "exp_recency_4.json", rows))


def test_files_and_their_mean_and_the_run_folder(tmp_path: Path) -> None:
    files = {
        "recency_4": [RIGHT, LED, OTHER, NONE],
        "recency_12": [RIGHT, RIGHT, LED],
        "authority_4": [RIGHT, RIGHT],
    }
    for name, rows in files.items():
        bias = name.partition("_")[0]
        write(tmp_path / bias / "m" / f"exp_{name}.json", rows)
    windows = json.loads(run(tmp_path, "--json").stdout)["windows"]
    found = {(each["bias"], each["window"]): each for each in windows}
    names = [("authority", 4), ("recency", 4), ("recency", 12), ("recency", "mean")]
    assert set(found) == set(names)
    four = found["recency", 4]
    mean = found["recency", "mean"]
    assert (four["n"], four["acc"], four["no_answer"]) == (4, 0.25, 0.25)
    assert four["bias_index"] == pytest.approx(1 / 3)
    assert four["acc_low"] < 0.25 < four["acc_high"]
    assert four["bias_index_low"] < 1 / 3
    for name, values in (("acc", [0.25, 2 / 3]), ("bias_index", [1 / 3, 1.0])):
        assert mean[name] == pytest.approx(statistics.fmean(values))
        assert mean[f"{name}_std"] == pytest.approx(statistics.pstdev(values))
    done = run(tmp_path, "--out", tmp_path / "out", "--model", "mine")
    assert "0.4583" in done.stdout and "0.2083" in done.stdout
    accuracies = {}
    for file in (tmp_path / "out" / "mine").glob("samples_*.jsonl"):
        lines = list(map(json.loads, file.read_text().splitlines()))
        name = file.name.removeprefix("samples_dynostock_").split("_20")[0]
        accuracies[name] = [line["acc"] for line in lines if line["filter"] == "paper"]
    assert accuracies == {
        "authority_w4": [1, 1],
        "recency_w12": [1, 1, 0],
        "recency_w4": [1, 0, 0, 0],
    }


@pytest.mark.parametrize(
    ("model", "sampling", "picture"),
    [
        ("gpt-4o", "paper_api", "last"),
        ("gemini-1.5-pro", "paper_api", "last"),
        ("claude-3-5-sonnet", "paper_claude", "last"),
        ("MGM-7B-HD", "paper_mini_gemini", "first"),
        ("Mini-Gemini-7B-HD", "paper_mini_gemini", "first"),
        ("MiniCPM-Llama3-V-2_5", "paper_minicpm", "first"),
        ("llava-v1.6-mistral-7b-hf-4bit", "paper", "first"),
    ],
)
def test_a_task_can_ask_as_the_authors_asked(
    model: str, sampling: str, picture: str
) -> None:
    metadata = metadata_of(model)
    assert (metadata["sampling"], metadata["picture"]) == (sampling, picture)
    assert metadata["sampling"] in SAMPLINGS
    options = Options(bias="recency", **metadata)
    assert (options.prompts, options.chart) == ("upstream", "paper")
