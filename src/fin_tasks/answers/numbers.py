"""Read numbers as people write them: signs, grouping, currencies, units, scale words, powers, fractions, words."""

import math
import re
from dataclasses import dataclass
from decimal import Decimal

from fin_tasks.answers.notation import CURRENCY

__all__ = ["FoundNumber", "Number", "find_numbers", "number_from_float", "words_as_digits"]


@dataclass(frozen=True, kw_only=True)
class Number:
    """A number with every value it may stand for."""

    value: float
    """The literal value: 0.0766 for `7.66%`, 5000000.0 for `5 million`."""
    readings: tuple[float, ...]
    """`value`, then the values in other units that the question may ask for: (0.0766, 7.66) for `7.66%`."""
    step: float
    """The last written place, in units of `value`: 0.0001 for `7.66%`; 0.0 if it is exact, as in `3/4`."""

    def step_of(self, reading: float) -> float:
        """Return the last written place in units of a reading."""
        step = self.step * abs(reading / self.value) if self.value and reading else self.step
        return step if math.isfinite(step) else 0.0


@dataclass(frozen=True, kw_only=True)
class FoundNumber:
    """A number and its place in the text, with its sign, currency and unit."""

    start: int
    end: int
    number: Number


_NUMBER = re.compile(
    r"""(?<![\w^√])(?<!\d[.,/:])(?:
    (?:(?P<whole>\d{1,9})\s{1,2})?(?P<over>\d{1,15}(?:\.\d{1,15})?)\s?/\s?(?P<under>\d{1,15}(?:\.\d{1,15})?)(?!\s?/)
  | 10\s?\^\s?\(?(?P<power>[-+]?\d{1,4})\b\)?
  | (?:(?P<grouped>[1-9]\d{0,2}(?:,\d{3}){1,20}(?:\.\d{1,60})? | \d{1,2}(?:,\d{2}){1,12},\d{3}(?:\.\d{1,60})?)
      | (?P<spaced>[1-9]\d{0,2}(?:[ ']\d{3}){1,20}(?:[.,]\d{1,60})?)
      | (?P<european>\d{1,3}(?:\.\d{3}){1,20},\d{1,60} | \d{1,3}(?:\.\d{3}){2,20} | 0,\d{1,60}
            | \d{1,60},(?:\d{1,2}|\d{4,60}) | \d{4,60},\d{3})
      | (?P<simple>\d{1,60}(?:\.\d{1,60})?|\.\d{1,60})
    )(?:[eE](?P<e>[-+]?\d{1,4})\b|\s{0,3}[x*]\s{0,3}10\s?\^\s?\(?(?P<by>[-+]?\d{1,4})\b\)?)?
    )(?!\d|_\d|x[\da-f]|\s?π|[.,]\d|[eE][-+]?\d|[/:]\d|\s?\^|(?:st|nd|rd|th)\b
      |-(?:years?|yrs?|months?|days?|weeks?|quarters?|periods?|steps?|for|factor)\b)""",
    re.VERBOSE,
)
_BEFORE = re.compile(rf"(?P<sign>[-+]\s?)?(?:{CURRENCY}\s?(?P<inner>[-+]\s?)?)?\Z")
_NEGATIVE_WORD = re.compile(rf"\b(?:minus|negative)\s{{1,2}}{CURRENCY}?\s?\Z", re.IGNORECASE)
_SCALES = {2: "hundred", 3: "thousand k", 5: "lakh", 6: "million mio mil mn mm m", 7: "crore", 9: "billion bn b",
           12: "trillion tn t"}  # fmt: skip
_POWERS = {word: power for power, words in _SCALES.items() for word in words.split()}
_SUFFIX = re.compile(
    rf"""\s{{0,2}}{CURRENCY}?\s{{0,2}}-?(?:
    (?P<percent>%|(?i:per\s?cent(?:age)?(?:\s{{1,2}}points?)?|pct|pp)\b)
  | (?P<bps>(?i:bps?|basis\s{{1,2}}points?)\b)
  | (?P<cents>¢|(?i:cents?)\b)
  | \(?(?:(?i:in)\s{{1,2}})?{CURRENCY}?(?P<word>(?i:{"|".join(word for word in _POWERS if len(word) > 1)})(?i:s?))\b
  | (?P<letter>[kKMBT]|(?<=\d)[mb])\b(?!\^)
    )""",
    re.VERBOSE,
)
_WORDS = (
    "zero|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|thirteen|fourteen|fifteen|sixteen|seventeen"
    "|eighteen|nineteen|twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety|nil"
)
_VALUES = dict(zip(_WORDS.split("|"), (*range(20), *range(20, 100, 10), 0), strict=True))
_PARTS = {"half": 2, "halve": 2, "third": 3, "quarter": 4, "fourth": 4, "fifth": 5, "tenth": 10}
_SPELT = re.compile(
    rf"(?<![\w-])(?:(?P<number>(?:{_WORDS})(?:(?:-|\s(?:and\s)?)(?:{_WORDS}|hundred|thousand)){{0,12}})"
    rf"(?:(?:-|\s)(?P<some>and\sa\s)?(?P<part>{'|'.join(_PARTS)})s?)?|(?:an?\s)?half)(?![\w-]|\s(?:of|in|that|which|a)\b)",
    re.IGNORECASE,
)


