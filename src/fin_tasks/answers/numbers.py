"""Read numbers with signs, grouping, units, scale words and powers, and compare them."""

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import NamedTuple

from fin_tasks.answers.notation import CURRENCY, keys_by_word

TOLERANCE = 0.005  # a number is near the truth within this relative distance
_FLOAT_NOISE = 1e-9
Match = re.Match[str]


@dataclass(frozen=True, kw_only=True)
class Number:
    """A number with every value it may stand for."""

    value: float
    """The literal value: 0.0766 for `7.66%`, 5000000.0 for `5 million`."""
    readings: tuple[float, ...]
    """`value`, then the values in other units: (0.0766, 7.66) for `7.66%`."""
    step: float
    """The last written place, in units of `value`: 0.0001 for `7.66%`; 0.0 for the exact `3/4`."""

    def step_of(self, reading: float) -> float:
        """Return the last written place in units of a reading."""
        if not (self.value and reading):
            return self.step
        step = self.step * abs(reading / self.value)
        return step if math.isfinite(step) else 0.0

    def readings_with_steps(self) -> list[tuple[float, float]]:
        """Return each reading with its last written place."""
        return [(reading, self.step_of(reading)) for reading in self.readings]


class Mention(NamedTuple):
    """A number and its place in a text, with its sign, currency and unit."""

    start: int
    end: int
    number: Number


# A hyphen is no sign behind a number or a word: `2010-2012`. Before a space it is a sign only where
# an amount begins: at the start of the text, or behind a bracket, an equals sign or a currency.
_AMOUNT_STARTS = rf"""
    (?: \A | (?<=\A\s) | (?<= [\[({{=≈:\n"'{CURRENCY}] ) | (?<= [\[({{=≈:\n"']\s ) )
"""
_SIGN = rf"""
    (?P<sign> \b(?i:minus|negative)\s{{1,2}} | (?<! [\w)%\]] ) [-+] (?!\s) | {_AMOUNT_STARTS} [-+]\s )?
"""
# 3/4, 2 1/2
_FRACTION = r"""
    (?: (?P<whole> \d{1,9} ) \s{1,2} )?
    (?P<over> \d{1,15} (?:\.\d{1,15})? ) \s? / \s? (?P<under> \d{1,15} (?:\.\d{1,15})? ) (?! \s?/ )
"""
# 10^6
_POWER_OF_TEN = r"10 \s?\^\s? \(? (?P<power> [-+]?\d{1,4} ) \b \)?"
# 1,234,567.8 and 12,34,567
_GROUPED = r"""
    (?P<grouped>
        (?: [1-9]\d{0,2} (?:,\d{3}){1,20} | \d{1,2} (?:,\d{2}){1,12} ,\d{3} ) (?:\.\d{1,60})? )
"""
# 1 234 567,8 and 1'234'567
_SPACED = r"(?P<spaced> [1-9]\d{0,2} (?: [ ']\d{3} ){1,20} (?: [.,]\d{1,60} )? )"
# 1.234.567,8 and 12,5; a comma is a decimal sign only where it cannot group thousands
_EUROPEAN = r"""
    (?P<european>
        \d{1,3} (?:\.\d{3}){1,20} ,\d{1,60}
      | \d{1,3} (?:\.\d{3}){2,20}
      | 0,\d{1,60}
      | \d{1,60} ,(?: \d{1,2} | \d{4,60} )
      | \d{4,60} ,\d{3} )
"""
_SIMPLE = r"(?P<simple> \d{1,60} (?:\.\d{1,60})? | \.\d{1,60} )"
# 1e-5, 5 x 10^-5
_EXPONENT = r"""
    (?: [eE] (?P<e> [-+]?\d{1,4} ) \b
      | \s{0,3} [x*] \s{0,3} 10 \s?\^\s? \(? (?P<by> [-+]?\d{1,4} ) \b \)? )?
"""
# No ordinal, date, expression or `5-year`.
_NUMBER_ENDS = r"""
    (?! \d | _\d | x[\da-f] | \s?π | [.,]\d | [eE][-+]?\d | [/:]\d | \s?\^ | (?:st|nd|rd|th)\b
      | -(?: years? | yrs? | months? | days? | weeks? | quarters? | periods? | steps? | for
           | factor )\b )
"""
_NUMBER = re.compile(
    rf"""
    {_SIGN} (?: {CURRENCY}\s? )? (?<! [\w^√] ) (?<! \d[.,/:] )
    (?: {_FRACTION} | {_POWER_OF_TEN}
      | (?: {_GROUPED} | {_SPACED} | {_EUROPEAN} | {_SIMPLE} ) {_EXPONENT} )
    {_NUMBER_ENDS}
    """,
    re.VERBOSE,
)

