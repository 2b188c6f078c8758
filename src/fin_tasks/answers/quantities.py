"""Decide which number in a committed answer is the answer."""

import re
from collections.abc import Sequence
from dataclasses import replace

from fin_tasks.answers.compare import equal_reading
from fin_tasks.answers.expressions import without_conditions, without_expressions
from fin_tasks.answers.notation import CURRENCY, boxed, plain
from fin_tasks.answers.numbers import FoundNumber, Number, find_numbers
from fin_tasks.answers.standing import standing_lines

__all__ = ["read_bare", "read_number", "read_quantity"]

_LONGEST = 2000
"""Characters behind the marker that are read; an answer stands at their start."""
_SHORT = 120
"""A response without any marker is taken for a bare answer up to this length."""

_ASIDE = re.compile(r"(?<![*/^+-])(?<![x*/+-]\s)\([^()]{0,400}\)")
_BRACKETS = re.compile(r"\[(?P<closed>[^\[\]]{0,400})\]|\[(?P<open>[^\[\]\n]{0,400})")
_UNIT_BEHIND = re.compile(
    r"\s?(?:%|(?:percent|per\s?cent|percentage\spoints?|bps|basis\spoints?|\(?(?:in\s)?(?:thousand|million|billion|trillion)s?)\b)",
    re.IGNORECASE,
)
_MARGIN = re.compile(rf"\(?(?:±|\+/-|\+-)\s?{CURRENCY}?\s?[\d.,]{{0,40}}\d\s?%?\)?")
_RATE = re.compile(
    rf"\b(?:per|for\s+every|out\s+of)\s+{CURRENCY}?\s?\d[\d,.]{{0,40}}"
    r"|\b\d{1,2}[\s-]?(?:decimals?|significant|d\.?p\.?)(?:\s(?:places?|points?|figures?|digits?))?\b",
    re.IGNORECASE,
)
_LEAD = re.compile(
    r"(?:[^\w(\[.+-]|\b(?:that|the|a|an|is|about|approximately|approx|around|roughly|nearly"
    r"|equals?|equal to|exactly)\b\.?)*",
    re.IGNORECASE,
)
_SAID = re.compile(
    r"(?:\b(?:is|are|was|were|be|equals?|equal to|gives|totals?)\b|[=≈:])\W{0,4}"
    r"(?:\b(?:about|approximately|around|roughly|only|a|an)\b)?\s{0,3}\Z",
    re.IGNORECASE,
)
_JOIN = re.compile(rf"\s*(?:-|/|\+|x|\*|to|of|out\s+of|and|or|through|,|;|&)\s*{CURRENCY}?\s*\Z", re.IGNORECASE)
_SENTENCE = re.compile(r"(?<=[.!?])[\s)\"']+|\n+")
_ABBREVIATION = re.compile(r"\b(approx|ca|est|no|vs)\.(?=\s)", re.IGNORECASE)
_EQUATION_BREAK = re.compile(r"[,;]\s|\s(?:and|or)\s")
_CONTRADICTION = re.compile(rf"\s*(?:-|to|and|or|,|;|/|through)\s*{CURRENCY}?\s*", re.IGNORECASE)
_UNITS = re.compile(
    r"(?:[\W_]|\b(?:dollars?|euros?|percent|per|cent|share|shares|annum|a|year|years|month|months|days?|units?|contracts?"
    r"|times|points?|each|p\.a|bonds?|periods?)\b)*",
    re.IGNORECASE,
)
_OPENER = re.compile(
    r"\W*(?:let|given|assume|assuming|suppose|where|if|when|we know|recall|for example)\b", re.IGNORECASE
)
_LABEL = re.compile(r"(?!step|year|period|month|quarter)[^\d:]{1,60}:", re.IGNORECASE)
_FINISHED = (".", "!", ")", "]")
_UNFINISHED = re.compile(r"[-+/^=≈(\[,]\W*\Z|(?<=\s)[*x]\W*\Z")
_OPERATION = re.compile(r"=[^=≈]*[=≈]|[\w)\]%]\s?[*/^x+]\s?[\w(¤]|[\w)%]\s-\s")
_DECLINED = re.compile(
    r"\W*(?:n/?a|not\s(?:applicable|enough|possible)|none|unknown|undefined|indeterminate|cannot|insufficient)\b",
    re.IGNORECASE,
)
_ZERO = re.compile(r"(?<![\w-])(?:zero|nil)(?![\w-])", re.IGNORECASE)