def find_numbers(text: str) -> list[FoundNumber]:
    """Find every number in plain text (see `notation.plain`), in order.

    Ordinals, `5-year` and digits inside words are no numbers. A comma is a decimal sign only if it cannot group
    thousands.
    """
    return [found for match in _NUMBER.finditer(text) if (found := _build(text, match))]


def number_from_float(value: float) -> Number | None:
    """Return a program's result as a number, rounded where its shortest decimal form ends; None if not finite."""
    if not math.isfinite(value):
        return None
    mantissa, _, exponent = repr(float(value)).partition("e")
    decimals = mantissa.partition(".")[2]
    places = 0 if decimals in ("", "0") else len(decimals)
    return Number(value=value, readings=(value,), step=float(f"1e{int(exponent or 0) - places}"))


def words_as_digits(text: str) -> str:
    """Return text with numbers in words written in digits: `twelve`, `one hundred and five`, `two and a half`."""
    return _SPELT.sub(_in_digits, text)


def _in_digits(match: re.Match[str]) -> str:
    total = below = 0
    for word in re.split(r"[\s-]+", (match["number"] or "").lower()):
        below = max(below, 1) * 100 if word == "hundred" else below + _VALUES.get(word, 0)
        if word == "thousand":
            total, below = total + max(below, 1) * 1000, 0
    part = f"/{_PARTS[match['part'].lower()]}" if match["part"] else ""
    if match["number"] is None:
        return "1/2"
    return f"{total + below} 1{part}" if match["some"] else f"{total + below}{part}"


def _build(text: str, match: re.Match[str]) -> FoundNumber | None:
    start, negative = _sign(text, match.start())
    end, powers = match.end(), [0]
    if suffix := _SUFFIX.match(text, end):
        scale = (suffix["word"] or suffix["letter"] or "").lower()
        units = {"percent": [-2, 0], "bps": [-4, -2, 0], "cents": [0, -2]}
        powers = units.get(suffix.lastgroup or "") or [_POWERS[scale if scale in _POWERS else scale[:-1]], 0]
        end = suffix.end()
    size, step = _magnitude(match)
    signed = -size if negative and size else size
    readings = tuple(dict.fromkeys(_scaled(signed, power) for power in powers))
    if not all(math.isfinite(reading) for reading in readings):
        return None
    number = Number(value=readings[0], readings=readings, step=_scaled(step, powers[0]))
    return FoundNumber(start=start, end=end, number=number)


def _scaled(value: float, power: int) -> float:
    # In decimal, so that 7.66% is 0.0766 and not 0.07660000000000001.
    return float(Decimal(repr(value)).scaleb(power)) if power and math.isfinite(value) else value


def _magnitude(match: re.Match[str]) -> tuple[float, float]:
    if match["over"]:
        under = float(match["under"])
        return (float(match["whole"] or 0) + float(match["over"]) / under if under else math.nan), 0.0
    if match["power"]:
        return float(f"1e{match['power']}"), 0.0
    digits = re.sub(r"[ ']", "", match["spaced"] or "").replace(",", ".") or (match["european"] or "").replace(".", "")
    digits = digits.replace(",", ".") or (match["grouped"] or match["simple"]).replace(",", "")
    exponent = int(match["e"] or match["by"] or 0)
    return float(f"{digits}e{exponent}"), float(f"1e{exponent - len(digits.partition('.')[2])}")


def _sign(text: str, start: int) -> tuple[int, bool]:
    """Return where the number with its sign begins, and whether it is negative."""
    prefix = text[max(0, start - 14) : start]
    if word := _NEGATIVE_WORD.search(prefix):
        return start - len(prefix) + word.start(), True
    before = _BEFORE.search(prefix)
    if before is None:
        return start, False
    sign, inner = before["sign"] or "", before["inner"] or ""
    begin = start - len(prefix) + before.start()
    left = text[max(0, begin - 3) : begin]
    # Otherwise a dash, a range or a subtraction.
    is_sign = not left.strip(" ") or left.rstrip(" ")[-1] in "[({=≈:\n\"'" if sign.endswith(" ") else (
        not left or not (left[-1].isalnum() or left[-1] in ")%]")
    )  # fmt: skip
    if sign and not is_sign:
        return begin + len(sign), inner.startswith("-")
    return begin, sign.startswith("-") != inner.startswith("-")
