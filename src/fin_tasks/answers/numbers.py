"""Read numbers as people write them: signs, grouping, currencies, percentages, scale words, powers, fractions."""

import math
import re
from dataclasses import dataclass
from decimal import Decimal

from fin_tasks.answers.notation import CURRENCY

__all__ = ["FoundNumber", "Number", "find_numbers", "number_from_float"]


@dataclass(frozen=True, kw_only=True)
class Number:
    """A number with every value it may stand for.

    Attributes:
        value: What is literally said: 0.0766 for `7.66%`, 5000000.0 for `5 million`.
        readings: The values a reader may take it for, `value` first: (0.0766, 7.66) for `7.66%`, as the question may
            ask for either unit. A number without such a sign has one reading.
        step: The last written place, in units of `value`: 0.0001 for `7.66%`; 0.0 where it is exact, as in `3/4`.
    """

    value: float
    readings: tuple[float, ...]
    step: float

    def step_of(self, reading: float) -> float:
        """Return the last written place in units of a reading."""
        if self.value == 0.0 or reading == 0.0:
            return self.step
        step = self.step * abs(reading / self.value)
        return step if math.isfinite(step) else 0.0


@dataclass(frozen=True, kw_only=True)
class FoundNumber:
    """A number and where it stands in the text, its sign, currency and unit included."""

    start: int
    end: int
    number: Number
    in_brackets: bool
    """It is all that a pair of round brackets holds."""


_MANTISSA = r"""
    (?P<indian>\d{1,2}(?:,\d{2}){1,12},\d{3}(?:\.\d{1,60})?)
  | (?P<grouped>[1-9]\d{0,2}(?:,\d{3}){1,20}(?:\.\d{1,60})?)
  | (?P<spaced>[1-9]\d{0,2}(?:[ '’]\d{3}){1,20}(?:[.,]\d{1,60})?)
  | (?P<european>\d{1,3}(?:\.\d{3}){1,20},\d{1,60} | \d{1,3}(?:\.\d{3}){2,20} | 0,\d{1,60}
        | \d{1,60},(?:\d{1,2}|\d{4,60}) | \d{4,60},\d{3})
  | (?P<simple>\d{1,60}(?:\.\d{1,60})?|\.\d{1,60})
"""
_ENDS = (
    r"(?!\d|_\d|x[\da-f]|\s?[π²³⁴-⁹]|[.,]\d|[eE][-+]?\d|[/:]\d|\s?\^|(?:st|nd|rd|th)\b"
    r"|-(?:years?|yrs?|months?|days?|weeks?|quarters?|periods?|steps?|for|factor)\b)"
)
_NUMBER = re.compile(
    rf"""(?<![\w^√])(?<!\d[.,/:])(?:
    (?:(?P<whole>\d{{1,9}})\s{{1,2}})?
        (?P<over>\d{{1,15}}(?:\.\d{{1,15}})?)\s?/\s?(?P<under>\d{{1,15}}(?:\.\d{{1,15}})?)(?!\s?/)
  | (?P<ten>10)\s?\^\s?\(?(?P<power>[-+]?\d{{1,4}})\b\)?
  | (?:{_MANTISSA})(?:[eE](?P<e>[-+]?\d{{1,4}})\b|\s{{0,3}}[x*]\s{{0,3}}10\s?\^\s?\(?(?P<by>[-+]?\d{{1,4}})\b\)?)?
    ){_ENDS}""",
    re.VERBOSE,
)
_BEFORE = re.compile(rf"(?P<open>\(\s?)?(?P<sign>[-+]\s?)?(?:{CURRENCY}\s?(?P<inner>[-+]\s?)?)?\Z")
_NEGATIVE_WORD = re.compile(rf"\b(?:minus|negative)\s{{1,2}}{CURRENCY}?\s?\Z", re.IGNORECASE)
_SCALE_WORD = "hundred|thousand|million|billion|trillion|lakh|crore|mio|mil|mn|mm|bn|tn"
_SUFFIX = re.compile(
    rf"""\s{{0,2}}{CURRENCY}?\s{{0,2}}-?(?:
    (?P<percent>%|(?i:per\s?cent(?:age)?(?:\s{{1,2}}points?)?|pct|pp)\b)
  | (?P<bps>(?i:bps?|basis\s{{1,2}}points?)\b)
  | (?P<cents>¢|(?i:cents?)\b)
  | \(?(?:(?i:in)\s{{1,2}})?{CURRENCY}?(?P<word>(?i:{_SCALE_WORD})(?i:s?))\b
  | (?P<letter>[kKMBT]|(?<=\d)[mb])\b
    )""",
    re.VERBOSE,
)
_POWERS = {
    "hundred": 2,
    "thousand": 3,
    "k": 3,
    "lakh": 5,
    "million": 6,
    "mio": 6,
    "mil": 6,
    "mn": 6,
    "mm": 6,
    "m": 6,
    "crore": 7,
    "billion": 9,
    "bn": 9,
    "b": 9,
    "trillion": 12,
    "tn": 12,
    "t": 12,
}
"""Scale words as powers of ten."""