def read_quantity(committed: str) -> Number | None:
    r"""Read the number from the text behind an answer marker.

    The first of these that holds: a number right at the start; the first pair of square brackets with a number in it
    (the last where they are chained by `=`); the last `\boxed{}`; the first sentence, if it says one number, or
    says of one that it `is` the answer. Several numbers that differ are no answer.

    Example:
        >>> read_quantity(" [$1,235.41 per share].").value
        1235.41
        >>> read_quantity(" the NPV at 10% is -$5.2 million.").value
        -5200000.0
        >>> read_quantity(" between [5] and [7].") is None, read_quantity(" [5, 7].") is None
        (True, True)
    """
    raw = committed[:_LONGEST]
    text = plain(raw)
    framed = _framed(text)
    head = text.partition("[")[0]
    if framed is not None and not _leading(head):
        return read_number(framed, framed=True) if framed else None
    if (box := boxed(raw)) is not None:
        return read_number(plain(box), framed=True)
    return _from_sentence(text)


def read_bare(text: str) -> Number | None:
    r"""Read a response that holds no marker: its last `\boxed{}`, else its last or first line, if that is an answer.

    A line is one that holds a number with its unit, or ends in one behind `=` or `is` and is finished. One of several
    such lines below each other is an item of a list; the first line must be nothing but the number.

    Example:
        >>> read_bare("42%").value, read_bare("So we get\n[42]").value, read_bare("We first compute 42") is None
        (0.42, 42.0, True)
        >>> read_bare("We add up.\nPrice = 40 + 2 = 42").value, read_bare("Given:\nn = 3\nr = 5%") is None
        (42.0, True)
    """
    if (box := boxed(text)) is not None:
        return read_number(plain(box), framed=True)
    line = text.strip()
    if "\n" not in line and len(line) <= _SHORT and _leading(line := plain(line).strip()) and line[:1] != "[":
        return _from_sentence(line)
    for is_first, (line, inward) in enumerate(standing_lines(text)):
        number = _alone(line) if is_first else _alone(line) or _stated(line)
        if number is None:
            continue
        beside = _alone(inward) or (None if _computed(inward) else _stated(inward))
        if beside is None or _same(number, beside) or _computed(line):
            return number
    return None


def _alone(line: str) -> Number | None:
    """The number of a line that holds nothing else than its unit, in square brackets or without."""
    line = line.strip()
    if len(line) > _SHORT:
        return None
    if line.startswith("[") and line.rstrip(".").endswith("]"):
        return read_number(line.rstrip(".").strip("[]"), framed=True)
    found = _leading(line)
    return read_number(line) if found and _UNITS.fullmatch(line, found.end) else None


def _stated(line: str) -> Number | None:
    """The number a line ends in, behind a sign of equality or in a finished sentence behind `is`."""
    if len(line) > 2 * _SHORT or _OPENER.match(line) or _UNFINISHED.search(line) or _opens_bracket(line):
        return None
    for found in find_numbers(line)[-1:]:
        said = _SAID.search(line[max(0, found.start - 40) : found.start])
        if said is None or "/" in line[found.start : found.end] or not _UNITS.fullmatch(line, found.end):
            return None
        if line[: said.end()].rstrip()[-1:] in "=≈" or (said[0][0] == ":" and _LABEL.match(line)):
            return found.number if read_number(line) else None
        return _from_sentence(line) if said[0][0].isalpha() and line.endswith(_FINISHED) else None
    return None


def _opens_bracket(line: str) -> bool:
    return line.count("(") > line.count(")") or line.count("[") > line.count("]")


def _computed(line: str) -> bool:
    """Whether a line holds more than one sign of equality or an operation: work, and nothing that was given."""
    return _OPERATION.search(line) is not None


def read_number(text: str, *, framed: bool = False) -> Number | None:
    """Read plain text that is meant to say one number.

    Behind `=`, `≈` or a label with a colon counts the right-hand side. What stands in round brackets beside a number,
    a margin (`± 0.5`), a base (`per 100`) and a condition (`at t = 1`) do not count, nor does an expression that was
    not worked out (`(1.05)^5`). Forms of one value (`0.0766 or 7.66%`) are merged.

    Args:
        text: Plain text (see `notation.plain`).
        framed: The text stood in square brackets or a box, so that `(5)` in it means -5, as accountants write.
    """
    text = without_conditions(_RATE.sub(" ", _MARGIN.sub(" ", text)))
    if framed or "=" in text:
        text = without_expressions(text)
    numbers = find_numbers(text)
    if len(numbers) > 1 and _all_one(numbers):
        return _merge(numbers[0].number, [found.number for found in numbers])
    text = _right_hand_side(text)
    numbers = find_numbers(text)
    if not numbers:
        return Number(value=0.0, readings=(0.0,), step=1.0) if _ZERO.search(text) else None
    if len(numbers) == 1:
        return _accounting(text, numbers[0], framed=framed)
    asides = [match.span() for match in _ASIDE.finditer(text)]
    main = [found for found in numbers if not any(start < found.end <= end for start, end in asides)] or numbers
    if not _all_one(main):
        return None
    return _merge(main[0].number, [found.number for found in numbers])


