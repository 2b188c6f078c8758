"""How well a judge agrees with people, or with another judge (paper of MME-Finance, section 4.3)."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

__all__ = ["Agreement", "Estimate", "agreement", "mean_absolute_difference", "spearman", "weighted_kappa"]

RESAMPLES = 2000
_CELLS_AT_ONCE = 4_000_000


@dataclass(frozen=True, kw_only=True)
class Estimate:
    """A number with its uncertainty.

    Attributes:
        value: None where it is not defined.
        low: Lower bound of the 95 % interval; None where there is none.
        high: Upper bound.
        reason: Why it is not defined.
    """

    value: float | None
    low: float | None = None
    high: float | None = None
    reason: str | None = None


@dataclass(frozen=True, kw_only=True)
class Agreement:
    """How two graders compare over the same responses.

    Attributes:
        n: Responses that both have scored.
        spearman: Rank correlation, -1 to 1.
        mean_absolute_difference: In points of the scale.
        weighted_kappa: With quadratic weights, at most 1.
        bias: Mean of the second one's score less the first one's, in points.
    """

    n: int
    spearman: Estimate
    mean_absolute_difference: Estimate
    weighted_kappa: Estimate
    bias: Estimate


def agreement(people: Sequence[float], judge: Sequence[float], *, seed: int = 42) -> Agreement:
    """Compare two graders.

    Intervals are percentile bootstraps over responses (2,000 resamples); resamples in which a number is not defined are
    left out.

    Args:
        people: One score per response.
        judge: The other's, in the same order.
        seed: Draws the resamples.
    """
    import numpy as np

    x, y = np.asarray(people, dtype=float), np.asarray(judge, dtype=float)
    return Agreement(
        n=len(x),
        spearman=_estimate(_spearman, x, y, seed),
        mean_absolute_difference=_estimate(_mean_absolute_difference, x, y, seed),
        weighted_kappa=_estimate(_weighted_kappa, x, y, seed),
        bias=_estimate(_bias, x, y, seed),
    )


def spearman(x: Sequence[float], y: Sequence[float]) -> float | None:
    """Return Spearman's rank correlation, ties with their mean rank; None below two responses or for equal scores.

    Example:
        >>> round(spearman([1, 2, 3, 4], [1, 3, 2, 4]), 3)
        0.8
    """
    return _value(_spearman, x, y)


def mean_absolute_difference(x: Sequence[float], y: Sequence[float]) -> float | None:
    """Return mean(|x - y|) in points; None without responses.

    Example:
        >>> mean_absolute_difference([5, 3], [4, 3])
        0.5
    """
    return _value(_mean_absolute_difference, x, y)


def weighted_kappa(x: Sequence[float], y: Sequence[float]) -> float | None:
    """Return Cohen's kappa with quadratic weights.

    kappa = 1 - mean((x - y)^2) / (var(x) + var(y) + (mean(x) - mean(y))^2), variances over n. The denominator is the
    mean of (x_i - y_j)^2 over all pairs, so this is the usual definition; written so, it also takes means of several
    people, which lie between the steps of the scale.

    Returns:
        At most 1; None without responses, or where all scores of both are the same.

    Example:
        >>> round(weighted_kappa([0, 1, 2, 3], [0, 1, 3, 3]), 3)
        0.917
    """
    return _value(_weighted_kappa, x, y)


if TYPE_CHECKING:
    _Floats = npt.NDArray[np.floating[Any]]
    _Statistic = Callable[[_Floats, _Floats], _Floats]


def _value(statistic: "_Statistic", x: Sequence[float], y: Sequence[float]) -> float | None:
    import numpy as np

    return _finite(statistic(np.asarray([x], dtype=float), np.asarray([y], dtype=float))[0]) if len(x) else None


def _estimate(statistic: "_Statistic", x: "_Floats", y: "_Floats", seed: int) -> Estimate:
    import numpy as np

    if len(x) < 2:
        return Estimate(value=None, reason=f"{len(x)} response{'s' if len(x) != 1 else ''}, two are needed")
    value = _finite(statistic(x[None], y[None])[0])
    if value is None:
        return Estimate(value=None, reason="all scores are the same")
    generator = np.random.default_rng(seed)
    at_once = max(1, _CELLS_AT_ONCE // len(x))
    drawn = []
    for start in range(0, RESAMPLES, at_once):
        places = generator.integers(len(x), size=(min(at_once, RESAMPLES - start), len(x)))
        drawn.append(statistic(x[places], y[places]))
    resampled = np.concatenate(drawn)
    resampled = resampled[np.isfinite(resampled)]
    if not len(resampled):
        return Estimate(value=value)
    low, high = np.quantile(resampled, [0.025, 0.975])
    return Estimate(value=value, low=float(low), high=float(high))


# Each takes arrays (resamples, responses) and returns one number per resample, NaN where it is not defined.


def _spearman(x: "_Floats", y: "_Floats") -> "_Floats":
    import numpy as np
    from scipy.stats import rankdata

    ranks = [rankdata(scores, axis=1) for scores in (x, y)]
    left, right = (rank - rank.mean(axis=1, keepdims=True) for rank in ranks)
    spread = np.sqrt((left**2).sum(axis=1) * (right**2).sum(axis=1))
    return _ratio((left * right).sum(axis=1), spread)


def _mean_absolute_difference(x: "_Floats", y: "_Floats") -> "_Floats":
    result: _Floats = abs(x - y).mean(axis=1)
    return result


def _bias(x: "_Floats", y: "_Floats") -> "_Floats":
    result: _Floats = (y - x).mean(axis=1)
    return result


def _weighted_kappa(x: "_Floats", y: "_Floats") -> "_Floats":
    observed = ((x - y) ** 2).mean(axis=1)
    expected = x.var(axis=1) + y.var(axis=1) + (x.mean(axis=1) - y.mean(axis=1)) ** 2
    return 1 - _ratio(observed, expected)


def _ratio(above: "_Floats", below: "_Floats") -> "_Floats":
    import numpy as np

    # rounding leaves a trace of spread where all scores are equal
    defined = below > 1e-12
    return np.where(defined, above / np.where(defined, below, 1), np.nan)


def _finite(value: "np.floating[Any]") -> float | None:
    return float(value) if value == value else None
