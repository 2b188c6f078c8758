"""Ranks, corrections for many tests, and what a number of rows can show."""

import math

import numpy as np
import pytest
import scipy.stats
from hypothesis import given, settings
from hypothesis import strategies as st
from statsmodels.stats.multitest import multipletests
from statsmodels.stats.power import NormalIndPower
from statsmodels.stats.proportion import proportion_effectsize

from fin_tasks.stats.clustered import clustered_mean
from fin_tasks.stats.multiple import holm
from fin_tasks.stats.paired import mcnemar
from fin_tasks.stats.power import detectable_difference, detectable_mean, fewest_discordant
from fin_tasks.stats.ranks import compare_all, rank

SCORES = st.lists(st.tuples(*[st.sampled_from([0, 1, None])] * 3), min_size=1, max_size=40)


@given(SCORES)
def test_pairs_at_once_are_pairs_one_by_one(rows: list[tuple[int | None, ...]]) -> None:
    scores = dict(zip("abc", zip(*rows, strict=True), strict=True))
    for found in compare_all(scores):
        both = [
            (x, y)
            for x, y in zip(scores[found.first], scores[found.second], strict=True)
            if x is not None and y is not None
        ]
        assert found.n == len(both)
        gained, lost = sum(x > y for x, y in both), sum(x < y for x, y in both)
        assert found.p == pytest.approx(mcnemar(gained, lost))
        if both:
            assert found.difference == pytest.approx((gained - lost) / len(both))
        assert found.p_holm >= found.p


