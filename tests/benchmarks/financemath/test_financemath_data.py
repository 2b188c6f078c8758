"""FinanceMath's documents, exact truths, and prompts, with a file of ours in the shape of the authors' code."""

import json
from pathlib import Path
from typing import Any

import pytest

from fin_tasks.benchmarks.financemath import data
from fin_tasks.benchmarks.financemath.score import TOPICS
from fin_tasks.errors import ConfigError, DataError
from fin_tasks.sandbox import shared_runner

SAMPLE = Path(data.__file__).with_name("sample") / "validation.json"
PUBLISHED = (
    Path(__file__).resolve().parents[4] / "shared/data/financemath/validation.json"
)
ROW: dict[str, Any] = {
    "question_id": "validation-0",
    "question": "What is a third? ",
    "tables": ["| a |\n", "| b |"],
    "topic": "Accounting",
    "python_solution": "def solution():\n    return 1 / 3",
    "ground_truth": 0.333,
}
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


def write(folder: Path, *changes: dict[str, Any]) -> Path:
    """Write a question for each change, and return the file."""
    file = folder / "validation.json"
    rows = []
    for number, change in enumerate(changes):
        rows.append({**ROW, "question_id": f"validation-{number}", **change})
    file.write_text(json.dumps(rows))
    return file


def load(**options: Any) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    (docs,) = data.load(**{"mode": "cot", **options}).values()
    return docs.to_list(), json.loads(docs.info.description)


def test_documents(tmp_path: Path) -> None:
    one_table = {"question_id": 7, "tables": ["| c |"], "python_solution": None}
    file = write(tmp_path, {}, one_table)
    docs, facts = load(data_dir=str(file), pretrained="m", sampling="paper")
    first, second = docs
    tables = "Table 1:\n| a |\n\nTable 2:\n| b |\n\n"
    assert first["prompt"].startswith(f"Question: What is a third?\n\n{tables}")
    assert "?\n\nTable:\n| c |\n\n" in second["prompt"]
    assert (first["topic_name"], first["has_table"]) == ("accounting", True)
    assert (second["question_id"], facts["rows"]) == ("7", 2)
    docs, _ = load(mode="pot", data_dir=str(file))
    assert "def solution" in docs[0]["target"]
    assert docs[1]["target"] == ""


def test_only_the_published_question_has_its_exact_truth(tmp_path: Path) -> None:
    truths = {"validation-41": 38.889, "validation-42": 40, "mine": 38.889}
    rows = []
    for name, truth in truths.items():
        rows.append({"question_id": name, "ground_truth": truth})
    docs, _ = load(data_dir=write(tmp_path, *rows))
    exact = [doc["exact_truth"] for doc in docs]
    assert exact == pytest.approx([350 / 9, 40, 38.889], rel=1e-15)


@pytest.mark.parametrize("file", [SAMPLE, PUBLISHED])
def test_the_reference_programs_give_the_exact_truths(file: Path) -> None:
    if not file.is_file():
        pytest.skip(f"the authors' questions are not at {file}")
    (docs,) = data.load(mode="cot", data_dir=file).values()
    outcomes = shared_runner().run(docs["python_solution"])
    results = [outcome.number for outcome in outcomes]
    assert docs["exact_truth"] == pytest.approx(results, rel=1e-9)


@pytest.mark.parametrize(
    ("row", "options", "message"),
    [
        ({}, {"splits": "test"}, "Did you mean 'split'"),
        ({}, {"split": "train"}, r"train\.json"),
        ({}, {"knowledge": "bm25"}, "expected no knowledge, which this benchmark"),
        ({}, {"data_revision": "main"}, "data_revision: expected none, .* got 'main'"),
        ({}, {"prompts": "paper"}, "expected house or upstream, got 'paper'"),
        (
            {"ground_truth": None},
            {},
            "row 2, ground_truth: Input should be a valid number, got None",
        ),
    ],
)
def test_what_cannot_be_used(
    tmp_path: Path, row: dict[str, Any], options: dict[str, Any], message: str
) -> None:
    write(tmp_path, {}, row)
    with pytest.raises((ConfigError, DataError), match=message):
        load(data_dir=str(tmp_path), **options)


def test_the_sample_and_a_part_of_it() -> None:
    (docs,) = data.load(mode="cot", source="sample").values()
    assert len(docs) == 25
    assert set(docs["topic"]) == set(TOPICS)
    rounded = [round(truth, 3) for truth in docs["exact_truth"]]
    assert rounded == pytest.approx(docs["ground_truth"])

    def drawn(mode: str, seed: int) -> list[str]:
        docs, _ = load(mode=mode, source="sample", sample_n=5, sample_seed=seed)
        return [doc["question_id"] for doc in docs]

    assert len(drawn("cot", 3)) == 5
    assert drawn("cot", 3) == drawn("pot", 3) != drawn("cot", 4)


@pytest.mark.parametrize("place", ["utils", "."])
def test_the_authors_prompts(tmp_path: Path, place: str) -> None:
    (tmp_path / "utils").mkdir()
    (tmp_path / place / "model_input_utils.py").write_text(CODE)
    file = write(tmp_path, {"tables": ["| a |", "| b |"]}, {"tables": []})
    options = {"data_dir": str(tmp_path), "prompts": "upstream"}
    (with_tables, without), pot_facts = load(mode="pot", **options)
    end = "Question: What is a third? \n\nWrite it now.\n```python\ndef solution():\n"
    assert with_tables["system"] == "You write code.\nOne function, \\n and no more."
    assert with_tables["prompt"] == f"Look at this:\n| a |\n| b |\n\n{end}"
    assert (without["prompt"], without["cue"]) == (end, "")
    options["data_dir"] = str(file)
    (with_tables, without), facts = load(mode="cot", **options)
    end = "Question: What is a third? \n\nThink now."
    assert with_tables["system"] == "You think. Then you answer."
    assert with_tables["prompt"] == f"Table:\n| a |\n\n| b |\n\n{end}"
    assert without["prompt"] == end
    assert facts["prompts"]["set"] == pot_facts["prompts"]["set"] == "upstream"
    assert facts["prompts"]["sha256"] != pot_facts["prompts"]["sha256"]


def test_the_sample_takes_the_authors_prompts_from_elsewhere(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "model_input_utils.py").write_text(CODE)
    monkeypatch.setenv("FIN_TASKS_DATA", str(tmp_path))
    docs, _ = load(source="sample", prompts="upstream")
    assert {doc["system"] for doc in docs} == {"You think. Then you answer."}


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
def test_authors_code_that_cannot_be_read_is_one_sentence(
    tmp_path: Path, code: str | None, message: str
) -> None:
    write(tmp_path, {})
    if code is not None:
        (tmp_path / "model_input_utils.py").write_text(code)
    with pytest.raises(DataError, match=message) as caught:
        load(data_dir=str(tmp_path), prompts="upstream")
    assert "\n" not in str(caught.value)