_SCALE_WORDS = {
    2: "hundred",
    3: "thousand k tausend mille mil",
    4: "万 萬",
    5: "lakh",
    6: "million millionen millones mio mil mn mm m 百万",
    7: "crore",
    8: "亿 億",
    9: "billion bn b milliarde milliarden milliard mrd 十亿",
    12: "trillion tn t 兆",
}
_POWER_BY_WORD = keys_by_word(_SCALE_WORDS)
_LONG_WORDS = [word for word in _POWER_BY_WORD if word.isascii() and len(word) > 1]
_CJK_WORDS = [word for word in _POWER_BY_WORD if not word.isascii()]
# The longer words first, because `mil` begins `million`.
_LONG = "|".join(sorted(_LONG_WORDS, key=len, reverse=True))
_CJK = "|".join(sorted(_CJK_WORDS, key=len, reverse=True))
_UNIT = re.compile(
    rf"""
    \s{{0,2}} {CURRENCY}? \s{{0,2}} -?
    (?: (?P<percent> % | (?i: per\s?cent (?:age)? (?: \s{{1,2}} points? )? | pct | pp | prozent
                            | por\sciento ) \b )
      | (?P<bps> (?i: bps? | basis\s{{1,2}}points? | basispunkte? ) \b | 个?基点 )
      | (?P<cents> ¢ | (?i: cents? ) \b )
      | \(? (?: (?i:in) \s{{1,2}} )? {CURRENCY}? \s? (?P<word> (?i:{_LONG}) ) (?i:s?) \b
      | (?P<cjk> {_CJK} )
      | (?P<letter> [kKMBT] | (?<=\d) [mb] ) \b (?!\^) )
    """,
    re.VERBOSE,
)
_POWERS_BY_UNIT = {
    "percent": (-2, 0),
    "bps": (-4, -2, 0),
    "cents": (-2, 0),
}


def find_numbers(text: str) -> list[Mention]:
    """Find every number in plain text (see `notation.plain`); skip ordinals and `5-year`."""
    return list(filter(None, map(_mention, _NUMBER.finditer(text))))


def number_from_float(value: float) -> Number | None:
    """Return a program's result as a number; None if it is not finite.

    Its last written place is where its shortest decimal form ends.
    """
    if not math.isfinite(value):
        return None
    mantissa, _, exponent = repr(float(value)).partition("e")
    decimals = mantissa.removesuffix(".0").partition(".")[2]
    step = float(f"1e{int(exponent or 0) - len(decimals)}")
    return Number(value=value, readings=(value,), step=step)


def as_written(number: Number) -> float:
    """Return the number without its unit, as the response writes it: 7.66 for `7.66%`."""
    return number.readings[-1]


def equal_reading(
    number: Number,
    truth: float,
    truth_step: float,
) -> float | None:
    """Return the reading that equals the truth up to the rounding shown, or None.

    Args:
        number: The number that was read.
        truth: The right value.
        truth_step: The last written place of the truth.
    """
    for reading, step in number.readings_with_steps():
        if _is_equal(reading, step, truth, truth_step):
            return reading
    return None


