"""Which numbers of a line with its working are told as its result.

A line is read clause by clause. What a clause only compares with (`against 6.1%`), gives as a reason (`since ...`) or
reads off the axis (`the gridline at 130`) is not the result.
"""

import re
from collections.abc import Iterator

from fin_tasks.answers.numbers import FoundNumber

__all__ = ["is_lower", "is_result_told", "results"]

_CUT = re.compile(
    r"[;.!?](?=\s|\Z)|,(?=\s|[^\d\s])|(?<=[^\d\s]),|(?<=\D)(?=\b(?:because|since|while|whereas|which|compared|versus|vs|against|although)\b)"
    r"|\s(?=(?:so|therefore|thus|hence)\s)|(?=因\s?此|所\s?以)|\s-\s(?=[A-Za-z])",
    re.IGNORECASE,
)
_REFERENCE = re.compile(
    r"\W*(?:(?:and|but|just|slightly|well|a\slittle|far|right|i\s?e)\s)*(?:because|since|as|while|whereas|which(?!\s(?:gives|makes|yields|equals|is\san?\s(?:diff|chang|gap|incr|decr)))|compared|versus|vs|against"
    r"|although|given|from|with|than|above|below|over|under|near|close\sto|up\sfrom|down\sfrom|由|从|较|与|因\s?为|由\s?于|而)(?![A-Za-z=])"
    r"|[^=≈→]*?(?:\b(?:axis|axes|gridlines?|ticks?|labell?ed|labels?|scale|respectively)\b|坐\s?标|刻\s?度|网\s?格|分\s?别)",
    re.IGNORECASE,
)
_CONCLUDES = re.compile(
    r"\W*(?:(?:and|so|therefore|thus|hence)\b|因\s?此|所\s?以|故|可\s?得|即)|.*\bestimate|\W*(?:result|total|answer|difference|change)\b",
    re.I,
)
_EQUALS = re.compile(r"[=≈→⇒]|->")
_LOWER = r"fell|falls?|fallen|decreas\w*|declin\w*|drop(?:s|ped)?|down|reduc\w*|shr[aiu]nk|lost|loss"
_HIGHER = (
    r"increas\w*|rose|rises?|risen|grew|grown|growth|gain\w*|climb\w*|up|add\w*|chang\w*|differ\w*|exceed\w*|lead\w*"
)
_NOUN = (
    r"differences?|changes?|increases?|decreases?|declines?|rises?|drops?|falls?|gains?|loss|growth|totals?|sums?|shares?|means?|averages?"
    r"|ratios?|values?|results?|margins?|widths?|bandwidth|spreads?|gap|ranges?|lead|estimates?|midpoint|equivalent|rate"
)
_ABOUT = (
    r"(?:(?:by|of|about|approximately|approx|around|roughly|nearly|only|exactly|a\stotal\sof|an?"
    r"|a\slittle\sover|just\sover|is|as|be|=|≈|:)\W{0,3}){0,3}"
)
_BEHIND = r"[\s¤*\"']{0,4}\Z"
_SAID = re.compile(
    rf"(?:\b(?:is|are|was|were|be|(?:that|it)['’]s|equals?|equal\sto|gives?|giving|totals?|yields?|get|got|obtain|makes?|by|about|approximately|around|roughly"
    rf"|i\.?e\.?,?|estimate|say|{_LOWER}|{_HIGHER})\b|\b(?:{_NOUN})\s(?:of|is)\b|[=≈:→]|->"
    r"|相\s?差|高\s?出|多\s?出|超\s?出|得\s?到|得\s?出|为|是|幅\s?度?|变\s?动|变\s?化|(?:增\s?长|增\s?加|提\s?升|上\s?升|上\s?涨|下\s?降|下\s?跌|减\s?少|降\s?低|下\s?滑|高|多|大|低|少|涨|跌)\s?了?"
    rf"|即|之\s?差|合\s?计|共|结\s?果|差\s?值|约)\W{{0,4}}{_ABOUT}{_BEHIND}",
    re.IGNORECASE,
)
_SAID_BEHIND = re.compile(
    r"\s*(?:percentage\spoints?|points?|dollars?|¤|USD|%)?\s*(?:more|higher|larger|greater|above|less|lower|below|apart|wider|decline|decrease|drop"
    r"|increase|rise|growth|gain|difference)\b",
    re.IGNORECASE,
)
_FELL = re.compile(
    rf"(?:\b(?:{_LOWER})\b|(?:下\s?降|下\s?跌|减\s?少|降\s?低|下\s?滑|跌\s?幅?|降\s?幅))\s?了?\W{{0,3}}{_ABOUT}{_BEHIND}",
    re.IGNORECASE,
)
_FELL_BEHIND = re.compile(r"\s*(?:decline|decrease|drop|fall|loss)\b", re.IGNORECASE)
_BELOW_BEHIND = re.compile(r"\s*(?:percentage\spoints?|points?|dollars?|¤)?\s*(?:less|lower|below)\b", re.IGNORECASE)
_REASON = re.compile(r"\s*\S{0,6}\s*(?:[,;.(=]|\b(?:because|since|as|given|from)\b|\Z)", re.IGNORECASE)
_HEDGE = re.compile(r"\s*(?:-|or|and|to|或|或者|至|到|和)?\s*¤?\s*", re.IGNORECASE)
_FROM = re.compile(
    r"(?:\b(?:from|to|than|at|against|with|of|between|and)\b|从|由|至|到|于|和|与|较)[\s¤]{0,3}\Z", re.IGNORECASE
)


