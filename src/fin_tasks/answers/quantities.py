"""Decide which number in a text is the answer."""

import re
from dataclasses import replace
from functools import partial

from fin_tasks.answers.locate import REFUSAL, Kind
from fin_tasks.answers.notation import CURRENCY, boxed, plain
from fin_tasks.answers.numbers import (
    FoundNumber,
    Number,
    equal_reading,
    find_numbers,
    words_as_digits,
)

_re = partial(re.compile, flags=re.IGNORECASE)
_BE = "is|are|was|were|be|equals?"
_ABOUT = (
    r"about|approximately|approx|around|roughly|nearly|almost|exactly|now|only|equal\sto|an?|the"
)
_TIME = r"(?:years?|months?|weeks?|days?|quarters?|periods?|hours?|minutes?)\b"
_YEAR = r"(?:19|20)\d\d(?![\d%]|[.,]\d|\s?[x*/=])"
_DAY = r"\d{1,2}(?:st|nd|rd|th)?"
_MONTH = (
    "(?:january|february|march|april|may|june|july|august|september|october|november|december"
    "|jan|feb|mar|apr|jun|jul|aug|sept?|oct|nov|dec)"
)
# Dates and steps are never results.
_DATE = _re(
    rf"\b{_MONTH}\.?\s{_DAY}(?:,?\s{_YEAR})?(?!\d)|\b(?:{_DAY}\s)?{_MONTH}\.?,?\s{_YEAR}|\bstep\s\d{{1,2}}\b"
)
# These do not count beside another number: margins, bases, decimals, conditions, years, names, levels of confidence.
_NOISE = _re(
    rf"(?:±|\+/-|\bper\s|out\sof\s)\s?{CURRENCY}?\s?\d[\d.,]{{0,40}}%?|\b\d{{1,2}}[\s-]?(?:decimal|significant)\w*"
    r"|\b(?:at|for|in|when|where|if|with|given)\s(?:[^\W\d]{1,12}\s){0,3}\w{1,12}\s?=\s?[-+¤\d.,%]{1,20}"
    rf"|\b(?:in|for|of|by|during|since|year|fy|the|and|to|from|until|fiscal)\s{_YEAR}|\b(?:S&P|Russell)\s\d{{3,4}}\b"
    r"|\b(?:tier|level|year|month|quarter|option|table|bond|stock|project)\s\d{1,2}\b(?![\d%.]|\s?[-+*/x=^])"
    r"|\b\d\d(?:\.\d+)?\s?(?:%|percent)\s(?:confiden\w+|level|value[\s-]at[\s-]risk|var\b|certain\w*|sure|interval)"
)
# Conditions of a statement: `at 10%`, `after 5 years`, `> 0`.
_ADJUNCT = _re(
    r"(?:\b(?:at|with|over|after|in|within|during|under|than|above|below|exceeds|given|assuming|using)\s|[<>≤≥]\s?)"
    rf"(?:(?:an?|the|its|about|next|first)\s){{0,3}}{CURRENCY}?\d[\d,.]{{0,20}}\s?(?:%|{_TIME})?(?![-+*/x=^\d])"
)
_CLAUSE = _re(
    r",?\s(?:given|assuming|based|which|meaning|where|because|since|while|rounded|compared|after|under|when|if)\b"
    r"|[,;]\s(?:and|or|but|with|as|so)\b"
)
_SENTENCE = re.compile(r"(?<=[.!?])[\s)\"'*]+(?=[A-Z])|\n+")
_LEAD = _re(rf"(?:[^\w(\[.+-]|\b(?:{_ABOUT}|{_BE}|that|it|to|sell|buy|short|final|answer)\b\.?)*")
_IS = _re(
    rf"(?:\b(?:{_BE}|gives|totals?)\b|[=≈:])\W{{0,4}}(?:\b(?:{_ABOUT})\b\s?){{0,3}}\s{{0,3}}\Z"
)
# Behind a number: a sum, a list or a range continues.
_JOINED = _re(
    rf"\s*(?:[-+x*/^=≈]|[,;]\s*(?={CURRENCY}?\d)|(?:[a-z]{{1,12}}\s)?(?:to|or|and|through)\s|{_TIME},?\s(?=\d)|of\b)"
    rf"\s*{CURRENCY}?"
)
# The first square brackets with a number, then any that `=` joins to them: `[40 x 1.1] = [44]`.
_BRACKETS = re.compile(
    r"\[(?=[^\[\]]{0,400}\w)(?:[^\[\]]{0,400}\]\s?[=≈]\s?\[){0,3}([^\[\]]{0,400})(\]|\Z)"
)
_UNIT_BEHIND = _re(
    r"\]\s?(%|(?:per\s?cent|bps|basis\spoints?|\(?(?:in\s)?(?:thousand|\w{1,2}illion)s?)\b)"
)
_UNITS = _re(
    rf"(?:[\W_]|\b(?:dollars?|euros?|per|shares?|annum|a|units?|contracts?|times|points?|each)\b|{_TIME})*"
)
# Expressions without a result: √2, ln(2), 5!, 2(3), 0x10, (1.05)^5, e^2, 2π.
_EXPRESSION = re.compile(
    r"(?<!10)(?<!10 )\^|[√π]|\b(?:ln|log|exp|sqrt)\b|\d!|\d\(\s?[\d.]|\dx(?!10\s?\^)[\da-f]"
)
_OPENER = _re(
    r"\W*(?:return|print|calculate|compute|find|use|let|given|assum(?:e|ing)|suppose|where|if|when)\b"
)
_CUT_OFF = re.compile(
    r"(?:\d,\d{0,2}|\d\s?/\s?\d{1,9}|[-+*/=(^,:x≈\[]|\([^()\n]{1,60}|\[[^\[\]\n]{1,60})\Z"
)
# A line that ends with a colon; a list or a table below it has no single answer.
_LABEL = re.compile(r"(?:\s*[^\n|]{1,400}:[ \t*_]{0,8}\n\s*){1,3}")
_ITEM = re.compile(r"[-*•|]\s|\d{1,2}[.)]\s|\|")
_MARKUP = re.compile(
    r"^[ \t]*```[^\n]*$|\\(?:begin|end)\{[a-z]+\*?\}|\\\\\s{0,4}&?\s{0,4}(?==)|\$\$|\\\[|\\\]", re.M
)


