"""The authors' prompts are read from their code, here from a file of ours with the same shape."""

import json
from pathlib import Path
from typing import Any

import pytest

from fin_tasks.benchmarks.financemath import data
from fin_tasks.errors import ConfigError, DataError

CODE = '''
import os

os.abort()  # the file is parsed, never executed


def prepare_pot_model_input(examples, model):
    prompts = []
    for example in examples:
        system_input = """You write code.
One function, \\\\n and no more."""
        program_prefix_input = "Write it now.\\n```python\\ndef solution():\\n"
        question_input = f"Question: {example['question']}\\n"
        table_input = ""
        if example["tables"]:
            table_input = "Look at this:\\n"
            for table in example["tables"]:
                table_input += table + "\\n"
            question_input = table_input + "\\n" + question_input
        user_input = question_input + "\\n" + program_prefix_input
        prompts.append([system_input, user_input])
    return prompts


def prepare_cot_model_input(examples, model):
    prompts = []
    for example in examples:
        system_input = "You think. " "Then you answer."
        program_prefix_input = "Think now."
        question_input = f"Question: {example['question']}\\n"
        if example["tables"]:
            tables = "\\n\\n".join(example["tables"])
            question_input = f"Table:\\n{tables}\\n" + "\\n" + question_input
        user_input = question_input + "\\n" + program_prefix_input
        prompts.append([system_input, user_input])
    return prompts
'''
ROW: dict[str, Any] = {
    "question_id": "validation-0",
    "question": "What is a third? ",
    "tables": ["| a |", "| b |"],
    "python_solution": "def solution():\n    return 1 / 3",
    "ground_truth": 0.333,
}


def asked(
    folder: Path, mode: str, **options: Any
) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    rows = [ROW, {**ROW, "question_id": "validation-1", "tables": []}]
    (folder / "validation.json").write_text(json.dumps(rows))
    options = {"data_dir": str(folder), "prompts": "upstream", **options}
    documents = data.load(mode=mode, **options)["test"]  # type: ignore[arg-type]
    return documents.to_list(), json.loads(documents.info.description)


@pytest.mark.parametrize(
    "place", ["utils/model_input_utils.py", "model_input_utils.py"]
)
def test_the_authors_prompts(tmp_path: Path, place: str) -> None:
    (tmp_path / "utils").mkdir()
    (tmp_path / place).write_text(CODE)
    (first, second), facts = asked(tmp_path, "pot")
    prefix = "\n\nWrite it now.\n```python\ndef solution():\n"
    assert first["system"] == "You write code.\nOne function, \\n and no more."
    assert (
        first["prompt"]
        == f"Look at this:\n| a |\n| b |\n\nQuestion: What is a third? {prefix}"
    )
    assert second["prompt"] == f"Question: What is a third? {prefix}"
    assert (first["cue"], facts["prompts"]["set"]) == ("", "upstream")
    (first, second), others = asked(tmp_path, "cot")
    prefix = "\n\nThink now."
    assert first["system"] == "You think. Then you answer."
    assert (
        first["prompt"]
        == f"Table:\n| a |\n\n| b |\n\nQuestion: What is a third? {prefix}"
    )
    assert second["prompt"] == f"Question: What is a third? {prefix}"
    assert others["prompts"]["sha256"] != facts["prompts"]["sha256"]


def test_the_questions_may_be_named_as_a_file(tmp_path: Path) -> None:
    (tmp_path / "model_input_utils.py").write_text(CODE)
    docs, _ = asked(tmp_path, "cot", data_dir=str(tmp_path / "validation.json"))
    assert docs[0]["system"] == "You think. Then you answer."


def test_the_sample_takes_the_authors_prompts_from_elsewhere(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "model_input_utils.py").write_text(CODE)
    monkeypatch.setenv("FIN_TASKS_DATA", str(tmp_path))
    docs = data.load(mode="cot", source="sample", prompts="upstream")["test"]
    assert set(docs["system"]) == {"You think. Then you answer."}


@pytest.mark.parametrize(
    ("code", "message"),
    [
        (
            CODE.replace("prepare_cot", "prepare"),
            "the function prepare_cot_model_input, found none",
        ),
        (
            CODE.replace('"Think now."', "other()"),
            "a text in program_prefix_input, found none",
        ),
        ("def (", "expected Python code"),
        (None, r"expected utils/model_input_utils\.py in "),
    ],
)
def test_a_file_that_cannot_be_read_is_one_sentence(
    tmp_path: Path, code: str | None, message: str
) -> None:
    if code is not None:
        (tmp_path / "model_input_utils.py").write_text(code)
    with pytest.raises(DataError, match=message) as caught:
        asked(tmp_path, "cot")
    assert "\n" not in str(caught.value)


def test_an_unknown_wording_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="expected house or upstream, got 'paper'"):
        asked(tmp_path, "cot", prompts="paper")


def test_a_row_without_a_program_shows_none_as_an_example(tmp_path: Path) -> None:
    rows = [{**ROW, "python_solution": None}, {**ROW, "question_id": "validation-1"}]
    (tmp_path / "validation.json").write_text(json.dumps(rows))
    targets = data.load(mode="pot", data_dir=str(tmp_path))["test"]["target"]
    assert targets[0] == "" and "def solution" in targets[1]