def near_reading(
    number: Number,
    truth: float,
) -> float | None:
    """Return the reading within 0.5 % of the truth, or None."""
    for reading in number.readings:
        if _is_near(reading, truth):
            return reading
    return None


def same_number(
    first: Number,
    second: Number,
) -> bool:
    """Return whether two numbers are the same value, one perhaps rounded or in another unit."""
    equal = [equal_reading(first, *reading) for reading in second.readings_with_steps()]
    return any(reading is not None for reading in equal)


def merged(mentions: Sequence[Mention]) -> Mention | None:
    """Return the value that all numbers share, with the readings of all; None if they differ."""
    if not mentions:
        return None
    first = mentions[0]
    readings: dict[float, None] = {}
    for mention in mentions:
        if not same_number(first.number, mention.number):
            return None
        readings.update(dict.fromkeys(mention.number.readings))
    return first._replace(number=replace(first.number, readings=tuple(readings)))


def _mention(match: Match) -> Mention | None:
    unit = _UNIT.match(match.string, match.end())
    size, step = _size_and_step(match)
    is_negative = (match["sign"] or "+")[0] in "-mMnN"
    if is_negative and size:
        size = -size
    powers = _powers_of_unit(unit) if unit else (0,)
    readings = [_scaled(size, power) for power in powers]
    if not all(map(math.isfinite, readings)):
        return None
    number = Number(
        value=readings[0],
        readings=tuple(dict.fromkeys(readings)),
        step=_scaled(step, powers[0]),
    )
    return Mention(match.start(), (unit or match).end(), number)


def _scaled(value: float, power: int) -> float:
    # Decimal keeps 7.66% at 0.0766; floats would give 0.07660000000000001.
    return float(Decimal(repr(value)).scaleb(power))


def _powers_of_unit(unit: Match) -> tuple[int, ...]:
    # The powers of ten of all readings. A truth may be stated in millions, so both are readings.
    scale = unit["word"] or unit["cjk"] or unit["letter"]
    return (_POWER_BY_WORD[scale.lower()], 0) if scale else _POWERS_BY_UNIT[unit.lastgroup or ""]


def _size_and_step(match: Match) -> tuple[float, float]:
    # The absolute value and the last written place, both before the unit.
    if match["over"]:
        under = float(match["under"])
        if under == 0:
            return math.nan, 0.0
        fraction = float(match["over"]) / under
        return float(match["whole"] or 0) + fraction, 0.0
    if match["power"]:
        return float(f"1e{match['power']}"), 0.0
    digits = _plain_digits(match)
    exponent = int(match["e"] or match["by"] or 0)
    decimals = len(digits.partition(".")[2])
    return float(f"{digits}e{exponent}"), float(f"1e{exponent - decimals}")


def _plain_digits(match: Match) -> str:
    if match["european"] or match["spaced"]:
        digits = match["european"] or match["spaced"].replace(".", ",")
        return re.sub("[ '.]", "", digits).replace(",", ".")
    return (match["grouped"] or match["simple"]).replace(",", "")


def _is_equal(reading: float, step: float, truth: float, truth_step: float) -> bool:
    # They differ by at most half of the last place of the coarser number. That number has three
    # significant digits, or they are near.
    coarser_step = max(step, truth_step)
    coarser_size = abs(reading) if step >= truth_step else abs(truth)
    if abs(reading - truth) > coarser_step / 2 + _FLOAT_NOISE * abs(truth):
        return False
    has_three_digits = coarser_size >= 100 * coarser_step * (1 - _FLOAT_NOISE)
    return has_three_digits or _is_near(reading, truth)


def _is_near(
    reading: float,
    truth: float,
) -> bool:
    return abs(reading - truth) <= TOLERANCE * abs(truth) * (1 + _FLOAT_NOISE)
