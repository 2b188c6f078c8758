"""Means and their intervals, against statsmodels."""

import math

import numpy as np
import pytest

from fin_tasks.stats.means import estimate, mean_difference

CLUSTERS = np.repeat(np.arange(12), [1, 2, 3, 4, 5, 6, 1, 2, 3, 4, 5, 6])
VALUES = np.random.default_rng(3).integers(0, 2, len(CLUSTERS)).astype(float)


@pytest.mark.parametrize("weighted", [False, True])
def test_clustered_interval_is_that_of_statsmodels(weighted: bool) -> None:
    import statsmodels.api as sm

    ones = np.ones(len(VALUES))
    weights = np.random.default_rng(4).random(len(VALUES)) + 0.5 if weighted else None
    model = sm.WLS(VALUES, ones, weights=weights if weighted else ones)
    fit = model.fit(cov_type="cluster", cov_kwds={"groups": CLUSTERS}, use_t=True)
    found = estimate(VALUES, clusters=CLUSTERS, weights=weights)
    # statsmodels multiplies the variance by (n - 1) / (n - k), which is 1 for a mean.
    assert found.mean == pytest.approx(fit.params[0])
    assert found.stderr == pytest.approx(fit.bse[0])
    assert (found.low, found.high) == pytest.approx(tuple(fit.conf_int()[0]))
    assert (found.n, found.clusters) == (len(VALUES), 12)
    assert found.method == "clustered t"


def test_independent_shares_have_wilsons_interval() -> None:
    from statsmodels.stats.proportion import proportion_confint

    values = np.array([1.0] * 17 + [0.0] * 3 + [math.nan])
    # Any negative number stands alone.
    found = estimate(values, clusters=np.repeat([-1, -5, -7], 7))
    expected = proportion_confint(17, 20, method="wilson")
    assert (found.low, found.high) == pytest.approx(expected)
    assert (found.n, found.clusters, found.method) == (20, 20, "Wilson")
    points = estimate(100 * values, maximum=100.0)
    assert points.low == pytest.approx(100 * found.low)
    assert points.high == pytest.approx(100 * found.high)


def test_rows_without_spread() -> None:
    from statsmodels.stats.proportion import proportion_confint

    ones = estimate(np.ones(30), clusters=np.arange(30) % 5)
    expected = proportion_confint(5, 5, method="wilson")
    assert (ones.low, ones.high) == pytest.approx(expected)
    assert math.isnan(estimate(np.full(9, 0.5)).low)
    assert math.isnan(estimate(np.array([0.0, 1.0]), clusters=np.array([7, 7])).low)
    nothing = estimate(np.full(6, math.nan), clusters=np.array([0, 0, 1, 1, 2, 2]))
    assert (nothing.n, nothing.clusters, nothing.method) == (0, 0, "")
    assert math.isnan(nothing.mean)


def test_a_mean_difference_may_be_negative_and_is_not_cut() -> None:
    import statsmodels.api as sm

    differences = np.random.default_rng(6).normal(-0.01, 0.2, len(CLUSTERS))
    found = mean_difference(differences, CLUSTERS)
    model = sm.OLS(differences, np.ones(len(differences)))
    fitted = model.fit(
        cov_type="cluster",
        cov_kwds={"groups": CLUSTERS, "df_correction": True},
        use_t=True,
    )
    assert found.mean == pytest.approx(fitted.params[0])
    assert found.stderr == pytest.approx(fitted.bse[0])
    assert found.low < 0 < found.high
    assert (found.clusters, found.method) == (12, "clustered t")
    same = mean_difference(np.full(5, 0.1), np.arange(5))
    assert math.isnan(same.low) and same.mean == pytest.approx(0.1)
