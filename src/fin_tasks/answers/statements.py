"""Tell which number in a sentence is stated as a probability, and of which side."""

import re
from collections.abc import Iterator, Sequence

from fin_tasks.answers.shares import Share, find_shares
from fin_tasks.answers.sides import PROBABILITY_BEHIND, foretold, of_two_sides, side_of, turned

__all__ = ["committed_number", "is_link", "is_term", "stated_probability"]

_LONGEST = 600
"""Characters of a sentence that are read, from its end."""
_SENTENCES = 400
"""Sentences looked at, from the last one backwards."""

_SENTENCE = re.compile(r"(?<=[.!?])[\s\"')]+|\n+")
_LINK = re.compile(
    r"(?:[\s:;=≈|*_\"'`´“”‘’(\[¤,.-]|\b(?:is|are|was|were|be|being|would|will|of|at|about|approximately|approx|around|roughly|nearly"
    r"|a|an|the|that|to|between|from|therefore|thus|hence|now|also|still|only|estimated|as|probability|chance|likelihood"
    r"|p|my|i|it|['’](?:d|ll)|say|answer|go|choose|predict|estimate|assign|likely|probably|high|low|moderate|equal|equals|put|set|stands|with|have|been|assigned|given|calculated|follows)\b)*",
    re.IGNORECASE,
)
_ENDS_IN_LINK = re.compile(
    r"(?:[:=≈(|,]|\b(?:is|are|was|be|of|at|to|as|around|about|approximately|roughly|nearly|only|a|equals?))[\s\"'(¤]{0,4}\Z",
    re.I,
)
_TERM_BEFORE = re.compile(r"(?:[\w)\]]\s{0,2}[*/+^]|[\d)]\s-|[\s\d)]x)\s{0,2}\(?\s{0,2}\Z")
_TERM_BEHIND = re.compile(
    r"\s{0,3}\)?(?:\s{0,3}[/+^]\s{0,3}[^\s)\]}|]|\s{1,3}[*]\s{0,3}[^\s*]|[*]\(?[\d]|\s{0,3}x\s{0,3}[\d(]|\s{0,3}-\s{0,3}(?:[\d(]|P\s?\())"
)
_WORKED_OUT = re.compile(r"[\d\s().%+*/^=≈x-]*[=≈]\s{0,3}\Z")
_HISTORY = re.compile(r"\W{0,4}(?:for|in)\sthe\s(?:most\srecent\s)?(?:past|previous|last)\b", re.IGNORECASE)
_CONTINUES = re.compile(r":[ \t]{0,4}\n\s{0,8}")
_DECIMAL = re.compile(r"(?<!\d)0?\.\d")
_BOUND = re.compile(
    r"(?:\b(?:than|above|below|over|under|exceed\w{0,3}|at\s(?:least|most)|threshold(?:\sof)?)|[<>≤≥±])"
    r"(?:\sor\sequal\sto)?[\s\"'(]{0,3}\Z",
    re.IGNORECASE,
)

_LABEL = re.compile(r"[=≈:][\s\"'(¤]{0,4}\Z")
_FIGURE = re.compile(
    r"\b(?:EPS|earnings|surprise\w{0,1}|base\s?rate)\b[^,.;:\d]{0,40}:?[\s\"'(¤]{0,4}\Z", re.IGNORECASE
)
_EVIDENCE = re.compile(
    r"[\s)]{0,2}(?:of\s(?:the|all|past|previous|cases|times)\b|(?:historical\s)?(?:base\s?rate|EPS|surprise)\b)",
    re.IGNORECASE,
)

_KEYWORD = re.compile(
    r"(?P<other>\b(?:prior|initial|historical|historic|base|baseline|margin\sof|previous|past|conditional)\s(?:\w{1,12}\s)?)?"
    r"(?:\b(?P<likelihood>probability|chances?|likelihood|odds)\b|(?P<sure>\bconfidence\b(?!\s(?:level|interval)))"
    r"|\b(?:my|the|an|our)\s(?:overall\s|own\s)?(?:prediction|forecast|answer)\b|\bmy\sestimate\b"
    r"|\A\W{0,4}(?:prediction|forecast|answer)\b|\bP\s?\((?P<of>[^()]{1,60})\))",
    re.IGNORECASE,
)
_OF = re.compile(r"[\s\"')]{0,3},?\s?(?:that|for|of|the)\b", re.IGNORECASE)
_THIS = re.compile(r"\b(?:this|that|the|my)\s(?:outcome|prediction|event|forecast|happening)\b", re.IGNORECASE)


def stated_probability(text: str, *, first: bool = False) -> float | None:
    """Return the probability of up that the last sentence which states one states; `first`: the first sentence.

    Args:
        text: Plain text, see `shares.plain_forecast`.
        first: Take the first such sentence.

    Example:
        >>> stated_probability("The chance of a fall is 0.7, more than 0.5. EPS was 0.9.")
        0.3
    """
    parts = _SENTENCE.split(_CONTINUES.sub(": ", text))
    sentences = [part[-_LONGEST:] for part in parts if part and part.strip()]
    order = range(len(sentences)) if first else range(len(sentences) - 1, -1, -1)
    for place in list(order)[:_SENTENCES]:
        before = sentences[place - 1] if place else ""
        for value in _stated(sentences[place], before, is_last=place == len(sentences) - 1):
            return value
    return None


