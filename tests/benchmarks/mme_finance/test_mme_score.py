"""From responses and a judge's replies to metrics."""

import math
from typing import Any

import pytest
from case_files import rows
from figures import figures_of

from fin_tasks.benchmarks.mme_finance.binary import f1
from fin_tasks.benchmarks.mme_finance.score import (
    compare,
    read,
)
from fin_tasks.benchmarks.task_file import TaskFile
from fin_tasks.judging.item import Judged

DOC: dict[str, Any] = {
    **{
        "part": "open",
        "id": "7",
        "index": "7",
        "language": "en",
        "na": False,
        "category": "OCR",
        "question": "Close?",
    },
    **{
        "answer": "7.5",
        "background": "",
        "image_path": "a.png",
        "prompt": "",
    },
}


def cases(part: str) -> list[dict[str, Any]]:
    return [case for case in rows("mme_finance") if case["part"] == part]


def judged(*replies: str, response: str = "7.5", error: str = "") -> Judged:
    return Judged(response, tuple(replies), error)


def values(
    doc: dict[str, Any], said: Judged | str, scoring: str
) -> dict[str, float | None]:
    return figures_of("mme_finance", doc, [read(doc, said, scoring=scoring)])


@pytest.mark.parametrize("case", cases("points"), ids=str)
def test_points_become_a_score(case: dict[str, Any]) -> None:
    """Without replies the judge is down; with null in their place the model gave no response."""
    replies = case["replies"]
    said = (
        judged(response=" ")
        if replies is None
        else judged(*replies, error="" if replies else "the judge is down")
    )
    found = {scoring: values(DOC, said, scoring) for scoring in ("paper", "robust")}
    assert (found["paper"]["score"], found["robust"]["score"]) == (
        case["paper"],
        case["robust"],
    )
    full = None if case["robust"] is None else case["robust"] == 100
    assert compare(DOC, read(DOC, said, scoring="robust")).correct is full
    for of in found.values():
        assert of["score_OCR"] == of["score_perception"] == of["score"]
        assert not of.keys() & {"score_IC", "score_reasoning"}
        assert of["unscored"] == float(of["score"] is None)
    assert found["robust"]["judge_error"] == (
        None if replies is None else float(case["robust"] is None)
    )


@pytest.mark.parametrize("case", cases("declined"), ids=str)
def test_declined_answerable_questions_are_counted(case: dict[str, Any]) -> None:
    doc = {**DOC, "na": True, "category": case["category"]}
    assert (
        values(doc, judged("0", response=case["response"]), "paper")["declined"]
        == case["declined"]
    )
    assert not TaskFile("mme_finance_en_na").metrics["declined"].higher_is_better


@pytest.mark.parametrize("case", cases("binary"), ids=str)
def test_yes_and_no(case: dict[str, Any]) -> None:
    doc = {**DOC, "part": "binary", "answer": "是。"}
    for scoring in ("paper", "robust"):
        assert read(doc, case["response"], scoring=scoring).answer == case[scoring]
        assert compare(doc, read(doc, case["response"], scoring=scoring)).correct is (
            case[scoring] == "是"
        )


def test_f1_counts_as_the_authors_do() -> None:
    """Two hits, one false alarm, one miss and one that says neither: 2 * 2 / (2 * 2 + 1 + 1)."""
    said = [("是", "是"), ("是", "是"), ("否", "是"), ("是", "否"), ("是", "也许")]
    docs = [
        ({**DOC, "part": "binary", "answer": truth}, response)
        for truth, response in said
    ]
    paper = [values(doc, response, "paper") for doc, response in docs]
    assert f1([one["f1"] for one in paper]) == pytest.approx(4 / 6)
    assert [one["acc"] for one in paper] == [1.0, 1.0, 0.0, 0.0, 0.0]
    robust = [values(doc, response, "robust") for doc, response in docs]
    assert f1([one["f1"] for one in robust]) == pytest.approx(
        4 / 7
    )  # an unclear answer misses a 是
    assert values(docs[0][0], "", "robust") == {
        "acc": None,
        "f1": None,
        "no_answer": None,
        "cut_off": 0.0,
        "unscored": 1.0,
    }


def test_f1_is_undefined_if_nothing_is_scored() -> None:
    doc = {**DOC, "part": "binary", "answer": "否"}
    assert math.isnan(f1([values(doc, "", "robust")["f1"]] * 3))
    assert f1([values(doc, "否", "robust")["f1"]]) == 0.0  # there is no 是