def test_graded_scores_are_tested_as_scipy_tests_them() -> None:
    generator = np.random.default_rng(5)
    x, y = generator.normal(3, 1, 50), generator.normal(2.7, 1, 50)
    (found,) = compare_all({"x": list(x), "y": list(y)})
    assert found.p == pytest.approx(scipy.stats.ttest_rel(x, y).pvalue)
    (clustered,) = compare_all({"x": list(x), "y": list(y)}, clusters=[at // 5 for at in range(50)])
    assert clustered.p != pytest.approx(found.p)


def test_equal_models_are_told_apart_no_more_often_than_the_level() -> None:
    """200 leaderboards of six equal models: Holm keeps any false finding to 5 % of them; without it there are many."""
    generator = np.random.default_rng(11)
    corrected = uncorrected = 0
    for _ in range(200):
        scores = {f"m{model}": list((generator.random(120) < 0.5).astype(int)) for model in range(6)}
        pairs = compare_all(scores)
        corrected += any(pair.p_holm < 0.05 for pair in pairs)
        uncorrected += any(pair.p < 0.05 for pair in pairs)
    assert corrected <= 16
    assert uncorrected > 40


def test_a_different_model_is_found() -> None:
    generator = np.random.default_rng(2)
    scores = {
        f"m{at}": list((generator.random(600) < rate).astype(int)) for at, rate in enumerate((0.8, 0.5, 0.5, 0.2))
    }
    found = {one.model: one for one in rank(scores)}
    assert (found["m0"].best, found["m0"].worst) == (1, 1)
    assert (found["m3"].best, found["m3"].worst) == (4, 4)
    assert {(found[name].best, found[name].worst) for name in ("m1", "m2")} == {(2, 3)}
    assert found["m1"].alike == ("m2",)
    turned = rank(scores, higher_is_better=False)
    assert turned[0].model == "m3"


def test_ties_and_models_without_scores() -> None:
    found = rank({"a": [1, 0], "b": [0, 1], "none": [None, None]})
    assert [(one.model, one.rank, one.n) for one in found] == [("a", 1, 2), ("b", 1, 2), ("none", None, 0)]
    assert all((one.best, one.worst) == (1, 3) for one in found)
    assert math.isnan(found[-1].mean)
    assert rank({}) == []
    with pytest.raises(ValueError, match="as many rows"):
        rank({"a": [1], "b": [1, 0]})


@settings(max_examples=20)  # theirs collects garbage each time
@given(st.lists(st.floats(0, 1), min_size=1, max_size=30))
def test_holm_is_statsmodels(p_values: list[float]) -> None:
    assert holm(p_values) == pytest.approx(list(multipletests(p_values, method="holm")[1]))


@pytest.mark.parametrize("n", [50, 400, 5000])
def test_detectable_differences_are_statsmodels(n: int) -> None:
    effect = NormalIndPower().solve_power(nobs1=n, alpha=0.05, power=0.8)
    difference = detectable_difference(n, rate=0.4)
    assert proportion_effectsize(0.4 + difference, 0.4) == pytest.approx(effect, rel=1e-3)


def test_holm_by_hand() -> None:
    assert holm([]) == []
    assert holm([0.01, 0.02, 0.03, 0.04]) == pytest.approx([0.04, 0.06, 0.06, 0.06])
    assert holm([0.9, 0.8]) == pytest.approx([1.0, 1.0])


@pytest.mark.parametrize(("n", "rate"), [(400, 0.5), (1000, 0.8)])
def test_a_detectable_difference_is_detected_as_often_as_asked(n: int, rate: float) -> None:
    generator = np.random.default_rng(8)
    low = min(rate, 1 - rate)
    difference = detectable_difference(n, rate=rate)
    right = generator.binomial(n, [[low], [low + difference]], size=(2, 4000)) / n
    pooled = right.mean(axis=0)
    z = (right[1] - right[0]) / np.sqrt(2 * pooled * (1 - pooled) / n)
    assert np.mean(np.abs(z) > 1.96) == pytest.approx(0.8, abs=0.03)


def test_what_no_number_of_rows_can_show() -> None:
    assert math.isnan(detectable_difference(2))
    assert math.isnan(detectable_difference(100, rate=0.0))
    assert math.isnan(detectable_mean(0.1, freedom=0))
    assert math.isnan(detectable_mean(math.nan))


@pytest.mark.parametrize("alpha", [0.05, 0.01, 0.05 / 435, 0.5])
def test_fewer_discordant_rows_than_said_are_never_enough(alpha: float) -> None:
    fewest = fewest_discordant(alpha=alpha)
    assert mcnemar(fewest, 0) < alpha <= mcnemar(fewest - 1, 0)


def test_two_rows_make_nothing_certain() -> None:
    found = rank({"a": [5, 5], "b": [4, 4]})
    assert [(one.best, one.worst) for one in found] == [(1, 2), (1, 2)]
    assert rank({"a": [5] * 20, "b": [4] * 20})[0].worst == 1


@given(st.lists(st.tuples(st.floats(0, 5), st.floats(0, 5), st.integers(0, 4)), min_size=2, max_size=30))
def test_a_pair_with_clusters_is_a_clustered_mean_of_differences(rows: list[tuple[float, float, int]]) -> None:
    first, second, clusters = zip(*rows, strict=True)
    (found,) = compare_all({"x": first, "y": second}, clusters=clusters)
    expected = clustered_mean([x - y for x, y in zip(first, second, strict=True)], clusters=clusters)
    assert not found.exact or set(first) | set(second) <= {0, 1}
    if not found.exact:
        assert found.difference == pytest.approx(expected.mean, abs=1e-9)
        assert found.stderr == pytest.approx(expected.stderr, abs=1e-9, nan_ok=True)
        if not expected.stderr < 1e-9:  # differences without any spread have no interval
            assert found.interval.low == pytest.approx(expected.interval.low, abs=1e-6, nan_ok=True)


@pytest.mark.parametrize(("gained", "lost"), [(0.1, 0.1), (0.25, 0.05), (0.06, 0.01)])
def test_intervals_of_pairs_hold_the_true_difference_as_often_as_they_say(gained: float, lost: float) -> None:
    generator = np.random.default_rng(4)
    held = 0
    for _ in range(600):
        drawn = generator.choice(3, size=100, p=[gained, lost, 1 - gained - lost])
        (pair,) = compare_all({"x": (drawn == 0).astype(float), "y": (drawn == 1).astype(float)})
        held += pair.interval.low <= gained - lost <= pair.interval.high
    assert held / 600 > 0.93


def test_models_that_agree_on_every_row_are_not_equal_for_certain() -> None:
    (pair,) = compare_all({"x": [1, 0] * 10, "y": [1, 0] * 10})
    assert pair.interval.low < 0 < pair.interval.high
    assert pair.p == 1


def test_a_detectable_mean_is_detected_as_often_as_asked() -> None:
    drawn = np.random.default_rng(3).normal(detectable_mean(0.7), 0.7, 20_000)
    assert np.mean(np.abs(drawn / 0.7) > 1.96) == pytest.approx(0.8, abs=0.01)


def test_a_detectable_mean_of_few_clusters_is_detected_as_often_as_asked() -> None:
    generator = np.random.default_rng(6)
    mean = detectable_mean(1 / math.sqrt(9), alpha=0.01, freedom=8)
    drawn = generator.normal(mean, 1, (20_000, 9))
    found = scipy.stats.ttest_1samp(drawn, 0, axis=1).pvalue < 0.01
    assert 0.75 < np.mean(found) < 0.85


@pytest.mark.parametrize(("value", "n"), [(0.7, 6), (0.1, 3), (1 / 3, 11), (1e-9, 7), (95.3, 5)])
@pytest.mark.parametrize("kind", [np.float64, np.float32])
def test_what_rounding_leaves_is_no_spread(value: float, n: int, kind: type) -> None:
    (pair,) = compare_all({"x": [float(kind(value))] * n, "y": [0.0] * n})
    assert pair.p == min(1.0, 2 * 0.5**n)
    assert pair.stderr == 0
    assert math.isnan(pair.interval.low)
    (turned,) = compare_all({"x": [0.1 + 0.2] * n, "y": [0.3] * n})
    assert (turned.difference, turned.p) == (0, 1)


def test_clusters_with_equal_sums_are_no_more_than_their_number() -> None:
    differences, clusters = [0.1, 0.3, 0.3, 0.1] * 2, [0, 0, 1, 1, 2, 2, 3, 3]
    (pair,) = compare_all({"x": differences, "y": [0.0] * 8}, clusters=clusters)
    assert (pair.p, pair.clusters) == (2 * 0.5**4, 4)
    assert math.isnan(pair.interval.low)
    shares, other = [1, 0] * 5, [0, 1] * 5
    (pair,) = compare_all({"x": shares, "y": other}, clusters=[at // 2 for at in range(10)])
    assert (pair.difference, pair.p) == (0, 1)
    assert pair.interval.low < -0.2 and pair.interval.high > 0.2
    (best,) = compare_all({"x": [1] * 12, "y": [0] * 12}, clusters=[at // 2 for at in range(12)])
    assert best.p == 2 * 0.5**6
    assert 0.2 < best.interval.low < 0.8 and best.interval.high == 1


def test_one_cluster_tells_nothing() -> None:
    (pair,) = compare_all({"x": [1, 1, 0], "y": [0, 0, 0]}, clusters=["a"] * 3)
    assert pair.p == 1
    assert math.isnan(pair.interval.low)


def test_pairs_without_a_row_are_no_tests() -> None:
    scores = {"x": [1] * 8 + [None], "y": [0] * 8 + [None], "z": [None] * 8 + [1]}
    pairs = {(one.first, one.second): one for one in compare_all(scores)}
    assert pairs["x", "y"].p_holm == pairs["x", "y"].p
    assert pairs["x", "z"].p_holm == 1
    assert math.isnan(holm([0.01, math.nan, 0.02])[1])
    assert holm([0.01, math.nan, 0.02])[0] == pytest.approx(0.02)
    for none in ({"x": [None, None], "y": [None, None]}, {"x": [None, 0.5], "y": [0.5, None]}):
        assert compare_all(none)[0].p == 1


def test_what_is_no_number_is_refused() -> None:
    with pytest.raises(ValueError, match="infinite"):
        compare_all({"x": [math.inf, 1], "y": [0, 1]})
    with pytest.raises(ValueError, match="finite numbers, got nan"):
        clustered_mean([math.nan, 1])
    with pytest.raises(ValueError, match="within"):
        holm([0.5, 1.5])


def test_exercises_that_are_known_keep_equal_models_alike() -> None:
    """Two equal models, of which each finds some exercises easier: McNemar's test takes that for a difference."""
    generator = np.random.default_rng(12)
    exercises = np.repeat(np.arange(60), [6] * 15 + [2] * 45)
    aware = unaware = 0
    for _ in range(300):
        x, y = (generator.random(180) < generator.beta(0.4, 0.6, 60)[exercises] for _ in range(2))
        scores = {"x": x.astype(float), "y": y.astype(float)}
        aware += compare_all(scores, clusters=exercises.tolist())[0].p < 0.05
        unaware += compare_all(scores)[0].p < 0.05
    assert aware <= 24  # 5 % of 300, and what chance adds
    assert unaware > 40


def test_an_interval_of_a_difference_ends_where_differences_do() -> None:
    (pair,) = compare_all({"a": [90.0, 95.0, 10.0], "b": [5.0, 0.0, 8.0]})
    assert pair.interval.low < -50 < 100 < pair.interval.high
    assert (pair.within(100).interval.high, pair.within(math.inf)) == (100, pair)
    (alone,) = compare_all({"a": [1.0], "b": [0.5]})
    assert math.isnan(alone.within(1).interval.low)
