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
    return {
        "ticker": "ORLY",
        **times,
        "bias": 0,
        "gt": 1,
        "response": "Final prediction: 0.7",
        **changes,
    }


RIGHT, LED, OTHER, NONE = (
    row(),
    row(response="0.2"),
    row(response="0.2", bias=1),
    row(response="no idea"),
)


def write(path: Path, rows: Any) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(rows), encoding="utf-8")
    return path


def run(*arguments: Any) -> Any:
    return CliRunner().invoke(
        app, ["replay", "dynostock", *map(str, arguments)], env={"COLUMNS": "120"}
    )


def test_a_recording(tmp_path: Path) -> None:
    found = read_recording(
        write(tmp_path / "m" / "exp_recency_12.json", [row(), row(response=None)])
    )
    assert found.responses == [["Final prediction: 0.7"], [""]]
    assert (found.bias, found.window, found.docs[0]["end"], found.docs[0]["truth"]) == (
        "recency",
        12,
        "2017-02-07",
        1,
    )
    assert len({doc["id"] for doc in found.docs}) == 2, (
        "a recording may hold a window twice"
    )


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
        write(tmp_path / name.split("_")[0] / "m" / f"exp_{name}.json", rows)
    windows = json.loads(run(tmp_path, "--json").stdout)["windows"]
    found = {(one["bias"], one["window"]): one for one in windows}
    assert found.keys() == {
        ("authority", 4),
        ("recency", 4),
        ("recency", 12),
        ("recency", "mean"),
    }
    four, mean = found["recency", 4], found["recency", "mean"]
    assert (four["n"], four["acc"], four["bias_index"], four["no_answer"]) == (
        4,
        0.25,
        pytest.approx(1 / 3),
        0.25,
    )
    assert four["acc_low"] < 0.25 < four["acc_high"] and four["bias_index_low"] < 1 / 3
    for name, values in (("acc", [0.25, 2 / 3]), ("bias_index", [1 / 3, 1.0])):
        assert mean[name] == pytest.approx(statistics.fmean(values))
        assert mean[f"{name}_std"] == pytest.approx(statistics.pstdev(values))
    done = run(tmp_path, "--out", tmp_path / "out", "--model", "mine")
    assert "0.4583" in done.stdout and "0.2083" in done.stdout
    written = sorted((tmp_path / "out" / "mine").glob("samples_*.jsonl"))
    names = [
        f"samples_dynostock_{name}"
        for name in ("authority_w4", "recency_w12", "recency_w4")
    ]
    assert [path.name.split("_20")[0] for path in written] == names
    lines = [
        json.loads(line)
        for path in written
        for line in path.read_text(encoding="utf-8").splitlines()
    ]
    assert [line["acc"] for line in lines if line["filter"] == "paper"] == [
        1,
        1,
        1,
        1,
        0,
        1,
        0,
        0,
        0,
    ]


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
