"""Read numbers with signs, grouping, units, scale words and powers, and compare them."""

import math
import re
from dataclasses import dataclass
from decimal import Decimal
from typing import NamedTuple

from fin_tasks.answers.notation import CURRENCY

TOLERANCE = 0.005  # a number is near the truth within this relative distance
_NOISE = 1e-9


@dataclass(frozen=True, kw_only=True)
class Number:
    """A number with every value it may stand for."""

    value: float  # the literal value: 0.0766 for `7.66%`, 5000000.0 for `5 million`
    readings: tuple[
        float, ...
    ]  # `value`, then the values in other units: (0.0766, 7.66) for `7.66%`
    step: float  # the last written place, in units of `value`: 0.0001 for `7.66%`; 0.0 for `3/4`, which is exact

    def step_of(self, reading: float) -> float:
        """Return the last written place in units of a reading."""
        step = self.step * abs(reading / self.value) if self.value and reading else self.step
        return step if math.isfinite(step) else 0.0


class FoundNumber(NamedTuple):
    """A number and its place in the text, with its sign, currency and unit."""

    start: int
    end: int
    number: Number


# A fraction, a power of ten, or digits grouped in the English, Indian, spaced or European way, with an exponent.
# A hyphen is no sign behind a number or word; before a space it is one only at the start of a text or bracket.
_OPENED = rf"""(?:\A|(?<=\A\s)|(?<=[\[({{=≈:\n"'{CURRENCY}])|(?<=[\[({{=≈:\n"']\s))"""
_NUMBER = re.compile(
    rf"""(?P<sign>\b(?i:minus|negative)\s{{1,2}}|(?<![\w)%\]])[-+](?!\s)|{_OPENED}[-+]\s)?
    (?:{CURRENCY}\s?)?(?<![\w^√])(?<!\d[.,/:])(?:
    (?:(?P<whole>\d{{1,9}})\s{{1,2}})?(?P<over>\d{{1,15}}(?:\.\d{{1,15}})?)
      \s?/\s?(?P<under>\d{{1,15}}(?:\.\d{{1,15}})?)(?!\s?/)
  | 10\s?\^\s?\(?(?P<power>[-+]?\d{{1,4}})\b\)?
  | (?:(?P<grouped>(?:[1-9]\d{{0,2}}(?:,\d{{3}}){{1,20}}|\d{{1,2}}(?:,\d{{2}}){{1,12}},\d{{3}})(?:\.\d{{1,60}})?)
      | (?P<spaced>[1-9]\d{{0,2}}(?:[ ']\d{{3}}){{1,20}}(?:[.,]\d{{1,60}})?)
      | (?P<european>\d{{1,3}}(?:\.\d{{3}}){{1,20}},\d{{1,60}}|\d{{1,3}}(?:\.\d{{3}}){{2,20}}|0,\d{{1,60}}
            |\d{{1,60}},(?:\d{{1,2}}|\d{{4,60}})|\d{{4,60}},\d{{3}})
      | (?P<simple>\d{{1,60}}(?:\.\d{{1,60}})?|\.\d{{1,60}})
    )(?:[eE](?P<e>[-+]?\d{{1,4}})\b|\s{{0,3}}[x*]\s{{0,3}}10\s?\^\s?\(?(?P<by>[-+]?\d{{1,4}})\b\)?)?
    )(?!\d|_\d|x[\da-f]|\s?π|[.,]\d|[eE][-+]?\d|[/:]\d|\s?\^|(?:st|nd|rd|th)\b
      |-(?:years?|yrs?|months?|days?|weeks?|quarters?|periods?|steps?|for|factor)\b)""",
    re.VERBOSE,
)
_SCALES = {2: "hundred", 3: "thousand k", 5: "lakh", 6: "million mio mil mn mm m", 7: "crore", 9: "billion bn b",
           12: "trillion tn t"}  # fmt: skip
_POWERS = {word: power for power, words in _SCALES.items() for word in words.split()}
_SUFFIX = re.compile(
    rf"""\s{{0,2}}{CURRENCY}?\s{{0,2}}-?(?:
    (?P<percent>%|(?i:per\s?cent(?:age)?(?:\s{{1,2}}points?)?|pct|pp)\b)
  | (?P<bps>(?i:bps?|basis\s{{1,2}}points?)\b)
  | (?P<cents>¢|(?i:cents?)\b)
  | \(?(?:(?i:in)\s{{1,2}})?{CURRENCY}?(?P<word>(?i:{"|".join(word for word in _POWERS if len(word) > 1)}))(?i:s?)\b
  | (?P<letter>[kKMBT]|(?<=\d)[mb])\b(?!\^))""",
    re.VERBOSE,
)
_UNITS = {"percent": (-2, 0), "bps": (-4, -2, 0), "cents": (-2, 0)}
_WORDS = [
    "zero",
    "one",
    "two",
    "three",
    "four",
    "five",
    "six",
    "seven",
    "eight",
    "nine",
    "ten",
    "eleven",
    "twelve",
]
_SPELT = re.compile(
    rf"(?i)(?<![\w-])(?:(?:(?:one|a)\s)?(half)(?!\w|\sa\b)|({'|'.join(_WORDS)})(?![\w-]|\s(?:of|in|that|which)\b))"
)


