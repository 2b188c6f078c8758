"""FinanceMath's questions and exact truths."""

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
    **{
        "question_id": "validation-0",
        "question": "What is a third?",
        "tables": ["| a |\n"],
        "topic": "Accounting",
    },
    **{"python_solution": "def solution():\n    return 1 / 3", "ground_truth": 0.333},
}


def write(path: Path, *rows: object) -> Path:
    path.write_text(
        json.dumps(rows)
        if path.suffix == ".json"
        else "\n".join(map(json.dumps, rows)),
        "utf-8",
    )
    return path


def test_documents(tmp_path: Path) -> None:
    path = write(
        tmp_path / "validation.json",
        ROW,
        {**ROW, "question_id": 1, "tables": ["| b |", "| c |"]},
    )
    docs = data.load(mode="cot", data_dir=str(path), pretrained="m", sampling="paper")[
        "test"
    ]
    assert (docs[0]["topic_name"], docs[0]["has_table"]) == ("accounting", True)
    assert docs[0]["prompt"].startswith(
        "Question: What is a third?\n\nTable:\n| a |\n\n"
    )
    assert "Table 2:\n| c |" in docs[1]["prompt"] and docs[1]["question_id"] == "1"
    assert json.loads(docs.info.description)["rows"] == 2


def test_only_the_published_question_has_its_exact_truth(tmp_path: Path) -> None:
    truths = {"validation-41": 38.889, "validation-42": 40, "mine": 38.889}
    rows = [
        {**ROW, "question_id": name, "ground_truth": truth}
        for name, truth in truths.items()
    ]
    docs = data.load(mode="pot", data_dir=write(tmp_path / "validation.json", *rows))
    exact = docs["test"]["exact_truth"]
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
    ("row", "options", "told"),
    [
        ({}, {"splits": "test"}, "Did you mean 'split'"),
        ({}, {"split": "train"}, r"train\.json"),
        ({}, {"knowledge": "bm25"}, "expected no knowledge, which this benchmark"),
        ({}, {"data_revision": "main"}, "data_revision: expected none, .* got 'main'"),
        (
            {"ground_truth": None},
            {},
            "row 2, ground_truth: Input should be a valid number, got None",
        ),
    ],
)
def test_what_cannot_be_used(
    tmp_path: Path, row: dict[str, Any], options: dict[str, Any], told: str
) -> None:
    write(tmp_path / "validation.json", ROW, {**ROW, "question_id": "b", **row})
    with pytest.raises((ConfigError, DataError), match=told):
        data.load(**{"mode": "cot", "data_dir": str(tmp_path), **options})


def test_the_sample_and_a_part_of_it() -> None:
    docs = data.load(mode="cot", source="sample")["test"]
    assert len(docs) == 25 and set(docs["topic"]) == set(TOPICS)
    assert [round(exact, 3) for exact in docs["exact_truth"]] == pytest.approx(
        docs["ground_truth"]
    )
    drawn = [
        data.load(mode=mode, source="sample", sample_n=5, sample_seed=3)["test"][
            "question_id"
        ]
        for mode in ("cot", "pot")
    ]
    assert drawn[0] == drawn[1] and len(drawn[0]) == 5
    assert (
        drawn[0]
        != data.load(mode="cot", source="sample", sample_n=5, sample_seed=4)["test"][
            "question_id"
        ]
    )