def quantity_in(text: str, kind: Kind) -> Number | None:
    """Read the number that a text gives as its answer; None for different numbers, dates and ranges."""
    raw = _MARKUP.sub(" ", text[-500:] if kind == "last" else text[:1000])
    if (label := _LABEL.match(raw)) and _ITEM.match(raw := raw[label.end() :]):
        return None
    text = _UNIT_BEHIND.sub(r" \1]", _DATE.sub(" ", plain(raw))).strip()
    sentences = [part for part in _SENTENCE.split(text) if re.search(r"\w", part)]
    if not sentences:
        return None
    if kind in ("last", "first"):
        return _in_line(text, sentences[-1], kind)
    framed = _BRACKETS.search(text)
    if framed and not _leads(text[: framed.start()]):
        is_first_of_many = re.match(r"\s?(?:or|and|to|,|-)\s?\[", text[framed.end() :])
        return None if is_first_of_many else read_number(framed[1], framed=True)
    if (box := boxed(raw)) is not None:
        return read_number(plain(box), framed=True)
    return _in_sentence(sentences[0], kind)


def read_number(text: str, *, framed: bool = False) -> Number | None:
    """Read plain text that should be one number; `framed` means from brackets or a box, where `(5)` is -5."""
    text = _without(_NOISE, text)
    text = "".join(
        side for side in re.split("([=≈])", text) if not _EXPRESSION.search(side)
    ).rstrip("=≈")
    if framed and not find_numbers(text):
        text = words_as_digits(text)
    if sum("=" in part for part in re.split(r"[,;]\s|\s(?:and|or)\s", text)) > 1:
        return None  # several equations
    right = re.split("[=≈]|: ", text)[-1]
    for part in (right, text):
        if one := _merged(find_numbers(part)):
            return _accounting(part, one, framed=framed)
    return None


