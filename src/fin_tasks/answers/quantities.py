"""Decide which number in a text is the answer."""

import re
from collections.abc import Sequence
from dataclasses import replace
from functools import partial, reduce
from itertools import pairwise, takewhile

from fin_tasks.answers.compare import equal_reading, near_reading
from fin_tasks.answers.locate import REFUSAL, Kind, end_lines
from fin_tasks.answers.notation import CURRENCY, boxed, plain
from fin_tasks.answers.numbers import FoundNumber, Number, find_numbers, words_as_digits

__all__ = ["quantity_in", "read_number"]

_re = partial(re.compile, flags=re.IGNORECASE)
_ABOUT = "about|approximately|approx|around|roughly|nearly|almost|exactly"
_BE = "is|are|was|were|be|been|equals?"
_TIME = r"(?:(?:more|full|business|trading)\s)?(?:years?|months?|weeks?|days?|quarters?|periods?|hours?|minutes?)\b"
_YEAR = r"(?:19|20)\d\d(?![\d%]|[.,]\d|\s?(?:x|\*|/|=))"
_DAY = r"\d{1,2}(?:st|nd|rd|th)?"
_MONTH = (
    "(?:january|february|march|april|may|june|july|august|september|october|november|december"
    "|jan|feb|mar|apr|jun|jul|aug|sept?|oct|nov|dec)"
)
# Dates and steps are never results.
_DATE = _re(
    rf"\b{_MONTH}\.?\s{_DAY}(?:,?\s{_YEAR})?(?!\d)|\b(?:{_DAY}\s)?{_MONTH}\.?,?\s{_YEAR}|\b{_YEAR}-\d\d-\d\d\b|\bstep\s\d{{1,2}}\b"
)
# Nor are these, if another number is left: margins, bases, decimals, conditions, years, names, levels of confidence.
_NOISE = [
    _re(rf"\(?(?:±|\+/-|\+-)\s?{CURRENCY}?\s?[\d.,]{{0,40}}\d\s?%?\)?"),
    _re(rf"\b(?:per|for\s+every|out\s+of)\s+{CURRENCY}?\s?\d[\d,.]{{0,40}}"),
    _re(r"\b\d{1,2}[\s-]?(?:decimals?|significant|d\.?p\.?)(?:\s(?:places?|points?|figures?|digits?))?\b"),
    _re(
        r"\b(?:at|for|in|when|where|if|with|assuming|given|using)\s(?:[^\W\d]{1,12}\s){0,3}\w{1,12}\s?=\s?[-+¤\d.,%]{1,20}"
    ),
    _re(rf"\b(?:in|for|of|by|during|since|year|fy|the|and|to|from|until|fiscal)\s{_YEAR}"),
    _re(
        r"\b(?:S&P|Nasdaq|Russell|FTSE|Nikkei|CAC|Stoxx|DJIA|CSI|TOPIX)[\s-]\d{2,4}\b|\b(?:10-[KQ]|(?:IFRS|IAS|S?FAS|ASC|FIN)\s\d{1,3})\b"
    ),
    _re(
        r"\b(?:tier|level|year|month|quarter|period|day|week|stage|phase|case|scenario|option|project|class|tranche|bond|stock"
        r"|asset|fund|portfolio|company|firm|plan|method|alternative|table|exhibit|note|basel|section)\s\d{1,2}\b"
        r"(?![\d%]|[.,]\d|\s?(?:%|percent|bps|[-+*/x=^]))"
    ),
    _re(
        r"\b\d\d(?:\.\d+)?\s?(?:%|percent|per\scent)[\s-](?:confiden\w+|level|value[\s-]at[\s-]risk|var\b|certain\w*|sure|interval)"
    ),
]
_ADJUNCT = _re(
    r"(?:\b(?:at|with|over|after|in|within|during|under|than|above|below|exceeds?|exceeding|given|assuming|using)\s|[<>≤≥]\s?)"
    rf"(?:(?:a|an|the|its|about|next|first)\s){{0,3}}{CURRENCY}?\d[\d,.]{{0,20}}\s?(?:%|{_TIME})?(?![-+*/x=^\d])"
)
_INTRODUCTION = _re(
    r"\A[\s*_,]{0,8}(?:after|in|for|over|within|at|by|during|with|to|given|if|when|since|as|because|under|assuming"
    r"|based|from|using|on|considering|while|although)\b[^.\n]{1,160}?,\s"
)
_CLAUSE = _re(
    r",?\s(?:given|assuming|based|which|meaning|indicating|implying|suggesting|whereas?|because|since|while|rounded|so\sthat"
    r"|compared|considering|after|under|when|if)\b|[,;]\s(?:and|or|but|with|as|so)\b"
)
_SENTENCE = re.compile(r"(?<=[.!?])[\s)\"'*]+|\n+")
_ABBREVIATION = _re(
    r"\b(Corp|Inc|Co|Ltd|Mr|Mrs|Ms|Dr|Jan|Feb|Mar|Apr|Jun|Jul|Aug|Sept?|Oct|Nov|Dec|U\.S|approx|ca|est|no|vs)\.(?=\s|['’]s)"
)
_LEAD = _re(rf"(?:[^\w(\[.+-]|\b(?:{_ABOUT}|{_BE}|that|it|the|an?|to|equal|sell|buy|short|final|answer)\b\.?)*")
_IS = _re(
    rf"(?:\b(?:{_BE}|gives|totals?)\b|[=≈:])\W{{0,4}}(?:\b(?:{_ABOUT}|now|then|only|just|equal\sto|an?|the)\b\s?){{0,3}}\s{{0,3}}\Z"
)
_TODAY = _re(r"\s(?:today|now|at\spresent)\b")
_COUNT = _re(r"\W{0,20}there\s(?:is|are|was|were|will\sbe)\b")
_RESULT = _re(rf"\W{{0,20}}(?:the|its|their|our)\b.{{0,80}}?\b(?:{_BE})\s(?:(?:{_ABOUT})\s)?-?{CURRENCY}?\s?-?\d")
_DECLINED = _re(
    r"\W*(?:n/?a|not\s(?:applicable|enough|possible)|none|unknown|undefined|indeterminate|cannot|insufficient)\b"
)
# A sum, a list or a range goes on behind a number.
_JOINED = _re(
    rf"\s*(?:[-+x*/^=≈]|[,;]\s*{CURRENCY}?(?=\d)|(?:[a-z]{{1,12}}\s)?(?:to|or|and|through|&)\s|{_TIME},?\s(?=\d)|of\b|out\b"
    rf"|(?:divided|multiplied|times|plus|minus)\b)\s*{CURRENCY}?"
)
_TO = _re(rf"\s?(?:[a-z]{{1,12}}\s)?(?:to|or|through)\s{CURRENCY}?")
_BRACKETS = re.compile(r"\[([^\[\]]{0,400})\]|\[([^\[\]\n]{0,400})")
_UNIT_BEHIND = _re(
    r"\]\s?(%|(?:per\s?cent|percentage\spoints?|bps|basis\spoints?|\(?(?:in\s)?(?:thousand|million|billion|trillion)s?)\b)"
)
_UNITS = _re(
    r"(?:[\W_]|\b(?:dollars?|euros?|per\s?cent|per|shares?|annum|a|units?|contracts?|times|points?|each|p\.a|bonds?)\b|"
    + _TIME
    + ")*"
)
_ASIDE = re.compile(r"(?<![*/^+-])(?<![x*/+-]\s)\([^()]{0,400}\)")
# What nobody worked out: √2, ln(2), 5!, 2(3), 0x10, (1.05)^5, e^2, 2π.
_OPERATED = _re(
    rf"(?:√|\b(?:ln|log|exp|sqrt)\b)\s{{0,3}}\(?\s{{0,3}}{CURRENCY}?[\d.]|\d!|\d\(\s?[\d.]|\dx(?!10\s?\^)[\da-f]"
)
_POWER = _re(r"[\d)\]]\s?\^|\be\s?\^|√|π")
_OPENER = _re(
    r"\W*(?:return|print|calculate|compute|find|determine|use|apply|substitute|plug|let|given|assum(?:e|ing)|suppose|where|if"
    r"|when|we know|recall|for example)\b"
)
_CUT_OFF = re.compile(
    r"(?:\d,\d{0,2}|\d\s?/\s?\d{1,9}|[-+*/=(^,:x≈\[]|\n\s{0,9}\d{1,2}\.|\([^()\n]{1,60}|\[[^\[\]\n]{1,60})\Z"
)
# A line that announces what stands below it, or words that announce the rest of it.
_LABEL = _re(
    r"[\s*_:#>]{0,20}[^\s*_:#>|][^\n|]{0,400}?:[ \t*_]{0,8}\n(?=[\s*_`$#]{0,40}[^\s*_`$#])"
    rf"|[\s*_:#>]{{0,20}}[^\n:|]{{0,400}}?\b(?:{_BE}|follows|becomes|gives)[*_]{{0,3}}\s?:(?![^\S\n]{{0,40}}\n?\Z)"
)
_MARKUP = re.compile(
    r"^[ \t]*```[^\n]*$|\\\[|\\\]|\$\$|\\(?:begin|end)\{[a-z]+\*?\}|\\\\(?=\s|\[|&|\Z)(?:\[[^\]\n]{0,10}\])?", re.M
)
_ITEM = re.compile(r"\s*(?!\*\*)(?:[-*•+]\s+|\(?\d{1,2}[.)]\s+)(?=\S)")
_EQUATION = re.compile(r"(?!\s*\|)[^|\n]*(?:[=≈]|\\approx)")
_TOTAL = _re(r"\b(?:total|net|final|answer|result|overall|sum)\b")


