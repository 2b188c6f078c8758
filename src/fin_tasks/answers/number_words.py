"""Turn numbers in words into digits: `three hundred and seventy`, `one half`."""

import re
from collections.abc import Sequence

from .phrases import read_yaml

_WORDS = read_yaml("number_words")
_SMALL_VALUES = _WORDS["small"]
_MULTIPLIERS = _WORDS["multipliers"]
_PARTS = _WORDS["parts"]

_SMALL = "|".join(_SMALL_VALUES)
_LARGE = "|".join(_MULTIPLIERS)
_PART = "|".join(_PARTS)
_FLAGS = re.IGNORECASE | re.VERBOSE
_NUMBER = re.compile(
    rf"""
    (?<! [\w-] )
    (?P<words> (?:{_SMALL}) (?: (?: [\s-] | \sand\s ) (?:{_SMALL}|{_LARGE}) ){{0,12}} )
    (?P<half> \sand\sa\shalf )?
    (?P<scale> \s (?:thousand|million|billion) )?
    (?! [\w-] | \s (?:of|in|that|which|point|{_PART}) s? \b )   # not: one of
    """,
    _FLAGS,
)
_FRACTION = re.compile(
    rf"""
    (?<! [\w-] ) (?P<over> {_SMALL} | an? ) [\s-] (?P<under> {_PART} ) s? (?! [\w-] | \sa\b )
  | (?<! [\w-] ) (?P<half> half ) (?! \w | \sa\b )
    """,
    _FLAGS,
)


def words_as_digits(
    text: str,
    *,
    single: bool = True,
) -> str:
    """Return text with number words in digits: `three hundred and seventy` is 370.

    Without `single`, a word alone, such as `four`, stays a word.
    """
    if not single:
        return _NUMBER.sub(_digits_of_several_words, text)
    text = _NUMBER.sub(_digits_of_words, text)
    return _FRACTION.sub(_digits_of_fraction, text)


def _digits_of_several_words(match: re.Match[str]) -> str:
    is_single = match[0].isalpha()
    return match[0] if is_single else _digits_of_words(match)


def _digits_of_words(match: re.Match[str]) -> str:
    words = re.split(r"[\s-]", match["words"].lower())
    value = float(_value_of_words(words))
    if match["half"]:
        value += 0.5
    if match["scale"]:
        value *= _MULTIPLIERS[match["scale"].strip().lower()]
    return f"{value:.15g}"


def _value_of_words(words: Sequence[str]) -> int:
    total = 0
    group = 0
    for word in words:
        if word in _SMALL_VALUES:
            group += _SMALL_VALUES[word]
        elif word == "hundred":
            group = (group or 1) * 100
        elif word in _MULTIPLIERS:
            total += (group or 1) * _MULTIPLIERS[word]
            group = 0
    return total + group


def _digits_of_fraction(match: re.Match[str]) -> str:
    if match["half"]:
        return "1/2"
    numerator = _SMALL_VALUES.get(match["over"].lower(), 1)
    return f"{numerator}/{_PARTS[match['under'].lower()]}"
