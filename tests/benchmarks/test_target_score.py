"""The scorer for benchmarks of one's own: the right answer is read in the target."""

from pathlib import Path
from typing import Any

import pytest

from fin_tasks.benchmarks.target_score import (
    check_documents,
    compare,
    metric_values,
    read,
    reader_item,
)
from fin_tasks.data.documents import dataset_of
from fin_tasks.errors import DataError
from fin_tasks.judging.item import Judged


def doc(kind: str, answer: str, **more: Any) -> dict[str, Any]:
    target = f"Therefore, my answer is {answer}."
    return {"id": "a", "kind": kind, "prompt": "?", "target": target, **more}


CHOICES = ["red", "blue"]
CASES = [
    (doc("number", "280,000"), "It is 280000.", 1.0, 1.0),
    (doc("number", "35 %"), "The answer is 0.35.", 1.0, 1.0),
    (doc("number", "35 %"), "The answer is 35.", 1.0, 1.0),
    (doc("number", "19700"), "The answer is 19,701.", 0.0, 1.0),
    (doc("number", "19700"), "The answer is 5.", 0.0, 0.0),
    (doc("verdict", "false"), "The statement is false.", 1.0, 1.0),
    (doc("verdict", "false"), "The statement is true.", 0.0, 0.0),
    (doc("letter", "B"), "Answer: (B)", 1.0, 1.0),
    (doc("letter", "B", choices=CHOICES), "The answer is blue.", 1.0, 1.0),
    (doc("letter", "B", choices=None), "Answer: A", 0.0, 0.0),
]


@pytest.mark.parametrize(("document", "response", "acc", "acc_err"), CASES)
def test_both_scorings_read_alike(
    document: dict[str, Any], response: str, acc: float, acc_err: float
) -> None:
    for scoring in ("paper", "robust"):
        reading = read(document, response, scoring=scoring)
        assert reading.scoring == scoring
        values = metric_values(document, [reading])
        assert (values["acc"], values["acc_err"]) == (acc, acc_err)
        assert (values["no_answer"], values["unscored"]) == (0.0, 0.0)


def test_no_answer_is_wrong() -> None:
    document = doc("number", "5")
    values = metric_values(
        document, [read(document, "I do not know.", scoring="paper")]
    )
    assert (values["acc"], values["no_answer"], values["unscored"]) == (0.0, 1.0, 0.0)


def test_a_target_without_an_answer_is_unscored() -> None:
    document = doc("number", "a lot")
    for scoring in ("paper", "robust"):
        reading = read(document, "It is 5.", scoring=scoring)
        assert "the target has no number" in compare(document, reading).reason
        values = metric_values(document, [reading])
        assert (values["acc"], values["acc_err"], values["unscored"]) == (
            None,
            None,
            1.0,
        )


def test_a_model_may_read() -> None:
    document = doc("number", "12.5")
    response = "Let us see. Between 12.5 and 13, hard to say"
    assert reader_item(document, "The answer is 12.5.") is None
    item = reader_item(document, response)
    assert item is not None
    judged = Judged(response, ("12.5",))
    values = metric_values(document, [read(document, judged, scoring="robust")])
    assert (values["acc"], values["no_answer"]) == (1.0, 0.0)


@pytest.mark.parametrize(
    ("document", "said"),
    [
        (doc("choice", "B"), "row 2, kind: expected .*letter.*, got 'choice'"),
        (doc("letter", "mortgage"), "row 2: expected an answer that is a letter"),
    ],
)
def test_a_question_that_cannot_be_scored_is_refused(
    document: dict[str, Any], said: str
) -> None:
    first = doc("number", "480")
    check_documents([first, first], Path("q.jsonl"))
    with pytest.raises(DataError, match=said):
        check_documents([first, document], Path("q.jsonl"))


def test_fields_of_several_types_are_refused() -> None:
    docs = [doc("number", "480", gold="480"), doc("number", "250", gold=250)]
    with pytest.raises(DataError, match="one type in each field"):
        dataset_of(docs, {})
