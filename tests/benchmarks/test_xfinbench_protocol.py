"""BizBench and FinanceMath asked and scored as XFinBench's long paper does."""

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from fin_tasks.answers.types import Reading
from fin_tasks.benchmarks import benchmark_named
from fin_tasks.benchmarks.contract import id_of
from fin_tasks.benchmarks.financemath import score
from fin_tasks.benchmarks.task_file import TaskFile
from fin_tasks.cli import app
from fin_tasks.errors import ConfigError
from fin_tasks.report import read
from fin_tasks.report.conditions import conditions_of
from fin_tasks.sandbox import Outcome, Ran, Status

SAMPLE = {"source": "sample", "protocol": "xfinbench"}
TEMPLATES = {
    "Sys_msg/CoT": "You know.",
    "Sys_msg/DA": "You know.",
    "Sys_msg/PoT": "You code.",
    "bool_CoT": "{knowledge}\n\n{question}",
    "bool_DA": "{knowledge}\n\n{question}",
    "mcq_CoT": "{knowledge}\n\nAsk: {question}\nOf:\\n{choices}\nThink.",
    "mcq_DA": "{knowledge}\n\n{question}{choices}",
    "calcu_CoT": "{knowledge}\n\nAsk: {question}\nThink.",
    "calcu_DA": "{knowledge}\n\nAsk: {question}",
    "calcu_PoT": "{knowledge}\n\nAsk: {question}\nCode.\\n```python\\n",
}
ROW = {
    "question_id": "validation-0",
    "question": "What is a third? ",
    "tables": ["| a |\n", "| b |"],
    "python_solution": "def solution():\n    return 1 / 3",
    "ground_truth": 0.333,
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with a question of FinanceMath, and templates of ours in the shape of XFinBench's."""
    (tmp_path / "financemath").mkdir()
    (tmp_path / "financemath" / "validation.json").write_text(json.dumps([ROW]))
    templates = tmp_path / "xfinbench" / "evaluate" / "prompt_template"
    (templates / "Sys_msg").mkdir(parents=True)
    for name, text in TEMPLATES.items():
        (templates / f"{name}.txt").write_text(text)
    return tmp_path


def loaded(benchmark: str, **options: Any) -> tuple[list[dict[str, Any]], Any]:
    (docs,) = benchmark_named(benchmark).load(**options).values()
    return docs.to_list(), json.loads(docs.info.description)


def test_financemath_in_the_words_of_xfinbench(folder: Path) -> None:
    options = {"data_dir": str(folder), "protocol": "xfinbench"}
    (doc,), facts = loaded("financemath", mode="cot", **options)
    start = "Question: Table 1:\n| a |\n\nTable 2:\n| b |\n\nWhat is a third?\n\nWork"
    assert doc["prompt"].startswith(start)
    assert doc["target"] == "Therefore, my answer is [0.333]."
    assert (facts["protocol"], facts["prompts"]["set"]) == ("xfinbench", "house")
    (own,), own_facts = loaded("financemath", mode="cot", data_dir=str(folder))
    assert own["prompt"] != doc["prompt"]
    assert "protocol" not in own and "protocol" not in own_facts


def test_the_authors_templates_are_filled(folder: Path) -> None:
    options = {"data_dir": str(folder), "protocol": "xfinbench", "prompts": "upstream"}
    (doc,), facts = loaded("financemath", mode="pot", **options)
    tables = "Table 1:\n| a |\n\nTable 2:\n| b |"
    question = f"Ask: {tables}\n\nWhat is a third?\nCode.\\n```python\\n"
    assert (doc["system"], doc["prompt"].strip("\n")) == ("You code.", question)
    assert facts["prompts"]["set"] == "upstream"


# The file's truth is 0.333, and the exact one is 1/3.
# XFinBench's authors take 0.5 %, a factor of 100, and only what follows the marker.
@pytest.mark.parametrize(
    ("response", "paper", "robust"),
    [
        ("Therefore, my answer is [0.3345].", 1.0, 1.0),
        ("Therefore, my answer is [0.336].", 0.0, 0.0),
        ("Therefore, my answer is [0.3314].", 1.0, 0.0),
        ("Therefore, my answer is [33.3].", 1.0, 0.0),
        ("Therefore, my answer is [3.33].", 0.0, 0.0),
        ("The answer is 0.333.", 0.0, 1.0),
    ],
)
def test_financemath_by_the_rule_of_xfinbench(
    response: str, paper: float, robust: float
) -> None:
    doc = {"mode": "cot", "ground_truth": 0.333, "exact_truth": 1 / 3}
    doc |= {"protocol": "xfinbench"}
    values = {}
    for scoring in ("paper", "robust"):
        reading = score.read(doc, response, scoring=scoring)
        values[scoring] = score.metric_values(doc, [reading])["acc"]
    assert values == {"paper": paper, "robust": robust}


def test_a_program_is_taken_and_read_as_by_xfinbench() -> None:
    doc = {"mode": "pot", "ground_truth": 0.0, "exact_truth": 0.0}
    response = "```python\nimport argparse\ndef solution():\n    return 1\n```"
    assert score.programs(doc, response, scoring="paper") == (None,)
    doc |= {"protocol": "xfinbench"}
    (program,) = score.programs(doc, response, scoring="paper")
    assert program is not None and "val_ = solution()" in program
    failed = Ran(response, (Outcome(status=Status.exception),))
    reading: Reading = score.read(doc, failed, scoring="paper")
    # A failed program has the answer 0, which is equal to the truth, but 0 is near nothing.
    assert (reading.answer, score.compare(doc, reading).correct) == (0.0, False)
    broken = Ran("", (Outcome(status=Status.broken),))
    for scoring in ("paper", "robust"):
        reading = score.read(doc, broken, scoring=scoring)
        assert score.metric_values(doc, [reading])["unscored"] == 1.0


def test_the_columns_of_bizbench() -> None:
    options = {"part": "paper_choice", "mode": "cot"}
    choices, _ = loaded("bizbench", **options, **SAMPLE)
    own, _ = loaded("bizbench", **options, source="sample")
    assert [doc["id"] for doc in choices] == [doc["id"] for doc in own]
    for doc in choices:
        assert f"Choices:\nA. {doc['options'][0]}" in doc["prompt"]
    numbers, facts = loaded("bizbench", part="paper_quantity", mode="pot", **SAMPLE)
    assert all(doc["prompt"].startswith("Question: ") for doc in numbers)
    assert not any("ocument:" in doc["prompt"] for doc in numbers)
    assert facts["protocol"] == "xfinbench"


def test_what_the_paper_does_not_ask_is_refused() -> None:
    with pytest.raises(ConfigError, match="paper_choice, paper_quantity"):
        loaded("bizbench", part="secnum", mode="cot", **SAMPLE)
    with pytest.raises(ConfigError, match="protocol: expected xfinbench"):
        options = {"source": "sample", "protocol": "other"}
        loaded("financemath", mode="cot", **options)
    with pytest.raises(ConfigError, match="expected no protocol"):
        loaded("financereasoning", level="hard", mode="cot", protocol="xfinbench")


@pytest.mark.parametrize("task", ["bizbench_paper_choice", "financemath"])
def test_the_printed_values_stand_in_the_column_of_the_protocol(
    task: str, tmp_path: Path
) -> None:
    metadata = {"source": "sample", "protocol": "xfinbench", "sample_n": 3}
    docs, _ = TaskFile(task).load(metadata)
    file = tmp_path / "responses.jsonl"
    lines = [json.dumps({"id": id_of(doc), "response": doc["target"]}) for doc in docs]
    file.write_text("\n".join(lines))
    command = ["replay", "task", task, str(file), "--metadata", json.dumps(metadata)]
    command += ["--model", "m", "--out", str(tmp_path / "run")]
    CliRunner().invoke(app, command, catch_exceptions=False)
    results = read(tmp_path / "run").runs[0].tasks
    (column,) = {conditions_of(result).id("paper") for result in results}
    assert column.endswith("/style=xfinbench protocol")
    printed = benchmark_named("xfinbench").text_of("published.csv") or ""
    split = benchmark_named(task.partition("_")[0]).usual_split
    assert column.replace("split=sample", f"split={split}") in printed
