"""FinanceMath's questions, exact truths and recordings."""

import json
from pathlib import Path
from typing import Any

import pytest

from fin_tasks.benchmarks.financemath import data, recording
from fin_tasks.benchmarks.financemath.score import TOPICS
from fin_tasks.errors import ConfigError, DataError
from fin_tasks.sandbox import run_programs
from fin_tasks.settings import Settings

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
RECORDED = {
    name: ROW[name]
    for name in ("question_id", "ground_truth", "python_solution", "topic")
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
        "validation"
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
    exact = docs["validation"]["exact_truth"]
    assert exact == pytest.approx([350 / 9, 40, 38.889], rel=1e-15)


@pytest.mark.parametrize("file", [SAMPLE, PUBLISHED])
def test_the_reference_programs_give_the_exact_truths(file: Path) -> None:
    if not file.is_file():
        pytest.skip(f"the authors' questions are not at {file}")
    rows = data.read_rows(file, "question")
    programs = [row.python_solution for row in rows]
    outcomes = run_programs(programs, settings=Settings.from_environ())
    exact = [data.document_of(row, "cot")["exact_truth"] for row in rows]
    assert exact == pytest.approx([outcome.number for outcome in outcomes], rel=1e-9)


@pytest.mark.parametrize(
    ("row", "options", "told"),
    [
        ({}, {"splits": "test"}, "Did you mean 'split'"),
        ({}, {"split": "train"}, r"train\.json"),
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
    docs = data.load(mode="cot", source="sample")["validation"]
    assert len(docs) == 25 and set(docs["topic"]) == set(TOPICS)
    assert [round(exact, 3) for exact in docs["exact_truth"]] == pytest.approx(
        docs["ground_truth"]
    )
    drawn = [
        data.load(mode=mode, source="sample", sample_n=5, sample_seed=3)["validation"][
            "question_id"
        ]
        for mode in ("cot", "pot")
    ]
    assert drawn[0] == drawn[1] and len(drawn[0]) == 5
    assert (
        drawn[0]
        != data.load(mode="cot", source="sample", sample_n=5, sample_seed=4)[
            "validation"
        ]["question_id"]
    )


def test_recordings(tmp_path: Path) -> None:
    rows = [
        {**RECORDED, "output": ["is 5\u2028", "x"]},
        {"question_id": 7, "output": [], "ground_truth": "-8.5"},
    ]
    samples = [
        {"doc": RECORDED, "resps": [["is 5\u2028"]], "filter": name}
        for name in ("paper", "robust")
    ]
    (first, text), (second, blank) = recording.read(
        write(tmp_path / "m.jsonl", *rows), mode="cot"
    )
    other = {
        "id": "q",
        "ground_truth": 5,
        "model_response": "It is 5.",
    }  # as other benchmarks name the fields
    ((doc, said),) = recording.read(write(tmp_path / "o.jsonl", other), mode="cot")
    assert (doc["id"], doc["ground_truth"], said) == ("q", 5.0, "It is 5.")
    assert recording.read(write(tmp_path / "s.jsonl", *samples), mode="cot") == [
        (first, text)
    ]
    assert (text, blank, second["id"], second["ground_truth"]) == (
        "is 5\u2028",
        "",
        "7",
        -8.5,
    )
    assert (first["exact_truth"], first["mode"]) == (0.333, "cot")
    with pytest.raises(
        DataError, match=r"validation-0: expected text as output, got 3"
    ):
        recording.read(write(tmp_path / "b.json", {**rows[0], "output": 3}), mode="cot")


@pytest.mark.parametrize(
    ("row", "message"),
    [
        (
            {"ground_truth": 10**400},
            "row 1, ground_truth: Input should be a .* number, got 1000",
        ),
        (
            {"python_solution": 5},
            "python_solution: Input should be a valid string, got 5",
        ),
        ({"topic": {"a": 1}}, "topic: Input should be a valid string, got {'a': 1}"),
        ({"question": ["a"]}, "question: Input should be a valid string"),
        ({"tables": [5]}, r"tables.0: Input should be a valid string, got 5"),
        ({"output": {"a": 1}}, "expected text as output, got {'a': 1}"),
    ],
)
def test_a_hostile_row_is_one_sentence(
    tmp_path: Path, row: dict[str, Any], message: str
) -> None:
    file = write(tmp_path / "m.jsonl", {**RECORDED, "output": "is 5", **row})
    with pytest.raises(DataError, match=message) as caught:
        recording.read(file, mode="cot")
    assert "\n" not in str(caught.value) and len(str(caught.value)) < 400
