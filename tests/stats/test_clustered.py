"""Means over documents that share a source."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from statsmodels.regression.linear_model import OLS

from fin_tasks.stats.averages import standard_error
from fin_tasks.stats.clustered import clustered_mean

VALUES = st.lists(st.tuples(st.floats(-5, 5), st.integers(0, 6)), min_size=2, max_size=50)


@given(VALUES)
def test_standard_errors_are_statsmodels(pairs: list[tuple[float, int]]) -> None:
    values, clusters = zip(*pairs, strict=True)
    found = clustered_mean(values, clusters=clusters)
    assert found.clusters == len(set(clusters))
    if found.clusters < 2:
        assert math.isnan(found.stderr)
        return
    theirs = OLS(np.array(values), np.ones(len(values))).fit(
        cov_type="cluster", cov_kwds={"groups": np.array(clusters)}
    )
    assert found.stderr == pytest.approx(theirs.bse[0], abs=1e-9)
    assert found.mean == pytest.approx(theirs.params[0], abs=1e-9)


@given(st.lists(st.floats(-5, 5), min_size=2, max_size=50))
def test_without_clusters_it_is_the_ordinary_one(values: list[float]) -> None:
    found = clustered_mean(values)
    assert found.stderr == pytest.approx(standard_error(values), abs=1e-9)
    assert math.isnan(found.design_effect) or found.design_effect == pytest.approx(1)


def test_intervals_hold_the_truth_as_often_as_they_say() -> None:
    """300 samples of 40 clusters of 5 that share half of their spread: 95 % hold 0, which too narrow ones would not."""
    generator = np.random.default_rng(3)
    clusters = np.repeat(np.arange(40), 5)
    held = ignoring = 0
    for _ in range(300):
        values = np.repeat(generator.normal(0, 1, 40), 5) + generator.normal(0, 1, 200)
        for of, counts in ((clusters, True), (None, False)):
            interval = clustered_mean(list(values), clusters=None if of is None else list(of)).interval
            inside = interval.low <= 0 <= interval.high
            held, ignoring = (held + inside, ignoring) if counts else (held, ignoring + inside)
    assert 275 <= held <= 295
    assert ignoring < 255


def test_copies_of_a_document_say_nothing_new() -> None:
    once = clustered_mean([1, 0, 0, 1, 1])
    copied = clustered_mean([1, 0, 0, 1, 1] * 4, clusters=[*range(5)] * 4)
    assert copied.stderr == pytest.approx(once.stderr)
    assert copied.design_effect == pytest.approx(4 * 19 / 16)


def test_too_little_to_say() -> None:
    assert math.isnan(clustered_mean([]).mean)
    assert math.isnan(clustered_mean([1.0, 0.0], clusters=["a", "a"]).interval.low)
    with pytest.raises(ValueError, match="got 1 for 2"):
        clustered_mean([1.0, 0.0], clusters=["a"])


def test_few_clusters_have_wide_intervals() -> None:
    found = clustered_mean([1.0, 1.0, 0.0, 0.0, 1.0, 0.0], clusters=["a", "a", "b", "b", "c", "c"])
    assert found.interval.high - found.mean == pytest.approx(4.302653 * found.stderr)  # Student's t, two degrees
