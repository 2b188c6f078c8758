"""Read numbers with signs, grouping, units, scale words and powers, or in words, and compare them."""

import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import NamedTuple

from .phrases import Phrases

TOLERANCE = 0.005  # a number is near the truth within this relative distance
_FLOAT_NOISE = 1e-9
Match = re.Match[str]


@dataclass(frozen=True, kw_only=True)
class Number:
    """A number with every value it may stand for."""

    value: float
    """The literal value: 0.0766 for `7.66%`, 5000000.0 for `5 million`."""
    values: tuple[float, ...]
    """`value`, then the values in other units: (0.0766, 7.66) for `7.66%`."""
    step: float
    """The last written place, in units of `value`: 0.0001 for `7.66%`; 0.0 for the exact `3/4`."""

    def values_with_steps(self) -> list[tuple[float, float]]:
        """Return each value with its last written place."""
        pairs = []
        for value in self.values:
            step = self.step
            if self.value and value:
                step *= abs(value / self.value)
            if not math.isfinite(step):
                step = 0.0
            pairs.append((value, step))
        return pairs


class Mention(NamedTuple):
    """A number and its place in a text, with its sign, currency and unit."""

    start: int
    end: int
    number: Number


# --- Numbers in a text ---

_NUMBERS = Phrases("numbers")
_POWERS_BY_UNIT = {
    "percent": (-2, 0),
    "bps": (-4, -2, 0),
    "cents": (-2, 0),
}
_CHINESE_UNITS = {"亿": 10**8, "万": 10**4, "千": 1000, "百": 100}


def find_numbers(text: str) -> list[Mention]:
    """Find every number in plain text (see `text.plain`); skip ordinals and `5-year`."""
    mentions = []
    for match in _NUMBERS.number.finditer(text):
        if match["over"] or match["power"]:
            size = _exact_size(match)
            step = 0.0
        else:
            digits = match["grouped"] or match["simple"]
            if not digits:
                digits = _english_digits(match)
            digits = digits.replace(",", "")
            exponent = int(match["e"] or match["by"] or 0)
            decimals = len(digits.partition(".")[2])
            size = float(f"{digits}e{exponent}")
            step = float(f"1e{exponent - decimals}")
        if size and (match["sign"] or "+").strip() != "+":
            size = -size
        values = [size]
        end = match.end()
        unit = _NUMBERS.unit.match(text, end)
        if unit:
            powers = _powers_of_unit(unit)
            values = [_scaled(size, power) for power in powers]
            step = _scaled(step, powers[0])
            end = unit.end()
        if all(map(math.isfinite, values)):
            unique = tuple(dict.fromkeys(values))
            number = Number(value=values[0], values=unique, step=step)
            mentions.append(Mention(match.start(), end, number))
    return mentions


def _exact_size(match: Match) -> float:
    # The absolute value of a fraction or a power of ten; NaN for a fraction of zero.
    if match["power"]:
        return float(f"1e{match['power']}")
    under = float(match["under"])
    if under == 0:
        return math.nan
    fraction = float(match["over"]) / under
    return float(match["whole"] or 0) + fraction


def _english_digits(match: Match) -> str:
    # `1.234,5` and `1 234,5` are 1234.5.
    digits: str = match["european"] or match["spaced"].replace(".", ",")
    return re.sub("[ '.]", "", digits).replace(",", ".")


def _powers_of_unit(unit: Match) -> tuple[int, ...]:
    # The powers of ten of all values. A truth may be stated in millions, so both are values.
    name = str(unit.lastgroup)
    if name in _POWERS_BY_UNIT:
        return _POWERS_BY_UNIT[name]
    power, _, _ = name.removeprefix("e").partition("_")
    return int(power), 0


def _scaled(
    value: float,
    power: int,
) -> float:
    # Decimal keeps 7.66% at 0.0766; floats would give 0.07660000000000001.
    return float(Decimal(repr(value)).scaleb(power))


def chinese_amounts(text: str) -> str:
    """Return text in which an amount of several Chinese units has one: `3亿5千万` is 350000000."""
    return _NUMBERS.chinese_amount.sub(_chinese_sum, text)


def _chinese_sum(match: Match) -> str:
    total = 0.0
    for part in _NUMBERS.chinese_part.finditer(match[0]):
        size = float(part["size"])
        for unit in part["units"]:
            size *= _CHINESE_UNITS[unit]
        total += size
    return f"{total:.15g}"


