"""Find the numbers in a question's texts, and write other numbers in their place."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal

_WORDS = {
    "three": 3,
    "five": 5,
    "six": 6,
    "seven": 7,
    "eight": 8,
    "nine": 9,
    "ten": 10,
    "eleven": 11,
}
"""Number words that may change. `one` may be a pronoun; two, four and twelve may be parts of a year."""
_SCALES = {"thousand": 10**3, "million": 10**6, "billion": 10**9}
_MONTHS = "jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec"

_NUMBER = re.compile(
    rf"""
    (?<! [\w-] ) (?P<word> {"|".join(_WORDS)} ) (?! \w )
  | (?<! [\w.,/^\\-] ) (?P<currency> [$€£¥] \s? )?
    (?P<number> \d{{1,3}} (?: ,\d{{3}} )+ (?: \.\d+ )? | \d+ (?: \.\d+ )? )
    (?P<percent> \s? (?: \\?% | percent\b | per\ cent\b ) )?
    (?: \s (?P<scale> thousand | million | billion ) \b )?
    """,
    re.VERBOSE | re.IGNORECASE,
)
# What follows a number that is part of a label, a date, an id or a longer number: `10-K`, `3/4`, `5x`, `1st`, `2.5.1`.
_GLUED = re.compile(r"\w|[/^:]|[.,]\d|-\d|-[A-Z]")
_DAY = re.compile(rf"\b(?:{_MONTHS})[a-z]*\.?\s$", re.IGNORECASE)
_MONTH = re.compile(rf"\s(?:decimal|{_MONTHS})[a-z]*\b", re.IGNORECASE)
"""What follows a day of the month, or the number of decimals that a question asks for."""
_LABEL = re.compile(
    r"\b(?:year|no\.|number|table|note|item|option|phase|level|step|class|series|section|chapter|"
    r"scenario|project|case|type|tier|round|quarter|period|company|plan|question|example|day|week|"
    r"month|stage|part|exhibit|figure|form|fy|age(?: is| of)?)s?\s$",
    re.IGNORECASE,
)
_TOTALS = re.compile(
    r"\b(?:(?:sub)?totals?|sum|net|averages?|changes?|balance|growth|increase|decrease|"
    r"beginning|opening|ending|closing|end\ of|outstanding)\b",
    re.IGNORECASE,
)
_TABLE_STARTS = ("|", "{")
_YEARS = range(1900, 2101)
_LONGEST_LABEL = 20  # characters
_PERCENT = Decimal("0.01")


@dataclass(frozen=True, kw_only=True, order=True)
class Mention:
    """A number in one of a question's texts."""

    text_index: int
    """Position of the text among the texts."""
    start: int
    end: int
    """First character of the number in the text, and the one behind it."""
    written: str
    value: Decimal
    """The number as it is written: 12 for `12 %` and for `12 million`."""
    factors: tuple[Decimal, ...]
    """A program may hold the value times one of these."""
    is_fixed: bool
    """It is a year, a date, a label or part of a table with totals, and may not change."""

    @property
    def is_share(self) -> bool:
        """Whether it is a percentage."""
        return _PERCENT in self.factors

    @property
    def decimals(self) -> int:
        """How many decimals are written."""
        return len(self.written.partition(".")[2])

    def program_values(self) -> list[Decimal]:
        """Return the values by which a program may mean the number."""
        return [self.value * factor for factor in self.factors]

    def with_value(self, value: Decimal) -> str:
        """Write another value in the same form."""
        if self.written.isalpha():
            words = {number: word for word, number in _WORDS.items()}
            return words.get(int(value), str(value))
        return f"{value:,f}" if "," in self.written else f"{value:f}"


def mentions_in(texts: Sequence[str]) -> list[Mention]:
    """Return all numbers in some texts."""
    mentions = []
    for text_index, text in enumerate(texts):
        lines = text.split("\n")
        table = [line for line in lines if line.startswith(_TABLE_STARTS)]
        has_totals = any(map(_TOTALS.search, table))
        for match in _NUMBER.finditer(text):
            written = match["number"] or match["word"]
            start = text.index(written, match.start())
            line_start = text.rfind("\n", 0, start) + 1
            in_totals = has_totals and text.startswith(_TABLE_STARTS, line_start)
            factors = [Decimal(1)]
            if match["percent"]:
                factors.append(_PERCENT)
            if match["scale"]:
                factors.append(Decimal(_SCALES[match["scale"].lower()]))
            value = _WORDS.get(written.lower(), written.replace(",", ""))
            mention = Mention(
                text_index=text_index,
                start=start,
                end=start + len(written),
                written=written,
                value=Decimal(value),
                factors=tuple(factors),
                is_fixed=in_totals or _is_label(text, match),
            )
            mentions.append(mention)
    return mentions


def _is_label(text: str, match: re.Match[str]) -> bool:
    """Return whether a number is a year, a date, or part of a label."""
    if match["word"]:
        return not match["word"].islower()
    end = match.end()
    if end == match.end("number") and _GLUED.match(text, end):
        return True
    if match[0] != match["number"]:  # an amount, with its currency or unit
        return False
    is_year = match[0].isdigit() and int(match[0]) in _YEARS
    before = text[: match.start()][-_LONGEST_LABEL:]
    return bool(
        is_year
        or _DAY.search(before)
        or _MONTH.match(text, end)
        or _LABEL.search(before)
    )


def replace_mentions(
    texts: Sequence[str], changes: Sequence[tuple[Mention, str]]
) -> list[str]:
    """Return the texts with other words or digits in place of some numbers."""
    new_texts = list(texts)
    # The last one first, so that earlier positions stay valid.
    for mention, written in sorted(changes, reverse=True):
        text = new_texts[mention.text_index]
        text = text[: mention.start] + written + text[mention.end :]
        new_texts[mention.text_index] = text
    return new_texts
