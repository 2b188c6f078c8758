"""Six models' recorded programs and chains of thought: the authors' own verdicts, item by item."""

import json
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from fin_tasks.benchmarks.financemath.score import compare
from fin_tasks.benchmarks.scored_task import ScoredTask, score_task
from fin_tasks.benchmarks.task_file import TaskFile
from fin_tasks.saved.recordings import read_financemath

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
    """Return a file scored by us, and the authors' rows."""
    path = DATA / mode / f"{model}.json"
    recording = read_financemath(path, mode=mode)
    task_file = TaskFile("financemath" if mode == "cot" else "financemath_pot")
    task = score_task(task_file, recording.docs, recording.responses)
    return task, json.loads(path.read_text(encoding="utf-8"))


@pytest.mark.parametrize("model", AGREE)
def test_programs_and_published_rates(model: str) -> None:
    task, rows = scored(model, "pot")
    found = [
        compare(doc, reading)
        for doc, (reading,) in zip(task.docs, task.readings["paper"], strict=True)
    ]
    ours = [
        (int(one.answer is not None), one.answer, int(bool(one.correct)))
        for one in found
    ]
    names = ("execution_rate", "prediction_executed_result", "acc")
    assert ours == [tuple(row["result"][name] for name in names) for row in rows]
    published = json.loads(
        (DATA / "validation_pot_results.json").read_text(encoding="utf-8")
    )
    (theirs,) = (row for row in published if row["model_name"] == model)
    topics = pd.Series([doc["topic"] for doc in task.docs])
    values = pd.DataFrame(task.values["paper"])
    assert (len(values), values["unscored"].sum()) == (200, 0)
    for metric, rates in (
        ("execution_rate", "topic_execution_rate"),
        ("acc", "topic_accuracy"),
    ):
        by_topic = 100 * values[metric].groupby(topics).mean()
        assert by_topic.round(2).to_dict() == theirs[rates]


@pytest.mark.parametrize("model", AGREE)
def test_words(model: str) -> None:
    task, rows = scored(model, "cot")
    agree = [
        values["acc"] == row["result"]["acc"]
        for values, row in zip(task.values["paper"], rows, strict=True)
    ]
    assert (sum(agree), len(agree)) == (AGREE[model], 200)
