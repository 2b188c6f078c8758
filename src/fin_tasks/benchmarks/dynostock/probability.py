"""Read the probability that a price rises, as a forecast states it, as a fraction of 1."""

import re
from typing import NamedTuple

from fin_tasks.answers.notation import plain
from fin_tasks.answers.reasoning import strip_reasoning

_EDGE = 6_000
"""Of a longer reply only this many characters at each end are read."""
_LAST_FINALS = 20
"""So many of the last `Final prediction` are looked at."""
_LAST_STATEMENTS = 40
"""So many of the last statements of a probability are looked at."""
_DECIMALS = 12
"""1 - 0.7 is 0.3, and not 0.30000000000000004."""

# Words of finance and of reasoning. Most patterns are read without regard to case.
_UP = (
    r"go(?:es|ing)?\sup|increas\w{0,3}|ris(?:es?|ing)|climb\w{0,3}"
    r"|higher|upwards?|positive|bullish|yes|up"
)
_DOWN = (
    r"go(?:es|ing)?\sdown|decreas\w*|declin\w*|fall(?:s|ing)?|drop\w*"
    r"|lower(?!\sit)|downwards?|negative|bearish|no|down"
)
_CHANCE = (
    r"\b(?:probability|chances?|likelihood|odds|confiden(?:ce|t)|sure)\b"
    r"(?!\s(?:level|interval|weights?))"
)

# A decimal, a percentage or a fraction.
_NUMBER = (
    r"(?<![\w.,/¤-])(?:\d{1,9}(?:[.,]\d{1,30})?|\.\d{1,30})"
    r"(?:(?:\s?/\s?|\sout\sof\s|\sin\s)\d{1,4}(?:\.0)?)?"
    r"(?:\s?(?:%|per\s?cent\b))?"
    # It is no part of a word, a date, a range, a difference, a sum, a ratio, a power or a product,
    # and no calculation is cut off behind it.
    r"(?![\w%]"
    r"|[.,/:-]\d"
    r"|\s?(?:-|to|or)\s?\.?\d"
    r"|\s-\s(?:\w{1,9}\)|P\s?\()"
    r"|\)?\s?[+/^](?!\s?(?:up|down)\b)\s?[\w(]"
    r"|\)?(?:\s[*x](?:[\s\d(]|\Z)|[*x][\d(])"
    r"|\s?[+/^]\s?\Z)"
)
# A sign or a word that may stand between `Final prediction` and its number.
_LINK = (
    r"(?:[\s:;=≈~+|\"'(\[,.*¤-]"
    r"|\b(?:is|was|are|be|of|at|to|as|an?|the|that|it|would|will|my|I|say|about|approx\w{0,8}"
    r"|around|roughly|nearly|only|therefore|probability|chance|likely|unlikely|not|with|p|high|low"
    rf"|{_UP}|{_DOWN})\b)"
)

# Each pattern is replaced by the text behind it, in this order.
_REWRITES = (
    # Arrows announce as a colon does.
    (r"[-=]>|[→⇒➔]", ":"),
    # <0.7> and $0.7$.
    (r"<\s?([\d.,%]{1,12})\s?>|¤([\d.,]{1,12}%?)¤", r"\1\2"),
    (r"(?<=[A-Za-z])_(?=[A-Za-z])", " "),
    (r"(?<![\d.,])50\s?[/:-]\s?50(?![\d.,]\d|\s?%)", "50%"),
    # "between 0 and 1" repeats the question.
    (
        r"\b0(?:\.0)?\s?%?\s?(?:and|to|-|,)\s?(?:1(?:\.0)?|100\s?%)(?![\d%]|[.,/]\d)",
        "scale",
    ),
    # "0.7 (70%)" states one number twice.
    (r"(?<=\d)(?:\s?(?:/|\bor\b)\s?\d[\d.]{0,12}\s?%|\s?\(\d[\d.]{0,12}\s?%\))", ""),
    (r":[ \t]{0,4}\n\s{0,8}", ": "),
    # The reply is cut off within brackets.
    (r"\([^()\n]{0,60}\Z", ""),
    # Of a calculation only the result stays.
    (r"\(?(?<![\w.,])\d[\d\s().,+*/^x%-]{0,80}[=≈]\s?(?=\.?\d)", ""),
    # "0.3 down, 0.7 up" is the probability of a rise.
    (
        rf"(?:{_NUMBER})\s(?:down|bearish)\W{{1,6}}(?=(?:{_NUMBER})\s(?:up|bullish)\b)",
        "",
    ),
)

