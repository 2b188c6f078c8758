"""Orders that graders put models into."""

import numpy as np
import pytest
import scipy.stats

from fin_tasks.judging.rankings import compare_rankings


def table(**scores: list[float]) -> dict[str, dict[str, float]]:
    return {model: {str(at): score for at, score in enumerate(given)} for model, given in scores.items()}


def test_a_swap_is_named_with_how_sure_it_is() -> None:
    people = table(a=[5, 5, 4, 5], b=[4, 4, 4, 4], c=[1, 0, 1, 1])
    judge = table(a=[3, 3, 3, 3], b=[4, 5, 4, 4], c=[0, 0, 0, 1])
    found = compare_rankings({"people": people, "judge": judge})
    assert found is not None
    assert [list(ranking.means) for ranking in found.rankings] == [["a", "b", "c"], ["b", "a", "c"]]
    assert found.rankings[0].means["a"] == 4.75
    (swap,) = found.swaps
    assert swap.models == ("a", "b")
    assert swap.kept > 0.9
    means = [[ranking.means[model] for model in "abc"] for ranking in found.rankings]
    assert found.kendall["people", "judge"] == pytest.approx(scipy.stats.kendalltau(*means).statistic)
    assert found.spearman["people", "judge"] == pytest.approx(0.5)


def test_only_what_all_have_counts() -> None:
    people = table(a=[5, 0, 0], b=[1, 4, 4])
    judge = {"a": {"0": 5.0}, "b": {"0": 1.0, "1": 4.0}, "other": {"0": 3.0}}
    found = compare_rankings({"people": people, "judge": judge})
    assert found is not None
    assert found.n == 1
    assert [dict(ranking.means) for ranking in found.rankings] == [{"a": 5.0, "b": 1.0}] * 2
    assert found.swaps == ()


def test_equal_means_are_no_order() -> None:
    found = compare_rankings({"x": table(a=[3, 3], b=[3, 3]), "y": table(a=[1, 2], b=[3, 4])})
    assert found is not None
    assert found.kendall["x", "y"] is None
    assert found.swaps == ()


@pytest.mark.parametrize(
    "graders",
    [
        {},
        {"people": table(a=[1], b=[2])},
        {"people": table(a=[1]), "judge": table(a=[1])},
        {"people": table(a=[1], b=[2]), "judge": {"a": {"9": 1.0}, "b": {"9": 1.0}}},
    ],
)
def test_nothing_to_rank(graders: dict[str, dict[str, dict[str, float]]]) -> None:
    assert compare_rankings(graders) is None


def test_share_kept_is_that_of_resampling() -> None:
    """A difference that hangs on one of ten rows keeps its sign in about as many resamples as draw that row."""
    people = table(a=[1] * 10, b=[0] * 10)
    judge = table(a=[0] * 10, b=[1] + [0] * 9)
    found = compare_rankings({"people": people, "judge": judge})
    assert found is not None
    assert found.swaps[0].kept == pytest.approx(1 - (1 - 1 / 10) ** 10, abs=0.04)
    assert np.isclose(found.rankings[1].means["b"], 0.1)
