"""Read numbers with signs, grouping, units, scale words and powers, and compare them."""

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import NamedTuple

from fin_tasks.answers.notation import CURRENCY

TOLERANCE = 0.005  # a number is near the truth within this relative distance
_NOISE = 1e-9


@dataclass(frozen=True, kw_only=True)
class Number:
    """A number with every value it may stand for."""

    value: float
    """The literal value: 0.0766 for `7.66%`, 5000000.0 for `5 million`."""
    readings: tuple[float, ...]
    """`value`, then the values in other units: (0.0766, 7.66) for `7.66%`."""
    step: float
    """The last written place, in units of `value`: 0.0001 for `7.66%`; 0.0 for `3/4`, which is exact."""

    def step_of(self, reading: float) -> float:
        """Return the last written place in units of a reading."""
        if not (self.value and reading):
            return self.step
        step = self.step * abs(reading / self.value)
        return step if math.isfinite(step) else 0.0


class FoundNumber(NamedTuple):
    """A number and its place in the text, with its sign, currency and unit."""

    start: int
    end: int
    number: Number


# A hyphen is no sign behind a number or word; before a space it is one only at the start of a text or bracket.
_OPENED = rf"""(?:\A|(?<=\A\s)|(?<=[\[({{=≈:\n"'{CURRENCY}])|(?<=[\[({{=≈:\n"']\s))"""
_SIGN = rf"(?P<sign>\b(?i:minus|negative)\s{{1,2}}|(?<![\w)%\]])[-+](?!\s)|{_OPENED}[-+]\s)?"
_FRACTION = r"""
    (?:(?P<whole>\d{1,9})\s{1,2})?(?P<over>\d{1,15}(?:\.\d{1,15})?)
    \s?/\s?(?P<under>\d{1,15}(?:\.\d{1,15})?)(?!\s?/)"""
_POWER_OF_TEN = r"10\s?\^\s?\(?(?P<power>[-+]?\d{1,4})\b\)?"
_GROUPED = r"""
    (?P<grouped>(?:[1-9]\d{0,2}(?:,\d{3}){1,20}|\d{1,2}(?:,\d{2}){1,12},\d{3})(?:\.\d{1,60})?)"""
_SPACED = r"(?P<spaced>[1-9]\d{0,2}(?:[ ']\d{3}){1,20}(?:[.,]\d{1,60})?)"
# A comma is a decimal sign only where it cannot group thousands.
_EUROPEAN = r"""
    (?P<european>\d{1,3}(?:\.\d{3}){1,20},\d{1,60}|\d{1,3}(?:\.\d{3}){2,20}|0,\d{1,60}
      |\d{1,60},(?:\d{1,2}|\d{4,60})|\d{4,60},\d{3})"""
_SIMPLE = r"(?P<simple>\d{1,60}(?:\.\d{1,60})?|\.\d{1,60})"
_EXPONENT = r"""
    (?:[eE](?P<e>[-+]?\d{1,4})\b|\s{0,3}[x*]\s{0,3}10\s?\^\s?\(?(?P<by>[-+]?\d{1,4})\b\)?)?"""
# No ordinal, date, expression or `5-year`.
_NUMBER_END = r"""
    (?!\d|_\d|x[\da-f]|\s?π|[.,]\d|[eE][-+]?\d|[/:]\d|\s?\^|(?:st|nd|rd|th)\b
      |-(?:years?|yrs?|months?|days?|weeks?|quarters?|periods?|steps?|for|factor)\b)"""
