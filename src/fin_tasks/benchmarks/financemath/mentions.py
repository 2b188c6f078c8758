"""Numbers a sentence mentions that are no results: dates, names with numbers in them, introductions, spans of time."""

import re

from fin_tasks.answers.notation import CURRENCY, plain
from fin_tasks.answers.numbers import find_numbers

__all__ = ["starts_with_date", "without_dates", "without_introduction", "without_names", "without_spans"]

_MONTH = (
    r"(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?"
    r"|nov(?:ember)?|dec(?:ember)?)"
)
_YEAR = r"(?:19|20)\d\d(?![\d%]|[.,]\d|\s?(?:x|\*|/|=))"
_DATE = re.compile(
    rf"\b{_MONTH}\.?\s\d{{1,2}}(?:,?\s{_YEAR})?(?!\d)|\b(?:\d{{1,2}}\s)?{_MONTH}\.?,?\s{_YEAR}"
    rf"|\b(?:in|for|of|by|during|since|year|fy|the|and|to|from|until|fiscal)\s{_YEAR}",
    re.IGNORECASE,
)
_NO_AMOUNT = r"(?![\d%]|[.,]\d|\s?(?:%|percent|bps|[-+*/x=^]))"
_NAME = re.compile(
    # indices: S&P 500, Russell 2000
    rf"(?P<index>\b[A-Z][A-Za-z]*(?:&[A-Z])?(?:\s[A-Z][A-Za-z]+)?)[\s-](?:[1-9]0|[1-9][05]0|225|[1-5]000){_NO_AMOUNT}"
    rf"(?=\s(?i:index|indices|futures|options?|contracts?|stocks|funds?|etfs?|companies|portfolio|mini)\b|[,.)]|\Z)"
    # what is counted through: Tier 1, Year 1, period 2
    rf"|(?P<step>\b(?i:tier|level|year|month|quarter|period|day|week|step|stage|phase|case|scenario|option|project|class"
    rf"|tranche|bond|stock|asset|fund|portfolio|company|firm|plan|method|alternative|table|exhibit|note|basel|section))"
    rf"\s\d{{1,2}}{_NO_AMOUNT}\b"
    # forms and standards: 10-K, IFRS 16
    r"|\b10-[KQ]\b|(?P<rule>\b(?:IFRS|IAS|ASC|FAS|SFAS|FIN))\s\d{1,3}\b"
)
_STANDARD_INDEX = re.compile(
    r"\b(?P<index>S&P|Nasdaq|Russell|FTSE|Nikkei|CAC|Stoxx|DJIA|CSI|TOPIX)[\s-]\d{2,4}\b", re.I
)
_INTRODUCTION = re.compile(
    r"\A[\s*_,]{0,8}(?:after|in|for|over|within|at|by|during|with|to|given|if|when|since|as|because|under|assuming"
    r"|based|from|using|on|considering|while|although)\b[^.\n]{1,160}?,\s",
    re.IGNORECASE,
)
_SPAN = re.compile(
    r"\b\d{1,4}(?:\.\d{1,4})?\s(?:more\s|full\s|business\s|trading\s)?(?:years?|months?|weeks?|days?|quarters?|periods?)\b",
    re.IGNORECASE,
)


def without_dates(text: str) -> str:
    """Return text without dates and years.

    Example:
        >>> without_dates("the loss in 2016 was 5"), without_dates("paid on 31 December 2012")
        ('the loss in was 5', 'paid on  ')
    """
    return _DATE.sub(lambda match: match[0].split()[0] if match[0][:1].isalpha() else " ", text)


def starts_with_date(text: str, at: int) -> bool:
    """Whether a date stands at a place of the text."""
    return _DATE.match(text, at) is not None


def without_names(text: str) -> str:
    """Return text without the numbers of names, unless no other number is left.

    Example:
        >>> without_names("sell 25 S&P 500 futures against Tier 1 capital"), without_names("Year 3")
        ('sell 25 S&P futures against Tier capital', 'Year 3')
    """
    return _if_numbers_are_left(_NAME.sub(_first_word, _STANDARD_INDEX.sub(_first_word, text)), text)


def without_introduction(sentence: str) -> str:
    """Return a sentence without its first words up to a comma, where these only say when or why and a number is left.

    Example:
        >>> without_introduction("After 5 years, he has ¤12."), without_introduction("to sell 12 contracts, no more")
        ('he has ¤12.', 'to sell 12 contracts, no more')
    """
    return _if_numbers_are_left(_INTRODUCTION.sub("", sentence, count=1), sentence)


def without_spans(sentence: str) -> str:
    """Return a sentence without spans of time, where an amount of money or a percentage is left.

    Example:
        >>> without_spans("worth ¤12 in 5 years"), without_spans("paid back in 5 years by 3 people")
        ('worth ¤12 in  ', 'paid back in 5 years by 3 people')
    """
    rest = _SPAN.sub(" ", sentence)
    amounts = [rest[found.start : found.end] for found in find_numbers(rest)]
    return rest if any(CURRENCY in amount or "%" in amount for amount in amounts) else sentence


def _first_word(match: re.Match[str]) -> str:
    return next((group for group in match.groups() if group), " ")


def _if_numbers_are_left(rest: str, text: str) -> str:
    return rest if rest == text or find_numbers(plain(rest)) else text
