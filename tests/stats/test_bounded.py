"""Intervals of shares and grades: they hold the truth as often as they say, near the ends and over few sources too."""

import math
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fin_tasks.stats.bounded import bounded_mean
from fin_tasks.stats.clustered import clustered_mean
from fin_tasks.stats.intervals import bootstrap_mean, wilson

GRADES = np.arange(6) * 20.0
NEARLY_ALL_RIGHT = (0.02, 0.02, 0.02, 0.04, 0.1, 0.8)


def coverage(draw: Callable[[], tuple[float, float]], truth: float, repetitions: int = 400) -> float:
    return sum(low <= truth <= high for low, high in (draw() for _ in range(repetitions))) / repetitions


@pytest.mark.parametrize(
    ("n", "shares", "bootstrap"),
    [
        (13, NEARLY_ALL_RIGHT, 0.88),
        (22, NEARLY_ALL_RIGHT, 0.91),
        (13, (0.7, 0.1, 0.1, 0.05, 0.03, 0.02), 0.93),
        (22, (0.2, 0.1, 0.1, 0.2, 0.1, 0.3), 0.96),
        (22, (0.1, 0.0, 0.0, 0.0, 0.0, 0.9), 0.95),
    ],
)
def test_grades_of_small_categories(n: int, shares: tuple[float, ...], bootstrap: float) -> None:
    generator = np.random.default_rng(5)
    rows = [generator.choice(GRADES, n, p=shares) for _ in range(400)]
    truth = float(GRADES @ np.array(shares))

    def ours() -> tuple[float, float]:
        found = bounded_mean(next(left), most=100)
        return found.low, found.high

    def percentiles() -> tuple[float, float]:
        found = bootstrap_mean(next(left).tolist(), resamples=400)
        return found.low, found.high

    left = iter(rows)
    assert coverage(ours, truth) >= 0.94
    left = iter(rows)
    assert coverage(percentiles, truth) <= bootstrap  # what was given before


@pytest.mark.parametrize(
    ("sources", "size", "share", "before"),
    [(3, 8, 0.7, 0.93), (5, 5, 0.95, 0.7), (24, 5, 0.97, 0.86), (24, 5, 0.6, 0.97), (40, 3, 0.99, 0.7)],
)
def test_shares_over_few_sources(sources: int, size: int, share: float, before: float) -> None:
    """Rows of a source share a quarter of their spread."""
    generator = np.random.default_rng(6)
    codes = np.repeat(np.arange(sources), size)
    held = t_held = 0
    for _ in range(400):
        rates = generator.beta(3 * share, 3 * (1 - share), sources)
        values = (generator.random(sources * size) < rates[codes]).astype(float)
        found, t_interval = bounded_mean(values, clusters=codes), clustered_mean(values, clusters=codes).interval
        held += found.low <= share <= found.high
        t_held += t_interval.low <= share <= t_interval.high
    assert held / 400 >= 0.935
    assert t_held / 400 <= before


def test_many_rows_make_it_the_ordinary_interval() -> None:
    generator = np.random.default_rng(7)
    values = (generator.random(4000) < 0.3).astype(float)
    ours, theirs = bounded_mean(values), wilson(int(values.sum()), 4000)
    assert (ours.low, ours.high) == pytest.approx((theirs.low, theirs.high), abs=1e-4)
    codes = np.repeat(np.arange(800), 5)
    grades = np.repeat(generator.choice(GRADES, 800), 5)
    found, mean = bounded_mean(grades, most=100, clusters=codes), clustered_mean(grades, clusters=codes)
    assert (found.low, found.high) == pytest.approx((mean.interval.low, mean.interval.high), abs=0.15)


@given(st.lists(st.tuples(st.sampled_from(GRADES), st.integers(0, 5)), min_size=2, max_size=40))
def test_bounds_stay_within_and_have_a_width(rows: list[tuple[float, int]]) -> None:
    values = np.array([value for value, _ in rows])
    names = sorted({name for _, name in rows})
    codes = np.array([names.index(name) for _, name in rows])
    found = bounded_mean(values, most=100, clusters=codes)
    if len(names) == 1 and len(set(values)) > 1:
        assert math.isnan(found.low)
    elif not math.isnan(found.low):
        assert 0 <= found.low <= values.mean() + 1e-9 and values.mean() - 1e-9 <= found.high <= 100
        assert found.high - found.low > 1
        turned = bounded_mean(100 - values, most=100, clusters=codes)
        assert (100 - turned.high, 100 - turned.low) == pytest.approx((found.low, found.high))


def test_sources_whose_rows_cancel_say_no_more_than_independent_rows() -> None:
    values = np.array([1.0, 0.0] * 10)
    found = bounded_mean(values, clusters=np.repeat(np.arange(10), 2))
    plain = wilson(10, 20)
    assert found.low <= plain.low and found.high >= plain.high


