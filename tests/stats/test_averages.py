"""Means that leave missing values out."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fin_tasks.stats.averages import average, over_responses, standard_error


@given(
    st.lists(st.floats(0, 1), min_size=2, max_size=50),
    st.lists(st.integers(0, 60), max_size=20),
)
def test_known_values_have_lm_evals_mean(
    values: list[float], places: list[int]
) -> None:
    from lm_eval.api.metrics import mean, mean_stderr

    gappy: list[float | None] = list(values)
    for place in places:
        gappy.insert(min(place, len(gappy)), None)
    assert average(gappy) == pytest.approx(mean(values))
    assert standard_error(gappy) == pytest.approx(mean_stderr(values), abs=1e-12)


def test_nothing_to_average() -> None:
    assert math.isnan(average([None, None]))
    assert math.isnan(standard_error([1.0, None]))


def test_metrics_of_several_responses_are_combined() -> None:
    first = {
        "acc": 1.0,
        "shares": [1.0, 0.0],
        "pairs": [[0.2, 0]],
        "brier": None,
        "ece": None,
    }
    second = {
        "acc": 0.0,
        "shares": [0.0, 1.0],
        "pairs": [[0.9, 1]],
        "brier": 0.5,
        "ece": None,
    }
    third = {"acc": None, "shares": None, "pairs": [], "brier": None, "ece": None}
    combined = over_responses([first, second, third])
    assert (combined["acc"], combined["brier"], combined["ece"]) == (0.5, 0.5, None)
    assert combined["shares"] == [0.5, 0.5]
    assert combined["pairs"] == [[0.2, 0], [0.9, 1]]
    assert over_responses([third, first])["pairs"] == [[0.2, 0]]
    assert over_responses([first]) == first
