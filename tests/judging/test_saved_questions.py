"""Whether a cell of a prediction file holds a question of the data set."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fin_tasks.judging.saved_questions import same_question


@pytest.mark.parametrize(
    ("saved", "question"),
    [
        ("What is\tthe price?", "What is  the price?\r\n"),
        (7.5, "007.50"),
        ("7.0", "7"),
        (None, "N/A"),
        ("nan", "N/A"),
        ("2", "=1+1"),
        (True, "true"),
        ("\uff11\uff12", "12"),
        ("x" * 32_767, "x" * 40_000),
        ("a b", "a\x0b b"),
    ],
)
def test_what_a_spreadsheet_does_to_a_question_makes_no_other(saved: object, question: str) -> None:
    assert same_question(saved, question)


@pytest.mark.parametrize(
    ("saved", "question"),
    [
        ("What is 7?", "What is 8?"),
        ("What is", "What is 8?"),
        (None, "What is 8?"),
        ("", "What is 8?"),
        (7, "8"),
        ("y" * 32_767, "x" * 40_000),
        ("\u4ec0\u4e48", "\u4f55\u65f6"),
    ],
)
def test_other_questions(saved: object, question: str) -> None:
    assert not same_question(saved, question)


@given(st.text())
def test_a_question_is_itself(question: str) -> None:
    assert same_question(question, question)
