"""Read several choices, a date, or a few words: the answers of a benchmark of one's own.

Only an announced answer is read, or a reply that is one line. In doubt none is.
"""

import re
from calendar import month_abbr, month_name
from collections.abc import Callable
from datetime import date
from functools import partial
from string import ascii_uppercase

from .read import Rules, read_response
from .text import first_sentence, plain
from .types import Candidate, Extraction, Style

LONGEST_TEXT = 200
"""Characters of a text that is an answer."""

_DEFAULT_LETTERS = 4
_BETWEEN_LETTERS = r"(?: \s* (?: [,;/&+] | \b and \b )+ \s* | \s+ )"
_BEHIND_LETTERS = (
    r"(?= \s* (?: $ | [.:;,\-] | because \b | as \b | since \b | are \b ) )"
)
_MONTHS = {name[:3].lower(): number for number, name in enumerate(month_abbr) if number}
_MONTH = "Sept|" + "|".join(f"{name}|{name[:3]}" for name in month_name if name)
_DATE = re.compile(
    rf"""
    (?<![\d./-])
    (?: (?P<year> \d{{4}} ) [-/.年] \s? (?P<month> \d{{1,2}} ) [-/.月] \s? (?P<day> \d{{1,2}} ) 日?
      | (?P<day_dotted> \d{{1,2}} ) \. \s? (?P<month_dotted> \d{{1,2}} ) \. \s? (?P<year_dotted> \d{{4}} )
      | (?P<first> \d{{1,2}} ) / (?P<second> \d{{1,2}} ) / (?P<year_slashed> \d{{4}} )
      | (?P<name> {_MONTH} ) \.? \s (?P<day_named> \d{{1,2}} ) (?:st|nd|rd|th)? ,? \s (?P<year_named> \d{{4}} )
      | (?P<day_first> \d{{1,2}} ) (?:st|nd|rd|th)? (?:\s of)? \s (?P<name_second> {_MONTH} ) \.? ,? \s
        (?P<year_last> \d{{4}} )
    )
    (?! [\d/-] | \.\d )
    """,
    re.VERBOSE | re.IGNORECASE,
)
_WORD = re.compile(r"[\w%]+(?:[.,'’]\w+)*")
_ARTICLES = ("a", "an", "the")


def read_letters(response: str, n_choices: int = _DEFAULT_LETTERS) -> Extraction[str]:
    """Read the letters of one or several choices: `AC` in a response whose answer is C and A."""
    return _read(response, partial(_letters_in, n_choices=n_choices))


def read_date(response: str) -> Extraction[str]:
    """Read a day as `2024-03-31`; a day such as 3/4/2024 is none, because it may be of March or of April."""
    return _read(response, _date_in)


def read_text(response: str) -> Extraction[str]:
    """Read a few words: the line behind an announcement."""
    return _read(response, _text_in)


def is_same_text(text: str, other: str) -> bool:
    """Return whether a line, or its first sentence, has the words of another, without articles."""
    return _words(other) in (_words(text), _words(first_sentence(text)))


def _read(
    response: str, find: Callable[[str], Candidate[str] | None]
) -> Extraction[str]:
    def announced(text: str, style: Style) -> Candidate[str] | None:
        return None if style in ("working", "total", "conclusion") else find(text)

    def whole(reply: str) -> list[Candidate[str]]:
        candidate = None if "\n" in reply.strip() else find(reply)
        return [candidate] if candidate else []

    rules = Rules(
        announced=announced,
        unannounced=whole,
        corrections=whole,
        is_same=is_same_text,
    )
    return read_response(response, rules)


def _letters_in(text: str, n_choices: int) -> Candidate[str] | None:
    last = ascii_uppercase[: n_choices or _DEFAULT_LETTERS][-1]
    letter = rf"\(?\b[A-{last}]\b\)?"
    several = rf"{letter} (?: {_BETWEEN_LETTERS} {letter} )*"
    words = r"(?: (?: the | both | options? | choices? | letters? | answers? ) \s+ )*"
    line = _first_line(text)
    match = re.match(
        rf"(?i: {words}) (?P<letters> {several} | \(? [A-{last}]{{2,}} \b \)? ) {_BEHIND_LETTERS}",
        line,
        re.VERBOSE,
    )
    # Behind the letters, only the article may look like one more.
    other = rf"\b (?! A \s [a-z] ) [A-{last}] \b"
    if match is None or re.search(other, line[match.end() :], re.VERBOSE):
        return None
    letters = set(re.findall(rf"[A-{last}]", match["letters"]))
    return Candidate("".join(sorted(letters)), "letters")


def _date_in(text: str) -> Candidate[str] | None:
    dates = set()
    for match in _DATE.finditer(_first_line(text)):
        dates.add(_day_of(match))
    if len(dates) != 1:
        return None
    (day,) = dates
    return Candidate(day, "date") if day else None


def _day_of(match: re.Match[str]) -> str:
    """Return a day as ISO writes it; empty if there is no such day, or if it may be one of two."""
    parts = {name: text for name, text in match.groupdict().items() if text}
    if "first" in parts:
        first, second = int(parts["first"]), int(parts["second"])
        if first <= 12 and second <= 12 and first != second:
            return ""
        month, day = (first, second) if first <= 12 else (second, first)
    else:
        days = [int(text) for name, text in parts.items() if name.startswith("day")]
        months = [int(text) for name, text in parts.items() if name.startswith("month")]
        names = [text for name, text in parts.items() if name.startswith("name")]
        months += [_MONTHS[name[:3].lower()] for name in names]
        day, month = days[0], months[0]
    (year,) = (int(text) for name, text in parts.items() if name.startswith("year"))
    try:
        return date(year, month, day).isoformat()
    except ValueError:
        return ""


def _text_in(text: str) -> Candidate[str] | None:
    line = _first_line(text)
    if not _words(line) or len(line) > LONGEST_TEXT:
        return None
    return Candidate(line, "text")


def _first_line(text: str) -> str:
    return plain(text).strip().partition("\n")[0].strip()


def _words(text: str) -> list[str]:
    words = _WORD.findall(text.casefold().replace("’", "'"))
    return [word for word in words if word not in _ARTICLES]
