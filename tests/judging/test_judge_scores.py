"""Figures made of verdicts, counted by hand."""

import hashlib
import json
from pathlib import Path

import pytest

from fin_tasks.endpoints.spending import Spent
from fin_tasks.judging.old_item import JudgeItem, Verdict
from fin_tasks.judging.old_judge import Judged
from fin_tasks.judging.old_rubric import load_rubric
from fin_tasks.judging.scores import item_record, summary
from fin_tasks.judging.setup import JudgeSetup
from fin_tasks.resources import judges_dir

RUBRIC = load_rubric("mme_finance_en")
ROWS = [
    ("Risk Warning", "table", "computer screenshot", Verdict(score=4, raw="4", tries=1)),
    ("OCR", "table", "mobile photograph", Verdict(score=5, raw="5", tries=2)),
    ("OCR", "document", "", Verdict(raw="?", tries=5, error="e", failed="reply")),
    ("OCR", "document", "computer screenshot", Verdict(score=0, raw="0", tries=1)),
    ("Not Applicable", "mixed chart", "", Verdict(error="e", failed="response")),
    ("Not Applicable", "mixed chart", "", Verdict(error="e", failed="judge")),
]
ITEMS = [
    JudgeItem(
        index=str(i), question="q", answer="a", response="r", category=category, image_type=kind, image_style=style
    )
    for i, (category, kind, style, _) in enumerate(ROWS)
]
VERDICTS = [row[3] for row in ROWS]


def test_a_summary_by_hand() -> None:
    found = summary(ITEMS, VERDICTS, rubric=RUBRIC)
    assert (found["n"], found["unscored"]) == (6, 3)
    assert found["overall"] == pytest.approx(60)  # (4 + 5 + 0) / 3 x 20
    assert found["overall_paper"] == pytest.approx(30)  # (4 + 5 + 0) / 6 x 20
    assert found["by_category"] == {"OCR": 50.0, "Risk Warning": 80.0, "Not Applicable": None}
    assert list(found["by_category"]) == ["OCR", "Risk Warning", "Not Applicable"]  # the paper's order
    assert found["by_type"] == {"table": 90.0, "document": 0.0, "mixed chart": None}
    assert found["by_style"] == {"computer screenshot": 40.0, "mobile photograph": 100.0}
    assert found["counts_by_category"]["OCR"] == {"n": 3, "unscored": 1, "score_paper": pytest.approx(100 / 3)}
    assert found["counts_by_category"]["Not Applicable"] == {"n": 2, "unscored": 2, "score_paper": 0.0}
    assert found["failed"] == {"response": 1, "judge": 1, "reply": 1}
    assert json.loads(json.dumps(found, allow_nan=False)) == found


def test_nothing_scored() -> None:
    found = summary(ITEMS[4:], VERDICTS[4:], rubric=RUBRIC)
    assert (found["overall"], found["overall_paper"]) == (None, 0.0)
    empty = summary([], [], rubric=RUBRIC)
    assert (empty["n"], empty["overall"], empty["overall_paper"], empty["by_category"]) == (0, None, None, {})


def test_another_scale_runs_from_0_to_100(tmp_path: Path) -> None:
    readme = (judges_dir() / "README.md").read_text(encoding="utf-8")
    (tmp_path / "own.yaml").write_text(readme.split("```yaml\n")[1].split("```")[0], encoding="utf-8")
    rubric = load_rubric(tmp_path / "own.yaml")
    items = [JudgeItem(index=i, question="", answer="", response="r", category="Guidance") for i in "123"]
    found = summary(items, [Verdict(score=10), Verdict(score=1), Verdict(failed="judge")], rubric=rubric)
    assert found["overall"] == pytest.approx(50)
    assert found["overall_paper"] == pytest.approx(100 / 3)


def test_verdicts_are_one_per_item() -> None:
    with pytest.raises(ValueError, match="zip"):
        summary(ITEMS, VERDICTS[1:], rubric=RUBRIC)


@pytest.mark.parametrize(("shown", "picture", "seen"), [(True, True, True), (False, True, False), (True, False, False)])
def test_a_line_per_item(shown: bool, picture: bool, seen: bool) -> None:
    setup = JudgeSetup(model="m", base_urls=("http://127.0.0.1/v1",), rubric="mme_finance_en", image=shown)
    item = JudgeItem(
        index="7",
        question="q",
        answer="a",
        response="r",
        category="OCR",
        image=Path("p.png") if picture else None,
        image_type="table",
        image_style="mobile photograph",
    )
    judged = Judged(verdicts=(VERDICTS[1],), rubric=RUBRIC, setup=setup, spent=Spent())
    assert item_record(item, VERDICTS[1], judged) == {
        "index": "7",
        "score": 5,
        "raw": "5",
        "tries": 2,
        "error": None,
        "failed": None,
        "category": "OCR",
        "image_type": "table",
        "image_style": "mobile photograph",
        "judge": "m",
        "image": seen,
        "rubric": f"mme_finance_en@{RUBRIC.version}",
        "rubric_sha256": RUBRIC.sha256,
        "response_sha256": hashlib.sha256(b"r").hexdigest(),
    }