def results(text: str, numbers: list[FoundNumber], *, estimated: bool) -> list[FoundNumber]:
    """Return the numbers that a line tells as its result: one, or several that a careful reader would compare.

    Args:
        text: The line, plain, without days and the like.
        numbers: Those found in it, in order.
        estimated: The line tells an estimate: unless it concludes (`so`), each number it says counts, not the last.

    Returns:
        Nothing where it tells no result, or hedges.
    """
    told: list[FoundNumber] = []
    unclear: list[FoundNumber] = []
    for start, end in reversed(list(_clauses(text))):
        own = [number for number in numbers if start <= number.start and number.end <= end + 1]
        if not own or (_REFERENCE.match(text[start:end]) and len(own) < len(numbers)):
            continue
        place = _told(text[:end], start, own)
        if place is None:
            unclear += [one for one in own if not _FROM.search(text[start : one.start])]
            continue
        if _is_hedged(text, numbers, numbers.index(own[place])):
            return []
        told.insert(0, own[place])
        if not estimated or _concludes(text[start:end]):
            return told[:1]
    if told:
        return told
    if len({one.number.value for one in unclear}) == 1 and not _is_hedged(text, numbers, numbers.index(unclear[0])):
        return unclear[:1]
    begins = not any(map(str.isalnum, text[: numbers[0].start]))
    hedged = _is_hedged(text, numbers, 0)
    return numbers[:1] if begins and not hedged and _REASON.match(text, numbers[0].end) else []


def is_result_told(text: str) -> bool:
    """Whether a line draws a conclusion, and does not just list what it is drawn from."""
    return any(_EQUALS.search(text[start:end]) or _concludes(text[start:end]) for start, end in _clauses(text))


def is_lower(text: str, number: FoundNumber) -> bool | None:
    """Whether words around a number say that something went down by it; None where it may be meant either way."""
    if _FELL.search(text[max(0, number.start - 40) : number.start]) or _FELL_BEHIND.match(text, number.end):
        return True
    return None if _BELOW_BEHIND.match(text, number.end) else False


def _clauses(text: str) -> Iterator[tuple[int, int]]:
    start = 0
    for cut in _CUT.finditer(text):
        yield start, cut.start()
        start = cut.end()
    yield start, len(text)


def _concludes(clause: str) -> bool:
    return _CONCLUDES.match(clause) is not None


def _told(text: str, start: int, numbers: list[FoundNumber]) -> int | None:
    """Place of the number that a clause tells as its result; None where it tells none so."""
    signs = [match.end() for match in _EQUALS.finditer(text, start)]
    if signs and numbers[-1].start >= signs[-1] - 1:
        return next(place for place, number in enumerate(numbers) if number.start >= signs[-1] - 1)
    for place in range(len(numbers) - 1, -1, -1):
        before = text[max(start, numbers[place].start - 40) : numbers[place].start]
        if _SAID.search(before) or _SAID_BEHIND.match(text, numbers[place].end):
            return place
    return None


def _is_hedged(text: str, numbers: list[FoundNumber], place: int) -> bool:
    """Whether another number is joined to one, as in `4 or 5` and `180-220`."""
    near = [pair for pair in ((place - 1, place), (place, place + 1)) if pair[0] >= 0 and pair[1] < len(numbers)]
    return any(_HEDGE.fullmatch(text[numbers[left].end : numbers[right].start]) for left, right in near)
