"""Rows as lm-eval documents: a Parquet file of the real schema, and the packaged sample."""

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pandas
import pytest

from fin_tasks.benchmarks.bizbench import score
from fin_tasks.benchmarks.bizbench.data import PARTS, load
from fin_tasks.errors import ConfigError, DataError

MODES = {
    "fincode": "pot",
    "codefinqa": "pot",
    "codetatqa": "pot",
    "formulaeval": "code",
}
TABLE = "| | 2021 | 2020 |\n|---|---|---|\n| Sales | 1,250 | 1,000 |\n| Costs | (900) | (800) |\n"
MARGIN = "def margin(profit, sales):\n    '''Profit as a share of sales.'''\n"
SCRIPT = "def solution():\n    return 200 * 0.05\n"


def row(task: str, question: str, answer: Any, **more: Any) -> dict[str, Any]:
    empty = {"context": None, "context_type": None, "options": None, "program": None}
    return {"question": question, "answer": answer, "task": task, **empty, **more}


ROWS = [
    row(
        "FinCode",
        "A deposit of 200 earns 5 %. What is the interest?",
        "10.0",
        program=SCRIPT,
    ),
    row(
        "CodeFinQA",
        "By what share did sales grow?",
        "0.25",
        context=TABLE,
        program="answer = 1250 / 1000 - 1",
    ),
    row("Code TAT-QA", "What were costs on average?", "(850)", context=TABLE),
    row("ConvFinQA (E)", "What were sales in 2021?", "1,250", context=TABLE),
    row("TAT-QA (Extract)", "What were costs in 2020?", "(800)", context=TABLE),
    row("tatqa_e", "Why did costs rise?", "more staff", context=TABLE),
    row("SEC-NUM", "Sales in 2020", "1,000", context="word " * 6000),
    row("FinKnow", "Which is a liability?", " loan", options=["Cash", "Loan", "Plant"]),
    row("FinKnow", "Which is an asset?", "A", options=["Cash", "Loan", "Plant"]),
    row("FinKnow", "Which is a tree?", "Oak", options=["Cash", "Loan", "Plant"]),
    row(
        "FormulaEval",
        MARGIN,
        "return profit / sales",
        options=["return sales", "return profit / sales"],
    ),
    row("FormulaEval", MARGIN, "return profit / sales", options=[]),
    row("Poetry", "Why?", "1"),
    row("FinCode", " ", "1"),
]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    path = tmp_path / "bizbench" / "data" / "test-00000-of-00001.parquet"
    path.parent.mkdir(parents=True)
    pandas.DataFrame(ROWS).to_parquet(path)
    return tmp_path


def loaded(
    part: str, mode: str | None = None, **options: Any
) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    (docs,) = load(part=part, mode=mode or MODES.get(part, "cot"), **options).values()
    return docs.to_list(), json.loads(docs.info.description)


def test_rows_of_the_real_schema(folder: Path) -> None:
    docs = {part: loaded(part, data_dir=str(folder))[0] for part in PARTS}
    asked = [(doc["id"], doc["kind"]) for part in PARTS for doc in docs[part]]
    kinds = ["number"] * 7 + ["choice"] * 4 + ["code"]
    assert asked == [(f"test_{place}", kind) for place, kind in enumerate(kinds)]
    assert [doc["letter"] for doc in docs["finknow"]] == ["B", "A", ""]
    choice, code = docs["formulaeval"]
    assert (choice["letter"], code["letter"]) == ("B", "")
    assert (choice["mode"], code["mode"]) == ("cot", "code")
    assert (choice["task_mode"], choice["program"]) == ("code", "")
    assert code["program"].endswith("    return profit / sales")
    targets = {
        "fincode": [f"```python\n{SCRIPT}```"],
        "codetatqa": ["```python\ndef solution():\n    return -850\n```"],
        "convfinqa_e": [f"{score.MARKER} [1250]."],
        "tatqa_e": [f"{score.MARKER} [-800].", ""],
    }
    for part, of_part in targets.items():
        assert [doc["target"] for doc in docs[part]] == of_part
    (extract,) = docs["convfinqa_e"]
    start = f"Document:\n{TABLE.strip()}\n\nQuestion: What were sales in 2021?\n\n"
    assert extract["prompt"].startswith(start)
    assert score.MARKER in extract["prompt"]
    assert "A. Cash\nB. Loan" in docs["finknow"][0]["prompt"]
    assert "ocument" not in docs["fincode"][0]["prompt"]
    left_out = {"unknown-task": ["test_12"], "empty-question": ["test_13"]}
    assert loaded("secnum", data_dir=str(folder))[1]["left_out"] == left_out


def test_the_papers_sample_leaves_sec_num_out_and_is_drawn_by_seed(
    tmp_path: Path,
) -> None:
    tasks = {"SEC-NUM": None, "TAT-QA (E)": None, "FinKnow": ["1", "2"]}
    rows = []
    for number in range(40):
        for task, options in tasks.items():
            rows.append(row(task, f"{number}?", "1", options=options))
    file = tmp_path / "test.jsonl"
    pandas.DataFrame(rows).to_json(file, orient="records", lines=True)

    def drawn(part: str, mode: str | None = None, **options: Any) -> list[str]:
        options = {"data_dir": str(file), "sample_n": 50, **options}
        return [doc["id"] for doc in loaded(part, mode, **options)[0]]

    quantity, facts = loaded("paper_quantity", data_dir=str(file), sample_n=50)
    assert Counter(doc["part"] for doc in quantity) == {"tatqa_e": 36}
    assert facts["sample"] == {"n": 50, "seed": 0}
    assert len(drawn("paper_choice")) == 14
    assert drawn("paper_quantity") == drawn("paper_quantity", "pot")
    assert drawn("paper_quantity") != drawn("paper_quantity", sample_seed=1)
    assert drawn("secnum", sample_n=3) == ["test_3", "test_93", "test_114"]


def test_bad_files_and_options(folder: Path) -> None:
    with pytest.raises(ConfigError, match="Did you mean 'source'"):
        loaded("finknow", source="sample", sourc="web")
    message = r"prompts: expected house, .* got 'upstream'"
    with pytest.raises(ConfigError, match=message):
        loaded("finknow", source="sample", prompts="upstream")
    of_the_model = {"pretrained": "gpt2", "model": "o1", "revision": "main"}
    assert loaded("finknow", source="sample", **of_the_model)
    file = folder / "test.parquet"
    file.write_bytes(b"PAR1 broken")
    with pytest.raises(DataError, match="expected Parquet"):
        loaded("finknow", data_dir=str(file))
    pandas.DataFrame(ROWS).drop(columns="program").to_parquet(file)
    with pytest.raises(DataError, match="program: Field required"):
        loaded("finknow", data_dir=str(file))
    pandas.DataFrame(ROWS[:1]).to_parquet(file)
    message = r"secnum: expected rows in test\.parquet, got none \(parts: fincode\)"
    with pytest.raises(DataError, match=message):
        loaded("secnum", data_dir=str(file))
    with pytest.raises(DataError, match="dev"):
        loaded("finknow", data_dir=str(folder), split="dev")
