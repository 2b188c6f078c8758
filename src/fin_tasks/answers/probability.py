"""Read the probability a forecast states: of the price going up, as a fraction of 1."""

import re
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import replace

from fin_tasks.answers.notation import boxed
from fin_tasks.answers.reasoning import strip_reasoning
from fin_tasks.answers.shares import Share, find_shares, plain_forecast
from fin_tasks.answers.sides import of_two_sides, of_up
from fin_tasks.answers.standing import standing_lines
from fin_tasks.answers.statements import committed_number, is_link, is_term, stated_probability

__all__ = ["paper_probability", "robust_probability"]

_PAPER_NUMBER = re.compile(r"[-+]?\d*\.\d+|\d+")

_FINAL = re.compile(
    r"\bfinal[\s_*-]{1,4}(?:prediction|answer|forecast|estimate|probability)(?:[\s_](?:probability|estimate))?\b",
    re.IGNORECASE,
)
_COMMITS = re.compile(
    r"[\s\"'*_`]{0,6}(?:\([^()\n]{0,80}\)[\s\"'*_`]{0,6})?(?:[:;=≈|-]|(?:is|was|of|at|(?:would|will)\s(?:be|stay))\b)"
    r"|(?:,[^,.:;\n]{1,100},|\s(?:for|after|on|about|regarding)\s(?:(?!EPS|earnings|surprise|whose)[^,.:;\n]){1,100}?)\s(?:is|(?:would|will)\sbe)\b"
    r"|[ \t*_`]{0,6}\n",
    re.IGNORECASE,
)
_IS_MY = re.compile(r"[\s\"'*_]{1,4}(?:is|as|=)\s(?:my|the|a)\s", re.IGNORECASE)
_NO_WORDS = re.compile(r"[\s\"'*_`|]*")
_VERDICT = re.compile(
    r"\b(?:yes|up|rise|increase|positive|bullish|no|down|fall|decline|decrease|negative|bearish|unlikely)\b"
    r"(?!\s(?:from|by|my|the|this|that|it)\b)",
    re.IGNORECASE,
)
_REFUSED = re.compile(
    r"\b(?:can(?:no|['’])t|cannot|unable|impossible|n/a|unknown|insufficient|(?:do\snot|don['’]t)\sknow|none"
    r"|not\s(?:able|possible|enough|sufficient|applicable|available)|declin\w{1,3}\sto|refus\w{1,3})\b",
    re.IGNORECASE,
)
_TURN = re.compile(
    r"<\|[a-z_]{1,20}\|>|\[/?INST\]"
    r"|\n[\s*#_>]{0,6}(?:question|user|human|instructions?|problem|exercise|example|response|assistant|input|output)(?:\s(?:\d{1,3}|background))?[*_]{0,2}\s?:",
    re.IGNORECASE,
)
_SMALL_PERCENT = re.compile(r"(0?\.\d{1,20})\s?%")
_SUMS_UP = re.compile(
    r"\W{0,4}(?:(?:taking|considering|weighing|given)\s(?:all|everything|both|this)|all\s(?:in\sall|told|things)|overall|on\sbalance"
    r"|in\s(?:sum|summary|conclusion))\b[^,.:;\d\n]{0,60}[,:]",
    re.IGNORECASE,
)
_PARAGRAPH = re.compile(r"\n[ \t]*\n")
_REGION = 600
"""Characters behind a marker in which its number may stand."""
_EDGE = 10_000
"""Characters read on either end of a response: far more than any answer takes."""
_IN_NUMBERS = "0123456789.,/%"
_MARKERS = 20
"""Markers looked at, from the last one backwards."""


def paper_probability(text: str) -> float | None:
    """Read a forecast as the authors of DynoStock do.

    Of the last two numbers anywhere in the response the last one within [0, 1] counts, whatever it is about; a sign
    belongs to numbers with a decimal point only, and `65%` is 65.

    Args:
        text: The whole response.

    Returns:
        The probability, or None where neither number lies within [0, 1].

    References:
        `mydcxiao/vlm_behavioral_fin`, whose recorded counts this gives back.

    Example:
        >>> paper_probability("Final prediction: 0.8 (an 80% chance)"), paper_probability("65%, which is likely")
        (0.8, None)
    """
    last_two = _PAPER_NUMBER.findall(text)[-2:]
    return next((value for value in map(float, reversed(last_two)) if 0.0 <= value <= 1.0), None)


def robust_probability(text: str) -> float | None:
    r"""Read a forecast as a careful reader would.

    The first of these that holds a number: what follows the last `Final prediction` (or the like) that is followed by
    one; the last box; a last or first line that is nothing but the number; the last sentence that states a
    probability. What a model thinks aloud, made-up further turns, dates, the scale (`between 0 and 1`), bounds
    (`less than 50%`), prior probabilities and terms of an equation do not count. A probability of the price going down
    is turned round. A range stands for its midpoint. Where the last `Final prediction` is a refusal or a number outside
    [0, 1], there is no answer, whatever stands before it.

    Args:
        text: The whole response.

    Returns:
        The probability, or None where none is stated.

    Example:
        >>> robust_probability("Final prediction: **65%**\n\nReported on 2019-01-31.")
        0.65
        >>> robust_probability("There is a 0.7 probability of it going down.")
        0.3
        >>> robust_probability("Final prediction: {{ Insert a number between 0 and 1 }}") is None
        True
    """
    reply = _edges(strip_reasoning(text))
    said = plain_forecast(reply)
    shares = find_shares(said)
    markers = list(_FINAL.finditer(said))
    said = said[: _end_of_turn(said, shares, markers)]
    for marker in reversed([m for m in markers if m.end() <= len(said)][-_MARKERS:]):
        share, settled = _behind(said, shares, marker)
        if settled:
            return share
    return _without_marker(reply, said)


