"""Power of paired tests, against simulations with the tests that reports use."""

import math

import numpy as np
import pytest

from fin_tasks.stats.pairs import compare_pair, mcnemar
from fin_tasks.stats.power import (
    design_effect_of,
    detectable,
    discordant_share,
    measured_design_effect,
    pairs_needed,
    power_of,
    questions_needed,
    smallest_difference,
    smallest_mean,
)

N_REPETITIONS = 2000
N_CLUSTERED = 100


def shown(first: np.ndarray, second: np.ndarray, clusters: np.ndarray) -> float:
    """Return the share of simulated pairs of runs whose difference a test shows; a row for each pair."""
    p_values = [
        compare_pair(a, b, clusters=clusters).p
        for a, b in zip(first, second, strict=True)
    ]
    return float(np.mean(np.array(p_values) < 0.05))


@pytest.mark.parametrize(
    ("n", "difference", "discordant"), [(100, 0.15, 0.25), (400, 0.06, 0.2)]
)
def test_power_equals_a_simulation(
    n: int, difference: float, discordant: float
) -> None:
    generator = np.random.default_rng(7)
    gain = (discordant + difference) / 2
    draws = generator.random((N_REPETITIONS, n))
    only_first = (draws < gain).sum(axis=1)
    only_second = ((draws >= gain) & (draws < discordant)).sum(axis=1)
    share = np.mean(mcnemar(only_first, only_second) < 0.05)
    # Three standard errors of a share of 2,000.
    assert power_of(n, difference, discordant) == pytest.approx(share, abs=0.03)


def test_clusters_count_as_fewer_questions() -> None:
    """40 sources with 5 questions each: both runs' difference depends on the source, too."""
    generator = np.random.default_rng(3)
    sizes = [5] * 40
    clusters = np.repeat(np.arange(40), 5)
    gain, loss = 0.28, 0.10
    draws = generator.random((N_CLUSTERED, 200))
    # In a third of the sources all questions share one draw.
    is_shared = generator.random((N_CLUSTERED, 40)) < 1 / 3
    own_draws = generator.random((N_CLUSTERED, 40))
    draws = np.where(
        np.repeat(is_shared, 5, axis=1), np.repeat(own_draws, 5, axis=1), draws
    )
    first = (draws < gain).astype(float)
    second = ((draws >= gain) & (draws < gain + loss)).astype(float)
    effect = design_effect_of(sizes, 1 / 3)
    assert effect == pytest.approx(1 + 4 / 3)
    measured = [measured_design_effect(row, clusters) for row in first - second]
    assert np.mean(measured) == pytest.approx(effect, rel=0.1)
    share = shown(first, second, clusters)
    expected = power_of(200 / effect, gain - loss, gain + loss)
    assert expected == pytest.approx(share, abs=0.09)
    # Without the clusters the power would be far too high.
    assert power_of(200, gain - loss, gain + loss) > share + 0.09


@pytest.mark.parametrize(("n", "discordant"), [(60, 0.3), (1000, 0.2), (4235, 0.15)])
def test_smallest_difference_and_questions_needed_agree(
    n: int, discordant: float
) -> None:
    difference = smallest_difference(n, discordant)
    assert power_of(n, difference, discordant) == pytest.approx(0.8, abs=0.01)
    assert questions_needed(difference, discordant) == pytest.approx(n, rel=0.06)


def test_few_questions_show_nothing() -> None:
    assert math.isnan(smallest_difference(5, 0.5))
    assert power_of(0, 0.5, 0.5) == power_of(100, 0, 0) == 0


def test_t_tests_agree_with_statsmodels() -> None:
    from statsmodels.stats.power import TTestPower

    generator = np.random.default_rng(5)
    first = generator.normal(50, 20, 80)
    second = generator.normal(50, 20, 80)
    pair = compare_pair(first, second)
    spread = np.std(first - second, ddof=1)
    expected = TTestPower().solve_power(nobs=80, alpha=0.05, power=0.8) * spread
    assert detectable(pair, 1.0) == pytest.approx(expected, rel=0.01)


def test_discordant_shares() -> None:
    assert discordant_share(0.6, 0.5, 0.0) == pytest.approx(0.6 * 0.5 + 0.4 * 0.5)
    # At best, the weaker run is right only where the stronger one is.
    assert discordant_share(0.6, 0.5, 1.0) == pytest.approx(0.1)
    assert discordant_share(0.5, 0.5, 0.0) == 0.5


@pytest.mark.parametrize(("difference", "deviation"), [(0.05, 0.2), (0.2, 0.1)])
def test_pairs_for_a_mean_agree_with_statsmodels(
    difference: float, deviation: float
) -> None:
    from statsmodels.stats.power import TTestPower

    n = pairs_needed(difference, deviation)
    exact = TTestPower().solve_power(difference / deviation, alpha=0.05, power=0.8)
    assert n == pytest.approx(exact, rel=0.03, abs=2)
    assert smallest_mean(n, deviation) <= difference < smallest_mean(n - 1, deviation)
    assert math.isnan(smallest_mean(1, deviation))
