"""Numbers in words: `twelve`, `twenty-five`, `one hundred and five`, `two thousand`."""

import re
from dataclasses import dataclass

from fin_tasks.answers.numbers import Number

__all__ = ["SpeltNumber", "find_spelt"]

_UP_TO_NINETEEN = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen"
    " eighteen nineteen"
)
_TENS = "twenty thirty forty fifty sixty seventy eighty ninety"
_VALUES = {word: value for value, word in enumerate(_UP_TO_NINETEEN.split())} | {
    word: 10 * value for value, word in enumerate(_TENS.split(), start=2)
}
_SCALES = {"hundred": 100, "thousand": 1_000, "million": 1_000_000, "billion": 1_000_000_000}
_SMALL = "|".join(_VALUES)
_SCALE = "|".join(_SCALES)
_SPELT = re.compile(
    rf"\b(?:{_SMALL})\b(?:(?:-|\s(?:and\s)?)(?:{_SMALL}|{_SCALE})\b){{0,12}}(?!-)",
    re.IGNORECASE,
)


@dataclass(frozen=True, kw_only=True)
class SpeltNumber:
    """A number in words and where it begins in the text."""

    start: int
    number: Number


def find_spelt(text: str) -> list[SpeltNumber]:
    """Find the numbers in words, in order; `five-year` is none.

    Example:
        >>> [found.number.value for found in find_spelt("sell twelve, then one hundred and twenty-five")]
        [12.0, 125.0]
    """
    found = ((match.start(), _value(match[0])) for match in _SPELT.finditer(text))
    return [SpeltNumber(start=start, number=Number(value=value, readings=(value,), step=1.0)) for start, value in found]


def _value(words: str) -> float:
    total = below = 0
    for word in re.split(r"[\s-]+", words.lower()):
        if word in _VALUES:
            below += _VALUES[word]
        elif word == "hundred":
            below = max(below, 1) * 100
        elif word in _SCALES:
            total, below = total + max(below, 1) * _SCALES[word], 0
    return float(total + below)
