"""Read the probability that a price rises, as a forecast states it, as a fraction of 1."""

import re

from fin_tasks.answers.notation import plain
from fin_tasks.answers.reasoning import strip_reasoning

_EDGE = 6_000  # Of a longer reply only the two ends are read.

_UP = r"go(?:es|ing)?\sup|increas\w{0,3}|ris(?:es?|ing)|climb\w{0,3}|higher|upwards?|positive|bullish|yes|up"
_DOWN = (
    r"go(?:es|ing)?\sdown|decreas\w*|declin\w*|fall(?:s|ing)?|drop\w*|lower(?!\sit)|downwards?"
    r"|negative|bearish|no|down"
)
_CHANCE = r"\b(?:probability|chances?|likelihood|odds|confiden(?:ce|t)|sure)\b(?!\s(?:level|interval|weights?))"
_NUMBER = (  # A decimal, percentage or fraction that is not part of a date, a price, a range or a calculation.
    r"(?<![\w.,/¤-])(?:\d{1,9}(?:[.,]\d{1,30})?|\.\d{1,30})"
    r"(?:(?:\s?/\s?|\sout\sof\s|\sin\s)\d{1,4}(?:\.0)?)?(?:\s?(?:%|per\s?cent\b))?"
    r"(?![\w%]|[.,/:-]\d|\s?(?:-|to|or)\s?\.?\d|\s-\s(?:\w{1,9}\)|P\s?\()|\)?\s?[+/^](?!\s?(?:up|down)\b)\s?[\w(]"
    r"|\)?(?:\s[*x](?:[\s\d(]|\Z)|[*x][\d(])|\s?[+/^]\s?\Z)"
)
_LINK = (  # Words that may stand between `Final prediction` and its number.
    r"(?:[\s:;=≈~+|\"'(\[,.*¤-]|\b(?:is|was|are|be|of|at|to|as|an?|the|that|it|would|will|my|I|say|about|approx\w{0,8}"
    rf"|around|roughly|nearly|only|therefore|probability|chance|likely|unlikely|not|with|p|high|low|{_UP}|{_DOWN})\b)"
)
_REWRITES = (
    (r"[-=]>|[→⇒➔]", ":"),
    (r"<\s?([\d.,%]{1,12})\s?>|¤([\d.,]{1,12}%?)¤", r"\1\2"),
    (r"(?<=[A-Za-z])_(?=[A-Za-z])", " "),
    (r"(?<![\d.,])50\s?[/:-]\s?50(?![\d.,]\d|\s?%)", "50%"),
    (r"\b0(?:\.0)?\s?%?\s?(?:and|to|-|,)\s?(?:1(?:\.0)?|100\s?%)(?![\d%]|[.,/]\d)", "scale"),
    (
        r"(?<=\d)(?:\s?(?:/|\bor\b)\s?\d[\d.]{0,12}\s?%|\s?\(\d[\d.]{0,12}\s?%\))",
        "",
    ),  # repeated as a percentage
    (r":[ \t]{0,4}\n\s{0,8}", ": "),
    (r"\([^()\n]{0,60}\Z", ""),  # cut off within brackets
    (
        r"\(?(?<![\w.,])\d[\d\s().,+*/^x%-]{0,80}[=≈]\s?(?=\.?\d)",
        "",
    ),  # a calculation, but not its result
    (rf"(?:{_NUMBER})\s(?:down|bearish)\W{{1,6}}(?=(?:{_NUMBER})\s(?:up|bullish)\b)", ""),
)
_SIDE = re.compile(
    rf"(?i)(?P<denied>(?:\bnot|n['’]t|\bno|\bunlikely)\s(?:\w{{1,12}}\s){{0,2}})?\b(?:{_UP}|(?P<down>{_DOWN}))\b"
)
_FALL = re.compile(
    rf"(?i)\b(?:will|would|to|should|might|may|could|likely)\s(?P<denied>not\s)?(?:{_DOWN})\b"
)
_VERDICT = re.compile(
    rf"(?i)[\s(\[,:\"*-]{{0,4}}(?P<denied>not\s|unlikely to\s)?(?:{_DOWN})\b(?=\s?(?:[,;:./|)(\]\"'*]|with|at|\n|\Z))"
)
_FINAL = re.compile(r"(?i)\bfinal[\s-]{1,4}(?:prediction|answer|forecast|estimate|probability)\b")
_DIRECT = re.compile(rf"(?i)\s{{0,9}}(?:\([^()\n]{{0,80}}\))?{_LINK}{{0,24}}(?P<number>{_NUMBER})")
_ENDS = re.compile(
    rf"(?i)[^\n]{{0,300}}(?:[:=,]|(?<![\d%]\s)\b(?:so|to|say))\s(?P<number>{_NUMBER})[^\w\n]*"
)
_STATED = re.compile(
    rf"(?im)(?P<behind>{_NUMBER})(?:[ \"'\]-]{{1,3}}(?:\w{{1,20}}\s){{0,2}}?{_CHANCE}"
    r"|\W{1,4}is\smy\s(?:final\s)?(?:prediction|answer|forecast))"
    r"|(?P<other>\b(?:prior|initial|histor\w{1,5}|base\w{0,4}|margin|previous|past|conditional)\s(?:\w{1,12}\s)?)?"
    rf"(?:{_CHANCE}|\b(?:my|the|our)\s(?:\w{{1,20}}\s)?(?:prediction|forecast|answer)|my\sestimate"
    r"|^\W{0,4}(?:prediction|forecast|answer)\b|\bP\s?\((?:yes|up|increase|rise|positive(?!\sEPS)[^()]{0,40})\)"
    r"|\bI(?:['’](?:d|ll)|\swill|\swould)?\s(?=go|answer|say|choose|predict))(?P<gap>[^.!?\n;|]{0,240}?)"
    r"(?:[:=≈(,\"]|\b(?:is|are|of|at|to|as|be|an?|with|answer|say|choose|predict)\b|(?<=probability)|(?<=confidence))"
    rf"{_LINK}{{0,9}}(?!0\Z)(?P<number>{_NUMBER})"
)
_FIGURE = re.compile(
    r"(?i)\b(?:positive|negative|of\san?)\s(?:EPS|earnings|surprise)"
    r"|\b(?:EPS|earnings|surprise)\s(?!report|meet|miss)[^,]{0,30}\Z"
)
_REFUSED = re.compile(
    r"(?i)\b(?:can['’]t|cannot|unable|impossible|n/a|unknown|not\s(?:able|possible|enough))\b"
)
_TURN = re.compile(
    r"(?i)<\|[a-z_]{1,20}\|>|\[/?INST\]|\n\W{0,6}(?:question|user|human|instruction|example|response|assistant)\W{0,3}:"
)


