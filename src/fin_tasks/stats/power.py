"""How small a difference a number of rows can show."""

import math

from scipy.optimize import brentq
from scipy.stats import norm

__all__ = ["detectable_difference", "detectable_mean", "detectable_paired_difference"]


def detectable_difference(n: int, *, rate: float = 0.5, alpha: float = 0.05, power: float = 0.8) -> float:
    """Return the smallest difference of two shares, each over other n rows, that a two-sided test finds with `power`.

    The effect is measured on the arcsine scale: h = (z(1 - alpha / 2) + z(power)) * sqrt(2 / n), from the nearer end of
    the scale towards the other.

    Args:
        n: Rows of each model.
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


def detectable_paired_difference(n: int, *, discordant: float, alpha: float = 0.05, power: float = 0.8) -> float:
    """Return the smallest difference of two shares over the same n rows that McNemar's test finds with `power`.

    Solves sqrt(n) * d = z(1 - alpha / 2) * sqrt(discordant) + z(power) * sqrt(discordant - d^2) for d. That is the
    power by normal approximation; the exact test is more careful: 0.75 instead of 0.8 for 100 rows with 30 %
    discordant, 0.78 for a thousand.

    Args:
        n: Rows.
        discordant: Share of rows that exactly one of the two has right, within (0, 1].
        alpha: Level of the test.
        power: Chance of finding the difference.

    Returns:
        A fraction of 1; NaN where no difference that so many discordant rows allow is large enough.

    References:
        Miettinen (1968), The matched pairs design in the case of all-or-none responses, Biometrics 24.

    Example:
        >>> round(detectable_paired_difference(1000, discordant=0.2), 3)
        0.04
    """
    if n < 1 or not 0 < discordant <= 1:
        return math.nan
    level, chance = float(norm.ppf(1 - alpha / 2)), float(norm.ppf(power))

    def missing(d: float) -> float:
        return math.sqrt(n) * d - level * math.sqrt(discordant) - chance * math.sqrt(max(0.0, discordant - d * d))

    if missing(discordant) < 0:
        return math.nan
    return float(brentq(missing, 0.0, discordant))


def detectable_mean(stderr: float, *, alpha: float = 0.05, power: float = 0.8) -> float:
    """Return the smallest mean that a two-sided z-test tells from 0 with `power`.

    It is (z(1 - alpha / 2) + z(power)) * stderr. Of a paired difference, with or without clusters, it is what as many
    rows would show where models differ as much from row to row.

    Args:
        stderr: Standard error of the mean, in its unit.
        alpha: Level of the test.
        power: Chance of finding the mean.

    Returns:
        In the unit of `stderr`; NaN for NaN.

    Example:
        >>> round(detectable_mean(0.01), 4)
        0.028
    """
    return float(norm.ppf(1 - alpha / 2) + norm.ppf(power)) * stderr
