"""Intervals of means over sets: as wide as the sets leave them, however far the sets are apart."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import norm

from fin_tasks.stats.bounded import bounded_mean
from fin_tasks.stats.stratified import stratified_mean

REPETITIONS = 400


def simulated(
    shares: tuple[float, ...], rows: tuple[int, ...], *, sources: int, shared: bool, seed: int = 3
) -> tuple[float, float, float, float]:
    """Coverage, mean width, the width that the means' own spread asks for, and the width without regard to sets."""
    generator = np.random.default_rng(seed)
    truth, held, widths, plain, means = float(np.mean(shares)), 0, [], [], []
    strata = np.repeat(np.arange(len(rows)), rows)
    weights = 1 / np.repeat(rows, rows)
    for _ in range(REPETITIONS):
        effects = generator.normal(size=(1 if shared else len(rows), sources))
        codes = generator.integers(sources, size=len(strata))
        own = effects[0 if shared else strata, codes]
        noise = math.sqrt(0.3) * own + math.sqrt(0.7) * generator.normal(size=len(strata))
        values = (norm.cdf(noise) < np.array(shares)[strata]).astype(float)
        clusters = codes if shared else codes + sources * strata
        found = stratified_mean(values, strata=strata, clusters=clusters, weights=weights)
        apart = bounded_mean(values, clusters=clusters, weights=weights)
        held += found.low <= truth <= found.high
        widths.append(found.high - found.low)
        plain.append(apart.high - apart.low)
        means.append(float(weights @ values) / len(rows))
    return held / REPETITIONS, float(np.mean(widths)), 2 * 1.96 * float(np.std(means)), float(np.mean(plain))


@pytest.mark.parametrize(
    ("shares", "rows", "sources", "shared", "slack"),
    [
        ((0.5,) * 5, (100,) * 5, 40, True, 1.1),
        ((0.05, 0.2, 0.4, 0.6, 0.8), (100,) * 5, 40, True, 1.1),
        ((0.05, 0.95), (100, 100), 40, True, 1.3),
        ((0.05, 0.95), (100, 100), 40, False, 1.3),
        ((0.02, 0.9), (20, 200), 40, False, 1.8),  # 20 rows of which mostly none is right say little
        ((0.9,) * 3, (60,) * 3, 12, True, 1.2),
        ((0.9,) * 8, (5,) * 8, 5, False, 1.2),  # too few of each to say how they vary: taken together
    ],
)
def test_they_hold_the_truth_and_are_no_wider_than_need_be(
    shares: tuple[float, ...], rows: tuple[int, ...], sources: int, shared: bool, slack: float
) -> None:
    coverage, width, needed, plain = simulated(shares, rows, sources=sources, shared=shared)
    assert coverage >= 0.93
    assert width <= slack * needed
    if max(shares) - min(shares) > 0.8:
        assert width < 0.6 * plain


def test_one_set_is_none() -> None:
    generator = np.random.default_rng(1)
    values, clusters = (generator.random(60) < 0.8).astype(float), np.arange(60) // 3
    weights = generator.random(60) + 0.1
    found = stratified_mean(values, strata=np.zeros(60, int), clusters=clusters, weights=weights)
    plain = bounded_mean(values, clusters=clusters, weights=weights)
    assert (found.low, found.high) == pytest.approx((plain.low, plain.high))


def test_sets_of_nothing_but_0_or_full_marks_are_not_certain() -> None:
    found = stratified_mean(np.repeat([0.0, 1.0], 30), strata=np.repeat([0, 1], 30))
    assert 0.4 < found.low < 0.45 and 0.55 < found.high < 0.6
    for value in (0.0, 100.0):
        alike = stratified_mean(np.full(40, value), strata=np.arange(40) // 20, most=100)
        assert (alike.low == 0 and 0 < alike.high < 15) or (alike.high == 100 and 85 < alike.low < 100)


def test_sources_in_all_sets_leave_more_open_than_sources_of_their_own() -> None:
    alike = np.tile(np.repeat([1.0, 1.0, 0.0, 1.0, 0.0], 12), 2)  # whoever gets a source right does so in both
    clusters, strata = np.tile(np.repeat(np.arange(20), 3), 2), np.repeat([0, 1], 60)
    shared = stratified_mean(alike, strata=strata, clusters=clusters)
    own = stratified_mean(alike, strata=strata, clusters=clusters + 20 * strata)
    assert shared.high - shared.low == pytest.approx(math.sqrt(2) * (own.high - own.low))
    turned = np.where(strata == 1, 1 - alike, alike)  # who gets it right in one does not in the other
    cancelled = stratified_mean(turned, strata=strata, clusters=clusters)
    independent = stratified_mean(turned, strata=strata, clusters=clusters + 20 * strata)
    assert (cancelled.low, cancelled.high) == pytest.approx((independent.low, independent.high))


def test_a_set_of_one_source_may_have_any_mean() -> None:
    values = np.concatenate([np.tile([0.0, 1.0], 30), [1.0, 0.0, 1.0, 1.0]])
    clusters, strata = np.concatenate([np.arange(60), [60] * 4]), np.repeat([0, 1], [60, 4])
    found = stratified_mean(values, strata=strata, clusters=clusters, weights=1 / np.repeat([60.0, 4.0], [60, 4]))
    assert found.low < 0.625 - 0.75 / 2 and found.high > 0.625 + 0.25 / 2
    nobody = stratified_mean(values[-4:], strata=np.array([0, 0, 1, 1]), clusters=np.zeros(4, int))
    assert math.isnan(nobody.low) and math.isnan(nobody.high)


@given(
    st.lists(st.tuples(st.sampled_from([0.0, 20.0, 60.0, 100.0]), st.integers(0, 30), st.integers(0, 2)), min_size=2)
)
def test_bounds_hold_the_mean_and_stay_within(rows: list[tuple[float, int, int]]) -> None:
    values, clusters, strata = (np.array(column) for column in zip(*rows, strict=True))
    weights = 1.0 + strata
    found = stratified_mean(values, strata=strata, clusters=clusters, weights=weights, most=100)
    mean = float(weights @ values) / float(weights.sum())
    assert math.isnan(found.low) or 0 <= found.low <= mean + 1e-9
    assert math.isnan(found.high) or mean - 1e-9 <= found.high <= 100