_NUMBER = re.compile(
    rf"""{_SIGN}(?:{CURRENCY}\s?)?(?<![\w^√])(?<!\d[.,/:])
    (?:{_FRACTION}|{_POWER_OF_TEN}|(?:{_GROUPED}|{_SPACED}|{_EUROPEAN}|{_SIMPLE}){_EXPONENT})
    {_NUMBER_END}""",
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
_POWER_BY_WORD = {word: power for power, words in _SCALE_WORDS.items() for word in words.split()}
_LONG_WORDS = "|".join(
    sorted((word for word in _POWER_BY_WORD if word.isascii() and len(word) > 1), key=len)[::-1]
)
_CJK_WORDS = "百万|十亿|万|萬|亿|億|兆"
_SUFFIX = re.compile(
    rf"""\s{{0,2}}{CURRENCY}?\s{{0,2}}-?(?:
    (?P<percent>%|(?i:per\s?cent(?:age)?(?:\s{{1,2}}points?)?|pct|pp|prozent|por\sciento)\b)
  | (?P<bps>(?i:bps?|basis\s{{1,2}}points?|basispunkte?)\b|个?基点)
  | (?P<cents>¢|(?i:cents?)\b)
  | \(?(?:(?i:in)\s{{1,2}})?{CURRENCY}?\s?(?P<word>(?i:{_LONG_WORDS}))(?i:s?)\b
  | (?P<cjk>{_CJK_WORDS})
  | (?P<letter>[kKMBT]|(?<=\d)[mb])\b(?!\^))""",
    re.VERBOSE,
)
_POWERS_OF_UNIT = {"percent": (-2, 0), "bps": (-4, -2, 0), "cents": (-2, 0)}

_SMALL_WORDS = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen "
    "fifteen sixteen seventeen eighteen nineteen"
)
_TENS_WORDS = "twenty thirty forty fifty sixty seventy eighty ninety"
_UNITS = _SMALL_WORDS.split()
_TENS = _TENS_WORDS.split()
_MULTIPLIERS = {"hundred": 100, "thousand": 10**3, "million": 10**6, "billion": 10**9}
_PARTS = {"half": 2, "third": 3, "quarter": 4, "fourth": 4, "fifth": 5, "eighth": 8, "tenth": 10}
_SMALL_WORD = rf"(?:{'|'.join([*_UNITS, *_TENS])})"
_ANY_WORD = rf"(?:{_SMALL_WORD}|{'|'.join(_MULTIPLIERS)})"
_SPELLED_FRACTION = re.compile(
    rf"(?i)(?<![\w-])(?P<over>{_SMALL_WORD}|an?)[\s-](?P<under>{'|'.join(_PARTS)})s?(?![\w-]|\sa\b)"
    r"|(?<![\w-])(?P<half>half)(?!\w|\sa\b)"
)
_SPELLED = re.compile(
    rf"(?i)(?<![\w-]){_SMALL_WORD}(?:(?:[\s-]|\sand\s){_ANY_WORD}){{0,12}}"
    rf"(?:(?P<half>\sand\sa\shalf)|\spoint(?P<decimals>(?:\s(?:{'|'.join(_UNITS[:10])})){{1,6}}))?"
    r"(?P<scale>\s(?:thousand|million|billion))?"
    rf"(?![\w-]|\s(?:of|in|that|which|{'|'.join(_PARTS)})s?\b)"
)
_DOLLARS_AND_CENTS = re.compile(r"(?i)\b(\d{1,9}) dollars? and (\d\d) cents?\b")
_LOSS = re.compile(r"(?i)\b(?:loss(?:es)?|deficit|shortfall|outflow)\s?(?:of|is|:)?[\W_]{0,4}\Z")


def find_numbers(text: str) -> list[FoundNumber]:
    """Find every number in plain text (see `notation.plain`), in order; skip ordinals and `5-year`."""
    numbers = []
    for match in _NUMBER.finditer(text):
        number = _number_of_match(text, match)
        if number is not None:
            numbers.append(number)
    return numbers


def number_from_float(value: float) -> Number | None:
    """Return a program's result as a number, rounded where its shortest decimal form ends; None if not finite."""
    if not math.isfinite(value):
        return None
    mantissa, _, exponent = repr(float(value)).partition("e")
    decimals = mantissa.removesuffix(".0").partition(".")[2]
    step = float(f"1e{int(exponent or 0) - len(decimals)}")
    return Number(value=value, readings=(value,), step=step)


def words_as_digits(text: str, *, single: bool = True) -> str:
    """Return text with number words in digits: `three hundred and seventy` is 370, `one half` is 1/2.

    Without `single`, a word alone, such as `four`, stays a word.
    """
    if not single:
        return _SPELLED.sub(_digits_of_several_words, text)
    text = _SPELLED.sub(_digits_of_words, text)
    text = _DOLLARS_AND_CENTS.sub(rf"{CURRENCY}\1.\2", text)
    return _SPELLED_FRACTION.sub(_digits_of_fraction, text)


def as_loss(found: FoundNumber, text: str) -> Number:
    """Return the number, negative behind `loss of`; the positive amount stays a reading."""
    number = found.number
    if number.value <= 0 or not _LOSS.search(text[: found.start]):
        return number
    readings = []
    for reading in number.readings:
        readings += [-reading, reading]
    return replace(number, value=-number.value, readings=tuple(readings))


def as_written(number: Number) -> float:
    """Return the number without its unit, as the response writes it: 7.66 for `7.66%`, 1.2 for `1.2 million`."""
    return number.readings[-1]


def equal_reading(number: Number, truth: float, truth_step: float) -> float | None:
    """Return the reading that equals the truth up to the rounding shown, or None (`truth_step`: its last place)."""
    for reading in number.readings:
        if _is_equal(reading, number.step_of(reading), truth, truth_step):
            return reading
    return None


def near_reading(number: Number, truth: float) -> float | None:
    """Return the reading within 0.5 % of the truth, or None."""
    for reading in number.readings:
        if _is_near(reading, truth):
            return reading
    return None


def same_number(first: Number, second: Number) -> bool:
    """Return whether two numbers are the same value, one perhaps rounded or in another unit."""
    equal = [equal_reading(first, value, second.step_of(value)) for value in second.readings]
    return any(reading is not None for reading in equal)


