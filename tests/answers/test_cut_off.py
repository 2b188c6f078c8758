"""Responses that were cut off: by a finish reason, and by their text."""

import pickle

import pytest

from fin_tasks.answers.cut_off import CutOffResponse, mark_response
from fin_tasks.answers.text import is_cut_off


@pytest.mark.parametrize(
    ("reason", "is_marked"),
    [
        ("length", True),
        ("MAX_TOKENS", True),
        ("model_length", True),
        ("stop", False),
        ("content_filter", False),
        ("", False),
        (None, False),
        (5, False),
    ],
)
def test_a_finish_reason_marks_a_response(reason: object, is_marked: bool) -> None:
    response = mark_response("The yield is", reason)
    assert response == "The yield is"
    assert is_cut_off(response) == is_marked


def test_reasoning_that_never_ends_is_cut_off() -> None:
    assert is_cut_off("<think>First, the yield")
    assert not is_cut_off("<think>First, the yield</think>5 %")
    assert not is_cut_off("")


def test_the_mark_outlives_a_cache() -> None:
    response = pickle.loads(pickle.dumps(CutOffResponse("a")))  # noqa: S301
    assert response == "a"
    assert is_cut_off(response)