def paper_probability(response: str) -> float | None:
    """Read a probability as the authors do: the last number within [0, 1] among the last two unsigned numbers."""
    last_two = [float(number) for number in re.findall(r"\d+\.\d*|\d+|\.\d+", response)[-2:]]
    return next((value for value in reversed(last_two) if 0 <= value <= 1), None)


def robust_probability(response: str) -> float | None:
    """Read the probability that a careful reader takes a response to state; None if it states none or a range."""
    reply = strip_reasoning(response).strip()
    if len(reply) > 2 * _EDGE:
        reply = (
            reply[:_EDGE].rsplit(maxsplit=1)[0]
            + "\n\n"
            + re.split(r"\s", reply[-_EDGE:], maxsplit=1)[-1]
        )
    said = _tidy(reply)
    finals = list(_FINAL.finditer(said))
    answered = next(
        (final.end() for final in finals if _DIRECT.match(said, final.end())), len(said)
    )
    if turn := _TURN.search(said, answered):
        said = said[: turn.start()]  # The model goes on with a question of its own.
    for final in reversed([final for final in finals if final.end() <= len(said)][-20:]):
        if number := _DIRECT.match(said, final.end()):
            return _up(said, final.end(), number, "number")
        paragraph = said[final.end() :].lstrip(" :*=\n").split("\n\n", 1)[0][:600]
        if _REFUSED.search(paragraph[:200]):
            return None
        if (value := _last_stated(paragraph)) is not None:
            return value
        if number := _ENDS.fullmatch(paragraph):
            return _up(paragraph, 0, number, "number")
    lines = [line for line in said.split("\n") if re.search(r"\w", line)]
    for line in lines[-1:] + lines[:1]:
        number = _DIRECT.match(line)
        if number and line[0] != "=" and not re.search(r"\w", _SIDE.sub("", line[number.end() :])):
            return _up(line, 0, number, "number")
    return _last_stated(said)


def _tidy(text: str) -> str:
    text = plain(text.replace("\\*", "*"))
    for pattern, replacement in _REWRITES:
        text = re.sub(pattern, replacement, text)
    return text.strip()


def _last_stated(text: str) -> float | None:
    for match in reversed(list(_STATED.finditer(text))[-40:]):
        start = max(text.rfind(mark, 0, match.start()) for mark in (". ", "\n")) + 1
        if not match["other"] and not _FIGURE.search(match["gap"] or ""):
            value = _up(text, start, match, "number" if match["number"] else "behind")
            if value is not None:
                return value
    return None


def _up(text: str, start: int, match: re.Match[str], group: str) -> float | None:
    # Return the probability of a rise; the words beside the number say whether it is that of a fall.
    digits = re.findall(r"[\d.]+", match[group].replace(",", "."))
    value, percent = float(digits[0]), re.search(r"(?i)%|cent", match[group])
    # Small models put a percent sign behind the fraction that they stated before: 0.7, then 0.7%.
    if percent and not (
        value < 1 and re.search(rf"(?<![\d.]){re.escape(digits[0])}(?![\d.]|\s?%)", text[:start])
    ):
        value = float(f"{digits[0]}e-2")
    if len(digits) > 1:
        value /= float(digits[1]) or -1.0
    if not 0 <= value <= 1:
        return None
    before, behind = (
        text[start : match.start(group)],
        text[match.end(group) :][:100].split("\n", 1)[0],
    )
    said_of = re.match(
        rf"(?i)[\s\"')]{{0,3}}(?:(?:\w+\s){{0,2}}{_CHANCE}|(?:that|for|to\san?)\b)(.*)", behind
    )
    side = _side(said_of[1]) if said_of else None
    if side is None and (chance := re.match(rf"(?is).*{_CHANCE}", before)):
        side = _side(before[chance.end() :])
        if side == "down" and before.rstrip(" (").endswith("="):
            return None  # The calculation goes on with this number.
    if side is not None:
        return round(1 - value, 12) if side == "down" else value
    if "confidence" in before:
        before = text[max(0, start - 250) : match.start(group)]
    verdict = _VERDICT.match(behind) or _VERDICT.match(before) or _FALL.search(before)
    return min(value, round(1 - value, 12)) if verdict and not verdict["denied"] else value


def _side(text: str) -> str | None:
    found = _SIDE.search(text)
    return (
        None if found is None else "down" if bool(found["down"]) != bool(found["denied"]) else "up"
    )
