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
    reading = read(document, "I do not know.", scoring="paper")
    values = metric_values(document, [reading])
    assert (values["acc"], values["no_answer"], values["unscored"]) == (0.0, 1.0, 0.0)


def test_a_target_without_an_answer_is_unscored() -> None:
    document = doc("number", "a lot")
    for scoring in ("paper", "robust"):
        reading = read(document, "It is 5.", scoring=scoring)
        assert "the target has no number" in compare(document, reading).reason
        values = metric_values(document, [reading])
        assert (values["acc"], values["acc_err"]) == (None, None)
        assert values["unscored"] == 1.0


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


MANY = [f"choice number {number}" for number in range(26)]
SAYS = "Therefore, my answer is {}."
OWN_KINDS = [
    (doc("letter", "Z", choices=MANY), "Z", 1.0),
    (doc("letter", "Z", choices=MANY), "Y", 0.0),
    (doc("letters", "A, C", choices=MANY[:4]), "C and A", 1.0),
    (doc("letters", "A, C", choices=MANY[:4]), "options A and C", 1.0),
    (doc("letters", "A, C", choices=MANY[:4]), "AC", 1.0),
    (doc("letters", "A, C", choices=MANY[:4]), "A", 0.0),
    (doc("letters", "A, C", choices=MANY[:4]), "A, B and C", 0.0),
    (doc("letters", "X and Z", choices=MANY), "Z, X", 1.0),
    (doc("date", "2024-03-31"), "March 31, 2024", 1.0),
    (doc("date", "2024-03-31"), "31 March 2024", 1.0),
    (doc("date", "2024-03-31"), "31.3.2024", 1.0),
    (doc("date", "2024-03-31"), "3/31/2024", 1.0),
    (doc("date", "2024-03-31"), "2024-03-30", 0.0),
    (doc("text", "current ratio", alternatives=["CR"]), "the current ratio", 1.0),
    (doc("text", "current ratio", alternatives=["CR"]), "CR", 1.0),
    (doc("text", "current ratio", alternatives=None), "not the current ratio", 0.0),
    (doc("text", "J.P. Morgan"), "J.P. Morgan", 1.0),
    (doc("number", "200", tolerance=0.05), "209", 1.0),
    (doc("number", "200", tolerance=0.05), "211", 0.0),
    (doc("number", "200", tolerance=None), "209", 0.0),
]


@pytest.mark.parametrize(("document", "said", "acc"), OWN_KINDS)
def test_the_kinds_of_ones_own(document: dict[str, Any], said: str, acc: float) -> None:
    check_documents([document], Path("q.jsonl"))
    for scoring in ("paper", "robust"):
        reading = read(document, SAYS.format(said), scoring=scoring)
        values = metric_values(document, [reading])
        assert (values["acc"], values["acc_err"]) == (acc, acc)
        assert values["no_answer"] == 0.0
        assert compare(document, reading).reason == ("right" if acc else "wrong")


@pytest.mark.parametrize(
    ("document", "said"),
    [
        (doc("letters", "A", choices=CHOICES), "A good one"),
        (doc("letters", "A", choices=CHOICES), "A. Stocks and B. Bonds"),
        (doc("date", "2024-03-04"), "3/4/2024"),
        (doc("date", "2024-03-04"), "February 30, 2024"),
        (doc("text", "beta"), "x" * 300),
    ],
)
def test_in_doubt_no_answer_is_read(document: dict[str, Any], said: str) -> None:
    reading = read(document, SAYS.format(said), scoring="robust")
    assert reading.answer is None
    assert metric_values(document, [reading])["no_answer"] == 1.0
    assert reader_item(document, SAYS.format(said)) is None


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ({"choices": [*MANY, "one more"]}, "choices: expected at most 26, got 27"),
        ({"tolerance": 5}, "tolerance: expected a share"),
        ({"tolerance": "1 %"}, "tolerance: expected a share"),
        ({"alternatives": "CR"}, "alternatives: expected a list of texts"),
        ({"alternatives": [5]}, "alternatives: expected a list of texts"),
    ],
)
def test_fields_that_cannot_be_used_are_refused(
    more: dict[str, Any], said: str
) -> None:
    with pytest.raises(DataError, match=said):
        check_documents([doc("letter", "A", **more)], Path("q.jsonl"))


def test_a_field_of_some_documents_is_missing_in_the_others() -> None:
    docs = [doc("number", "480"), doc("letter", "B", choices=CHOICES)]
    found = dataset_of(docs, {}).to_list()
    assert [row["choices"] for row in found] == [None, CHOICES]
    found = dataset_of(docs[::-1], {}).to_list()
    assert [row["choices"] for row in found] == [CHOICES, None]
    check_documents(found, Path("q.jsonl"))