def quantity_in(text: str, kind: Kind) -> Number | None:
    """Read the number that a text gives as its answer.

    The first of these that holds: what stands below a label such as `the value is:`; square brackets; a box; a number
    at the start; the only number of the first sentence, or the one that it says something is. Several numbers that
    differ are no answer, nor are dates and ranges.
    """
    if kind == "alone":
        return _alone(text)
    raw = below = _ABBREVIATION.sub(r"\1", text[:4000])
    while label := _LABEL.match(below):
        below = below[label.end() :]
    text = _DATE.sub(" ", plain(raw))
    sentences = _sentences(text) or [""]
    if below is not raw:
        return _below(below) or (None if REFUSAL.search(sentences[0]) else _said(sentences[0]))
    framed = _framed(text)
    if framed is not None and not _leading(text.partition("[")[0]):
        return read_number(framed, framed=True) if framed else None
    if (box := boxed(raw)) is not None:
        return read_number(plain(box), framed=True)
    start = _without(_NOISE, sentences[0])
    if first := _leading(start, words=kind in ("asked", "loose")):
        return _accounting(start, first)
    return None if kind == "strict" else _in_sentence(sentences, closing=kind == "closing")


def read_number(text: str, *, framed: bool = False) -> Number | None:
    """Read plain text that is meant to say one number; `framed` by brackets or a box, where `(5)` means -5."""
    text = _without(_NOISE, text)
    if framed or "=" in text:
        text = "".join(side for side in re.split("([=≈])", text) if not _is_expression(side)).rstrip("=≈")
    if framed and not find_numbers(text):
        text = words_as_digits(text)
    if one := _merged(find_numbers(text)):
        return _accounting(text, one, framed=framed)
    if sum("=" in part for part in re.split(r"[,;]\s|\s(?:and|or)\s", text)) > 1:
        return None  # several equations
    for sign in ("≈", "=", ": "):
        right = text.rpartition(sign)[2]
        if find_numbers(right) and not (sign == ": " and _leading(text)):
            text = right
    one = _merged(find_numbers(_without([_ASIDE], text)))
    return _accounting(text, one, framed=framed) if one else None


