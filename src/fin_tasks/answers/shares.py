"""Find numbers that may be probabilities: decimals, percentages, fractions, `7 out of 10`, ranges."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace

from fin_tasks.answers.notation import plain
from fin_tasks.answers.numbers import FoundNumber, find_numbers

__all__ = ["Share", "find_shares", "plain_forecast"]

_BULLET = re.compile(r"^[ \t>]{0,8}[-*•+][ \t]{1,4}(?=\S)", re.MULTILINE)
_MONTH = r"(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]{0,6}\.?"
_DATE = re.compile(
    rf"(?<![\d.])(?:\d{{4}}[-/.]\d{{1,2}}[-/.]\d{{1,2}}|\d{{1,2}}[-/.]\d{{1,2}}[-/.]\d{{4}}|\d{{4}}-\d{{2}}(?=\W))(?![\d.]\d|\d)"
    rf"|\b{_MONTH}\s\d{{1,2}}(?:st|nd|rd|th)?(?:,?\s\d{{4}})?\b|\b\d{{1,2}}(?:st|nd|rd|th)?\s{_MONTH}(?:\s\d{{4}})?\b",
    re.IGNORECASE,
)
_SCALE = re.compile(
    r"(?:\b(?:between|from)\s{1,2}|(?<![\d.,/-]))0(?:\.0{1,2})?\s{0,2}%?\s?(?:and|to|-|,)\s?(?:1(?:\.0{1,2})?|100\s?%)(?![\d%]|[.,/]\d)",
    re.IGNORECASE,
)
_EVEN = re.compile(r"(?<![\d.,])50\s?[/:-]\s?50(?![\d.,]\d|\s?%)")
_ARROW = re.compile(r"[-=]>|[→⇒➔]")
_ANGLES = re.compile(r"<\s?([\d.,%]{1,12})\s?>")
_SAME_IN_PERCENT = re.compile(r"(?<=\d)\s?/\s?\d{1,3}(?:\.\d{1,9})?\s?%")
_SNAKE = re.compile(r"(?<=[a-z])_(?=[a-z])", re.IGNORECASE)
_ABBREVIATION = re.compile(r"\b(approx|ca|est|vs|i\.e|e\.g)\.(?=\s)", re.IGNORECASE)

_OUT_OF = re.compile(r"\s{1,2}out\s{1,2}of\s{1,2}(?:an?\s)?", re.IGNORECASE)
_IN = re.compile(r"\s{1,2}(?:in|of)\s{1,2}", re.IGNORECASE)
_TO = re.compile(r"\s?(?:-|to)\s?", re.IGNORECASE)
_AND = re.compile(r"\s{1,2}and\s{1,2}", re.IGNORECASE)
_BETWEEN = re.compile(r"\bbetween\s{1,2}\Z", re.IGNORECASE)
_CHANGED = re.compile(
    r"\b(?:up|down|(?:rais|low|increas|decreas|reduc|revis|mov|adjust|shift|updat|chang)[a-z]{0,4})\s(?:\w{1,12}\s){0,3}from\s{1,2}\Z",
    re.IGNORECASE,
)
_EQUALS = re.compile(r"\s?[=≈]\s?")
_OPERATOR = re.compile(r"[*/+^x-]\s{0,3}\(?\s?\Z")
_LARGEST_BASE = 1000.0


@dataclass(frozen=True, kw_only=True)
class Share:
    """A number that may be a probability, and where it stands.

    Attributes:
        start: Where it begins in the text.
        end: Where it ends, its unit and base included.
        value: Its value as a fraction of 1, which need not lie within [0, 1].
    """

    start: int
    end: int
    value: float

    @property
    def is_probability(self) -> bool:
        """Whether the value lies within [0, 1]."""
        return 0.0 <= self.value <= 1.0


def plain_forecast(text: str) -> str:
    """Return a response as plain text without numbers that are no forecast: dates and the scale `between 0 and 1`.

    `0.6 / 60%` becomes `0.6`, and names such as `probability_up` become words.

    Example:
        >>> plain_forecast("On 2014-01-01: **0.7** (a number between 0 and 1), not 50/50")
        'On date: 0.7 (a number ), not 0.5'
    """
    text = plain(_ANGLES.sub(r"\1", _ARROW.sub(":", text.replace("\\*", " * ").replace("+/-", "±"))))
    text = _SAME_IN_PERCENT.sub("", _SNAKE.sub(" ", text))
    text = _ABBREVIATION.sub(r"\1", _BULLET.sub("", text))
    return _EVEN.sub("0.5", _SCALE.sub("", _DATE.sub("date", text)))


def find_shares(text: str) -> list[Share]:
    """Find every number in plain text, in order, with what it is a part of.

    `7 out of 10` and `1 in 5` are one number, as are a range, which stands for its midpoint, `13/20 = 0.65`, and a
    change (`down from 0.7 to 0.6`), which stands for its end.

    Example:
        >>> [share.value for share in find_shares("65%, 13/20, 7 out of 10, between 0.6 and 0.7, 60-70%, 1.2")]
        [0.65, 0.65, 0.7, 0.65, 0.65, 1.2]
    """
    return list(_joined(text, find_numbers(text)))


def _joined(text: str, numbers: list[FoundNumber]) -> Iterator[Share]:
    current: Share | None = None
    percent = False
    for found in numbers:
        share = Share(start=found.start, end=found.end, value=found.number.value)
        is_percent = _is_percent(found)
        if current is not None:
            joined = _join(text, current, share, one_sign=is_percent and not percent)
            if joined is not None:
                current, percent = joined, is_percent
                continue
            yield current
        current, percent = share, is_percent
    if current is not None:
        yield current


def _join(text: str, first: Share, second: Share, *, one_sign: bool) -> Share | None:
    """Make one share of two neighbours, where the words between them do."""
    between = text[first.end : second.start]
    if len(between) > 12:
        return None
    if _EQUALS.fullmatch(between) and not _OPERATOR.search(text, max(0, first.start - 6), first.start):
        return replace(first, end=second.end, value=second.value)
    if _OUT_OF.fullmatch(between) or (_IN.fullmatch(between) and _is_count(first, second)):
        return (
            replace(first, end=second.end, value=first.value / second.value)
            if 0.0 < second.value <= _LARGEST_BASE
            else None
        )
    if _TO.fullmatch(between) and _CHANGED.search(text, max(0, first.start - 60), first.start):
        return replace(first, end=second.end, value=second.value)
    low = first.value / 100 if one_sign and first.value > 1.0 else first.value
    is_range = _TO.fullmatch(between) or (
        _AND.fullmatch(between) and _BETWEEN.search(text, max(0, first.start - 12), first.start)
    )
    if is_range and 0.0 <= low < second.value <= 1.0:
        return replace(first, end=second.end, value=round((low + second.value) / 2, 12))
    return None


def _is_count(part: Share, whole: Share) -> bool:
    return part.value.is_integer() and whole.value.is_integer() and 0.0 <= part.value <= whole.value and whole.value > 1


def _is_percent(found: FoundNumber) -> bool:
    return len(found.number.readings) == 2 and abs(found.number.value * 100 - found.number.readings[1]) < 1e-9