def test_equal_values() -> None:
    everything = bounded_mean(np.ones(20), clusters=np.repeat(np.arange(10), 2))
    assert (everything.low, everything.high) == pytest.approx((wilson(10, 10).low, 1.0))
    between = bounded_mean(np.full(13, 60.0), most=100)
    assert 40 < between.low < 60 < between.high < 80
    assert math.isnan(bounded_mean(np.full(1, 60.0), most=100).low)
    with pytest.raises(ValueError, match=r"within \[0, 1\], got 0 to 2"):
        bounded_mean(np.array([0.0, 2.0]))


@pytest.mark.parametrize("clusters", [None, np.repeat(np.arange(10), 2)])
def test_equal_weights_are_none(clusters: np.ndarray | None) -> None:
    for values in (np.array([1.0, 0.0, 1.0, 1.0] * 5), np.array([100.0, 40.0, 0.0, 60.0] * 5) / 100):
        plain = bounded_mean(values, clusters=clusters)
        found = bounded_mean(values, clusters=clusters, weights=np.full(20, 0.25))
        assert (found.low, found.high) == pytest.approx((plain.low, plain.high))
    with pytest.raises(ValueError, match="weights above 0, got 0"):
        bounded_mean(np.array([0.0, 1.0]), weights=np.array([0.0, 1.0]))


def test_rows_that_count_more_leave_less_certain() -> None:
    values = np.array([1.0, 0.0] * 20)
    few = bounded_mean(values, weights=np.array([9.0] * 8 + [0.1] * 32))
    alike = bounded_mean(values)
    assert few.high - few.low > 1.8 * (alike.high - alike.low)


@pytest.mark.parametrize(("sources", "rate"), [(12, 0.5), (24, 0.9)])
def test_ratios_of_sums_over_sources(sources: int, rate: float) -> None:
    """Each row is asked three times; what is wrong of it follows the signal or not, mostly all of a source alike."""
    generator = np.random.default_rng(8)
    codes = np.repeat(np.arange(sources), 5)
    held = alone_held = 0
    for _ in range(400):
        rates = generator.beta(2 * rate, 2 * (1 - rate), sources)
        wrong = generator.binomial(3, 0.5, sources * 5)
        there = wrong > 0
        led = generator.binomial(wrong, rates[codes])
        shares, weights = led[there] / wrong[there], wrong[there].astype(float)
        found, alone = (bounded_mean(shares, clusters=of, weights=weights) for of in (codes[there], None))
        held += found.low <= rate <= found.high
        alone_held += alone.low <= rate <= alone.high
    assert held / 400 >= 0.93
    assert alone_held / 400 <= 0.87


@pytest.mark.parametrize("most", [1.0, 100.0])
def test_nothing_and_full_marks_are_within_their_bounds_to_the_last_digit(most: float) -> None:
    for held in range(1, 301):
        for clusters in (None, np.repeat(np.arange(held), 2)):
            rows = held if clusters is None else 2 * held
            assert bounded_mean(np.zeros(rows), most=most, clusters=clusters).low == 0.0
            assert bounded_mean(np.full(rows, most), most=most, clusters=clusters).high == most


@pytest.mark.parametrize(
    ("sources", "size", "rate", "correlation", "least"),
    [
        (24, 15, 0.5, 0.1, 0.93),
        (40, 3, 0.5, 0.6, 0.93),
        (40, 15, 0.5, 0.6, 0.93),
        (40, 15, 0.8, 0.25, 0.93),
        (40, 3, 0.95, 0.25, 0.93),
        (40, 15, 0.8, 0.6, 0.91),
        (40, 15, 0.95, 0.1, 0.93),
        (40, 15, 0.95, 0.3, 0.89),
        (60, 15, 0.95, 0.6, 0.88),
        (40, 15, 0.95, 0.6, 0.85),
        (40, 15, 0.05, 0.6, 0.85),
        (20, 15, 0.95, 0.6, 0.85),
        (12, 15, 0.95, 0.6, 0.85),
    ],
)
def test_where_nearly_all_are_right_but_a_few_sources_are_not_they_hold_less(
    sources: int, size: int, rate: float, correlation: float, least: float
) -> None:
    """Half the responses are wrong, more or fewer by source; how often those are led has a beta distribution.

    The few sources that are otherwise may all be missing, and nothing in the rows tells of them. Where they are, at 12
    sources and more, intervals hold less than they say: this is as little as the documentation admits, and no less.
    """
    generator = np.random.default_rng(9)
    codes, spread = np.repeat(np.arange(sources), size), 1 / correlation - 1
    held = 0
    for _ in range(1000):
        errors = generator.beta(0.5 * (1 / 0.3 - 1), 0.5 * (1 / 0.3 - 1), sources)
        rates = generator.beta(rate * spread, (1 - rate) * spread, sources)
        wrong = generator.random(sources * size) < errors[codes]
        led = (generator.random(sources * size) < rates[codes]).astype(float)
        found = bounded_mean(led[wrong], clusters=codes[wrong])
        held += found.low <= rate <= found.high
    assert held / 1000 >= least