_FINAL = re.compile(
    r"(?i)\bfinal[\s-]{1,4}(?:prediction|answer|forecast|estimate|probability)\b"
)
# The number that follows at once.
_DIRECT = re.compile(
    rf"(?i)\s{{0,9}}(?:\([^()\n]{{0,80}}\))?{_LINK}{{0,24}}(?P<number>{_NUMBER})"
)
# A sentence that ends with its number.
_ENDS = re.compile(
    rf"(?i)[^\n]{{0,300}}(?:[:=,]|(?<![\d%]\s)\b(?:so|to|say))\s(?P<number>{_NUMBER})[^\w\n]*"
)
# "a 70% chance", "the probability is 0.7", "P(up) = 0.7", "I predict 0.7".
_STATED = re.compile(
    rf"(?im)(?P<behind>{_NUMBER})(?:[ \"'\]-]{{1,3}}(?:\w{{1,20}}\s){{0,2}}?{_CHANCE}"
    r"|\W{1,4}is\smy\s(?:final\s)?(?:prediction|answer|forecast))"
    r"|(?P<other>\b(?:prior|initial|histor\w{1,5}|base\w{0,4}|margin|previous|past|conditional)"
    r"\s(?:\w{1,12}\s)?)?"
    rf"(?:{_CHANCE}|\b(?:my|the|our)\s(?:\w{{1,20}}\s)?(?:prediction|forecast|answer)"
    r"|my\sestimate|^\W{0,4}(?:prediction|forecast|answer)\b"
    r"|\bP\s?\((?:yes|up|increase|rise|positive(?!\sEPS)[^()]{0,40})\)"
    r"|\bI(?:['’](?:d|ll)|\swill|\swould)?\s(?=go|answer|say|choose|predict))"
    r"(?P<gap>[^.!?\n;|]{0,240}?)"
    r"(?:[:=≈(,\"]|\b(?:is|are|of|at|to|as|be|an?|with|answer|say|choose|predict)\b"
    r"|(?<=probability)|(?<=confidence))"
    rf"{_LINK}{{0,9}}(?!0\Z)(?P<number>{_NUMBER})"
)
# A number behind these words is one of earnings.
_EARNINGS = re.compile(
    r"(?i)\b(?:positive|negative|of\san?)\s(?:EPS|earnings|surprise)"
    r"|\b(?:EPS|earnings|surprise)\s(?!report|meet|miss)[^,]{0,30}\Z"
)
_REFUSED = re.compile(
    r"(?i)\b(?:can['’]t|cannot|unable|impossible|n/a|unknown|not\s(?:able|possible|enough))\b"
)
# A small model goes on with a question of its own.
_TURN = re.compile(
    r"(?i)<\|[a-z_]{1,20}\|>|\[/?INST\]"
    r"|\n\W{0,6}(?:question|user|human|instruction|example|response|assistant)\W{0,3}:"
)

_SIDE = re.compile(
    r"(?i)(?P<denied>(?:\bnot|n['’]t|\bno|\bunlikely)\s(?:\w{1,12}\s){0,2})?"
    rf"\b(?:{_UP}|(?P<down>{_DOWN}))\b"
)
_SIDE_BEHIND = re.compile(
    rf"(?i)[\s\"')]{{0,3}}(?:(?:\w+\s){{0,2}}{_CHANCE}|(?:that|for|to\san?)\b)(?P<event>.*)"
)
_SIDE_BEFORE = re.compile(rf"(?is).*{_CHANCE}(?P<event>.*)")
# Words by which a forecast as a whole is one of a fall.
_FALL = re.compile(
    rf"(?i)\b(?:will|would|to|should|might|may|could|likely)\s(?P<denied>not\s)?(?:{_DOWN})\b"
)
_VERDICT = re.compile(
    rf"(?i)[\s(\[,:\"*-]{{0,4}}(?P<denied>not\s|unlikely to\s)?(?:{_DOWN})\b"
    r"(?=\s?(?:[,;:./|)(\]\"'*]|with|at|\n|\Z))"
)


class _Forecast(NamedTuple):
    """What a passage commits to; None if it refuses, or if its number is no probability."""

    probability: float | None


def robust_probability(response: str) -> float | None:
    """Read the probability that a careful reader takes a response to state; None if there is none or a range."""
    reply = _tidy(_ends_of(strip_reasoning(response).strip()))
    finals = list(_FINAL.finditer(reply))
    reply = _without_further_turns(reply, finals)
    finals = [final for final in finals if final.end() <= len(reply)]
    for final in reversed(finals[-_LAST_FINALS:]):
        forecast = _forecast_behind(reply, final.end())
        if forecast is not None:
            return forecast.probability
    forecast = _forecast_line(reply)
    if forecast is not None:
        return forecast.probability
    return _last_stated(reply)


