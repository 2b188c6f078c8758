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
    **dict.fromkeys(("fincode", "codefinqa", "codetatqa"), "pot"),
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
    assert [doc["letter"] for doc in (*docs["finknow"], *docs["formulaeval"])] == [
        "B",
        "A",
        "",
        "B",
        "",
    ]
    choice, code = docs["formulaeval"]
    assert (choice["mode"], code["mode"], choice["task_mode"], choice["program"]) == (
        "cot",
        "code",
        "code",
        "",
    )
    assert code["program"].endswith("    return profit / sales")
    targets = [
        doc["target"]
        for part in ("fincode", "codetatqa", "convfinqa_e", "tatqa_e")
        for doc in docs[part]
    ]
    programs = [
        f"```python\n{code}\n```"
        for code in (SCRIPT.strip(), "def solution():\n    return -850")
    ]
    assert targets == [
        *programs,
        f"{score.MARKER} [1250].",
        f"{score.MARKER} [-800].",
        "",
    ]
    (extract,) = docs["convfinqa_e"]
    assert extract["prompt"].startswith(
        f"Document:\n{TABLE.strip()}\n\nQuestion: What were sales in 2021?\n\n"
    )
    assert (
        score.MARKER in extract["prompt"]
        and "A. Cash\nB. Loan" in docs["finknow"][0]["prompt"]
    )
    assert "ocument" not in docs["fincode"][0]["prompt"]
    left_out = {"unknown-task": ["test_12"], "empty-question": ["test_13"]}
    assert loaded("secnum", data_dir=str(folder))[1]["left_out"] == left_out


def test_the_papers_sample_leaves_sec_num_out_and_is_drawn_by_seed(
    tmp_path: Path,
) -> None:
    tasks = {"SEC-NUM": None, "TAT-QA (E)": None, "FinKnow": ["1", "2"]}
    rows = [
        row(task, f"{at}?", "1", options=options)
        for at in range(40)
        for task, options in tasks.items()
    ]
    pandas.DataFrame(rows).to_json(
        tmp_path / "test.jsonl", orient="records", lines=True
    )
    here = {"data_dir": str(tmp_path / "test.jsonl"), "sample_n": 50}
    (quantity, facts), (choice, _) = (
        loaded("paper_quantity", **here),
        loaded("paper_choice", **here),
    )
    assert (Counter(doc["part"] for doc in quantity), len(choice)) == (
        {"tatqa_e": 36},
        14,
    )
    assert facts["sample"] == {"n": 50, "seed": 0}
    ids = {doc["id"] for doc in quantity}
    assert ids != {
        doc["id"] for doc in loaded("paper_quantity", sample_seed=1, **here)[0]
    }
    assert ids == {doc["id"] for doc in loaded("paper_quantity", "pot", **here)[0]}
    assert [doc["id"] for doc in loaded("secnum", **{**here, "sample_n": 3})[0]] == [
        "test_3",
        "test_93",
        "test_114",
    ]


def test_bad_files_and_options(folder: Path) -> None:
    with pytest.raises(ConfigError, match="Did you mean 'source'"):
        loaded("finknow", source="sample", sourc="web")
    with pytest.raises(
        ConfigError, match=r"prompts: expected house, .* got 'upstream'"
    ):
        loaded("finknow", source="sample", prompts="upstream")
    assert loaded(
        "finknow",
        source="sample",
        pretrained="gpt2",
        model="o1",
        revision="main",
        dtype="float32",
    )
    file = folder / "test.parquet"
    for content, message in (
        (b"PAR1 broken", "expected Parquet"),
        (None, "program: Field required"),
    ):
        file.write_bytes(content) if content else pandas.DataFrame(ROWS).drop(
            columns="program"
        ).to_parquet(file)
        with pytest.raises(DataError, match=message):
            loaded("finknow", data_dir=str(file))
    pandas.DataFrame(ROWS[:1]).to_parquet(file)
    with pytest.raises(
        DataError,
        match=r"secnum: expected rows in test\.parquet, got none \(parts: fincode\)",
    ):
        loaded("secnum", data_dir=str(file))
    with pytest.raises(DataError, match="dev"):
        loaded("finknow", data_dir=str(folder), split="dev")
