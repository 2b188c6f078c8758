"""Judges beside people: the statistics. `tests/labels` has the command."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import spearmanr

from fin_tasks.judging.agreement import agreement, combine

SCORES = st.integers(0, 5)
PAIRS = st.lists(st.tuples(SCORES, SCORES), min_size=2, max_size=30)


@given(PAIRS.filter(lambda p: len({x for x, _ in p}) > 1 < len({y for _, y in p})))
def test_the_correlation_is_scipys(pairs: list[tuple[int, int]]) -> None:
    x, y = [x for x, _ in pairs], [y for _, y in pairs]
    assert agreement(x, y)["spearman"] == pytest.approx(spearmanr(x, y).statistic, abs=1e-12)


def test_an_interval_holds_the_value() -> None:
    found = agreement([0, 1, 2, 3, 4, 5] * 5, [0, 2, 1, 3, 5, 4] * 5)
    assert found["low"] < found["spearman"] < found["high"]  # type: ignore[operator]
    assert (found["mean_absolute_difference"], found["bias"]) == (pytest.approx(4 / 6), 0)
    assert agreement([3, 3], [1, 2])["spearman"] is None
    assert agreement([], [])["bias"] is None


@pytest.mark.parametrize(
    ("scores", "expected"),
    [([5, 5, 1], (5, True)), ([1, 2, 4], (7 / 3, False)), ([4], (4, False)), ([1, 1, 3, 3], (2, False))],
)
def test_people_are_combined(scores: list[float], expected: tuple[float, bool]) -> None:
    assert combine(scores) == (pytest.approx(expected[0]), expected[1])
