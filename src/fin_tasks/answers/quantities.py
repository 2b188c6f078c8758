"""Decide which number in a text is the answer."""

import re
from dataclasses import replace
from functools import partial

from fin_tasks.answers.locate import Passage, concluding_passages, outer_lines
from fin_tasks.answers.notation import CURRENCY, boxed, plain
from fin_tasks.answers.numbers import (
    FoundNumber,
    Number,
    as_loss,
    find_numbers,
    merged,
    same_number,
    words_as_digits,
)
from fin_tasks.answers.phrases import REFUSAL, Style

_re = partial(re.compile, flags=re.IGNORECASE)
_PASSAGE_LENGTH = 1_000
_LINE_LENGTH = 500
_LONGEST_NUMBER = 200  # characters from the start of a number in which its digits are looked for

_BE = "is|are|was|were|be|equals?"
_RESULT_VERBS = (
    rf"{_BE}|g[ia]ves?|total(?:s|ed)?|yield(?:s|ed)?|c[oa]mes?\s(?:out\s)?(?:to|at)|amount(?:s|ed)?\sto"
    r"|work(?:s|ed)?\sout\s(?:to|at|as)|turns?\sout\sto\sbe|adds?\sup\sto|stands?\sat|puts?\s\w{1,12}\s(?:at|near)|i\.?e\.?,?|leav(?:es|ing)"
    r"|,\san?\s(?:net\s|total\s)?(?:gain|profit|loss|saving|change|total|sum)\sof"
)
# A sentence with such a verb can state a result, one without it only mentions a number.
_VERB = (
    rf"(?:{_RESULT_VERBS}|makes?|becomes?|costs?|reaches|falls?\s(?:by|to)|rises?\s(?:by|to)|ha(?:s|ve|d)|will|should|would|must|can|needs?|takes?|took|pa(?:ys?|id)|sells?|sold"
    r"|buys?|bought|receives?|received|earns?|earned|requires?|required|implies|means|saves?|saved|gains?|gained"
    r"|ends?\sup\swith|left\swith|loses?|lost|owes?|grows?|grew|drops?|dropped|increases?|increased|decreases?|decreased|exceeds?"
    r"|holds?|charges?|spends?|spent|get|gets|find|obtain|arrive)"
)
_ABOUT = (
    r"about|approximately|approx|around|roughly|nearly|almost|exactly|now|only|just|some|equal\sto|an?|the"
    r"|close\sto|worth|say"
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
    rf"\b{_MONTH}\.?\s{_DAY}(?:,?\s{_YEAR})?(?!\d)|\b(?:{_DAY}\s)?{_MONTH}\.?,?\s{_YEAR}"
    r"|\bstep\s\d{1,2}\b"
)
# These do not count beside another number: margins, bases, decimals, conditions, years, names, confidence.
_NOISE = _re(
    rf"(?:±|\+/-|\bper\s|out\sof\s|\brather\sthan\s|\binstead\sof\s|\bnot\s)\s?{CURRENCY}?\s?\d[\d.,]{{0,40}}%?"
    r"|\b\d{1,2}[\s-]?(?:decimal|significant)\w*"
    r"|\b(?:at|for|in|when|where|if|with|given)\s(?:[^\W\d]{1,12}\s){0,3}\w{1,12}\s?=\s?[-+¤\d.,%]{1,20}"
    rf"|\b(?:in|for|of|by|during|since|year|fy|the|and|to|from|until|fiscal)\s{_YEAR}"
    r"|\b(?:S&P|Russell)\s\d{3,4}\b"
    r"|\b(?:tier|level|year|month|quarter|option|table|bond|stock|project)\s\d{1,2}\b(?![\d%.]|\s?[-+*/x=^])"
    r"|\b\d\d(?:\.\d+)?\s?(?:%|percent)\s(?:confiden\w+|level|value[\s-]at[\s-]risk|var\b|certain\w*|sure|interval)"
)
# Conditions of a statement: `at 10%`, `after 5 years`, `> 0`.
_ADJUNCT = _re(
    r"(?:\b(?:at|(?<!left\s)(?<!up\s)with|over|after|in|within|during|under|than|above|below|exceeds|given|assuming|using"
    r"|against|from|versus|vs\.?|compared\s(?:to|with))\s|[<>≤≥]\s?)"
    rf"(?:(?:an?|the|its|about|next|first)\s(?:(?:\w{{1,12}}\s){{1,3}}of\s)?){{0,3}}{CURRENCY}?\d[\d,.]{{0,20}}\s?(?:%|{_TIME})?(?![-+*/x=^\d])"
)
# Words in brackets, such as `(against 87.5 at present)`, but not a scale: `(in millions)`.
_ASIDE = _re(
    r"\((?!\s?(?:in\b|%|per\s?cent|hundred|thousand|\w{1,2}illion))[^()]{0,120}[A-Za-z]{3}[^()]{0,120}\)"
)
_CLAUSE = _re(
    r",?\s(?:given|assuming|based|which|meaning|where|because|since|while|rounded|compared|after|under|when|if)\b"
    r"|[,;]\s(?:and|or|but|with|as|so)\b"
)
_SENTENCE_END = re.compile(
    r"(?<=[.!?])(?<!approx\.)(?<!\bvs\.)(?<!\bca\.)(?<![Ii]\.e\.)(?<!e\.g\.)(?<!\bNo\.)[\s)\"'*]+(?=[A-Z\[(¤\d])|\n+"
)
# The last part of a sentence states the result: `..., so it is 5`, `..., which comes to 5`, `...; it is 5`.
_LAST_PART = _re(
    r"[;]\s|,?\s(?=i\.e\.)|,\s(?=(?:so|hence|thus|therefore|which|and\sso|or\sabout|leaving|a\s(?:net\s)?(?:gain|profit|loss))\b)"
)
# `25p = 10` is an equation to solve.
_UNSOLVED = re.compile(r"\d\s?[A-Za-z]\s?=")
_LEAD = _re(
    rf"(?:[^\w(\[.+-]|\b(?:{_ABOUT}|{_BE}|that|it|to|sell|buy|short|final|answer|(?:net\s)?loss\sof)\b\.?)*"
)
_BEFORE_RESULT = (
    rf"\W{{0,4}}(?:\b(?:{_ABOUT})\b\s?){{0,3}}"
    r"(?:(?:net\s)?(?:loss|gain|profit|deficit|total)\sof\s)?\s{0,3}\Z"
)
_IS = _re(rf"(?:\b(?:{_RESULT_VERBS})(?=\W)|[=≈:]){_BEFORE_RESULT}")
_DOES = _re(rf"\b(?:{_VERB})(?=\W){_BEFORE_RESULT}")
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
    rf"\]\s?(%|(?:per\s?cent|bps|basis\spoints?|\(?(?:in\s)?{CURRENCY}?\s?(?:hundred|thousand|\w{{1,2}}illion)s?)\b\)?)"
)
_UNITS = _re(
    rf"(?:[\W_]|\b(?:dollars?|euros?|per|shares?|annum|a|units?|contracts?|times|points?|each|p\.?a"
    rf"|today|now|wert|par|an|jahr|year|usd)\b|{_TIME}|[次个年天倍份张手点股円元日])*"
)
# Expressions without a result: √2, ln(2), 5!, 2(3), 0x10, (1.05)^5, e^2, 2π.
_EXPRESSION = re.compile(
    r"(?<!10)(?<!10 )\^|[√π]|\b(?:ln|log|exp|sqrt)\b|\d!|\d\(\s?[\d.]|\dx(?!10\s?\^)[\da-f]"
)
_OPENER = _re(
    r"\W*(?:for\s(?:instance|example)|e\.g\.|return|print|calculate|compute|find|use|let|given|assum(?:e|ing)|suppose|where|if|when|note)\b"
)
_CUT_OFF = re.compile(
    r"(?:\d,\d{0,2}|\d\s?/\s?\d{1,9}|[-+*/=(^,:x≈\[]|\([^()\n]{1,60}|\[[^\[\]\n]{1,60})\Z"
)
_CONCLUDES = _re(r"\b(?:so|thus|therefore|hence)\b")
_HAS_VERB = _re(rf"[=≈:]|\b{_VERB}(?!\w)|\Aso\b|\Atherefore\b")
_MOST_SENTENCES = 3
# A line that ends with a colon; a list or a table below it has no single answer.
_LABEL_LINE = re.compile(r"(?:\s*[^\n|]{1,400}:[ \t*_]{0,8}\n\s*){1,3}")
_ITEM = re.compile(r"[-*•|]\s|\d{1,2}[.)]\s|\|")
_MARKUP = re.compile(
    r"^[ \t]*```[^\n]*$|\\(?:begin|end)\{[a-z]+\*?\}|\\\\\s{0,4}&?\s{0,4}(?==)|\$\$|\\\[|\\\]",
    re.MULTILINE,
)
# `NPV: 42`, `Total return ≈ 7.5%`: a short name and its value, nothing else.
_NAMED_VALUE = _re(r"[^=≈:|\n]{2,80}:\s{0,3}")


