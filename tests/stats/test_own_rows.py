"""Differences of means over rows of their own."""

import math

import numpy as np
import pytest
from scipy.stats import ttest_rel

from fin_tasks.stats.own_rows import compare_own_rows
from fin_tasks.stats.ranks import compare_all


def test_over_the_same_rows_it_is_the_paired_test() -> None:
    generator = np.random.default_rng(1)
    first, second = generator.random(40).tolist(), generator.random(40).tolist()
    found = compare_own_rows(first, second)
    assert found.p == pytest.approx(ttest_rel(first, second).pvalue)
    clusters = [at // 4 for at in range(40)]
    (pair,) = compare_all({"x": first, "y": second}, clusters=clusters)
    clustered = compare_own_rows(first, second, clusters=clusters)
    assert (clustered.stderr, clustered.p, clustered.clusters) == pytest.approx((pair.stderr, pair.p, 10))


def test_it_finds_no_more_than_the_level_where_nothing_differs_and_covers_what_does() -> None:
    """Indices of two models over 25 tickers of 8 rows, whose wrong answers overlap and lean with the ticker."""
    generator = np.random.default_rng(2)
    tickers = np.repeat(np.arange(25), 8)
    false = covered = 0
    for _ in range(300):
        lean, hard = generator.beta(2, 2, 25)[tickers], generator.beta(2, 2, 25)[tickers]
        x, y, z = (
            [float(led) if wrong else None for led, wrong in zip(*drawn, strict=True)]
            for drawn in ((generator.random(200) < rate * lean, generator.random(200) < hard) for rate in (1, 1, 0.5))
        )
        false += compare_own_rows(x, y, clusters=tickers.tolist()).p < 0.05
        interval = compare_own_rows(x, z, clusters=tickers.tolist()).interval
        covered += interval.low <= 0.25 <= interval.high
    assert false <= 26
    assert 0.91 <= covered / 300 <= 0.99


def test_too_little_to_say() -> None:
    for first, second in (([], []), ([1.0], [0.0]), ([None, None], [1.0, 0.0]), ([1.0, 1.0], [1.0, None])):
        found = compare_own_rows(first, second)
        assert math.isnan(found.interval.low)
        assert found.p == 1


def test_a_row_that_counts_twice_is_two_rows_of_one_cluster() -> None:
    first, second = [1.0, 0.0, None, 1.0, 0.5], [0.0, None, 1.0, 1.0, 0.0]
    weights = [2.0, 1.0, 0.0, 3.0, 1.0], [1.0, 0.0, 2.0, 1.0, 2.0]
    found = compare_own_rows(first, second, weights=weights, clusters="abcde")
    spread: list[tuple[float | None, float | None, str]] = []
    for at, cluster in enumerate("abcde"):
        spread += [(first[at], None, cluster)] * int(weights[0][at])
        spread += [(None, second[at], cluster)] * int(weights[1][at])
    longer = compare_own_rows(*([one[part] for one in spread] for part in (0, 1)), clusters=[one[2] for one in spread])
    assert found.difference == pytest.approx((2 + 3 + 0.5) / 7 - 3 / 6)
    assert (found.difference, found.stderr, found.p) == pytest.approx((longer.difference, longer.stderr, longer.p))
    tenth = compare_own_rows(first, second, weights=([of / 10 for of in weights[0]], weights[1]), clusters="abcde")
    assert tenth.stderr == pytest.approx(found.stderr)
