"""Which day a short answer names."""

import re
from datetime import date

__all__ = ["MONTH", "days_in"]

_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
MONTH = (
    r"(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?"
    r"|nov(?:ember)?|dec(?:ember)?)(?![A-Za-z])\.?"
)
"""A month's English name, whole or in short; `maybe` and `decline` are none."""
_FORMS = (
    re.compile(r"(?P<y>\d{4})\s?[-/.年]\s?(?P<m>\d{1,2})\s?[-/.月]\s?(?P<d>\d{1,2})(?!\d)"),
    re.compile(rf"\b(?P<n>{MONTH})\s?(?P<d>\d{{1,2}})(?:st|nd|rd|th)?(?!\d)(?:,?\s?(?P<y>\d{{4}}))?", re.I),
    re.compile(rf"(?P<d>\d{{1,2}})(?:st|nd|rd|th)?\s(?:of\s)?(?P<n>{MONTH})(?:,?\s(?P<y>\d{{4}}))?", re.I),
    re.compile(r"(?P<m>\d{1,2})\s?月\s?(?P<d>\d{1,2})\s?日?"),
    re.compile(r"(?<![\d/-])(?P<m>\d{1,2})[/-](?P<d>\d{1,2})[/-](?P<y>\d{4})(?!\d)"),
    re.compile(r"(?<![\d/.-])(?P<m>\d{1,2})[/-](?P<d>\d{1,2})(?![\d/-])"),
)


def days_in(text: str, *, year: int) -> list[frozenset[date]]:
    """Return the days a text names, in order of their forms; each with every day it may stand for.

    Day and month of `03/04/2012` may be either way round. A day without a year is of the year given.

    Example:
        >>> [sorted(map(str, day)) for day in days_in("May 3rd, 2012 and 5/4", year=2012)]
        [['2012-05-03'], ['2012-04-05', '2012-05-04']]
    """
    found = []
    for form in _FORMS:
        for match in form.finditer(text):
            parts = match.groupdict()
            month = _MONTHS.index(parts["n"].lower()[:3]) + 1 if parts.get("n") else int(parts["m"])
            day = int(parts["d"])
            pairs = [(month, day)] if parts.get("n") or form in (_FORMS[0], _FORMS[3]) else [(month, day), (day, month)]
            days = {_day(int(parts.get("y") or year), *pair) for pair in pairs}
            if real := frozenset(one for one in days if one is not None):
                found.append(real)
        text = form.sub(lambda match: " " * len(match[0]), text)
    return found


def _day(year: int, month: int, day: int) -> date | None:
    try:
        return date(year, month, day)
    except ValueError:
        return None