def announced_quantity(text: str, style: Style) -> Number | None:
    """Read the number that a text gives as its answer; None for different numbers, dates and ranges."""
    raw = _MARKUP.sub(" ", text[:_PASSAGE_LENGTH])
    label = _LABEL_LINE.match(raw)
    if label:
        raw = raw[label.end() :]
        if _ITEM.match(raw):
            return None
    text = _clean(raw)
    sentences = _sentences(text)
    if not sentences:
        return None
    in_brackets = _BRACKETS.search(text)
    if in_brackets and not _leading(text[: in_brackets.start()]):
        is_one_of_many = re.match(r"\s?(?:or|and|to|,|-)\s?\[", text[in_brackets.end() :])
        return None if is_one_of_many else read_number(in_brackets[1], framed=True)
    box = boxed(raw)
    if box is not None:
        return read_number(plain(box), framed=True)
    return _in_sentence(sentences[0], style)


def _is_stated_twice(passage: str, number: Number) -> bool:
    # `The growth rate is 2 %. The growth rate is 3 %.`: two values of one quantity.
    sentences = _sentences(_clean(passage.split("\n\n")[0]))
    subject = _subject(sentences[0])
    for sentence in sentences[1:]:
        if subject and _subject(sentence).startswith(subject):
            other = _in_sentence(sentence, "conclusion")
            if other is not None and not same_number(number, other):
                return True
    return False


