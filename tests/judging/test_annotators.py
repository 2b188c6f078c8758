"""One score out of several people's."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fin_tasks.errors import DataError
from fin_tasks.judging.annotators import REVIEW_ABOVE, combine


@pytest.mark.parametrize(
    ("scores", "score", "how", "review"),
    [
        ((2, 3, 3), 3.0, "mode", False),
        ((1, 2, 3), 2.0, "mean", False),
        ((0, 0, 5), 0.0, "mode", True),
        ((5, 5, 5), 5.0, "mode", False),
        ((0, 3, 3), 3.0, "mode", False),  # a variance of 2 does not exceed 2
        ((2, 3, 5), 10 / 3, "mean", False),  # 1.56 over n; 2.33 over n - 1
        ((1, 3, 5), 3.0, "mean", True),
        ((1, 2), 1.5, "mean", False),
        ((4,), 4.0, "mode", False),
        ((1, 1, 4, 4), 2.5, "mean", True),
    ],
)
def test_worked_examples(scores: tuple[int, ...], score: float, how: str, review: bool) -> None:
    combined = combine(scores)
    assert (combined.score, combined.how, combined.review) == (pytest.approx(score), how, review)


@given(st.lists(st.integers(0, 5), min_size=1, max_size=9))
def test_properties(scores: list[int]) -> None:
    combined = combine(scores)
    assert min(scores) <= combined.score <= max(scores)
    assert combine(scores[::-1]) == pytest.approx(combined) or combine(sorted(scores)).score == combined.score
    if combined.how == "mode":
        assert all(scores.count(int(combined.score)) > scores.count(other) for other in set(scores) - {combined.score})
    assert combined.review == (combined.variance > REVIEW_ABOVE)


def test_no_score_is_no_response() -> None:
    with pytest.raises(DataError, match="at least one score"):
        combine([])