def _framed(text: str) -> str | None:
    # Empty if brackets contradict each other or decline.
    text = _UNIT_BEHIND.sub(r" \1]", text)
    pairs = [(match, words_as_digits(match[1] or match[2] or "")) for match in _BRACKETS.finditer(text)]
    if pairs and _DECLINED.match(pairs[0][1]):
        return ""
    pairs = [(match, held) for match, held in pairs if find_numbers(held)]
    if not pairs or (re.search("[,;]", pairs[0][1]) and find_numbers(text[pairs[-1][0].end() :])):
        return None
    chosen, held = pairs[0]
    for following, next_held in pairs[1:]:
        gap = text[chosen.end() : following.start()]
        if gap.strip() not in ("=", "≈"):
            if _JOINED.fullmatch(gap) and read_number(f"{held} , {next_held}") is None:
                return ""
            break
        chosen, held = following, next_held
    negative = re.search(rf"(?:-|minus|negative)\s?{CURRENCY}?\Z", text[max(0, chosen.start() - 12) : chosen.start()])
    return f"-{held.lstrip()}" if negative else held


def _leading(text: str, *, words: bool = False) -> FoundNumber | None:
    lead = _LEAD.match(text)
    begin = lead.end() if lead else 0
    head = text[: begin + 200]
    numbers = find_numbers(head)
    if words and not numbers:
        numbers = find_numbers(head := head[:begin] + words_as_digits(head[begin:]))
    if not numbers or numbers[0].start > begin + 1 or _JOINED.match(head, numbers[0].end):
        return None
    clause = _main_clause(re.split(r"[,;(]\s|[.!?:](?:\s|\Z)|\n", head[numbers[0].start :])[0])
    behind = [found for found in find_numbers(clause)[1:] if _said_of(clause, found)]
    return behind[0] if behind else numbers[0]  # the 95% value at risk is 27.5