def _ends_of(reply: str) -> str:
    """Return both ends of a long reply, cut between words."""
    if len(reply) <= 2 * _EDGE:
        return reply
    first = reply[:_EDGE].rsplit(maxsplit=1)[0]
    last = re.split(r"\s", reply[-_EDGE:], maxsplit=1)[-1]
    return f"{first}\n\n{last}"


def _tidy(text: str) -> str:
    text = plain(text.replace("\\*", "*"))
    for pattern, replacement in _REWRITES:
        text = re.sub(pattern, replacement, text)
    return text.strip()


def _without_further_turns(reply: str, finals: list[re.Match[str]]) -> str:
    """Cut off what follows the first answer, if it begins with a question of the model's own."""
    for final in finals:
        if _DIRECT.match(reply, final.end()):
            turn = _TURN.search(reply, final.end())
            return reply[: turn.start()] if turn else reply
    return reply


def _forecast_behind(reply: str, position: int) -> _Forecast | None:
    """Return the forecast behind `Final prediction`, which ends at the position; None if there is none."""
    direct = _DIRECT.match(reply, position)
    if direct:
        return _Forecast(_rise(reply, position, direct.span("number")))
    paragraph = reply[position:].lstrip(" :*=\n").split("\n\n", 1)[0][:600]
    if _REFUSED.search(paragraph[:200]):
        return _Forecast(None)
    stated = _last_stated(paragraph)
    if stated is not None:
        return _Forecast(stated)
    end = _ENDS.fullmatch(paragraph)
    if end:
        return _Forecast(_rise(paragraph, 0, end.span("number")))
    return None


def _forecast_line(reply: str) -> _Forecast | None:
    """Return the forecast of the last line, else of the first, if it says nothing but a number."""
    lines = [line for line in reply.split("\n") if re.search(r"\w", line)]
    for line in lines[-1:] + lines[:1]:
        direct = _DIRECT.match(line)
        if direct is None or line[0] == "=":
            continue
        rest = _SIDE.sub("", line[direct.end() :])
        if not re.search(r"\w", rest):
            return _Forecast(_rise(line, 0, direct.span("number")))
    return None


def _last_stated(text: str) -> float | None:
    """Return the last probability that a sentence states."""
    for match in reversed(list(_STATED.finditer(text))[-_LAST_STATEMENTS:]):
        if match["other"] or _EARNINGS.search(match["gap"] or ""):
            continue
        line_start = text.rfind("\n", 0, match.start())
        sentence_start = text.rfind(". ", 0, match.start())
        number = match.span("number" if match["number"] else "behind")
        probability = _rise(text, max(line_start, sentence_start) + 1, number)
        if probability is not None:
            return probability
    return None


def _rise(
    text: str,
    start: int,
    number: tuple[int, int],
) -> float | None:
    """Return the probability of a rise, as the words beside a number may say that it is one of a fall.

    Args:
        text: The whole text.
        start: Where the sentence of the number begins.
        number: Start and end of the number.
    """
    number_start, number_end = number
    value = _fraction(text[number_start:number_end], text[:start])
    if not 0 <= value <= 1:
        return None
    before = text[start:number_start]
    behind = text[number_end:][:100].split("\n", 1)[0]
    event = _SIDE_BEHIND.match(behind)
    side = _side_of(event["event"]) if event else None
    if side is None:
        event = _SIDE_BEFORE.match(before)
        side = _side_of(event["event"]) if event else None
        if side == "down" and before.rstrip(" (").endswith("="):
            # The calculation goes on with this number.
            return None
    if side == "up":
        return value
    if side == "down":
        return round(1 - value, _DECIMALS)
    if "confidence" in before:
        before = text[max(0, start - 250) : number_start]
    if _is_fall(before, behind):
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


def _side_of(text: str) -> str | None:
    """Return `up` or `down`, by the first word that says so."""
    side = _SIDE.search(text)
    if side is None:
        return None
    is_down = side["down"] is not None
    is_denied = side["denied"] is not None
    return "down" if is_down != is_denied else "up"


def _is_fall(before: str, behind: str) -> bool:
    """Return whether the words on both sides of a number call the forecast one of a fall."""
    verdict = _VERDICT.match(behind) or _VERDICT.match(before) or _FALL.search(before)
    return verdict is not None and not verdict["denied"]