def number_from_float(value: float) -> Number | None:
    """Return a program's result as a number; None if it is not finite.

    Its last written place is where its shortest decimal form ends.
    """
    if not math.isfinite(value):
        return None
    mantissa, _, exponent = repr(float(value)).partition("e")
    decimals = mantissa.removesuffix(".0").partition(".")[2]
    step = float(f"1e{int(exponent or 0) - len(decimals)}")
    return Number(value=value, values=(value,), step=step)


def as_written(number: Number) -> float:
    """Return the number without its unit, as the response writes it: 7.66 for `7.66%`."""
    return number.values[-1]


# --- Comparisons ---


class Fit(NamedTuple):
    """The value of a number that fits a truth."""

    value: float
    is_equal: bool
    """Whether it equals the truth up to the rounding shown; else it is within 0.5 % of it."""


def fit(
    number: Number,
    truths: Iterable[tuple[float, float]],
) -> Fit | None:
    """Return the value that equals one of the truths, else one that is near, or None.

    Equal values differ by at most half of the last place of the coarser number. That number has
    three significant digits, or the values are near.

    Args:
        number: The number that was read.
        truths: The right values, each with its last written place.
    """
    near = None
    for truth, truth_step in truths:
        margin = TOLERANCE * abs(truth) * (1 + _FLOAT_NOISE)
        for value, step in number.values_with_steps():
            distance = abs(value - truth)
            is_near = distance <= margin
            coarser_step = max(step, truth_step)
            is_rounded = distance <= coarser_step / 2 + _FLOAT_NOISE * abs(truth)
            coarser_size = abs(value) if step >= truth_step else abs(truth)
            has_three_digits = coarser_size >= 100 * coarser_step * (1 - _FLOAT_NOISE)
            if is_rounded and (has_three_digits or is_near):
                return Fit(value, is_equal=True)
            if is_near and near is None:
                near = Fit(value, is_equal=False)
    return near


def same_number(
    first: Number,
    second: Number,
) -> bool:
    """Return whether two numbers are the same value, one perhaps rounded or in another unit."""
    found = fit(first, second.values_with_steps())
    return found is not None and found.is_equal


def merged(mentions: Sequence[Mention]) -> Mention | None:
    """Return the number that all mentions share, with the values of all; None if they differ."""
    if not mentions:
        return None
    first, *others = mentions
    values = list(first.number.values)
    for mention in others:
        if not same_number(first.number, mention.number):
            return None
        values += mention.number.values
    unique = tuple(dict.fromkeys(values))
    return first._replace(number=replace(first.number, values=unique))


# --- Numbers in words ---

_WORDS = Phrases("number_words").sources
_SMALL_VALUES = _WORDS["small"]
_MULTIPLIERS = _WORDS["multipliers"]
_PARTS = _WORDS["parts"]

_SMALL = "|".join(_SMALL_VALUES)
_LARGE = "|".join(_MULTIPLIERS)
_PART = "|".join(_PARTS)
_FLAGS = re.IGNORECASE | re.VERBOSE
_NUMBER_IN_WORDS = re.compile(
    rf"""
    (?<! [\w-] )
    (?P<words> (?:{_SMALL}) (?: (?: [\s-] | \sand\s ) (?:{_SMALL}|{_LARGE}) ){{0,12}} )
    (?P<half> \sand\sa\shalf )?
    (?P<scale> \s (?:thousand|million|billion) )?
    (?! [\w-] | \s (?:of|in|that|which|point|{_PART}) s? \b )   # not: one of
    """,
    _FLAGS,
)
_FRACTION_IN_WORDS = re.compile(
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
        return _NUMBER_IN_WORDS.sub(_digits_of_several_words, text)
    text = _NUMBER_IN_WORDS.sub(_digits_of_words, text)
    return _FRACTION_IN_WORDS.sub(_digits_of_fraction, text)


def _digits_of_several_words(match: Match) -> str:
    is_single = match[0].isalpha()
    return match[0] if is_single else _digits_of_words(match)


def _digits_of_words(match: Match) -> str:
    total = 0
    group = 0
    for word in re.split(r"[\s-]", match["words"].lower()):
        if word in _SMALL_VALUES:
            group += _SMALL_VALUES[word]
        elif word == "hundred":
            group = (group or 1) * 100
        elif word in _MULTIPLIERS:
            total += (group or 1) * _MULTIPLIERS[word]
            group = 0
    value = float(total + group)
    if match["half"]:
        value += 0.5
    if match["scale"]:
        value *= _MULTIPLIERS[match["scale"].strip().lower()]
    return f"{value:.15g}"


def _digits_of_fraction(match: Match) -> str:
    if match["half"]:
        return "1/2"
    numerator = _SMALL_VALUES.get(match["over"].lower(), 1)
    return f"{numerator}/{_PARTS[match['under'].lower()]}"