def _in_sentence(sentences: list[str], *, closing: bool = False) -> Number | None:
    if len(sentences) > 1:
        counted = _COUNT.match(sentences[0]) and _RESULT.match(sentences[1])
        announced = not find_numbers(sentences[0]) and (sentences[0].endswith(":") or _leading(sentences[1]))
        sentences = sentences[1:] if counted or announced else sentences
    sentence = _without(_NOISE, sentences[0])
    numbers = find_numbers(sentence)
    refusal = REFUSAL.search(sentence)
    if refusal and not _said(sentence[: refusal.start()]):
        return None
    if not numbers:
        return _said(words_as_digits(sentence))
    if any(_TO.fullmatch(sentence, a.end, b.start) and not _same(a.number, b.number) for a, b in pairwise(numbers)):
        return None
    rest = reduce(lambda text, pattern: pattern.sub(" ", text), (*_NOISE, _ADJUNCT), sentence)
    if closing and (_OPENER.match(sentence) or not find_numbers(rest)):
        return None
    if number := read_number(sentence):
        return number
    sentence = _without([_INTRODUCTION, _ADJUNCT], sentence)
    clause = _main_clause(sentence)
    for part in (clause, sentence):
        if any(_said_of(part, found) for found in find_numbers(part)):
            return _said(part)
    today = [found.number for found in find_numbers(clause) if _TODAY.match(clause, found.end)]
    return read_number(clause) or (today[0] if len(today) == 1 else None)


def _said(text: str) -> Number | None:
    # The only number that something is said to be, if no sum or list begins with it.
    numbers = find_numbers(text)
    one = _merged([found for found in numbers if _said_of(text, found)])
    if one is None or re.match(rf"\s*[x*/^+]\s*[(\d{CURRENCY}]", text[one.end :]):
        return None
    behind = [found for found in numbers if found.start >= one.end and not _same(one.number, found.number)]
    joined = _JOINED.match(text, one.end)
    return None if behind and joined and joined.end() >= behind[0].start else one.number


def _said_of(text: str, found: FoundNumber) -> re.Match[str] | None:
    return _IS.search(text[max(0, found.start - 60) : found.start])


def _below(text: str) -> Number | None:
    # A label announces a box, a table, a list, equations or a sentence.
    if (box := boxed(text)) is not None:
        return read_number(plain(box), framed=True)
    lines = [line for line in _MARKUP.sub("\n", text).replace("&", " ").split("\n") if re.search(r"\w", line)]
    kind = next((kind for kind in (_is_row, _ITEM.match, _EQUATION.match) if lines and kind(lines[0])), None)
    if kind is None:
        return quantity_in("\n".join(lines), "loose")
    block = [_ITEM.sub("", line, count=1) for line in takewhile(kind, lines)]
    results: list[tuple[str, Number | None]] = []
    if kind is _is_row:
        for line in block[len(block) > 1 :]:  # without the heading
            cells = line.strip().strip("|").split("|")
            values = [value for cell in cells[1:] or cells if (value := _value(plain(cell)))]
            results += [("".join(cells), values[0] if len(values) == 1 else None)] if values else []
    else:
        sides = [re.split(r"[=≈]|:\s", plain(line)) for line in block]
        results = [
            (line, _value(side[-1])) for line, side in zip(block, sides, strict=True) if find_numbers(plain(line))
        ]
        if all(map(_EQUATION.match, block)):
            given = {side[0]: _value(side[1]) for side in sides if len(side) == 2 and side[0].strip()}
            values = [value for value in given.values() if value]
            several = len(values) == len(block) and not all(_same(values[0], value) for value in values)
            return None if several else _value(sides[-1][-1])
    called = [number for name, number in results if _TOTAL.search(name)]
    bold = [number for name, number in results if re.match(r"\s*\*{2}.{1,300}\*{2}[.,;]?\s*\Z", name)]
    chosen = called[-1:] or (bold if len(results) > 1 else [number for _, number in results])
    return chosen[0] if len(chosen) == 1 else None