def _right_hand_side(text: str) -> str:
    """Text behind the last sign of equality, or behind a label; empty where there are several equations."""
    if sum("=" in part for part in _EQUATION_BREAK.split(text)) > 1:
        return ""
    for sign in ("≈", "=", ": "):
        _, found, right = text.rpartition(sign)
        if found and find_numbers(right) and not (sign == ": " and _leading(text)):
            text = right
    return text


def _framed(text: str) -> str | None:
    """What the square brackets that hold the answer hold; empty where brackets contradict each other."""
    pairs = [(match, match["closed"] or match["open"] or "") for match in _BRACKETS.finditer(text)]
    if pairs and _DECLINED.match(pairs[0][1]):
        return ""
    pairs = [(match, held) for match, held in pairs if find_numbers(held) or _ZERO.search(held)]
    if not pairs:
        return None
    chosen, held = pairs[0]
    for following, next_held in pairs[1:]:
        gap = text[chosen.end() : following.start()]
        if gap.strip() in ("=", "≈"):
            chosen, held = following, next_held
        elif _CONTRADICTION.fullmatch(gap) and read_number(f"{held} , {next_held}") is None:
            return ""
        else:
            break
    if unit := _UNIT_BEHIND.match(text, chosen.end()):
        held += unit[0]
    negative = re.search(rf"(?:-|minus|negative)\s?{CURRENCY}?\Z", text[max(0, chosen.start() - 12) : chosen.start()])
    return f"-{held.lstrip()}" if negative else held


def _leading(text: str) -> FoundNumber | None:
    """The number text starts with, after articles, `about` and the like."""
    lead = _LEAD.match(text)
    begin = lead.end() if lead else 0
    numbers = find_numbers(text[: begin + 200])
    return numbers[0] if numbers and numbers[0].start <= begin + 1 else None


def _from_sentence(text: str) -> Number | None:
    text = _ABBREVIATION.sub(r"\1", text.strip())
    sentences = [part for part in _SENTENCE.split(text) if any(char.isalnum() for char in part)]
    if len(sentences) > 1 and not find_numbers(sentences[0]):
        announced = sentences[0].rstrip().endswith(":")
        if announced or (_leading(sentences[1]) and not _ZERO.search(sentences[0])):
            sentences = sentences[1:]
    if not sentences:
        return None
    sentence = sentences[0]
    return read_number(sentence) or _said(sentence)


def _said(sentence: str) -> Number | None:
    """Of several numbers in a sentence, the one at its start or the last it calls the answer."""
    numbers = find_numbers(sentence)
    if first := _leading(sentence):
        behind = [found for found in numbers if found.start >= first.end]
        if not (behind and _JOIN.match(sentence[first.end : behind[0].start])):
            return first.number
    said = [found for found in numbers if _SAID.search(sentence[max(0, found.start - 40) : found.start])]
    return said[-1].number if said else None


def _accounting(text: str, found: FoundNumber, *, framed: bool) -> Number:
    """Read `(5)` as -5 where the brackets can only mean that."""
    number = found.number
    if not found.in_brackets or number.value <= 0.0:
        return number
    around = text[: found.start] + text[found.end :]
    has_currency = CURRENCY in text[max(0, found.start - 1) : found.end]
    if not (has_currency or (framed and not any(char.isalnum() for char in around))):
        return number
    return replace(number, value=-number.value, readings=tuple(-reading for reading in number.readings))


def _all_one(numbers: Sequence[FoundNumber]) -> bool:
    return all(_same(numbers[0].number, found.number) for found in numbers[1:])


def _merge(first: Number, others: Sequence[Number]) -> Number:
    """Add the readings of other forms of the same value."""
    readings = [reading for number in others if _same(first, number) for reading in number.readings]
    return replace(first, readings=tuple(dict.fromkeys((*first.readings, *readings))))


def _same(first: Number, second: Number) -> bool:
    return any(equal_reading(first, reading, second.step_of(reading)) is not None for reading in second.readings)
