"""Intervals: against other implementations, and whether they cover what they should."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import ndtri
from scipy.stats import binom, bootstrap

from fin_tasks.stats.intervals import Interval, bias_index_interval, bootstrap_mean, pooled_interval, wilson


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


def test_bootstrap_is_scipys() -> None:
    values = np.random.default_rng(3).gamma(2.0, size=60)
    theirs = bootstrap((values,), np.mean, n_resamples=20_000, method="percentile", rng=np.random.default_rng(4))
    ours = bootstrap_mean(values.tolist(), resamples=20_000)
    width = ours.high - ours.low
    assert ours.low == pytest.approx(theirs.confidence_interval.low, abs=0.03 * width)
    assert ours.high == pytest.approx(theirs.confidence_interval.high, abs=0.03 * width)


def test_clusters_are_resampled_whole() -> None:
    """Against the plain way: draw clusters one by one and take the mean of their documents."""
    generator = np.random.default_rng(5)
    groups = [generator.normal(generator.normal(), 1, size=generator.integers(1, 9)) for _ in range(30)]
    means = []
    for _ in range(4_000):
        drawn = [groups[i] for i in generator.integers(0, 30, size=30)]
        means.append(np.concatenate(drawn).mean())
    low, high = np.quantile(means, [0.025, 0.975])
    values = np.concatenate(groups).tolist()
    clusters = [f"T{i}" for i, group in enumerate(groups) for _ in group]
    found = bootstrap_mean(values, clusters=clusters)
    assert found.low == pytest.approx(low, abs=0.06 * (high - low))
    assert found.high == pytest.approx(high, abs=0.06 * (high - low))


def coverage(*, clusters: int, per_cluster: int, between: float, use_clusters: bool) -> float:
    """Share of 400 simulated samples, of true mean 0, whose interval holds it."""
    generator = np.random.default_rng(6)
    names = [i for i in range(clusters) for _ in range(per_cluster)]
    held = 0
    for repetition in range(400):
        shared = np.repeat(generator.normal(0, between, clusters), per_cluster)
        values = (shared + generator.normal(0, 1, clusters * per_cluster)).tolist()
        interval = bootstrap_mean(values, clusters=names if use_clusters else None, resamples=400, seed=repetition)
        held += interval.low <= 0 <= interval.high
    return held / 400


def test_bootstrap_covers_the_true_mean() -> None:
    assert 0.91 < coverage(clusters=60, per_cluster=1, between=0.0, use_clusters=False) < 0.98


def test_documents_of_one_ticker_need_clusters() -> None:
    with_clusters = coverage(clusters=40, per_cluster=6, between=1.0, use_clusters=True)
    without = coverage(clusters=40, per_cluster=6, between=1.0, use_clusters=False)
    assert 0.90 < with_clusters < 0.98
    assert without < 0.75


@given(st.lists(st.tuples(st.integers(0, 1), st.sampled_from("ABC")), min_size=2, max_size=30), st.randoms())
def test_order_does_not_matter_and_the_seed_decides(rows: list[tuple[int, str]], random) -> None:  # type: ignore[no-untyped-def]
    def interval(rows: list[tuple[int, str]]) -> tuple[float, float]:
        found = bootstrap_mean([v for v, _ in rows], clusters=[c for _, c in rows], resamples=50, seed=7)
        return found.low, found.high

    shuffled = random.sample(rows, len(rows))
    assert interval(shuffled) == pytest.approx(interval(rows), nan_ok=True)


def test_many_documents_are_resampled_in_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    values = np.random.default_rng(8).normal(size=50).tolist()
    whole = bootstrap_mean(values, resamples=300)
    monkeypatch.setattr("fin_tasks.stats.intervals._CELLS_AT_ONCE", 50 * 7)
    assert bootstrap_mean(values, resamples=300) == whole


def test_no_spread_can_be_seen() -> None:
    for values, clusters in (([], None), ([0.5], None), ([0.5, 0.7], ["A", "A"])):
        interval = bootstrap_mean(values, clusters=clusters)
        assert math.isnan(interval.low) and math.isnan(interval.high)
    assert bootstrap_mean([1.0, 1.0, 1.0]) == Interval(1.0, 1.0)
    with pytest.raises(ValueError, match="one per value"):
        bootstrap_mean([1.0, 2.0], clusters=["A"])


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


def test_the_seed_decides() -> None:
    counts = {"correct": 40, "led": 13, "other": 47}
    assert bias_index_interval(**counts, seed=1) == bias_index_interval(**counts, seed=1)
    assert bias_index_interval(**counts, seed=1, resamples=99) != bias_index_interval(**counts, seed=2, resamples=99)


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


def test_a_pool_of_no_rows_is_refused() -> None:
    with pytest.raises(ValueError, match="expected parts with rows"):
        pooled_interval([])
