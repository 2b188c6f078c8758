"""How small a difference a number of rows can show."""

import math

from scipy.stats import norm, t

__all__ = ["detectable_difference", "detectable_mean", "fewest_discordant"]


def detectable_difference(n: float, *, rate: float = 0.5, alpha: float = 0.05, power: float = 0.8) -> float:
    """Return the smallest difference of two shares, each over other n rows, that a two-sided test finds with `power`.

    The effect is measured on the arcsine scale: h = (z(1 - alpha / 2) + z(power)) * sqrt(2 / n), from the nearer end of
    the scale towards the other.

    Args:
        n: Rows of each model, or as many independent ones as they are worth.
        rate: The share of one of them, within (0, 1).
        alpha: Level of the test.
        power: Chance of finding the difference.

    Returns:
        A fraction of 1; NaN where no difference is large enough.

    References:
        Cohen (1988), Statistical Power Analysis for the Behavioral Sciences, chapter 6.

    Example:
        >>> round(detectable_difference(1000), 3)
        0.062
    """
    if n < 2 or not 0 < rate < 1:
        return math.nan
    effect = float(norm.ppf(1 - alpha / 2) + norm.ppf(power)) * math.sqrt(2 / n)
    angle = 2 * math.asin(math.sqrt(min(rate, 1 - rate))) + effect
    return math.nan if angle > math.pi else math.sin(angle / 2) ** 2 - min(rate, 1 - rate)


def detectable_mean(stderr: float, *, alpha: float = 0.05, power: float = 0.8, freedom: float = math.inf) -> float:
    """Return the smallest mean that a two-sided test tells from 0 with `power`.

    It is (q(1 - alpha / 2) + q(power)) * stderr, with the quantiles of Student's t. Of a paired difference, with or
    without clusters, it is what as many rows would show where models differ as much from row to row. For McNemar's
    exact test see `fewest_discordant` too.

    Args:
        stderr: Standard error of the mean, in its unit.
        alpha: Level of the test; of each test after Bonferroni's or, at its strictest, Holm's correction over m of
            them, the level over the number of tests.
        power: Chance of finding the mean.
        freedom: Degrees of freedom that the standard error has, one less than the clusters; those of the normal
            distribution where infinite.

    Returns:
        In the unit of `stderr`; NaN for NaN, and without a degree of freedom.

    Example:
        >>> round(detectable_mean(0.01), 4), round(detectable_mean(0.01, alpha=0.05 / 10), 4)
        (0.028, 0.0365)
    """
    if not freedom >= 1:
        return math.nan
    return float(t.ppf(1 - alpha / 2, freedom) + t.ppf(power, freedom)) * stderr


def fewest_discordant(*, alpha: float = 0.05) -> int:
    """Return how many rows must tell two models apart, all the same way, for McNemar's exact test to find it.

    The smallest k with 2 * 0.5^k < alpha. Whatever their spread, models that differ by less are never told apart.

    Example:
        >>> fewest_discordant(), fewest_discordant(alpha=0.05 / 435)
        (6, 15)
    """
    return math.floor(math.log2(2 / alpha)) + 1
