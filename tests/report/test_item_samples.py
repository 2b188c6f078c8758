"""Rows of VLMEvalKit and of judges in the form of lm-eval's samples."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from fin_tasks.report.entry import Scores
from fin_tasks.report.site.item_samples import samples_of_items

ROWS = (
    {"index": "1", "score": 4, "raw": "4", "tries": 1, "error": None, "failed": None, "category": "OCR"},
    {"index": "2", "score": None, "raw": "", "tries": 3, "error": "no reply", "failed": "judge", "category": "OCR"},
)
SCORES = {
    variant: Scores(ids=("1", "2"), clusters=None, values={"score": np.array([80.0, second], dtype=np.float32)})
    for variant, second in (("paper", 0.0), ("robust", np.nan))
}


def written(path: Path, rows: tuple[dict[str, object], ...]) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def test_judged_rows_have_verdict_score_and_the_response_beside_them(tmp_path: Path) -> None:
    path = written(tmp_path / "m_MMEFinance_judge_items.jsonl", ROWS)
    written(tmp_path / "m_MMEFinance_responses.jsonl", ({"index": "1", "prediction": "It rose."},))
    written(tmp_path / "other_MMEFinance_responses.jsonl", ({"index": "1", "prediction": "Another's."},))
    made = [one for _, one in samples_of_items(path, SCORES)]
    assert [(one["doc"]["id"], one["filter"], one["score"]) for one in made] == [
        *(("1", "paper", 80.0), ("1", "robust", 80.0), ("2", "paper", 0.0), ("2", "robust", None))
    ]
    assert made[0]["resps"] == [["It rose."]]
    assert made[0]["filtered_resps"][0][0] == {"score": 4, "raw": "4", "tries": 1, "error": None, "failed": None}
    assert made[2]["resps"] == []
    assert made[2]["filtered_resps"][0][0]["error"] == "no reply"


def test_rows_that_were_read_have_an_outcome_for_each_variant(tmp_path: Path) -> None:
    row = {"index": 1, "response": "B", "paper": {"answer": "A", "metrics": {"acc": 0}}, "robust": {"answer": "B"}}
    path = written(tmp_path / "m_X_items.jsonl", (row,))
    scores = {v: Scores(ids=("1",), clusters=None, values={"acc": np.array([at])}) for at, v in enumerate(SCORES)}
    paper, robust = (one for _, one in samples_of_items(path, scores))
    assert paper["filtered_resps"] == [[{"answer": "A"}]]
    assert (paper["acc"], robust["acc"], robust["resps"]) == (0.0, 1.0, [["B"]])


def test_responses_outside_of_the_folder_are_not_read(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    folder.mkdir()
    secret = written(tmp_path / "secret.jsonl", ({"index": "1", "prediction": "secret"},))
    (folder / "m_MMEFinance_responses.jsonl").symlink_to(secret)
    path = written(folder / "m_MMEFinance_judge_items.jsonl", ROWS)
    assert next(samples_of_items(path, SCORES))[1]["resps"] == []


TABLE = {"index": [2, 1], "question": ["What fell?", "What rose?"], "answer": ["B", "A"], "prediction": ["b", "a"]}


def table(path: Path, columns: dict[str, Any]) -> None:
    frame = pd.DataFrame(columns)
    if path.suffix == ".xlsx":
        frame.to_excel(path, index=False)
    elif path.suffix == ".tsv":
        frame.to_csv(path, sep="\t", index=False)
    else:
        frame.to_json(path, orient="records")


def documents(path: Path) -> dict[str, dict[str, Any]]:
    return {one["doc"]["id"]: one for _, one in samples_of_items(path, SCORES)}


@pytest.mark.parametrize("ending", ["xlsx", "tsv", "json"])
def test_question_answer_and_picture_are_those_of_the_prediction_table(tmp_path: Path, ending: str) -> None:
    path = written(tmp_path / "m_MMEFinance_judge_items.jsonl", ({**ROWS[0], "source": "chart.PNG"}, ROWS[1]))
    table(tmp_path / f"m_MMEFinance.{ending}", {**TABLE, "image_path": ["figures/b.png", "figures/a.png"]})
    table(tmp_path / f"other_MMEFinance.{ending}", {**TABLE, "question": ["No!", "No!"]})
    found = documents(path)
    doc = found["1"]["doc"]
    assert (doc["question"], doc["answer"], doc["image_path"]) == ("What rose?", "A", "figures/a.png")
    assert "prompt" not in doc
    assert found["2"]["doc"]["question"] == "What fell?"
    assert found["2"]["resps"] == [["b"]]


def test_without_a_table_the_source_names_the_picture_and_the_question_is_said_to_be_missing(tmp_path: Path) -> None:
    path = written(tmp_path / "m_MMEFinance_judge_items.jsonl", ({**ROWS[0], "source": "chart.PNG"}, ROWS[1]))
    (tmp_path / "m_MMEFinance.xlsx").write_bytes(b"PK\x03\x04 broken")
    doc = documents(path)["1"]["doc"]
    assert doc["image_path"] == "chart.PNG"
    assert "do not hold the question" in doc["prompt"]


def test_what_items_say_counts_over_the_table(tmp_path: Path) -> None:
    path = written(tmp_path / "m_MMEFinance_items.jsonl", ({**ROWS[0], "question": "Own?", "response": "own"}, ROWS[1]))
    table(tmp_path / "m_MMEFinance.tsv", TABLE)
    found = documents(path)["1"]
    assert (found["doc"]["question"], found["resps"]) == ("Own?", [["own"]])


def test_a_table_outside_of_the_folder_is_not_read(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    folder.mkdir()
    table(tmp_path / "secret.tsv", TABLE)
    (folder / "m_MMEFinance.tsv").symlink_to(tmp_path / "secret.tsv")
    path = written(folder / "m_MMEFinance_judge_items.jsonl", ROWS)
    assert "question" not in documents(path)["1"]["doc"]
