"""Pairs and ranks: against scipy and statsmodels, and in agreement with themselves."""

import math
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fin_tasks.stats.pairs import compare_all, compare_pair, holm, rank


def answers(
    both: int, gained: int, lost: int, neither: int
) -> tuple[np.ndarray, np.ndarray]:
    first = [1.0] * (both + gained) + [0.0] * (lost + neither)
    second = [1.0] * both + [0.0] * gained + [1.0] * lost + [0.0] * neither
    return np.array(first), np.array(second)


def test_shares_are_tested_exactly_and_the_interval_agrees() -> None:
    from statsmodels.stats.contingency_tables import mcnemar

    counts = product((0, 40), (0, 6, 24), (0, 9, 27), (1, 30))
    for both, gained, lost, neither in counts:
        pair = compare_pair(*answers(both, gained, lost, neither))
        expected = mcnemar([[both, gained], [lost, neither]], exact=True).pvalue
        if pair.n < 10:
            assert (pair.p, pair.test) == (1.0, "") and math.isnan(pair.low)
            continue
        assert pair.p == pytest.approx(min(1.0, expected))
        assert (pair.low > 0 or pair.high < 0) == (pair.p < 0.05)
        assert pair.low <= pair.difference <= pair.high


@pytest.mark.slow
def test_interval_of_shares_covers() -> None:
    generator = np.random.default_rng(1)
    kinds = generator.choice(4, (150, 60), p=[0.5, 0.2, 0.05, 0.25])
    n_covered = 0
    for rows in kinds:
        first = np.isin(rows, (0, 1)).astype(float)
        second = np.isin(rows, (0, 2)).astype(float)
        pair = compare_pair(first, second)
        n_covered += pair.low <= 0.15 <= pair.high
    assert 0.94 < n_covered / len(kinds) < 0.995


def test_graded_values_have_a_t_test() -> None:
    from scipy.stats import ttest_rel

    generator = np.random.default_rng(2)
    first, second = generator.random((2, 50))
    pair = compare_pair(first, second)
    expected = ttest_rel(first, second)
    assert pair.p == pytest.approx(expected.pvalue)
    assert (pair.low, pair.high) == pytest.approx(tuple(expected.confidence_interval()))


def test_shared_sources_widen_the_test_as_in_statsmodels() -> None:
    from statsmodels.api import OLS

    first, second = answers(10, 25, 10, 15)
    clusters = np.arange(60) // 5
    fit = OLS(first - second, np.ones(60)).fit(
        cov_type="cluster", cov_kwds={"groups": clusters}, use_t=True
    )
    pair = compare_pair(first, second, clusters=clusters)
    assert pair.p == pytest.approx(fit.pvalues[0])
    assert (pair.test, pair.clusters) == ("clustered t", 12)
    assert pair.p > compare_pair(first, second).p


def test_equal_differences_have_no_interval() -> None:
    for first, p in ((np.full(12, 0.75), 2 * 0.5**12), (np.full(12, 0.25), 1.0)):
        pair = compare_pair(first, np.full(12, 0.25))
        assert math.isnan(pair.low)
        assert pair.p == p
    nothing = compare_pair(np.full(3, math.nan), np.ones(3))
    assert (nothing.n, nothing.p) == (0, 1.0)


@settings(max_examples=25)
@given(
    st.lists(
        st.lists(st.sampled_from([0.0, 1.0, 0.5, math.nan]), min_size=8, max_size=8),
        min_size=2,
        max_size=6,
    )
)
def test_rank_lies_in_its_range(runs: list[list[float]]) -> None:
    scores = {str(number): np.array(run) for number, run in enumerate(runs)}
    for higher in (True, False):
        for place in rank(scores, compare_all(scores), higher_is_better=higher):
            assert 1 <= place.best <= place.rank <= place.worst <= len(runs)


@settings(max_examples=10)
@given(st.data())
def test_each_of_many_pairs_is_compared_as_if_alone(data: st.DataObject) -> None:
    """Rows that one of both runs did not score change nothing."""
    kinds = [(0.0, 1.0), (0.0, 1.0, math.nan), (0.0, 0.3, 70.0)]
    values = data.draw(st.sampled_from(kinds))
    n_rows = data.draw(st.integers(1, 12))
    row = st.lists(st.sampled_from(values), min_size=n_rows, max_size=n_rows)
    runs = data.draw(st.lists(row, min_size=2, max_size=5))
    codes = st.lists(st.integers(-1, 3), min_size=n_rows, max_size=n_rows)
    clusters = np.array(data.draw(codes))
    scores = {str(number): np.array(run) for number, run in enumerate(runs)}
    for pair in compare_all(scores, clusters=clusters).itertuples():
        first, second = scores[pair.first], scores[pair.second]
        is_common = ~np.isnan(first - second)
        alone = compare_pair(
            first[is_common], second[is_common], clusters=clusters[is_common]
        )
        assert pair.test == alone.test
        for name in ("n", "clusters", "difference", "low", "high", "p"):
            expected = getattr(alone, name)
            assert getattr(pair, name) == pytest.approx(expected, nan_ok=True)


def test_rank_and_range_come_from_the_same_rows() -> None:
    """A run that left out its hard rows has the best mean of its own rows, but loses on those in common."""
    easy_only = np.array([1.0] * 45 + [0.0] * 15 + [math.nan] * 40)
    thorough = np.array([1.0] * 60 + [0.0] * 40)
    scores = {"easy": easy_only, "all": thorough}
    places = rank(scores, compare_all(scores))
    assert places == [("all", 1, 1, 1), ("easy", 2, 2, 2)]


def test_equal_runs_share_a_rank() -> None:
    scores = dict.fromkeys("ab", np.array([1.0, 0.0] * 10))
    places = rank(scores, compare_all(scores))
    assert places == [("a", 1, 1, 2), ("b", 1, 1, 2)]


@settings(max_examples=20)
@given(st.lists(st.floats(0, 1), min_size=1, max_size=20))
def test_holm_is_that_of_statsmodels(p_values: list[float]) -> None:
    from statsmodels.stats.multitest import multipletests

    assert holm(p_values) == pytest.approx(multipletests(p_values, method="holm")[1])
    assert holm([*p_values, math.nan])[:-1] == holm(p_values)