def find_numbers(text: str) -> list[FoundNumber]:
    """Find every number in plain text (see `notation.plain`), in order; skip ordinals and `5-year`."""
    return [found for match in _NUMBER.finditer(text) if (found := _found(text, match))]


def number_from_float(value: float) -> Number | None:
    """Return a program's result as a number, rounded where its shortest decimal form ends; None if not finite."""
    if not math.isfinite(value):
        return None
    mantissa, _, exponent = repr(float(value)).partition("e")
    decimals = mantissa.removesuffix(".0").partition(".")[2]
    return Number(
        value=value, readings=(value,), step=float(f"1e{int(exponent or 0) - len(decimals)}")
    )


def words_as_digits(text: str) -> str:
    """Return text with `zero` to `twelve` and `one half` in digits."""
    return _SPELT.sub(
        lambda found: "1/2" if found[1] else str(_WORDS.index(found[2].lower())), text
    )


def _found(text: str, match: re.Match[str]) -> FoundNumber | None:
    end, step = match.end(), 0.0
    powers: tuple[int, ...] = (0,)
    if suffix := _SUFFIX.match(text, end):
        scale = (suffix["word"] or suffix["letter"] or "").lower()
        end, powers = suffix.end(), (_POWERS[scale], 0) if scale else _UNITS[suffix.lastgroup or ""]
    if match["over"]:
        under = float(match["under"])
        size = float(match["whole"] or 0) + float(match["over"]) / under if under else math.nan
    elif match["power"]:
        size = float(f"1e{match['power']}")
    else:  # a comma is a decimal sign only where it cannot group thousands
        european = match["european"] and match["european"].replace(".", "")
        spaced = match["spaced"] and re.sub("[ ']", "", match["spaced"])
        digits = (european or spaced or "").replace(",", ".") or (
            match["grouped"] or match["simple"]
        ).replace(",", "")
        exponent = int(match["e"] or match["by"] or 0)
        size, step = (
            float(f"{digits}e{exponent}"),
            float(f"1e{exponent - len(digits.partition('.')[2])}"),
        )
    signed = -size if size and (match["sign"] or "+")[0] in "-mMnN" else size
    # Decimal keeps 7.66% at 0.0766; floats would give 0.07660000000000001.
    scaled = [
        float(Decimal(repr(signed)).scaleb(power)) if math.isfinite(size) else size
        for power in powers
    ]
    if not all(map(math.isfinite, scaled)):
        return None
    step = float(Decimal(repr(step)).scaleb(powers[0]))
    return FoundNumber(
        match.start(),
        end,
        Number(value=scaled[0], readings=tuple(dict.fromkeys(scaled)), step=step),
    )


def as_written(number: Number) -> float:
    """Return the number without its unit, as the response writes it: 7.66 for `7.66%`, 1.2 for `1.2 million`."""
    return number.readings[-1]


def equal_reading(number: Number, truth: float, truth_step: float) -> float | None:
    """Return the reading that equals the truth up to the rounding shown, or None (`truth_step`: its last place)."""
    return next(
        (r for r in number.readings if _equal(r, number.step_of(r), truth, truth_step)), None
    )


def near_reading(number: Number, truth: float) -> float | None:
    """Return the reading within 0.5 % of the truth, or None."""
    return next((r for r in number.readings if _near(r, truth)), None)


def _equal(reading: float, step: float, truth: float, truth_step: float) -> bool:
    # They differ by at most half of the coarser last place; the coarser number is near or has three significant digits.
    coarse, size = (step, abs(reading)) if step >= truth_step else (truth_step, abs(truth))
    if abs(reading - truth) > coarse / 2 + _NOISE * abs(truth):
        return False
    return _near(reading, truth) or size >= 100 * coarse * (1 - _NOISE)


def _near(reading: float, truth: float) -> bool:
    return abs(reading - truth) <= TOLERANCE * abs(truth) * (1 + _NOISE)
