"""Six models' recorded programs give back the authors' own verdicts, item by item."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from fin_tasks.benchmarks.financemath.replay import replay_pot
from fin_tasks.errors import SandboxError
from fin_tasks.sandbox import Runner, open_runner

DATA = Path(__file__).resolve().parents[3] / "shared" / "data" / "financemath"
MODELS = (
    "Meta-Llama-3-8B-Instruct",
    "Mixtral-8x7B-Instruct-v0_1",
    "claude-3-5-sonnet-20240620",
    "deepseek-coder",
    "gemma-2b-it",
    "gpt-4o",
)
KNOWN_DIFFERENCES: dict[str, set[str]] = {}
"""Model -> questions that differ from the record; docs/sandbox.md explains each. None does."""

pytestmark = pytest.mark.skipif(not DATA.is_dir(), reason=f"the authors' recordings are not at {DATA}")


@pytest.fixture(scope="module")
def runner() -> Iterator[Runner]:
    try:
        opened = open_runner(workers=2)
    except SandboxError as error:
        pytest.skip(f"no sandbox can be used here: {error}")
    if opened.tier == "monty":
        opened.close()
        pytest.skip("Monty cannot run the programs that use numpy, scipy or sympy")
    with opened:
        yield opened


@pytest.mark.parametrize("model", MODELS)
def test_recorded_programs(runner: Runner, model: str) -> None:
    path = DATA / "pot" / f"{model}.json"
    replay = replay_pot(path, runner=runner)
    recorded = json.loads(path.read_text(encoding="utf-8"))
    names = ("execution_rate", "prediction_executed_result", "acc")
    theirs = {row["question_id"]: tuple(row["result"][name] for name in names) for row in recorded}
    ours = {item["question_id"]: (item["executed"], item["value"], item["acc"]) for item in replay.items()}
    assert len(ours) == len(recorded) == 200
    assert {question for question in theirs if ours[question] != theirs[question]} == KNOWN_DIFFERENCES.get(
        model, set()
    )


@pytest.mark.parametrize("model", MODELS)
def test_published_rates(runner: Runner, model: str) -> None:
    published = json.loads((DATA / "validation_pot_results.json").read_text(encoding="utf-8"))
    (row,) = [row for row in published if row["model_name"] == model]
    summary = replay_pot(DATA / "pot" / f"{model}.json", runner=runner).summary()
    assert summary["execution_rate"] == pytest.approx(row["execution_rate"] / 100)
    assert summary["acc"] == pytest.approx(row["accuracy"] / 100)
    assert summary["unscored"] == 0
    topics = summary["by_topic"]
    for figure, theirs in (("execution_rate", "topic_execution_rate"), ("acc", "topic_accuracy")):
        assert {topic: round(100 * rates[figure], 2) for topic, rates in topics.items()} == row[theirs]
    assert sum(rates["n"] for rates in topics.values()) == summary["n"]


@pytest.mark.parametrize("model", MODELS)
def test_monty_is_never_wrong(model: str) -> None:
    pytest.importorskip("pydantic_monty")
    path = DATA / "pot" / f"{model}.json"
    with open_runner(tier="monty", workers=1) as runner:
        replay = replay_pot(path, runner=runner)
    theirs = [row["result"] for row in json.loads(path.read_text(encoding="utf-8"))]
    pairs = [(item, row) for item, row in zip(replay.items(), theirs, strict=True) if item["executed"] is not None]
    assert [item["executed"] for item, _ in pairs] == [row["execution_rate"] for _, row in pairs]
    assert [item["value"] for item, _ in pairs] == [row["prediction_executed_result"] for _, row in pairs]
    assert len(pairs) >= 190