def _alone(reply: str) -> Number | None:
    # A short line, else the last or the first line, else the last sentence.
    line = plain(reply.strip()[:200])
    if "\n" not in line and len(line) <= 120 and line[:1] != "[" and _leading(line):
        return _in_sentence([_DATE.sub(" ", line)])
    if _CUT_OFF.search(plain(reply[-300:]).rstrip()):
        return None
    for at, (line, beside) in enumerate(end_lines(reply)):
        number = _only(line) or (_stated(line) if at == 0 else None)
        other = _only(beside) or _stated(beside)
        # One of several such lines is an item of a list.
        if number and (other is None or _same(number, other) or line.count("=") > 1):
            return number
    parts = _sentences(_DATE.sub(" ", plain(_ABBREVIATION.sub(r"\1", reply[-2000:]))))
    sentences = [part for part in parts if find_numbers(words_as_digits(part)) or REFUSAL.search(part)]
    return _in_sentence(sentences[-1:], closing=True) if sentences and reply.rstrip()[-1] in ".!)]*`$}" else None


def _only(line: str) -> Number | None:
    # The line is a number with its unit and nothing else.
    line = line if find_numbers(line) else words_as_digits(line)
    if line.startswith("[") and line.rstrip(".").endswith("]"):
        return read_number(line.rstrip(".").strip("[]"), framed=True)
    found = _leading(line) if len(line) <= 120 else None
    return read_number(line) if found and _UNITS.fullmatch(line, found.end) else None


def _stated(line: str) -> Number | None:
    # The line ends in a number, behind a sign of equality or in a finished sentence behind `is`.
    numbers = [] if len(line) > 240 or _OPENER.match(line) else find_numbers(line)
    said = _said_of(line, numbers[-1]) if numbers else None
    if said is None or "/" in line[numbers[-1].start : numbers[-1].end] or not _UNITS.fullmatch(line, numbers[-1].end):
        return None
    if said[0][0] in "=≈:":
        return numbers[-1].number if read_number(line) else None
    return _in_sentence([line]) if line.endswith((".", "!", ")", "]")) else None


def _is_row(line: str) -> bool:
    return line.count("|") >= 2 or line.lstrip().startswith("|")


def _value(text: str) -> Number | None:
    # One number, or one in two ways: `0.1587 or 15.87%`.
    numbers = find_numbers(text)
    if len(numbers) == 2 and any(near_reading(numbers[0].number, reading) for reading in numbers[1].number.readings):
        return (_merged(numbers) or numbers[0]).number
    return read_number(text, framed=True) if len(numbers) == 1 else None


def _without(patterns: Sequence[re.Pattern[str]], text: str) -> str:
    # What is no result goes, as long as another number is left.
    for pattern in patterns:
        rest = pattern.sub(" ", text)
        text = rest if rest != text and find_numbers(rest) else text
    return text


def _sentences(text: str) -> list[str]:
    return [part for part in _SENTENCE.split(text.strip()) if re.search(r"\w", part)]


def _main_clause(sentence: str) -> str:
    # Up to the first clause behind a number.
    numbers = find_numbers(sentence)
    clause = _CLAUSE.search(sentence, numbers[0].end) if numbers else None
    return sentence[: clause.start()] if clause else sentence


def _is_expression(text: str) -> bool:
    rest = list(text)
    for found in find_numbers(text):
        rest[found.start : found.end] = " " * (found.end - found.start)
    return bool(_OPERATED.search(text) or _POWER.search("".join(rest)))


def _accounting(text: str, found: FoundNumber, *, framed: bool = False) -> Number:
    # `(5)` is -5 if the brackets can only mean that.
    number, around = found.number, text[: found.start] + text[found.end :]
    in_brackets = re.search(r"\(\s?\Z", text[: found.start]) and re.match(r"\s?\)", text[found.end :])
    has_currency = CURRENCY in text[found.start : found.end] or (framed and CURRENCY in around)
    if not in_brackets or number.value <= 0.0 or not (has_currency or (framed and not re.search(r"\w", around))):
        return number
    return replace(number, value=-number.value, readings=tuple(-reading for reading in number.readings))


def _merged(numbers: Sequence[FoundNumber]) -> FoundNumber | None:
    # The only value of all numbers, with the readings of all its forms.
    if not numbers or not all(_same(numbers[0].number, found.number) for found in numbers):
        return None
    readings = dict.fromkeys(reading for found in numbers for reading in found.number.readings)
    return replace(numbers[0], number=replace(numbers[0].number, readings=tuple(readings)))


def _same(first: Number, second: Number) -> bool:
    return any(equal_reading(first, reading, second.step_of(reading)) is not None for reading in second.readings)
