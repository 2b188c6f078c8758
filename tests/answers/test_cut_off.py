"""Responses that were cut off: by a finish reason, by their text, and in lm-eval's samples."""

import json
import pickle

import pytest

from fin_tasks.answers.cut_off import (
    CutOffResponse,
    is_cut_off,
    mark_reading,
    mark_response,
    responses_of_sample,
)
from fin_tasks.answers.types import Reading

READ = json.dumps({"answer": 1.0, "cut_off": False})
CUT = json.dumps({"answer": None, "cut_off": True})


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


def test_readings_and_their_share() -> None:
    reading = Reading(variant="paper", answer=None)
    readings = [
        mark_reading(reading, text)
        for text in (CutOffResponse("a"), "a", "<think>", "")
    ]
    assert [one.cut_off for one in readings] == [True, False, True, False]
    # Whoever scores a response again starts from its own text.
    assert mark_reading(readings[0], "a").cut_off is False


@pytest.mark.parametrize(
    ("sample", "marked"),
    [
        (
            {"resps": [["a", "b"]], "filtered_resps": [[READ, CUT]], "cut_off": 0.5},
            [False, True],
        ),
        (
            {"resps": [["a", "b"]], "filtered_resps": [["a", "b"]], "cut_off": 1.0},
            [True, True],
        ),
        (
            {"resps": [["a", "b"]], "filtered_resps": [["a", "5"]], "cut_off": 0.5},
            [False, False],
        ),
        ({"resps": [["a"]], "filtered_resps": [[CUT]], "cut_off": 0.0}, [False]),
        ({"resps": [["a"]], "filtered_resps": [[CUT]]}, [False]),
    ],
)
def test_lines_of_samples(sample: dict[str, object], marked: list[bool]) -> None:
    (texts,) = responses_of_sample(sample)
    assert [is_cut_off(text) for text in texts] == marked


@pytest.mark.parametrize("responses", [5, None, "text", ["a"], [["a"], 5], []])
def test_other_things_than_responses_stay_as_they_are(responses: object) -> None:
    sample = {"resps": responses, "filtered_resps": [["a"]], "cut_off": 1.0}
    assert responses_of_sample(sample) == responses
