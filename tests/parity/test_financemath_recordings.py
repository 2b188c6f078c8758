"""Six models' recorded programs and chains of thought: the authors' own verdicts, item by item."""

import json
import operator
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from loopback import Loopback
from typer.testing import CliRunner

from fin_tasks.benchmarks.contract import id_of
from fin_tasks.benchmarks.financemath.score import compare
from fin_tasks.benchmarks.scored_task import ScoredTask
from fin_tasks.cli import app
from fin_tasks.recordings.catalog import read_catalog
from fin_tasks.report import read
from fin_tasks.saved.scoring import score_file

DATA = Path(__file__).resolve().parents[3] / "shared" / "data" / "financemath"
AGREE = {
    "Meta-Llama-3-8B-Instruct": 198,
    "Mixtral-8x7B-Instruct-v0_1": 197,
    "claude-3-5-sonnet-20240620": 196,
    "deepseek-coder": 198,
    "gemma-2b-it": 200,
    "gpt-4o": 199,
}
"""Model -> recorded chains of thought, of 200, whose verdict is ours: 1,188 of 1,200. A chat model read the others."""

pytestmark = [
    pytest.mark.skipif(
        not DATA.is_dir(), reason=f"the authors' recordings are not at {DATA}"
    ),
    pytest.mark.slow,
]


def scored(model: str, mode: str) -> tuple[ScoredTask, list[dict[str, Any]]]:
    """Return a file scored by the published truths, and the authors' rows in the same order."""
    path = DATA / mode / f"{model}.json"
    name = "financemath" if mode == "cot" else "financemath_pot"
    task = score_file(name, path, {"data_dir": str(DATA.parent)}).scored
    rows = {row["question_id"]: row for row in json.loads(path.read_text("utf-8"))}
    return task, [rows[id_of(doc)] for doc in task.docs]


@pytest.mark.parametrize("model", AGREE)
def test_programs_and_published_rates(model: str) -> None:
    task, rows = scored(model, "pot")
    for doc, (reading,), row in zip(
        task.docs, task.readings["paper"], rows, strict=True
    ):
        score = compare(doc, reading)
        result = row["result"]
        assert score.answer == result["prediction_executed_result"]
        assert (score.answer is not None) == result["execution_rate"]
        assert score.correct == result["acc"]
    published = json.loads((DATA / "validation_pot_results.json").read_text())
    (theirs,) = [row for row in published if row["model_name"] == model]
    topics = pd.Series([doc["topic"] for doc in task.docs])
    values = pd.DataFrame(task.values["paper"])
    assert (len(values), values["unscored"].sum()) == (200, 0)
    means = (100 * values.groupby(topics).mean()).round(2)
    assert means["execution_rate"].to_dict() == theirs["topic_execution_rate"]
    assert means["acc"].to_dict() == theirs["topic_accuracy"]


@pytest.mark.parametrize("model", AGREE)
def test_words(model: str) -> None:
    task, rows = scored(model, "cot")
    ours = [values["acc"] for values in task.values["paper"]]
    theirs = [row["result"]["acc"] for row in rows]
    assert len(ours) == 200
    assert sum(map(operator.eq, ours, theirs)) == AGREE[model]


@pytest.fixture
def repository_server(
    no_proxy: None, own_cache: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Loopback]:
    """Serve the six models' files where the pins of `fin-tasks recordings` expect them."""
    monkeypatch.setattr("time.sleep", lambda seconds: None)
    (recorded,) = [each for each in read_catalog() if each.benchmark == "financemath"]
    root = f"/{recorded.repository}/{recorded.commit}"
    with Loopback() as running:
        for part in recorded.parts:
            for file in part.files:
                if file.model in AGREE:
                    path = DATA / part.mode / f"{file.model}.json"
                    running.files[f"{root}/{file.path}"] = path.read_bytes()
        monkeypatch.setenv("FIN_TASKS_GITHUB_RAW", running.url)
        yield running


def test_six_models_by_one_command(repository_server: Loopback, tmp_path: Path) -> None:
    out = tmp_path / "results"
    command = ["recordings", "financemath", "--models", ",".join(AGREE)]
    command += ["--out", str(out)]
    (late,) = [name for name in repository_server.files if "cot_outputs/gpt-4o" in name]
    body = repository_server.files.pop(late)
    assert CliRunner().invoke(app, command).exit_code == 1
    repository_server.files[late] = body
    result = CliRunner().invoke(app, command)
    assert result.exit_code == 0, result.output
    found = {}
    for run, task in read(out).results:
        model = run.model.removeprefix("recorded/")
        found[model, task.task] = task.totals["paper"]["acc"]
    assert len(found) == 2 * len(AGREE)
    for model, agree in AGREE.items():
        of_programs = authors_mean(model, "pot")
        assert found[model, "financemath_pot"] == pytest.approx(of_programs)
        difference = abs(found[model, "financemath"] - authors_mean(model, "cot"))
        assert difference <= (200 - agree) / 200 + 1e-9


def authors_mean(model: str, mode: str) -> float:
    rows = json.loads((DATA / mode / f"{model}.json").read_text())
    return sum(row["result"]["acc"] for row in rows) / len(rows)
