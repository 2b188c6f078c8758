"""Intervals: against other implementations, and whether they cover what they should."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import ndtri
from scipy.stats import binom

from fin_tasks.stats.intervals import Interval, bias_index_interval, pooled_interval, wilson


@given(st.integers(1, 500).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))), st.sampled_from([0.9, 0.95]))
def test_wilson_is_its_formula(case: tuple[int, int], confidence: float) -> None:
    successes, n = case
    p, z = successes / n, ndtri(1 - (1 - confidence) / 2)
    middle, margin = p + z**2 / (2 * n), z * math.sqrt(p * (1 - p) / n + z**2 / (4 * n**2))
    found = wilson(successes, n, confidence=confidence)
    assert found.low == pytest.approx((middle - margin) / (1 + z**2 / n), abs=1e-12)
    assert found.high == pytest.approx((middle + margin) / (1 + z**2 / n), abs=1e-12)
    assert 0 <= found.low <= p <= found.high <= 1


def test_wilson_of_nothing_and_of_nonsense() -> None:
    assert wilson(0, 0) == Interval(0.0, 1.0)
    for successes, n in ((1, 0), (-1, 5), (6, 5)):
        with pytest.raises(ValueError):
            wilson(successes, n)


@pytest.mark.parametrize("share", [0.02, 0.1, 0.3, 0.5, 0.85])
def test_wilson_covers_the_true_share(share: float) -> None:
    """Exactly, over all outcomes: single shares scatter around 95 %, none is far below."""
    n = 100
    intervals = [wilson(successes, n) for successes in range(n + 1)]
    chance = binom.pmf(range(n + 1), n, share)
    covered = sum(c for c, i in zip(chance, intervals, strict=True) if i.low <= share <= i.high)
    assert 0.92 < covered < 0.99


def test_bias_index_resamples_documents() -> None:
    """Against the plain way, document by document; counts as in the recorded llava-v1.6 run of four reports."""
    documents = np.array([0] * 47 + [1] * 21 + [2] * 32)
    drawn = np.random.default_rng(9).choice(documents, size=(20_000, 100))
    led, wrong = (drawn == 1).sum(axis=1), (drawn > 0).sum(axis=1)
    low, high = np.quantile(led / wrong, [0.025, 0.975])
    found = bias_index_interval(correct=47, led=21, other=32)
    assert found.low == pytest.approx(low, abs=0.01)
    assert found.high == pytest.approx(high, abs=0.01)


def test_bias_index_at_the_edges() -> None:
    assert bias_index_interval(correct=10, led=0, other=0) == Interval(0.0, 1.0)
    assert bias_index_interval(correct=0, led=0, other=0) == Interval(0.0, 1.0)
    # every resample has the same index there, which does not make it certain
    assert bias_index_interval(correct=99, led=1, other=0) == wilson(1, 1)
    assert bias_index_interval(correct=5, led=0, other=5) == wilson(0, 5)
    assert wilson(0, 5).high > 0.4
    one_of_three = bias_index_interval(correct=97, led=1, other=2)  # resamples without a wrong answer are left out
    assert (one_of_three.low, one_of_three.high) == (0.0, 1.0)
    with pytest.raises(ValueError, match="0 or more"):
        bias_index_interval(correct=5, led=-1, other=5)


def test_sets_of_rows_pool_into_an_interval_that_covers() -> None:
    """Tasks of other sizes and difficulties, as XFinBench's are, some near the end."""
    sizes, chances = (40, 15, 45), (0.9, 0.5, 0.15)
    drawn = np.random.default_rng(8).binomial(sizes, chances, size=(2000, 3))
    true = math.fsum(n * p for n, p in zip(sizes, chances, strict=True)) / sum(sizes)
    found = [
        pooled_interval([(n, k / n, wilson(int(k), n)) for n, k in zip(sizes, of_run, strict=True)]) for of_run in drawn
    ]
    covered = np.mean([one.low <= true <= one.high for one in found])
    assert 0.93 < covered < 0.98
    # the parts' differences are no spread: narrower than one over all rows as if they were alike
    assert np.mean([one.high - one.low for one in found]) < 0.9 * (wilson(50, 100).high - wilson(50, 100).low)
