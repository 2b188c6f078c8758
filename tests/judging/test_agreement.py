"""Agreement of two graders, against scipy and scikit-learn."""

import warnings

import numpy as np
import pytest
import scipy.stats
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import cohen_kappa_score

from fin_tasks.judging.old_agreement import agreement, mean_absolute_difference, spearman, weighted_kappa

PAIRS = st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)), min_size=2, max_size=60)


@given(PAIRS)
def test_spearman_is_scipys(pairs: list[tuple[int, int]]) -> None:
    x, y = zip(*pairs, strict=True)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        expected = scipy.stats.spearmanr(x, y).statistic
    found = spearman(x, y)
    assert found is None if np.isnan(expected) else found == pytest.approx(expected)


@given(PAIRS)
def test_kappa_is_scikit_learns(pairs: list[tuple[int, int]]) -> None:
    x, y = zip(*pairs, strict=True)
    found = weighted_kappa(x, y)
    if len({*x, *y}) == 1:
        assert found is None
    else:
        assert found == pytest.approx(cohen_kappa_score(x, y, labels=range(6), weights="quadratic"))


@given(st.lists(st.tuples(st.floats(0, 5), st.floats(0, 5)), min_size=2, max_size=30))
def test_kappa_between_the_steps_is_its_definition(pairs: list[tuple[float, float]]) -> None:
    x, y = np.array(pairs).T
    expected = ((x[:, None] - y[None, :]) ** 2).mean()
    found = weighted_kappa(list(x), list(y))
    assert found is None or found == pytest.approx(1 - ((x - y) ** 2).mean() / expected, abs=1e-9)


def test_mean_absolute_difference() -> None:
    assert mean_absolute_difference([0, 5, 2.5], [5, 5, 2]) == pytest.approx(5.5 / 3)
    assert mean_absolute_difference([], []) is None


def test_intervals_agree_with_scipys_bootstrap() -> None:
    generator = np.random.default_rng(1)
    x = generator.integers(0, 6, 100)
    y = np.clip(x + generator.integers(-1, 2, 100), 0, 5)
    found = agreement(list(x), list(y))
    for estimate, statistic in (
        (found.spearman, lambda a, b: scipy.stats.spearmanr(a, b).statistic),
        (found.mean_absolute_difference, lambda a, b: np.mean(np.abs(a - b))),
        (found.weighted_kappa, lambda a, b: cohen_kappa_score(a, b, weights="quadratic")),
    ):
        theirs = scipy.stats.bootstrap(
            (x, y), statistic, paired=True, vectorized=False, method="percentile", n_resamples=500
        ).confidence_interval
        width = theirs.high - theirs.low
        assert estimate.value == pytest.approx(statistic(x, y))
        assert estimate.low == pytest.approx(theirs.low, abs=0.25 * width)
        assert estimate.high == pytest.approx(theirs.high, abs=0.25 * width)


def test_the_interval_holds_the_truth_about_as_often_as_it_says() -> None:
    """Of 80 samples of 60 responses nearly all intervals of the bias, which is 0.5 by construction, hold it."""
    generator = np.random.default_rng(7)
    held = 0
    for seed in range(80):
        x = generator.normal(2.5, 1, 60)
        bias = agreement(list(x), list(x + 0.5 + generator.normal(0, 1, 60)), seed=seed).bias
        assert bias.low is not None
        assert bias.high is not None
        held += bias.low <= 0.5 <= bias.high
    assert 70 <= held < 80


def test_what_is_not_defined_says_why() -> None:
    same = agreement([3, 3, 3], [1, 2, 3])
    assert (same.spearman.value, same.spearman.reason) == (None, "all scores are the same")
    assert same.mean_absolute_difference.value == 1.0
    assert agreement([3], [3]).spearman.reason == "1 response, two are needed"
    assert agreement([], []).bias.value is None