def _subject(sentence: str) -> str:
    verb = re.search(rf"\s(?:{_BE})\s", sentence)
    return sentence[: verb.start()].strip(" ,").casefold() if verb else ""


def unannounced_quantity(reply: str) -> tuple[Number, Passage] | None:
    """Read the number in a concluding sentence, else in the last or first line; also return where."""
    conclusions = concluding_passages(reply)
    for passage in reversed(conclusions):
        number = announced_quantity(passage.text, passage.style)
        if number is not None:
            return None if _is_stated_twice(passage.text, number) else (number, passage)
    bodies = [reply]
    if conclusions and not any(_hides_result(passage.text) for passage in conclusions):
        bodies.append(reply[: conclusions[0].start])
    for body in bodies:
        for passage in outer_lines(body):
            number = _line_quantity(passage.text, passage.style)
            beside = _whole_line(_clean(passage.neighbor), passage.style)
            # If the line beside holds another answer, both are items of a list.
            if number is not None and (beside is None or same_number(beside, number)):
                return number, passage
    return None


def _hides_result(conclusion: str) -> bool:
    # A concluding sentence that refuses, or with numbers that could not be read, settles the matter.
    if REFUSAL.search(conclusion):
        return True
    sentences = _sentences(_clean(conclusion))
    if not sentences:
        return False
    return bool(find_numbers(_NOISE.sub(" ", _ADJUNCT.sub(" ", sentences[0]))))


