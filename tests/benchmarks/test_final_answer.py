"""What a model is shown that reads answers, and how its replies are read."""

from typing import Any

import pytest
from figures import figures_of

from fin_tasks.answers.cut_off import CutOffResponse
from fin_tasks.benchmarks.bizbench import score as bizbench
from fin_tasks.benchmarks.final_answer import Kind, item_of, read_by_model
from fin_tasks.benchmarks.task_file import TaskFile
from fin_tasks.benchmarks.xfinbench import score as xfinbench
from fin_tasks.judging.item import Judged
from fin_tasks.judging.rubric import load_rubric

CHOICES = ["Rates rise.", "Rates fall.", "No effect."]
SILENT = {
    "verdict": "One could call it true, and one could call it false.",
    "letter": "Perhaps A or B fits, hard to say.",
    "number": "It is either 1,250.5 or 15.3% or 7 (",
}
TRUTH = "a truth that nobody may see"


def doc_of(task: str, **more: Any) -> dict[str, Any]:
    doc = {
        "task": task,
        "subset": task,
        "mode": "cot",
        "question": "What is asked?",
        "choices": CHOICES if task == "mcq" else [],
        "ground_truth": TRUTH,
        "target": TRUTH,
    }
    return {**doc, **more}


def judged(response: str, *replies: str, error: str = "") -> Judged:
    return Judged(response, replies, error)


@pytest.mark.parametrize(
    ("kind", "task"), [("verdict", "bool"), ("letter", "mcq"), ("number", "calcu")]
)
def test_the_model_sees_question_choices_and_response_and_not_the_truth(
    kind: str, task: str
) -> None:
    item = xfinbench.reader_item(doc_of(task), f"<think>42</think>{SILENT[kind]}")
    assert item is not None
    assert item.category == kind
    shown = str(load_rubric("final_answer").messages(item))
    assert "What is asked?" in shown
    assert SILENT[kind][:20] in shown
    assert ("B. Rates fall." in shown) == (kind == "letter")
    assert TRUTH not in shown
    assert "42" not in shown


@pytest.mark.parametrize(
    "response",
    [
        "Therefore, my answer is true.",
        "<think>It may be true or",
        "",
        "<think>true</think>  ",
        CutOffResponse(SILENT["verdict"]),
    ],
)
def test_the_model_is_not_asked(response: str) -> None:
    assert xfinbench.reader_item(doc_of("bool"), response) is None
    assert bizbench.reader_item({"kind": "code"}, response) is None


def test_long_texts_are_cut() -> None:
    item = item_of("number", {"prompt": "a" * 9_000 + "?"}, "b" * 90_000 + "end")
    assert item is not None
    assert (len(item.question), item.question[-1]) == (4_000, "?")
    assert (len(item.response), item.response[-3:]) == (12_000, "end")


@pytest.mark.parametrize(
    ("kind", "reply", "answer"),
    [
        ("verdict", "true", 1),
        ("verdict", "False.", 0),
        ("verdict", "<think>Is it false?</think>**True**", 1),
        ("letter", "B", "B"),
        ("letter", "(c)", "C"),
        ("number", "1,250.5", 1250.5),
        ("number", "-15.3%", -0.153),
        ("number", '"7"', 7.0),
    ],
)
def test_a_reply_is_read_by_our_rules(kind: Kind, reply: str, answer: object) -> None:
    choices = CHOICES if kind == "letter" else []
    reading = read_by_model(kind, judged(SILENT[kind], reply), choices)
    value = getattr(reading.answer, "value", reading.answer)
    assert (value, reading.by, reading.unscored) == (answer, "model", False)
    assert (reading.reason, reading.replies) == ("", (reply,))


@pytest.mark.parametrize("kind", ["verdict", "letter", "number"])
@pytest.mark.parametrize("reply", ["NONE", "none.", "<think>7</think> None"])
def test_none_is_no_answer(kind: Kind, reply: str) -> None:
    reading = read_by_model(kind, judged(SILENT[kind], reply))
    assert (reading.answer, reading.by, reading.unscored) == (None, "model", False)
    assert reading.reason


@pytest.mark.parametrize(
    ("kind", "reply"),
    [
        ("verdict", "true or false"),
        ("verdict", "12"),
        ("verdict", ""),
        ("letter", "D"),
        ("letter", "A or B"),
        ("number", "8"),
        ("number", "true"),
        ("letter", "B\nRates fall."),
        ("number", "7 " + "because it is the last number of the response " * 3),
        ("number", "[" * 9_000),
    ],
)
def test_another_reply_leaves_the_response_unscored(kind: Kind, reply: str) -> None:
    choices = CHOICES if kind == "letter" else []
    reading = read_by_model(kind, judged(SILENT[kind], reply), choices)
    assert (reading.answer, reading.by, reading.unscored) == (None, "model", True)
    assert "expected an answer of the response" in reading.reason


@pytest.mark.parametrize("scoring", ["paper", "robust"])
def test_a_broken_model_is_unscored_in_robust_and_nothing_to_the_authors(
    scoring: str,
) -> None:
    doc = doc_of("bool", ground_truth="1")
    response = judged(SILENT["verdict"], error="no connection")
    reading = xfinbench.read(doc, response, scoring=scoring)
    values = xfinbench.metric_values(doc, [reading])
    assert values["unscored"] == float(scoring == "robust")
    assert figures_of("xfinbench", doc, [reading])["read_by_model"] == 0.0
    assert values.keys() == TaskFile("xfinbench_bool").metrics.keys()


def test_the_authors_readers_ignore_the_model() -> None:
    doc = doc_of("bool", ground_truth="1")
    response = judged(SILENT["verdict"], "true")
    paper = xfinbench.read(doc, response, scoring="paper")
    robust = xfinbench.read(doc, response, scoring="robust")
    assert (paper.answer, paper.by) == (None, "rules")
    assert (robust.answer, robust.by) == (1, "model")
    assert figures_of("xfinbench", doc, [paper, robust])["read_by_model"] == 0.5
