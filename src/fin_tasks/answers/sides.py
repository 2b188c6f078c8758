"""Tell which side, up or down, a number is said to be the probability of."""

import re

from fin_tasks.answers.shares import Share

__all__ = ["PROBABILITY_BEHIND", "foretold", "of_two_sides", "of_up", "other_side", "side_of", "turned"]

_MOVES = r"(?:answer|outcome|stock|price|movement|move|response|reaction|result|return|change|direction|trend)"
_WHOSE = r"(?:(?!EPS|earnings|surprise)\w{1,20}\s)?"
_AGO = r"(?<!\brecent\s)(?<!\blast\s)(?<!\bpast\s)(?<!\bprevious\s)(?<!\bprior\s)"
_UP = (
    r"go(?:es|ing)?\sup|increas\w{0,3}|ris(?:es?|ing)|climb\w{0,3}|higher|upwards?"
    rf"|positive\s{_WHOSE}{_MOVES}|bullish|yes|up"
)
_DOWN = (
    rf"go(?:es|ing)?\sdown|decreas\w{{0,3}}|declin\w{{0,3}}|fall(?:s|ing)?|drop(?:s|ping)?|lower|downwards?"
    rf"|negative\s{_WHOSE}{_MOVES}|bearish|no|down"
)
_SIDE = re.compile(
    rf"(?P<denied>(?:\bnot|n['’]t|\bno)\s(?:\w{{1,12}}\s){{0,2}})?{_AGO}\b(?:(?P<up>{_UP})|(?P<down>{_DOWN}))\b(?!\sEPS)",
    re.IGNORECASE,
)
_WILL = re.compile(
    rf"(?<!\bunlikely\s)(?<!\bnot\slikely\s)\b(?:will|would|to|should|might|may|could|likely|expect\w{{0,3}})\s(?P<denied>not\s)?(?:\w{{1,12}}\s)?(?:(?P<up>{_UP})|(?P<down>{_DOWN}))\b(?!\s(?:it|my|this|that)\b)",
    re.IGNORECASE,
)
PROBABILITY_BEHIND = re.compile(
    r"[\s\"')\]-]{0,3}(?:(?!prior|histor|base|confidence\s(?:level|interval))\w{1,20}\s){0,2}?"
    r"(?:probability|chance|likelihood|odds|confiden(?:ce|t)(?!\s(?:level|interval)))\b",
    re.IGNORECASE,
)
_THAT = re.compile(r"\s(?:that|for)\b", re.IGNORECASE)
_LIKELIHOOD_OF = re.compile(r"\b(?:probability|chances?|likelihood|odds)(?=\s(?:of|that|for|up|down)\b)", re.IGNORECASE)
_NOT_A_CHANGE = r"(?!\s(?:from|by|my|the|this|that|it)\b)"
_VERDICT = re.compile(
    r"(?<!\bnot\s)(?<!\bnot\sto\s)(?<!\bunlikely\sto\s)\b(?:(?:down|(?:fall|decline|decrease|drop)s?|negative)"
    + _NOT_A_CHANGE
    + r"|bearish|no(?!\s[a-z])|no(?=\s(?:with|at)\b)"
    r"|unlikely(?!\sto)|not\s(?:up|likely(?!\sto)))\b",
    re.IGNORECASE,
)
_VERDICT_BEHIND = re.compile(
    r"[\s(\[,:-]{1,3}(?:down|bearish|decrease|decline|fall|no)\b(?=\s?(?:[,;./|)\]\"'*]|\n|\Z))", re.IGNORECASE
)


def of_up(text: str, start: int, share: Share) -> float:
    """Return the probability of up that a number stands for, from what is right beside it.

    Args:
        text: Plain text.
        start: Where what is said of the number begins.
        share: The number.

    Example:
        >>> from fin_tasks.answers.shares import find_shares
        >>> [of_up(text, 0, *find_shares(text)) for text in ("Down (0.7)", "0.7 (down)", "0.7 chance of a rise")]
        [0.3, 0.3, 0.7]
    """
    before = text[start : share.start]
    keyword = _LIKELIHOOD_OF.search(before)
    if _side_behind(text, share.end) == "down" or (keyword and side_of(before[keyword.end() :]) == "down"):
        return other_side(share.value)
    is_down = _VERDICT.search(before) or _VERDICT_BEHIND.match(text, share.end)
    return _beside_down(share.value) if is_down else share.value


def foretold(text: str, share: Share) -> float | None:
    """Return the probability of up that a number in running text stands for; None where its side is unclear.

    Example:
        >>> from fin_tasks.answers.shares import find_shares
        >>> texts = ("It will fall, I say 0.7", "Unlikely to fall, 0.7", "After the fall, 0.7")
        >>> [foretold(text, *find_shares(text)) for text in texts]
        [0.3, 0.7, None]
    """
    if _side_behind(text, share.end) == "down":
        return other_side(share.value)
    before = text[: share.start]
    if _VERDICT.match(before.lstrip("\"'*_( ")) or _VERDICT_BEHIND.match(text, share.end):
        return _beside_down(share.value)
    value = turned(share.value, None, before)
    # Down may be what is predicted, or what was.
    return value if value <= 0.5 or not _VERDICT.search(before) else None


def of_two_sides(text: str, first: Share, second: Share) -> float | None:
    """Return the number of up, of two that follow each other, add up to one and are said of either side.

    Example:
        >>> from fin_tasks.answers.shares import find_shares
        >>> text = "70% down, 30% up"
        >>> of_two_sides(text, *find_shares(text))
        0.3
    """
    if abs(first.value + second.value - 1.0) > 0.011 or second.start - first.end > 80:
        return None
    before = re.split(r"[\d\n]", text[max(0, first.start - 40) : first.start])[-1]
    behind = re.split(r"[\d\n]", text[second.end : second.end + 40])[0]
    between = text[first.end : second.start]
    for sides in ((side_of(before), side_of(between)), (side_of(between), side_of(behind))):
        if set(sides) == {"up", "down"}:
            return (first if sides[0] == "up" else second).value
    return None


def other_side(value: float) -> float:
    """Return the probability of the other side, without the noise of binary fractions."""
    return round(1.0 - value, 12)


def turned(value: float, side: str | None, context: str) -> float:
    """Return the probability of up, of a number said of a side, or of none in a context that may predict one."""
    if side is not None:
        return other_side(value) if side == "down" else value
    predicted = list(_WILL.finditer(context))
    if predicted and (predicted[-1]["down"] is not None) != (predicted[-1]["denied"] is not None):
        return _beside_down(value)
    return value


def side_of(text: str) -> str | None:
    """Return the first side a text names: `up`, `down`, or None.

    Example:
        >>> side_of("not going up")
        'down'
    """
    found = _SIDE.search(text[:200])
    if found is None:
        return None
    return "down" if (found["down"] is not None) != (found["denied"] is not None) else "up"


def _side_behind(text: str, end: int) -> str | None:
    """The side a number is said to be the probability of right behind it, as in `0.7 probability of a fall`."""
    behind = text[end : end + 200].split("\n", maxsplit=1)[0]
    keyword = PROBABILITY_BEHIND.match(behind) or _THAT.match(behind)
    return side_of(behind[keyword.end() :]) if keyword else None


def _beside_down(value: float) -> float:
    """Whoever predicts down means the probability of down, or else states the probability of up as asked."""
    return min(value, other_side(value))