def read_number(text: str, *, framed: bool = False) -> Number | None:
    """Read plain text that should be one number; `framed` means from brackets or a box, where `(5)` is -5."""
    text = _without(_NOISE, text)
    sides = re.split("([=≈])", text)
    text = "".join(side for side in sides if not _EXPRESSION.search(side)).rstrip("=≈")
    if framed and not find_numbers(text):
        text = words_as_digits(text)
    parts = re.split(r"[,;]\s|\s(?:and|or)\s", text)
    if sum("=" in part for part in parts) > 1:
        return None  # several equations
    right_side = re.split("[=≈]|: ", text)[-1]
    for part in (right_side, text):
        number = merged(find_numbers(part))
        if number:
            return _signed(part, number, framed=framed)
    return None


def _line_quantity(raw: str, style: Style) -> Number | None:
    # A line that is a number with its unit, or a name and a number; the last line may also be a sentence.
    if style == "last line":
        raw = raw[-_LINE_LENGTH:]
    line = _clean(_MARKUP.sub(" ", raw))
    number = _whole_line(line, style)
    if number or style == "first line" or _CUT_OFF.search(line):
        return number
    is_complete = line.endswith((".", "!", ")", "]"))
    return _in_last_sentences(_sentences(line)) if is_complete else None


def _whole_line(line: str, style: Style) -> Number | None:
    # A line that is a number with its unit, an equation or a name and a number.
    sentences = _sentences(line)
    if not sentences:
        return None
    bare = line.lstrip("[")
    first = _leading(bare)
    if first and _UNITS.fullmatch(bare, first.end):
        return read_number(line.strip("[]."), framed=line[0] == "[")
    if style == "first line" or _CUT_OFF.search(line):
        return None
    sentence = sentences[-1]
    numbers = find_numbers(sentence)
    if numbers and re.search("[=≈]", sentence) and _UNITS.fullmatch(sentence, numbers[-1].end):
        is_division = "/" in sentence[numbers[-1].start : numbers[-1].end]
        return None if is_division else read_number(sentence)
    named = _NAMED_VALUE.match(line)
    if named:
        first = _leading(line[named.end() :])
        if first and _UNITS.fullmatch(line, named.end() + first.end):
            return read_number(line[named.end() :])
    return None


def _in_last_sentences(sentences: list[str]) -> Number | None:
    # The last sentence that states a number; sentences that only mention one are passed over.
    # Behind an unframed number, only a sentence that concludes is read.
    must_conclude = False
    for sentence in sentences[: -_MOST_SENTENCES - 1 : -1]:
        if sentence.startswith("("):
            continue
        if REFUSAL.search(sentence) or sentence.rstrip().endswith("?"):
            return None
        has_numbers = bool(find_numbers(sentence))
        if _HAS_VERB.search(sentence) and (not must_conclude or _CONCLUDES.search(sentence)):
            number = _in_sentence(sentence, "conclusion")
            if number is not None or has_numbers:
                return number
        must_conclude = must_conclude or has_numbers
    return None


def _clean(raw: str) -> str:
    text = _DATE.sub(" ", plain(raw))
    return _UNIT_BEHIND.sub(r" \1]", text).strip()


def _sentences(text: str) -> list[str]:
    return [part for part in _SENTENCE_END.split(text) if re.search(r"\w", part)]


def _in_sentence(sentence: str, style: Style) -> Number | None:
    text = _without(_NOISE, sentence)
    text = _without(_ASIDE, text)
    is_spelled = not find_numbers(text)
    text = words_as_digits(text, single=is_spelled)
    first = _leading(text)
    goes_on = style == "conclusion" and first and _goes_on(text, first, is_spelled=is_spelled)
    if first and not goes_on:
        return None if _has_alternative(text, first) else _signed(text, first)
    if is_spelled:
        return _stated(text)
    if _UNSOLVED.search(text):
        return None
    refusal = REFUSAL.search(text)
    if style == "label" or (refusal and not _stated(text[: refusal.start()])):
        return None
    if style == "conclusion":
        without_adjuncts = _NOISE.sub(" ", _ADJUNCT.sub(" ", text))
        if _OPENER.match(text) or not find_numbers(without_adjuncts):
            return None
        last_part = _LAST_PART.split(text)[-1]
        number = _stated(last_part) if last_part != text else None
        if number:
            return number
    right_side = re.split("[=≈]", text)[-1]
    is_formula = style == "conclusion" and right_side != text and not _leading(right_side)
    number = None if is_formula else read_number(text)
    if number:
        return number
    rest = _without(_ADJUNCT, text)
    number = _stated(rest)
    if number or (style == "conclusion" and rest != text):
        return number
    return _in_main_clause(rest)