def find_numbers(text: str) -> list[FoundNumber]:
    """Find every number in plain text (see `notation.plain`), in order.

    Ordinals, `5-year` and digits inside words are not numbers; nor is a run of digits and commas that follows no
    convention, nor what a float cannot hold. A comma is a decimal sign only where it cannot group thousands.

    Example:
        >>> [found.number.value for found in find_numbers("-¤1,234.5 against 7.66% and 3/4 of 5 million")]
        [-1234.5, 0.0766, 0.75, 5000000.0]
        >>> find_numbers("7.66%")[0].number
        Number(value=0.0766, readings=(0.0766, 7.66), step=0.0001)
    """
    found = (_build(text, match) for match in _NUMBER.finditer(text))
    return [number for number in found if number is not None]


def number_from_float(value: float) -> Number | None:
    """Return a program's result as a number, rounded where its shortest decimal form ends; None if not finite.

    Example:
        >>> number_from_float(142.9).step, number_from_float(143.0).step
        (0.1, 1.0)
    """
    if not math.isfinite(value):
        return None
    mantissa, _, exponent = repr(float(value)).partition("e")
    _, _, decimals = mantissa.partition(".")
    places = 0 if decimals in ("", "0") else len(decimals)
    return Number(value=value, readings=(value,), step=float(f"1e{int(exponent or 0) - places}"))


def _build(text: str, match: re.Match[str]) -> FoundNumber | None:
    size, step = _magnitude(match)
    if size is None or not math.isfinite(size):
        return None
    start, negative, opened = _sign(text, match.start())
    end, powers = _unit(text, match.end())
    closed = opened and re.match(r"\s?\)", text[end : end + 2]) is not None
    signed = -size if negative and size else size
    readings = tuple(dict.fromkeys(_scaled(signed, power) for power in powers))
    if not all(math.isfinite(reading) for reading in readings):
        return None
    number = Number(value=readings[0], readings=readings, step=_scaled(step, powers[0]))
    return FoundNumber(start=start, end=end, number=number, in_brackets=closed)


def _scaled(value: float, power: int) -> float:
    """Multiply by a power of ten in decimal, so that 7.66% is 0.0766 and not 0.07660000000000001."""
    return float(Decimal(repr(value)).scaleb(power)) if power else value


def _magnitude(match: re.Match[str]) -> tuple[float | None, float]:
    """The unsigned value and its last written place."""
    if match["over"]:
        under = float(match["under"])
        return (float(match["whole"] or 0) + float(match["over"]) / under if under else None), 0.0
    if match["ten"]:
        return float(f"1e{match['power']}"), 0.0
    digits = _digits(match)
    exponent = int(match["e"] or match["by"] or 0)
    decimals = len(digits.partition(".")[2])
    return float(f"{digits}e{exponent}"), float(f"1e{exponent - decimals}")


def _digits(match: re.Match[str]) -> str:
    if european := match["european"]:
        return str(european).replace(".", "").replace(",", ".")
    if spaced := match["spaced"]:
        return re.sub(r"[ '’]", "", spaced).replace(",", ".")
    digits = match["indian"] or match["grouped"] or match["simple"]
    return str(digits).replace(",", "")


def _sign(text: str, start: int) -> tuple[int, bool, bool]:
    """Look left of the digits: where the number begins, whether it is negative, whether a bracket opens before it."""
    prefix = text[max(0, start - 14) : start]
    before = _BEFORE.search(prefix)
    if before is None:
        return start, False, False
    offset = start - len(prefix)
    sign, inner = before["sign"] or "", before["inner"] or ""
    sign_at = offset + before.start("sign")
    if sign and not _is_sign(text[max(0, sign_at - 3) : sign_at], sign):
        return sign_at + len(sign), inner.startswith("-"), False
    if word := _NEGATIVE_WORD.search(prefix):
        return offset + word.start(), True, False
    negative = sign.startswith("-") != inner.startswith("-")
    begin = before.end("open") if before["open"] else before.start()
    return offset + begin, negative, before["open"] is not None


def _is_sign(left: str, sign: str) -> bool:
    """Whether a `-` or `+` belongs to the number behind it, and is no dash, range or subtraction."""
    if sign.endswith(" "):
        return not left.strip(" ") or left.rstrip(" ")[-1] in "[({=≈:\n\"'"
    return not left or not (left[-1].isalnum() or left[-1] in ")%]")


def _unit(text: str, end: int) -> tuple[int, tuple[int, ...]]:
    """Look right of the digits: where the number with its unit ends, and its readings as powers of ten."""
    suffix = _SUFFIX.match(text, end)
    if suffix is None:
        return end, (0,)
    if suffix["percent"]:
        powers: tuple[int, ...] = (-2, 0)
    elif suffix["bps"]:
        powers = (-4, -2, 0)
    elif suffix["cents"]:
        powers = (0, -2)
    else:
        scale = str(suffix["word"] or suffix["letter"]).lower()
        powers = (_POWERS[scale.removesuffix("s")], 0)
    return suffix.end(), powers
