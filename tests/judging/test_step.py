"""The step that asks a judge, or a model that reads answers, about all responses of a task at once."""

from pathlib import Path
from typing import Any

import pytest
from chat_server import Answer, completion, serve

from fin_tasks.benchmarks.mme_finance.score import read_points
from fin_tasks.judging.item import Item, Judged
from fin_tasks.judging.judge import JudgeStep, answer_reader_from, judge_from
from fin_tasks.judging.rubric import load_rubric
from fin_tasks.sandbox import Outcome, Ran, Status
from fin_tasks.settings import Settings


def item_of(doc: dict[str, Any], response: str) -> Item | None:
    if doc.get("easy"):
        return None
    return Item(
        question="Which day?", answer="Friday", response=response, category="OCR"
    )


def number_item(doc: dict[str, Any], response: str) -> Item:
    """Show the end of a response."""
    return Item(question="?", answer="-", response=response[-4:], category="number")


DOCS = [{"id": "1"}, {"id": "2", "easy": True}]


@pytest.fixture(autouse=True)
def _own_cache(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("FIN_TASKS_CACHE", str(tmp_path))
    monkeypatch.delenv("FIN_TASKS_JUDGE_MODEL", raising=False)


def judged(metadata: dict[str, Any]) -> tuple[list[list[Any]], JudgeStep]:
    judge = judge_from(metadata, Settings.from_environ())
    step = JudgeStep(item_of, load_rubric("mme_finance_zh"), judge)
    first, again = [
        step.judge_responses(DOCS, [["Friday", ""], ["text"]]) for _ in range(2)
    ]
    assert first == again
    return first, step


def test_both_scorings_ask_once() -> None:
    with serve(lambda _: completion("4", usage=(90, 1))) as served:
        rows, step = judged({"judge_model": "m", "judge_base_url": served.base_url})
    assert [[type(response) for response in row] for row in rows] == [
        [Judged, Judged],
        [Judged],
    ]
    assert rows[0][0].replies == ("4",)
    assert rows[0][1] == Judged("")
    assert rows[1] == [Judged("text")]
    assert len(served.bodies) == 1
    assert "最低 0 分" in served.bodies[0]["messages"][1]["content"]
    assert step.facts["usage"]["prompt_tokens"] == 90
    assert step.facts["rubric"] == step.rubric.facts()["rubric"]


def test_no_judge() -> None:
    rows, step = judged({})
    assert (rows[0][0], step.facts) == (Judged("Friday"), {})


def test_an_answer_reader_leaves_results_of_programs_alone() -> None:
    ran = Ran("12.5", (Outcome(status=Status.ok, number=1.0),))
    with serve(lambda _: completion("12.5")) as served:
        metadata = {"reader_model": "m", "reader_base_url": served.base_url}
        reader = answer_reader_from(metadata, Settings.from_environ())
        step = JudgeStep(number_item, load_rubric("final_answer"), reader)
        (answers,) = step.judge_responses(DOCS[:1], [[ran, Ran("either 12.5", ())]])
    assert answers[0] == ran
    assert isinstance(answers[1], Judged) and answers[1].response == "either 12.5"
    assert answers[1].replies == ("12.5",)
    assert len(served.bodies) == 1
    assert (step.facts["model"], step.facts["image"]) == ("m", False)


def test_good_verdicts_stay_if_others_fail(caplog: pytest.LogCaptureFixture) -> None:
    def answer(body: dict[str, Any]) -> Answer:
        is_bad = "Monday" in body["messages"][1]["content"]
        return (400, {}, {"error": {"message": "no"}}) if is_bad else completion("4")

    with serve(answer) as served:
        metadata = {"judge_model": "m", "judge_base_url": served.base_url}
        judge = judge_from(metadata, Settings.from_environ())
        step = JudgeStep(item_of, load_rubric("mme_finance_zh"), judge)
        ((good, bad),) = step.judge_responses(DOCS[:1], [["Friday", "Monday"]])
    assert isinstance(good, Judged) and good.replies == ("4",)
    assert isinstance(bad, Judged) and "expected a reply, got 400" in bad.error
    (line,) = [line for line in caplog.messages if "failed on" in line]
    assert (
        "the judge failed on 1 of 2 responses, expected at most 20%, by the rubric"
        in line
    )


def test_a_judge_that_is_down_leaves_all_unscored() -> None:
    with serve(lambda _: (400, {}, {"error": {"message": "no"}})) as served:
        rows, step = judged({"judge_model": "m", "judge_base_url": served.base_url})
    assert "expected a reply, got 400" in rows[0][0].error
    assert read_points(step.rubric, rows[0][1], "robust").answer is None