def _without_marker(reply: str, said: str) -> float | None:
    box = boxed(reply)
    if box is not None and (value := _alone(plain_forecast(box))) is not None:
        return value
    for line, inward in standing_lines(said):
        value = _alone(line)
        if value is not None and _alone(inward) in (None, value):
            return value
    return stated_probability(said)


def _edges(reply: str) -> str:
    """Head and tail of a response that is too long to be read as a whole."""
    if len(reply) <= 2 * _EDGE:
        return reply
    # Without the number that may be cut in two.
    return f"{reply[:_EDGE].rstrip(_IN_NUMBERS)}\n\n{reply[-_EDGE:].lstrip(_IN_NUMBERS)}"


def _behind(said: str, shares: Sequence[Share], marker: re.Match[str]) -> tuple[float | None, bool]:
    """What a marker is followed by, and whether that settles the answer."""
    place = _head(said, shares, marker)
    if place is not None:
        return (_meant(said, marker.start(), shares, place) if shares[place].is_probability else None), True
    commits = _COMMITS.match(said, marker.end())
    if commits is None:
        before = _before(said, shares, marker)
        return before, before is not None
    region = said[commits.end() : commits.end() + _REGION].lstrip()
    paragraph = _PARAGRAPH.split(region, maxsplit=1)[0]
    value = stated_probability(paragraph, first=True)
    if value is not None or _REFUSED.search(paragraph[:200]):
        return value, True
    value = committed_number(paragraph)
    return value, value is not None


def _before(said: str, shares: Sequence[Share], marker: re.Match[str]) -> float | None:
    """The number of `0.65 is my final prediction`."""
    place = bisect_left(shares, marker.start(), key=lambda share: share.start) - 1
    if place < 0 or not _IS_MY.fullmatch(said, shares[place].end, marker.start()):
        return None
    return shares[place].value if shares[place].is_probability else None


def _head(said: str, shares: Sequence[Share], marker: re.Match[str]) -> int | None:
    """The place of the number right behind a marker, with at most words between that say that it follows."""
    place = bisect_left(shares, marker.end(), key=lambda share: share.start)
    if place == len(shares) or shares[place].start - marker.end() > _REGION:
        return None
    share = shares[place]
    if is_term(said, share):
        return None
    commits = _COMMITS.match(said, marker.end(), share.start + 1)
    if commits is None or commits.end() > share.start:
        return place if _NO_WORDS.fullmatch(said, marker.end(), share.start) else None
    between = _VERDICT.sub(" ", said[commits.end() : share.start])
    return place if is_link(between) else None


def _meant(said: str, begin: int, shares: Sequence[Share], place: int) -> float:
    """Turn a number round that is about the other side: `0.7 probability of a fall`, `Down (0.7)`, `0.7 (down)`.

    Small models put a percent sign behind fractions: `0.76%` is 0.76 where the text before says 0.76 without one.
    """
    share = shares[place]
    written = _SMALL_PERCENT.fullmatch(said, share.start, share.end)
    if written and re.search(rf"(?<![\d.]){re.escape(written[1])}(?![\d.]|\s?%)", said[:begin]):
        share = replace(share, value=float(written[1]))
    both = of_two_sides(said, share, shares[place + 1]) if place + 1 < len(shares) else None
    return both if both is not None else of_up(said, begin, share)


def _alone(line: str) -> float | None:
    """The number of a line that holds nothing else but a verdict, or the same number in percent."""
    if len(line) > 120 or line.lstrip().startswith(("=", "≈")):
        return None
    line = _SUMS_UP.sub("", line, count=1)
    shares = find_shares(line)
    if len({share.value for share in shares}) != 1 or not shares[0].is_probability or is_term(line, shares[0]):
        return None
    verdict = _VERDICT.match(line)
    before = line[verdict.end() if verdict else 0 : shares[0].start]
    starts = [*(share.start for share in shares[1:]), len(line)]
    behind = "".join(line[share.end : start] for share, start in zip(shares, starts, strict=True))
    nothing_else = is_link(before) and not any(map(str.isalnum, _VERDICT.sub("", behind)))
    return _meant(line, 0, shares, 0) if nothing_else else None


def _end_of_turn(said: str, shares: Sequence[Share], markers: Sequence[re.Match[str]]) -> int:
    """Where the reply ends: after an answer models go on with a question or a turn they make up."""
    answered = next(
        (m for m in markers if (place := _head(said, shares, m)) is not None and shares[place].is_probability), None
    )
    turn = _TURN.search(said, answered.end()) if answered else None
    return turn.start() if turn else len(said)
