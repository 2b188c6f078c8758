"""Read the probability of a rise that a forecast states: as the authors do (`paper`), or with care (`robust`)."""

import re

from fin_tasks.answers.phrases import Phrases
from fin_tasks.answers.text import plain, split_reasoning

_EDGE = 6_000
"""Characters at each end of a longer reply that are read."""
_LAST_FINALS = 20
"""Number of the last mentions of `Final prediction` that are looked at."""
_LAST_STATEMENTS = 40
"""Number of the last statements of a probability that are looked at."""
_DECIMALS = 12
"""To which 1 - 0.7 is rounded, which would be 0.30000000000000004."""

_UNSIGNED_NUMBER = re.compile(r"\d+\.\d*|\d+|\.\d+")
_PHRASES = Phrases("probability")
_REWRITES = [
    (_PHRASES.pattern(pattern), text) for pattern, text in _PHRASES.sources["rewrites"]
]


def paper_probability(response: str) -> float | None:
    """Read the last number within [0, 1] among the last two numbers, whose signs do not count."""
    last_two = _UNSIGNED_NUMBER.findall(response)[-2:]
    for text in reversed(last_two):
        number = float(text)
        if 0 <= number <= 1:
            return number
    return None


def robust_probability(response: str) -> float | None:
    """Read the probability that a response states for a careful reader; None if it states none, or a range.

    The surest places come first: what follows the last `Final prediction`, a last or first line that is only a number,
    the last sentence with a probability. A refusal, and a number that is no probability, end the search.
    """
    reply = _first_answer(response)
    finals = list(_PHRASES.final.finditer(reply))
    for final in reversed(finals[-_LAST_FINALS:]):
        direct = _PHRASES.direct.match(reply, final.end())
        if direct:
            return _rise(direct, final.end())
        paragraph = reply[final.end() :].lstrip(" :*=\n").split("\n\n", 1)[0][:600]
        if _PHRASES.refused.search(paragraph[:200]):
            return None
        stated = _last_stated(paragraph)
        if stated is not None:
            return stated
        end = _PHRASES.ends.fullmatch(paragraph)
        if end:
            return _rise(end, 0)
    lines = [line for line in reply.split("\n") if re.search(r"\w", line)]
    for line in lines[-1:] + lines[:1]:
        direct = _PHRASES.direct.match(line)
        if direct and line[0] != "=":
            rest = _PHRASES.side.sub("", line[direct.end() :])
            if not re.search(r"\w", rest):
                return _rise(direct, 0)
    return _last_stated(reply)


def _first_answer(response: str) -> str:
    """Return the reply as plain text: both ends of a long one, until the model asks itself a further question."""
    reply = split_reasoning(response).text.strip()
    if len(reply) > 2 * _EDGE:
        # Both cuts fall between words.
        first = reply[:_EDGE].rsplit(maxsplit=1)[0]
        last = re.split(r"\s", reply[-_EDGE:], maxsplit=1)[-1]
        reply = f"{first}\n\n{last}"
    reply = plain(reply.replace("\\*", "*"))
    for pattern, replacement in _REWRITES:
        reply = pattern.sub(replacement, reply)
    reply = reply.strip()
    for final in _PHRASES.final.finditer(reply):
        if _PHRASES.direct.match(reply, final.end()):
            turn = _PHRASES.turn.search(reply, final.end())
            return reply[: turn.start()] if turn else reply
    return reply


def _last_stated(text: str) -> float | None:
    """Return the last probability that a sentence states."""
    for match in reversed(list(_PHRASES.stated.finditer(text))[-_LAST_STATEMENTS:]):
        if match["other"] or _PHRASES.earnings.search(match["gap"] or ""):
            continue
        line_start = text.rfind("\n", 0, match.start())
        sentence_start = text.rfind(". ", 0, match.start())
        group = "number" if match["number"] else "behind"
        probability = _rise(match, max(line_start, sentence_start) + 1, group)
        if probability is not None:
            return probability
    return None


def _rise(
    match: re.Match[str],
    start: int,
    group: str = "number",
) -> float | None:
    """Return the probability of a rise by a number and the words beside it, which may speak of a fall.

    Args:
        match: Where the number was found.
        start: Where the sentence of the number begins.
        group: Name of the number in the match.
    """
    text = match.string
    value = _fraction(match[group], text[:start])
    if not 0 <= value <= 1:
        return None
    before = text[start : match.start(group)]
    behind = text[match.end(group) :][:100].split("\n", 1)[0]
    # The side that the words behind the number name counts first.
    places = ((_PHRASES.side_behind, behind), (_PHRASES.side_before, before))
    for pattern, words in places:
        event = pattern.match(words)
        side = _PHRASES.side.search(event["event"]) if event else None
        if side is None:
            continue
        is_denied = side["denied"] is not None
        if (side["down"] is None) != is_denied:
            return value
        if pattern is _PHRASES.side_before and before.rstrip(" (").endswith("="):
            # The calculation goes on with this number.
            return None
        return round(1 - value, _DECIMALS)
    if "confidence" in before:
        before = text[max(0, start - 250) : match.start(group)]
    # The words on both sides may call the forecast one of a fall.
    verdict = (
        _PHRASES.verdict.match(behind)
        or _PHRASES.verdict.match(before)
        or _PHRASES.fall.search(before)
    )
    if verdict and not verdict["denied"]:
        return min(value, round(1 - value, _DECIMALS))
    return value


def _fraction(number: str, text_before: str) -> float:
    """Return the value of a decimal, a percentage or a fraction; below 0 if it is divided by 0."""
    digits = re.findall(r"[\d.]+", number.replace(",", "."))
    value = float(digits[0])
    if re.search(r"(?i)%|cent", number):
        # A small model puts a percent sign behind the fraction that it stated before: 0.7, then 0.7%.
        stated_before = rf"(?<![\d.]){re.escape(digits[0])}(?![\d.]|\s?%)"
        if value >= 1 or not re.search(stated_before, text_before):
            value = float(f"{digits[0]}e-2")
    if len(digits) == 1:
        return value
    whole = float(digits[1])
    return value / whole if whole else -value
