"""Intervals: against other implementations, and whether they cover what they should."""

import numpy as np
import pytest

from fin_tasks.stats.means import Interval, bias_index_interval, wilson


def test_wilson_is_that_of_statsmodels() -> None:
    from statsmodels.stats.proportion import proportion_confint

    for n in (1, 5, 100):
        for successes in range(n + 1):
            theirs = proportion_confint(successes, n, method="wilson")
            assert wilson(successes, n) == pytest.approx(theirs, abs=1e-12)
    assert wilson(0, 0) == Interval(0.0, 1.0)


def test_bias_index_resamples_documents() -> None:
    """Against the plain way, document by document; counts as in the recorded llava-v1.6 run of four reports."""
    documents = np.array([0] * 47 + [1] * 21 + [2] * 32)
    drawn = np.random.default_rng(9).choice(documents, size=(20_000, 100))
    n_led = (drawn == 1).sum(axis=1)
    n_wrong = (drawn > 0).sum(axis=1)
    expected = np.quantile(n_led / n_wrong, [0.025, 0.975])
    found = bias_index_interval(correct=47, led=21, other=32)
    assert found == pytest.approx(expected, abs=0.01)


def test_bias_index_at_the_edges() -> None:
    assert bias_index_interval(correct=10, led=0, other=0) == Interval(0.0, 1.0)
    # Every resample has the same index here, which does not make it certain.
    assert bias_index_interval(correct=99, led=1, other=0) == wilson(1, 1)
    assert bias_index_interval(correct=5, led=0, other=5) == wilson(0, 5)
    # Resamples without a wrong answer are left out.
    assert bias_index_interval(correct=97, led=1, other=2) == Interval(0.0, 1.0)
