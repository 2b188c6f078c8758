"""From responses and a judge's replies to metrics."""

import json
from pathlib import Path
from typing import Any

import pytest

from fin_tasks.benchmarks.mme_finance.binary import f1
from fin_tasks.benchmarks.mme_finance.exact import parse_truth
from fin_tasks.benchmarks.mme_finance.multi_turn import DIMENSIONS
from fin_tasks.benchmarks.mme_finance.score import judge_item, metric_values, metrics_of, read, score
from fin_tasks.errors import DataError
from fin_tasks.judging.item import Judged, Reply

DOC: dict[str, Any] = {
    **{"part": "open", "id": "7", "index": "7", "language": "en", "na": False, "category": "OCR", "question": "Close?"},
    **{"answer": "7.5", "background": "", "image_path": "a.png", "truth": "", "prompt": ""},
}
CASES = Path(__file__).parents[2] / "cases" / "mme_finance.jsonl"


def cases(part: str) -> list[dict[str, Any]]:
    return [case for case in map(json.loads, CASES.read_text("utf-8").splitlines()) if case["part"] == part]


def judged(*replies: str, response: str = "7.5", error: str = "") -> Judged:
    return Judged(response, tuple(Reply(text=text, temperature=0.0) for text in replies), error)


def values(doc: dict[str, Any], said: Judged | str, variant: str) -> dict[str, float | None]:
    return metric_values(doc, [read(doc, said, variant=variant)])


@pytest.mark.parametrize("case", cases("points"), ids=str)
def test_points_become_a_score(case: dict[str, Any]) -> None:
    """Without replies the judge is down; with null in their place the model gave no response."""
    replies = case["replies"]
    said = judged(response=" ") if replies is None else judged(*replies, error="" if replies else "the judge is down")
    found = {variant: values(DOC, said, variant) for variant in ("paper", "robust")}
    assert (found["paper"]["score"], found["robust"]["score"]) == (case["paper"], case["robust"])
    for of in found.values():
        assert of["score_OCR"] == of["score_perception"] == of["score"]
        assert of["score_IC"] is of["score_reasoning"] is of["exact"] is None
        assert of["unscored"] == float(of["score"] is None)
    assert found["robust"]["judge_error"] == (None if replies is None else float(case["robust"] is None))


def test_metrics_are_declared() -> None:
    for options in ({"part": "open", "na": False}, {"part": "open", "na": True}):
        assert list(metrics_of(**options)) == list(values({**DOC, **options}, judged("4"), "paper"))  # type: ignore[arg-type]
    assert next(iter(metrics_of(na=False))) == "score"
    assert "declined" not in metrics_of(na=False) and metrics_of(na=True)["declined"] is False
    assert score(DOC, judged("5"), variant="robust").correct is True
    assert score(DOC, judged("4"), variant="robust").correct is False


@pytest.mark.parametrize(
    ("category", "response", "declined"),
    [
        ("OCR", "Not applicable, because the picture ends there.", 1.0),
        ("OCR", "7.5", 0.0),
        ("OCR", "", None),
        ("Not Applicable", "Not Applicable", None),
    ],
)
def test_declined_answerable_questions_are_counted(category: str, response: str, declined: float | None) -> None:
    doc = {**DOC, "na": True, "category": category}
    assert values(doc, judged("0", response=response), "paper")["declined"] == declined


@pytest.mark.parametrize("case", cases("exact"), ids=str)
def test_exact_answers(case: dict[str, Any]) -> None:
    said = judged("0", response=case["response"])
    assert values({**DOC, "truth": case["truth"]}, said, "paper")["exact"] == float(case["right"])


@pytest.mark.parametrize("truth", ['{"kind": "number"}', '{"kind": "number", "value": NaN}', "7", '{"kind": "day"}'])
def test_truths_of_another_form_are_refused(truth: str) -> None:
    with pytest.raises(DataError, match="expected JSON with kind, value and tolerance"):
        parse_truth(truth)


@pytest.mark.parametrize("case", cases("binary"), ids=str)
def test_yes_and_no(case: dict[str, Any]) -> None:
    doc = {**DOC, "part": "binary", "answer": "是。"}
    for variant in ("paper", "robust"):
        assert read(doc, case["response"], variant=variant).answer == case[variant]
        assert score(doc, case["response"], variant=variant).correct is (case[variant] == "是")


def test_f1_counts_as_the_authors_do() -> None:
    """Two hits, one false alarm, one miss and one that says neither: 2 * 2 / (2 * 2 + 1 + 1)."""
    said = [("是", "是"), ("是", "是"), ("否", "是"), ("是", "否"), ("是", "也许")]
    docs = [({**DOC, "part": "binary", "answer": truth}, response) for truth, response in said]
    paper = [values(doc, response, "paper") for doc, response in docs]
    assert f1([one["f1"] for one in paper]) == pytest.approx(4 / 6)
    assert [one["acc"] for one in paper] == [1.0, 1.0, 0.0, 0.0, 0.0]
    robust = [values(doc, response, "robust") for doc, response in docs]
    assert f1([one["f1"] for one in robust]) == pytest.approx(4 / 7)  # an unclear answer misses a 是
    assert values(docs[0][0], "", "robust") == {"acc": None, "f1": None, "no_answer": None, "unscored": 1.0}


def test_turns_are_scored_in_seven_dimensions() -> None:
    doc = {**DOC, "part": "multi_turn", "language": "zh", "category": ""}
    names = ("创造性", "丰富性", "视觉感知", "逻辑连贯性", "答案准确性", "图像关系理解", "总分")
    reply = "{" + ", ".join(f'"{name}": {points}' for points, name in enumerate(names, start=3)) + "}"
    found = values(doc, judged(reply), "paper")
    assert [found["score" if name == "overall" else f"score_{name}"] for name in DIMENSIONS] == [
        *(30.0, 40.0, 50.0, 60.0, 70.0, 80.0, 90.0)
    ]
    assert found["score_read"] == 90.0 and list(metrics_of(part="multi_turn")) == list(found)
    unread = {variant: values(doc, judged(*["no"] * 5), variant) for variant in ("paper", "robust")}
    assert (unread["paper"]["score"], unread["paper"]["score_read"], unread["paper"]["unscored"]) == (0.0, None, 0.0)
    assert (unread["robust"]["score"], unread["robust"]["unscored"]) == (None, 1.0)
    assert judge_item(doc, "x").picture is None and judge_item(DOC, "x").picture is not None
