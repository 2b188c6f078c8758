"""How large a difference between two runs must be for a paired test on n questions to show it.

The tests are those of `pairs.py`: McNemar's exact test of independent questions, else a t test. Questions
that share a source count as fewer questions: n divided by the design effect.
"""

import math
from collections.abc import Sequence

import numpy as np
from scipy.optimize import brentq
from scipy.stats import binom, norm, t

from .means import Codes, Floats, clustered_mean
from .pairs import ALPHA, Pair

POWER = 0.8
"""The share of repetitions in which a difference of that size is shown."""
_SPREAD = 8  # standard deviations that hold practically all of a distribution
_TOLERANCE = 1e-5  # of the smallest difference that is looked for
_MARGIN = 20  # questions beyond twice the approximate number


def power_of(
    n: float,
    difference: float,
    discordant: float,
) -> float:
    """Return how often McNemar's exact test shows a difference.

    Args:
        n: Independent questions that both runs answer.
        difference: Share of right answers of one run less that of the other, not negative.
        discordant: Share of questions that only one of the runs has right; at least the difference.

    References:
        Duffy (1984), Asymptotic and exact power for the McNemar test, Biometrics 40.

    Example:
        >>> round(power_of(200, 0.1, 0.2), 2)
        0.88
    """
    n_whole = int(n)
    discordant = min(1.0, max(discordant, difference))
    if n_whole < 1 or discordant == 0:
        return 0.0
    mean = n_whole * discordant
    variance = mean * (1 - discordant)
    reach = _SPREAD * math.sqrt(variance + 1)
    fewest = max(0, int(mean - reach))
    most = min(n_whole, int(mean + reach))
    counts = np.arange(fewest, most + 1)
    # The test rejects if the rarer kind of question comes at most this often.
    limits = binom.ppf(ALPHA / 2, counts, 0.5) - 1
    gains = (discordant + difference) / 2
    share = gains / discordant
    few_gains = binom.cdf(limits, counts, share)
    few_losses = binom.cdf(limits, counts, 1 - share)
    weights = binom.pmf(counts, n_whole, discordant)
    return float(weights @ (few_gains + few_losses))


def smallest_difference(
    n: float,
    discordant: float,
) -> float:
    """Return the smallest difference that n independent questions show with a power of 80 %.

    NaN if n questions show no difference at all.
    """
    if power_of(n, 1.0, 1.0) < POWER:
        return math.nan

    def surplus(difference: float) -> float:
        return power_of(n, difference, discordant) - POWER

    root = brentq(surplus, 0, 1, xtol=_TOLERANCE)
    return float(root)


def questions_needed(
    difference: float,
    discordant: float,
) -> int:
    """Return how many independent questions show a difference with a power of 80 %.

    The power of an exact test is no smooth function of n, so a few questions less may do as well.
    """
    # With the normal distribution: (1.96 + 0.84)^2 p / d^2. The exact test needs a little more.
    quantiles = norm.ppf(1 - ALPHA / 2) + norm.ppf(POWER)
    discordant = max(discordant, difference)
    approximate = discordant * (quantiles / difference) ** 2
    low = 1
    high = int(2 * approximate)
    high += _MARGIN
    while high - low > 1:
        middle = (low + high) // 2
        power = power_of(middle, difference, discordant)
        if power < POWER:
            low = middle
        else:
            high = middle
    return high


def pairs_needed(difference: float, deviation: float) -> int:
    """Return how many independent pairs show a mean difference in a t test with a power of 80 %.

    Args:
        difference: The mean difference, positive.
        deviation: Standard deviation of the differences.

    Example:
        >>> pairs_needed(0.05, 0.2)
        128
    """
    ratio = deviation / difference
    n = 2
    while n < (wanted := (ratio * _reach_and_power(n - 1)) ** 2):
        # With more degrees of freedom a little less is wanted, so that one step may be too long.
        n = min(math.ceil(wanted), 2 * n)
    return n


def smallest_mean(n: float, deviation: float) -> float:
    """Return the smallest mean difference that n independent pairs show with a power of 80 %; NaN below two pairs."""
    if n < 2:
        return math.nan
    return deviation * _reach_and_power(n - 1) / math.sqrt(n)


def _reach_and_power(freedom: float) -> float:
    """Return how many standard errors a mean must lie off zero: those of the interval and those of the power."""
    return float(t.ppf(1 - ALPHA / 2, freedom) + t.ppf(POWER, freedom))


def detectable(
    pair: Pair,
    discordant: float,
) -> float:
    """Return the smallest difference that the rows of a pair could have shown with a power of 80 %.

    Args:
        pair: A comparison.
        discordant: Share of its rows that only one of the runs has right.
    """
    if pair.test == "McNemar":
        return smallest_difference(pair.n, discordant)
    freedom = max(pair.clusters - 1, 1)
    reach = (pair.high - pair.low) / 2
    stderr = reach / t.ppf(1 - ALPHA / 2, freedom)
    smallest = reach + stderr * t.ppf(POWER, freedom)
    return float(smallest)


def discordant_share(
    first: float,
    second: float,
    correlation: float,
) -> float:
    """Return the share of questions that only one of two runs has right.

    Args:
        first: Share of right answers of a run.
        second: That of the other run.
        correlation: Of their right answers: 0 if they are independent.
    """
    first_variance = first * (1 - first)
    second_variance = second * (1 - second)
    covariance = correlation * math.sqrt(first_variance * second_variance)
    both = first * second + covariance
    largest = min(first, second)
    smallest = max(0.0, first + second - 1)
    both = min(max(both, smallest), largest)
    return first + second - 2 * both


def design_effect_of(
    sizes: Sequence[int],
    correlation: float,
) -> float:
    """Return by what factor clusters of these sizes widen the variance of a mean.

    Args:
        sizes: Questions of each source.
        correlation: Of the values of two questions of one source.

    References:
        Kish (1965), Survey Sampling, section 5.4.
    """
    counts = np.asarray(sizes, dtype=float)
    squares = counts**2
    mean_size = squares.sum() / counts.sum()
    effect = 1 + (mean_size - 1) * correlation
    return float(effect)


def stratified_effect(
    values: Floats,
    strata: Codes,
) -> float:
    """Return the variance of a mean over questions drawn by strata, as a share of that of as many plain ones.

    Each stratum has its share of the draw. 1 if the values do not vary; NaN if each is a stratum of its own.

    Args:
        values: One for each question of the whole set, without NaN.
        strata: A number from 0 for each value.

    References:
        Cochran (1977), Sampling Techniques, section 5.6.
    """
    n = len(values)
    n_strata = len(np.unique(strata))
    if n_strata == n:
        return math.nan
    variance = values.var(ddof=1)
    if variance == 0:
        return 1.0
    sums = np.bincount(strata, weights=values)
    sizes = np.bincount(strata)
    means = sums / np.maximum(sizes, 1)
    residuals = values - means[strata]
    within = residuals @ residuals / (n - n_strata)
    return float(within / variance)


def measured_design_effect(
    differences: Floats,
    clusters: Codes,
) -> float:
    """Return by what factor clusters widen the variance of measured differences; 1 if that is not known."""
    n = len(differences)
    weights = np.ones(n)
    alone = np.full(n, -1)
    _, stderr, _ = clustered_mean(differences, clusters, weights)
    _, plain, _ = clustered_mean(differences, alone, weights)
    is_known = plain > 0 and not math.isnan(stderr)
    if not is_known:
        return 1.0
    ratio = stderr / plain
    return ratio**2
