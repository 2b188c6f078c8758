"""From responses and a judge's replies to metrics."""

import math
from typing import Any

import pytest
from case_files import rows
from figures import figures_of

from fin_tasks.benchmarks.mme_finance.binary import f1
from fin_tasks.benchmarks.mme_finance.score import compare, read
from fin_tasks.benchmarks.task_file import TaskFile
from fin_tasks.judging.item import Judged

DOC: dict[str, Any] = {
    "part": "open",
    "language": "en",
    "na": False,
    "category": "OCR",
    "answer": "7.5",
}
BINARY = {**DOC, "part": "binary"}


def cases(part: str) -> list[dict[str, Any]]:
    return [case for case in rows("mme_finance") if case["part"] == part]


def judged(*replies: str, response: str = "7.5", error: str = "") -> Judged:
    return Judged(response, tuple(replies), error)


def values(
    doc: dict[str, Any], response: Judged | str, scoring: str
) -> dict[str, float | None]:
    return figures_of("mme_finance", doc, [read(doc, response, scoring=scoring)])


@pytest.mark.parametrize("case", cases("points"), ids=str)
def test_points_become_a_score(case: dict[str, Any]) -> None:
    """Without replies the judge is down; with null in their place the model gave no response."""
    replies = case["replies"]
    if replies is None:
        response = judged(response=" ")
    else:
        response = judged(*replies, error="" if replies else "the judge is down")
    for scoring in ("paper", "robust"):
        found = values(DOC, response, scoring)
        assert found["score"] == case[scoring]
        assert found["score_OCR"] == found["score_perception"] == found["score"]
        assert not found.keys() & {"score_IC", "score_reasoning"}
        assert found["unscored"] == float(found["score"] is None)
    has_score = case["robust"] is not None
    is_right = compare(DOC, read(DOC, response, scoring="robust")).correct
    assert is_right is (case["robust"] == 100 if has_score else None)
    assert found["judge_error"] == (None if replies is None else not has_score)


@pytest.mark.parametrize("case", cases("declined"), ids=str)
def test_declined_answerable_questions_are_counted(case: dict[str, Any]) -> None:
    doc = {**DOC, "na": True, "category": case["category"]}
    response = judged("0", response=case["response"])
    assert values(doc, response, "paper")["declined"] == case["declined"]
    assert not TaskFile("mme_finance_en_na").metrics["declined"].higher_is_better


@pytest.mark.parametrize("case", cases("binary"), ids=str)
def test_yes_and_no(case: dict[str, Any]) -> None:
    doc = {**BINARY, "answer": "是。"}
    for scoring in ("paper", "robust"):
        reading = read(doc, case["response"], scoring=scoring)
        assert reading.answer == case[scoring]
        assert compare(doc, reading).correct is (case[scoring] == "是")


def test_f1_counts_as_the_authors_do() -> None:
    """Two hits, one false alarm, one miss and one that says neither: 2 * 2 / (2 * 2 + 1 + 1)."""
    pairs = [("是", "是"), ("是", "是"), ("否", "是"), ("是", "否"), ("是", "也许")]
    found = {}
    for scoring in ("paper", "robust"):
        rows = []
        for truth, response in pairs:
            rows.append(values({**BINARY, "answer": truth}, response, scoring))
        assert [row["acc"] for row in rows] == [1.0, 1.0, 0.0, 0.0, 0.0]
        found[scoring] = f1([row["f1"] for row in rows])
    # By `robust` an unclear answer misses a 是.
    assert found == {"paper": pytest.approx(4 / 6), "robust": pytest.approx(4 / 7)}


def test_f1_is_undefined_if_nothing_is_scored() -> None:
    doc = {**BINARY, "answer": "否"}
    unscored = values(doc, "", "robust")
    assert unscored.pop("unscored") == 1.0
    assert unscored.pop("cut_off") == 0.0
    assert unscored == {"acc": None, "f1": None, "no_answer": None}
    assert math.isnan(f1([unscored["f1"]] * 3))
    assert f1([values(doc, "否", "robust")["f1"]]) == 0.0  # there is no 是