def merged(numbers: Sequence[FoundNumber]) -> FoundNumber | None:
    """Return the value that all numbers share, with the readings of all; None if they differ."""
    if not numbers:
        return None
    first = numbers[0]
    readings: dict[float, None] = {}
    for found in numbers:
        if not same_number(first.number, found.number):
            return None
        readings.update(dict.fromkeys(found.number.readings))
    return first._replace(number=replace(first.number, readings=tuple(readings)))


def _number_of_match(text: str, match: re.Match[str]) -> FoundNumber | None:
    end = match.end()
    powers: tuple[int, ...] = (0,)
    suffix = _SUFFIX.match(text, end)
    if suffix:
        end = suffix.end()
        powers = _powers_of_suffix(suffix)
    size, step = _size_and_step(match)
    is_negative = (match["sign"] or "+")[0] in "-mMnN"
    if is_negative and size:
        size = -size
    if not math.isfinite(size):
        return None
    readings = []
    for power in powers:
        # Decimal keeps 7.66% at 0.0766; floats would give 0.07660000000000001.
        readings.append(float(Decimal(repr(size)).scaleb(power)))
    if not all(map(math.isfinite, readings)):
        return None
    step = float(Decimal(repr(step)).scaleb(powers[0]))
    number = Number(value=readings[0], readings=tuple(dict.fromkeys(readings)), step=step)
    return FoundNumber(match.start(), end, number)


def _powers_of_suffix(suffix: re.Match[str]) -> tuple[int, ...]:
    # Powers of ten of all readings; a scale word may also be the unit in which the truth is stated.
    scale = suffix["word"] or suffix["cjk"] or suffix["letter"]
    if scale:
        return (_POWER_BY_WORD[scale.lower()], 0)
    return _POWERS_OF_UNIT[suffix.lastgroup or ""]


def _size_and_step(match: re.Match[str]) -> tuple[float, float]:
    # The absolute value and the last written place, both before the unit.
    if match["over"]:
        under = float(match["under"])
        if under == 0:
            return math.nan, 0.0
        return float(match["whole"] or 0) + float(match["over"]) / under, 0.0
    if match["power"]:
        return float(f"1e{match['power']}"), 0.0
    digits = _plain_digits(match)
    exponent = int(match["e"] or match["by"] or 0)
    decimals = len(digits.partition(".")[2])
    return float(f"{digits}e{exponent}"), float(f"1e{exponent - decimals}")


def _plain_digits(match: re.Match[str]) -> str:
    if match["european"]:
        return match["european"].replace(".", "").replace(",", ".")
    if match["spaced"]:
        return re.sub("[ ']", "", match["spaced"]).replace(",", ".")
    return (match["grouped"] or match["simple"]).replace(",", "")


def _digits_of_fraction(match: re.Match[str]) -> str:
    if match["half"]:
        return "1/2"
    over = match["over"].lower()
    numerator = 1 if over in ("a", "an") else _value_of_words([over])
    return f"{numerator}/{_PARTS[match['under'].lower()]}"


def _digits_of_several_words(match: re.Match[str]) -> str:
    is_single = match[0].isalpha()
    return match[0] if is_single else _digits_of_words(match)


def _digits_of_words(match: re.Match[str]) -> str:
    spelled = re.split(r"\sand\sa\shalf|\spoint\s", match[0].lower())[0]
    words = [word for word in re.split(r"[\s-]+", spelled) if word != "and"]
    value = float(_value_of_words(words))
    if match["half"]:
        value += 0.5
    if match["decimals"]:
        decimals = [str(_UNITS.index(word)) for word in match["decimals"].lower().split()]
        value += float(f"0.{''.join(decimals)}")
    if match["scale"] and (match["half"] or match["decimals"]):
        value *= _MULTIPLIERS[match["scale"].strip().lower()]
    return f"{value:g}" if value < 1e6 else f"{value:.0f}"


def _value_of_words(words: Sequence[str]) -> int:
    total = 0
    group = 0
    for word in words:
        if word in _UNITS:
            group += _UNITS.index(word)
        elif word in _TENS:
            group += 10 * (_TENS.index(word) + 2)
        elif word == "hundred":
            group = (group or 1) * 100
        else:
            total += (group or 1) * _MULTIPLIERS[word]
            group = 0
    return total + group


def _is_equal(reading: float, step: float, truth: float, truth_step: float) -> bool:
    # They differ by at most half of the coarser last place; the coarser number is near or has three significant digits.
    coarser_step = max(step, truth_step)
    coarser_size = abs(reading) if step >= truth_step else abs(truth)
    if abs(reading - truth) > coarser_step / 2 + _NOISE * abs(truth):
        return False
    has_three_digits = coarser_size >= 100 * coarser_step * (1 - _NOISE)
    return has_three_digits or _is_near(reading, truth)


def _is_near(reading: float, truth: float) -> bool:
    return abs(reading - truth) <= TOLERANCE * abs(truth) * (1 + _NOISE)