def _in_line(line: str, sentence: str, kind: Kind) -> Number | None:
    # Read a line that is a number with its unit; the last line may also be an equation or a sentence.
    if (first := _leads(line.lstrip("["))) and _UNITS.fullmatch(line.lstrip("["), first.end):
        return read_number(line.strip("[]."), framed=line[0] == "[")
    if kind == "first" or _CUT_OFF.search(line):
        return None
    numbers = find_numbers(sentence)
    if numbers and re.search("[=≈]", sentence) and _UNITS.fullmatch(sentence, numbers[-1].end):
        return (
            None if "/" in sentence[numbers[-1].start : numbers[-1].end] else read_number(sentence)
        )
    return _in_sentence(sentence, "closing") if line.endswith((".", "!", ")", "]")) else None


def _in_sentence(sentence: str, kind: Kind) -> Number | None:
    text = _without(_NOISE, sentence)
    if first := _leads(text if find_numbers(text) else words_as_digits(text)):
        return _accounting(text, first)
    refusal = REFUSAL.search(text)
    if kind == "strict" or (refusal and not _said(text[: refusal.start()])):
        return None
    if kind == "closing" and (
        _OPENER.match(text) or not find_numbers(_NOISE.sub(" ", _ADJUNCT.sub(" ", text)))
    ):
        return None
    if number := read_number(text):
        return number
    text = _without(_ADJUNCT, text)
    return _said(text) or read_number(_CLAUSE.split(text)[0])


def _leads(text: str) -> FoundNumber | None:
    # Return the number at the start of a text, unless a sum, list or range continues behind it.
    begin = match.end() if (match := _LEAD.match(text)) else 0
    first = next(iter(find_numbers(text[: begin + 200])), None)
    return (
        first if first and first.start <= begin + 1 and not _JOINED.match(text, first.end) else None
    )


def _said(text: str) -> Number | None:
    # Return the only number behind `is`, `=` and the like, unless a sum or list begins with it.
    numbers = find_numbers(text)
    one = _merged(
        [found for found in numbers if _IS.search(text[max(0, found.start - 60) : found.start])]
    )
    if one is None or re.match(rf"\s*[x*/^+]\s*[(\d{CURRENCY}]", text[one.end :]):
        return None
    goes_on = any(
        found.start >= one.end and not _same(one.number, found.number) for found in numbers
    )
    return None if goes_on and _JOINED.match(text, one.end) else _accounting(text, one)


def _without(pattern: re.Pattern[str], text: str) -> str:
    # Remove what matches, if another number is left.
    rest = pattern.sub(" ", text)
    return rest if find_numbers(rest) else text


def _accounting(text: str, found: FoundNumber, *, framed: bool = False) -> Number:
    # `($5)`, `$(5)` and a framed `(5)` are -5.
    number, around = found.number, text[: found.start] + text[found.end :]
    is_amount = CURRENCY in text[max(0, found.start - 2) : found.end] or (
        framed and not re.search(r"\w", around)
    )
    in_brackets = re.search(r"\(\s?\Z", text[: found.start]) and text[found.end :].startswith(")")
    if not (is_amount and in_brackets):
        return number
    return replace(
        number, value=-number.value, readings=tuple(-reading for reading in number.readings)
    )


def _merged(numbers: list[FoundNumber]) -> FoundNumber | None:
    # Return the value that all numbers share, with the readings of all; None if they differ.
    if not numbers or not all(_same(numbers[0].number, found.number) for found in numbers):
        return None
    readings = dict.fromkeys(reading for found in numbers for reading in found.number.readings)
    return numbers[0]._replace(number=replace(numbers[0].number, readings=tuple(readings)))


def _same(first: Number, second: Number) -> bool:
    return any(
        equal_reading(first, reading, second.step_of(reading)) is not None
        for reading in second.readings
    )