def committed_number(text: str) -> float | None:
    """Return the number of a paragraph that is announced as the forecast, however it is worded.

    That is the number the paragraph ends in behind `=` or `:`, or else the only one in it that can be a forecast: no
    term, no bound, no figure of a report, no share of past cases.

    Example:
        >>> [committed_number(text) for text in ("0.5 + 0.1 = 0.6", "an EPS of 0.9, so 0.6", "0.6 or 0.7")]
        [0.6, 0.6, None]
    """
    lines = [line for line in text.split("\n") if find_shares(line)]
    if len(lines) != 1:
        return None
    (line,) = lines
    shares = find_shares(line)
    ends_in_it = not any(map(str.isalnum, line[shares[-1].end :])) and _LABEL.search(line, 0, shares[-1].start)
    possible = [share for place, share in enumerate(shares) if not _is_evidence(line, shares, place)]
    if not possible or not (len(possible) == 1 or (ends_in_it and possible[-1] is shares[-1])):
        return None
    share = possible[-1]
    return foretold(line, share) if share.is_probability else None


def is_link(text: str) -> bool:
    """Whether text between a marker and a number says no more than that the number follows."""
    return len(text) <= _LONGEST and _LINK.fullmatch(text) is not None


def is_term(text: str, share: Share) -> bool:
    """Whether a number is part of a calculation, such as the 0.71 in `(1 + 0.71 - 0.7)`."""
    if _TERM_BEHIND.match(text, share.end):
        return True
    return _TERM_BEFORE.search(text, max(0, share.start - 8), share.start) is not None


def _is_evidence(text: str, shares: Sequence[Share], place: int) -> bool:
    """Whether a number is what a forecast is made from."""
    share = shares[place]
    left = shares[place - 1].end if place else 0
    return (
        text[share.start : share.end].isdigit()
        or is_term(text, share)
        or _BOUND.search(text, max(0, share.start - 30), share.start) is not None
        or _FIGURE.search(text, max(left, share.start - 80), share.start) is not None
        or _EVIDENCE.match(text, share.end) is not None
    )


def _stated(sentence: str, before: str, *, is_last: bool) -> Iterator[float]:
    """Probabilities the sentence states, last one first."""
    shares = [] if _HISTORY.match(sentence) else find_shares(sentence)
    for place in range(len(shares) - 1, -1, -1):
        share = shares[place]
        if place and (of_up := of_two_sides(sentence, shares[place - 1], share)) is not None:
            yield of_up
        if not share.is_probability or is_term(sentence, share):
            continue
        if _BOUND.search(sentence, max(0, share.start - 30), share.start) or (
            is_last and _cut_off(sentence, before, share)
        ):
            continue
        left = shares[place - 1].end if place else 0
        value = _value(sentence, before, share, left)
        if value is not None:
            yield value


def _cut_off(sentence: str, before: str, share: Share) -> bool:
    """Whether the response may end in the middle of a number: behind 0.68, `is 0.` was to become `is 0.68`."""
    rest = sentence[share.end :].strip()
    if sentence[: share.start].rstrip().endswith("("):
        return not rest
    is_zero = sentence[share.start : share.end] == "0" and rest in ("", ".")
    return is_zero and _DECIMAL.search(before) is not None


def _value(sentence: str, before: str, share: Share, left: int) -> float | None:
    """What a number states; `left`: where the number before it ends."""
    behind = sentence[share.end :]
    if keyword := PROBABILITY_BEHIND.match(behind):
        return turned(share.value, side_of(behind[keyword.end() :]), sentence[: share.start])
    keywords = list(_KEYWORD.finditer(sentence, 0, share.start))
    if not keywords or keywords[-1]["other"]:
        return None
    keyword = keywords[-1]
    gap, is_result = _subject(sentence[keyword.end() : share.start])
    if (keyword.end() < left and not is_result) or _in_condition(gap):
        return None
    side = side_of(keyword["of"] or gap)
    if side == "down" and (is_result or gap.rstrip().endswith("=")):
        return None  # a step on the way to the probability of up
    if keyword["of"]:
        return share.value if side == "up" and is_link(gap) else None
    says_this = _THIS.search(gap) is not None
    if not (is_link(gap) or ((side or says_this) and _ENDS_IN_LINK.search(gap))):
        return None
    if not (keyword["likelihood"] or keyword["sure"]):
        return share.value
    if side is None and (of := _OF.match(behind)):
        side = side_of(behind[of.end() :])
    context = f"{before} {sentence[: share.start]}" if keyword["sure"] or says_this else sentence[: share.start]
    return turned(share.value, side, context)


def _in_condition(gap: str) -> bool:
    """Whether a number stands within brackets that say what a probability depends on, as in `P(Yes | EPS = 0)`."""
    _, opened, inside = gap.rpartition("(")
    return bool(opened) and ")" not in inside and not is_link(inside)


def _subject(gap: str) -> tuple[str, bool]:
    """Text between a keyword and a number without the calculation the number is the result of, if there is one."""
    first = next((place for place, char in enumerate(gap) if char.isdigit()), len(gap))
    if first < len(gap) and _WORKED_OUT.fullmatch(gap, first):
        return gap[:first], True
    if gap.lstrip().startswith(("=", "≈")) and gap.rstrip(" ¤(").endswith(("=", "≈")):
        return "=", True
    return gap, False
