"""A judge's reply is a number alone, or no verdict."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fin_tasks.judging.old_rubric import load_rubric
from fin_tasks.judging.verdict import read_score

RUBRIC = load_rubric("mme_finance_en")


@pytest.mark.parametrize("score", range(6))
def test_every_place_on_the_scale(score: int) -> None:
    assert read_score(str(score), RUBRIC) == (score, None)


@pytest.mark.parametrize(
    "reply",
    [" 4", "4\n", "\n\n4 \t", "\u30004", "<think>5, or 3?</think>4", "Perhaps 5.</think>\n\n4"],
)
def test_what_is_read(reply: str) -> None:
    assert read_score(reply, RUBRIC) == (4, None)


@pytest.mark.parametrize(
    "reply",
    [
        *("", " ", "four", "IV", "\u56db", "6", "-1", "+4", "-0", "10", "45", "04", "00", "400000000000000000000"),
        *(
            "4.",
            "4.5",
            "4,5",
            "4/5",
            "4 / 5",
            "4-5",
            "4 5",
            "4\n5",
            "4%",
            "4!",
            "4\u5206",
            "\uff14",
            "\u0664",
            "\u2463",
            "\u2074",
        ),
        *(
            "**4**",
            "`4`",
            '"4"',
            "'4'",
            "(4)",
            "[4]",
            '{"score": 4}',
            "Score: 4",
            "Score: 4 or 5",
            "4 points",
            "I'd say 4",
        ),
        *("<think>4", "<think>4</think>", "nan", "null", "None", "true", "4e0", "0x4"),
    ],
)
def test_what_is_not_read(reply: str) -> None:
    score, error = read_score(reply, RUBRIC)
    assert score is None
    assert error is not None
    assert error.endswith("expected a whole number from 0 to 5 alone")


@given(st.text(st.sampled_from("0123456789.-+/ \n*四\uff15<think>"), max_size=8))
def test_only_a_number_on_the_scale_is_read(reply: str) -> None:
    score, error = read_score(reply, RUBRIC)
    assert (score is None) is (error is not None)
    if score is not None and "<" not in reply:
        assert reply.strip() == str(score)


def test_long_replies_are_named_by_their_beginning() -> None:
    assert read_score("x" * 10_000, RUBRIC)[1] == (
        f"the judge replied '{'x' * 80}...', expected a whole number from 0 to 5 alone"
    )
