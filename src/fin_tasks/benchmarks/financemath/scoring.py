"""FinanceMath's numeric comparison."""

import math

from fin_tasks.answers.comparison import equal_reading
from fin_tasks.answers.numbers import Number

__all__ = ["paper_equal", "robust_equal"]

_TOLERANCE = 0.0015
_FORGIVEN_FACTORS = (100, 1_000, 100_000)


def paper_equal(prediction: float, truth: float) -> bool:
    r"""Compare two numbers as the authors of FinanceMath do, oddities included.

    With a = max(|p|, |t|) and b = min(|p|, |t|), p and t are equal if any of these holds:

    - log10(a / b) is a whole number: a pure power of ten lies between them, and a sign does not matter;
    - |k b - a| <= 0.0015 a for k in {100, 1000, 100000}: percent, thousands, or both;
    - ceil(1000 a) = ceil(1000 b): the same when rounded up to three decimals;
    - |p - t| <= 0.0015 |t|.

    Args:
        prediction: The program's result at full precision; NaN and infinities equal nothing.
        truth: The reference result at full precision. A truth rounded beforehand gives other verdicts near the
            edges, for instance where a power of ten no longer fits exactly.

    References:
        Zhao et al. (2024), FinanceMath (KnowledgeFMATH), and its published per-item results.

    Example:
        >>> paper_equal(12.5, 0.125), paper_equal(-800.0, 800.0), paper_equal(1.1, 1.0)
        (True, True, False)
    """
    if not (math.isfinite(prediction) and math.isfinite(truth)):
        return False
    large, small = max(abs(prediction), abs(truth)), min(abs(prediction), abs(truth))
    return (
        _power_of_ten_apart(large, small)
        or any(_within(small * factor, large) for factor in _FORGIVEN_FACTORS)
        or _rounded_up(large) == _rounded_up(small)
        or _within(prediction, truth)
    )


def robust_equal(answer: Number, truth: float) -> bool:
    r"""Compare an answer with the truth as a careful reader does.

    With r a reading of the answer, s its last written place and t the truth, one of these holds for some r:

    - |r - t| <= 0.0015 |t|;
    - |r - t| <= s / 2, the truth rounded as the answer is, if that is within 0.005 |t| or r has three digits or more.

    Readings are what the answer's own unit allows: 15.3 and 0.153 for `15.3%`, 1200000 and 1.2 for `1.2 million`; a
    number without a unit has one. So another sign is another number, and a factor of ten, a hundred or a thousand is
    forgiven only where the answer itself shows a unit that explains it.

    Args:
        answer: The number as read; a program's result comes from `answers.numbers.number_from_float`.
        truth: The reference result at full precision; NaN and infinities equal nothing.

    Example:
        >>> plain = Number(value=15.3, readings=(15.3,), step=0.1)
        >>> percent = Number(value=0.153, readings=(0.153, 15.3), step=0.001)
        >>> robust_equal(plain, 0.1532), robust_equal(percent, 0.1532), robust_equal(percent, -0.1532)
        (False, True, False)
    """
    if not math.isfinite(truth):
        return False
    return any(_within(r, truth) for r in answer.readings) or equal_reading(answer, truth, 0.0) is not None


def _within(number: float, truth: float) -> bool:
    # An interval rather than a difference: at the very edge the two round differently.
    margin = abs(truth) * _TOLERANCE
    return truth - margin <= number <= truth + margin


def _power_of_ten_apart(large: float, small: float) -> bool:
    if small == 0 or math.isinf(large / small):
        return False
    return math.log10(large / small).is_integer()


def _rounded_up(number: float) -> float:
    scaled = number * 1000
    return math.ceil(scaled) / 1000 if math.isfinite(scaled) else number
