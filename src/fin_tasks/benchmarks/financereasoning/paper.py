"""Read and compare results as FinanceReasoning's authors do."""

import re
from functools import partial

from fin_tasks.benchmarks import programs_paper

TOLERANCE = 0.002
"""A number may be off by this share of the truth."""
_NUMBER = r"[-+]?(?:\d[\d,]*\.?\d*|\.\d+)(?:e[-+]?\d+)?"
_PLAIN_NUMBER = r"[-+]?(?:\d+\.?\d*|\.\d+)(?:e[-+]?\d+)?"
_MONEY = re.compile(r"[$£€¥%]|\b(?:us|usd|rmb|thousand|million|billion)\b")
"""Currencies and units, which are removed before the number is read."""
_NUMBER_WITH_UNIT = re.compile(rf"(?:[^\W\d]+ +)?({_NUMBER})(?: *[^\W\d]+)?")
"""A number alone, or with one word before it, behind it, or both."""
_FIRST_NUMBER = re.compile(rf"[(\[] *(?:np\.\w+\()?({_PLAIN_NUMBER})\)?[ ,)\]]")
"""The first element of a tuple, a list or an array, even if numpy names its type: `[np.float64(1.5), 2]`."""
_FIRST_FRACTION = re.compile(r"[(\[]Fraction\((-?\d{1,300}), (\d{1,300})\)")
_FIRST_TRUTH = re.compile(r"[(\[](True|False)[,)\]]")
_MAX_TEXT = 10_000
"""A program that returns a longer text (in characters) has no answer."""

Value = bool | float


def value_in(text: str, number: float | None = None) -> Value | None:
    """Return the value of a result: a number, or true or false.

    The first element of a tuple or a list counts. A dict, a set, a complex number, a list in a list,
    and a sentence have no value.

    Args:
        text: The result as text.
        number: The result as a float if Python can convert it. A `Fraction` has no other number.
    """
    if len(text) > _MAX_TEXT:
        return None
    text = text.strip()
    if text.startswith(("(", "[", "{")):
        return _first_element(text)
    value = _value_of_text(text)
    return number if value is None else value


def _first_element(text: str) -> Value | None:
    """Return the first element of a tuple or a list if it is a number, true or false."""
    number = _FIRST_NUMBER.match(text)
    if number:
        return float(number[1])
    fraction = _FIRST_FRACTION.match(text)
    if fraction:
        return int(fraction[1]) / int(fraction[2])
    truth = _FIRST_TRUTH.match(text)
    return truth[1] == "True" if truth else None


def _value_of_text(text: str) -> Value | None:
    """Return the value of a text without currency, units, and what stands before `=` or `≈`."""
    text = re.split("[=≈]", text)[-1].strip(" .'\"").lower()
    if text in ("true", "yes"):
        return True
    if text in ("false", "no"):
        return False
    number = _NUMBER_WITH_UNIT.fullmatch(_MONEY.sub("", text).strip())
    if number is None:
        return None
    return float(number[1].replace(",", ""))


is_near = partial(programs_paper.is_near, tolerance=TOLERANCE)
"""Return whether a number is within the authors' tolerance of a truth."""
