"""Name how far an answer is from the truth: a factor, a sign, a rounding."""

import math

from fin_tasks.answers.numbers import number_from_float

SAME = 0.005
"""Numbers within this share of each other are one answer."""
_FACTORS = {
    10.0: "factor 10",
    12.0: "factor 12 (months or years)",
    100.0: "factor 100 (percent)",
    1_000.0: "factor 1,000 (thousands)",
    10_000.0: "factor 10,000 (basis points)",
    1_000_000.0: "factor 1,000,000 (millions)",
    1_000_000_000.0: "factor 1,000,000,000 (billions)",
}
_MIN_DIGITS = 2
"""A rounded number has this many significant digits, or it is another number."""


def distance_name(answer: float, truth: float) -> str:
    """Name the distance of an answer from the truth; empty if it has no name.

    >>> distance_name(0.77, 77.0)
    'factor 100 (percent)'
    >>> distance_name(-8184.0, 8184.0)
    'sign'
    >>> distance_name(0.85, 0.8549)
    'rounding'
    """
    if not (math.isfinite(answer) and math.isfinite(truth)) or 0 in (answer, truth):
        return ""
    names = []
    size, true_size = abs(answer), abs(truth)
    ratio = max(size, true_size) / min(size, true_size)
    for factor, name in _FACTORS.items():
        if math.isclose(ratio, factor, rel_tol=SAME):
            names.append(name)
    is_same_size = math.isclose(ratio, 1, rel_tol=SAME)
    if not names and not is_same_size and _is_rounded(size, true_size):
        names.append("rounding")
    if (answer < 0) != (truth < 0) and (names or is_same_size):
        names.append("sign")
    return ", ".join(names)


def _is_rounded(first: float, second: float) -> bool:
    """Return whether one of two positive numbers is the other one, rounded."""
    steps = []
    for value in (first, second):
        number = number_from_float(value)
        steps.append(number.step if number else 0.0)
    coarser_step = max(steps)
    rounded = first if steps[0] >= steps[1] else second
    has_digits = rounded >= 10 ** (_MIN_DIGITS - 1) * coarser_step
    return has_digits and abs(first - second) <= coarser_step / 2 * (1 + SAME)
