"""Rows of VLMEvalKit and of judges in the form of lm-eval's samples."""

import json
from pathlib import Path

import numpy as np

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