def _in_main_clause(text: str) -> Number | None:
    # The clause before a condition or reason, if no other result stands behind it.
    clause = _CLAUSE.split(text)[0]
    rest = text[len(clause) :]
    if (
        re.search("[=≈]", rest)
        or _stated(rest)
        or re.match(r",?\s(?:if|when|under|assuming)\b.*\d", rest)
    ):
        return None
    return read_number(clause)


def _leading(text: str) -> FoundNumber | None:
    # Return the number at the start of a text, unless a sum, list or range continues behind it.
    lead = _LEAD.match(text)
    begin = lead.end() if lead else 0
    numbers = find_numbers(text[: begin + _LONGEST_NUMBER])
    if not numbers:
        return None
    first = numbers[0]
    is_term = re.match(r"[A-Za-wyz](?![a-z])", text[first.end :])  # 25p
    if first.start > begin + 1 or is_term:
        return None
    if not _JOINED.match(text, first.end):
        return first
    return _repeated(text, numbers)


def _goes_on(text: str, first: FoundNumber, *, is_spelled: bool) -> bool:
    # `30 years later it is 56`: the result stands behind the first number.
    behind = text[first.end :]
    if is_spelled:
        return bool(find_numbers(behind))
    stated = _stated(behind)
    return stated is not None and not same_number(first.number, stated)


def _has_alternative(text: str, first: FoundNumber) -> bool:
    # `10 if you use A and 11 if you use B` leaves the answer open.
    behind = text[first.end :]
    if not re.match(r"\s?(?:if|when|assuming)\b", behind):
        return False
    return any(not same_number(first.number, other.number) for other in find_numbers(behind))


def _repeated(text: str, numbers: list[FoundNumber]) -> FoundNumber | None:
    # `0.0766, or 7.66%` gives one value in two units.
    between = text[numbers[0].end : numbers[1].start] if len(numbers) > 1 else ""
    if re.fullmatch(r"\s?,?\s?(?:or|=|≈|i\.?e\.?,?)\s(?:about\s|roughly\s)?", between):
        return merged(numbers[:2])
    return None


def _stated(text: str) -> Number | None:
    # Return the only number behind `is`, `=` and the like, unless a sum or list begins with it.
    numbers = find_numbers(text)
    stated: list[FoundNumber] = []
    for verb in (_IS, _DOES):
        for found in numbers:
            if verb.search(text[max(0, found.start - 60) : found.start]):
                stated.append(found)
        if stated:
            break
    number = merged(stated)
    if number is None or re.match(rf"\s*[x*/^+]\s*[(\d{CURRENCY}]", text[number.end :]):
        return None
    for found in numbers:
        is_other = found.start >= number.end and not same_number(number.number, found.number)
        before = text[max(0, found.start - 60) : found.start]
        if is_other and (_JOINED.match(text, number.end) or _DOES.search(before)):
            return None
    return _signed(text, number)


def _without(pattern: re.Pattern[str], text: str) -> str:
    # Remove what matches, if another number is left.
    rest = pattern.sub(" ", text)
    return rest if find_numbers(rest) else text


def _signed(text: str, found: FoundNumber, *, framed: bool = False) -> Number:
    # `($5)`, `$(5)` and a framed `(5)` are -5, and so is `a loss of $5`.
    before = text[: found.start]
    behind = text[found.end :]
    is_bare = framed and not re.search(r"\w", before + behind)
    is_amount = CURRENCY in text[max(0, found.start - 2) : found.end] or is_bare
    is_enclosed = re.search(r"\(\s?\Z", before) and behind.startswith(")")
    if not (is_amount and is_enclosed):
        return as_loss(found, text)
    number = found.number
    readings = tuple(-reading for reading in number.readings)
    return replace(number, value=-number.value, readings=readings)
