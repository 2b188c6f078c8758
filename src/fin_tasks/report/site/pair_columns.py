"""The pairs of a comparison made small for a page: two numbers of each, where all others follow from those.

With 60 models there are 1,770 pairs a task, so that they would be most of a page. What a pair's numbers follow from is
known: its difference is that of the two values, where both are of the same rows; its interval lies about the difference
(or about the one shrunk by two rows more, as Agresti and Min's does); Holm's p-values follow from the others. Each of
these is checked against the document, comparison by comparison, and left out only where it holds for every pair;
`pairs.js` works them out again.
"""

import math
import struct
from base64 import b64encode
from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import Any

from fin_tasks.stats.multiple import holm

__all__ = ["once", "pair_columns", "short"]

_DIGITS = 4
"""Of a number in the page, which shows as many; `leaderboard.json` has them all."""
_CLOSE = 1e-5
"""How far, relatively, what is worked out from six digits may be from what was rounded to them."""
_NONE = 0xFFFF
"""Stands for a width that is not there."""

Pair = Mapping[str, Any]


def short(value: Any) -> Any:
    """Return a number with as many digits as a page shows; anything else as it is.

    Example:
        >>> short(0.12345678), short(2.0), short(None)
        (0.1235, 2, None)
    """
    if not isinstance(value, float):
        return value
    rounded = float(f"{value:.{_DIGITS}g}")
    return int(rounded) if rounded.is_integer() else rounded


def pair_columns(comparison: Mapping[str, Any], runs: Mapping[str, int], *, alpha: float) -> dict[str, Any]:
    """Return `members` and `pairs` of a comparison as `pairs.js` reads them.

    Pairs are those of the members, each with all that follow it, so that a place says whose it is; a pair that was not
    compared has None for `n`. `difference` and `p_holm` are there only where they do not follow from the rest.

    Args:
        comparison: Of a leaderboard's document.
        runs: Ids to places.
        alpha: The level of the document: what is certain at it must be so in the page.
    """
    members = list(dict.fromkeys(pair[side] for pair in comparison["pairs"] for side in ("first", "second")))
    found = {(pair["first"], pair["second"]): pair for pair in comparison["pairs"]}
    found |= {(second, first): _turned(pair) for (first, second), pair in found.items()}
    ends = list(combinations(members, 2))
    ordered = [found.get(pair) for pair in ends]
    there = [pair for pair in ordered if pair is not None]
    columns: dict[str, Any] = {"n": once([None if pair is None else pair["n"] for pair in ordered])}
    if not _differences_follow(comparison, ends, ordered):
        columns["difference"] = _shortened(ordered, "difference")
    columns |= _interval(there, ordered)
    columns |= _p_values(there, ordered, alpha)
    return {"members": [runs[member] for member in members], "pairs": {"rows": len(ordered), **columns}}


def once(column: list[Any]) -> Any:
    """Return the value of a column that has only one, unless that is a list itself.

    Example:
        >>> once([1, 1]), once([1, 2]), once([])
        (1, [1, 2], [])
    """
    if not column or isinstance(column[0], list) or any(value != column[0] for value in column):
        return column
    return column[0]


def _turned(pair: Pair) -> Pair:
    """See a pair from its second."""

    def minus(number: float | None) -> float | None:
        return None if number is None else -number

    ends = {"difference": pair["difference"], "low": pair["high"], "high": pair["low"]}
    return {**pair, **{key: minus(number) for key, number in ends.items()}}


def _shortened(pairs: Sequence[Pair | None], key: str) -> Any:
    return once([None if pair is None else short(pair[key]) for pair in pairs])


def _differences_follow(
    comparison: Mapping[str, Any], ends: Sequence[tuple[str, str]], pairs: Sequence[Pair | None]
) -> bool:
    """Whether each is the difference of the values of its ends, rounded to six digits."""
    places = {place["run"]: place for place in comparison["ranks"]}
    for (first, second), pair in zip(ends, pairs, strict=True):
        if pair is None:
            continue
        values = [places.get(run, {}).get("value") for run in (first, second)]
        if pair["difference"] is None or None in values:
            return False
        if abs(values[0] - values[1] - pair["difference"]) > _CLOSE * max(map(abs, values)):
            return False
        if _sign(values[0] - values[1]) != _sign(pair["difference"]):
            return False
    return True


def _sign(number: float) -> int:
    return (number > 0) - (number < 0)


def _interval(there: Sequence[Pair], pairs: Sequence[Pair | None]) -> dict[str, Any]:
    """Return `half`, `scale` and `more` where intervals lie about differences over `n + more` rows, else both ends."""
    for more in (0, 2):
        if all(_is_about(pair, more) for pair in there):
            widths = [None if pair is None or pair["low"] is None else pair["high"] - pair["low"] for pair in pairs]
            scale = max((width for width in widths if width is not None), default=0.0) / 2 / (_NONE - 1)
            codes = [_NONE if width is None else round(width / 2 / scale) if scale else 0 for width in widths]
            return {"half": _base64("H", codes), "scale": scale, "more": more}
    return {key: _shortened(pairs, key) for key in ("low", "high")}


def _is_about(pair: Pair, more: int) -> bool:
    difference, low, high = (pair[key] for key in ("difference", "low", "high"))
    if low is None and high is None:
        return True
    if None in (difference, low, high):
        return False
    middle = difference * pair["n"] / (pair["n"] + more)
    return bool(abs(low + high - 2 * middle) <= _CLOSE * max(abs(low), abs(high), abs(difference)))


def _p_values(there: Sequence[Pair], pairs: Sequence[Pair | None], alpha: float) -> dict[str, Any]:
    """Return `p`, and `p_holm` where Holm's correction of them all is another; in full, as certainty hangs on it."""
    if any(pair[key] is None for pair in there for key in ("p", "p_holm")):
        return {key: _shortened(pairs, key) for key in ("p", "p_holm")}
    columns = {
        key: _base64("f", [math.nan if pair is None else pair[key] for pair in pairs]) for key in ("p", "p_holm")
    }
    corrected = holm([pair["p"] for pair in there])
    follow = all(
        abs(own - pair["p_holm"]) <= _CLOSE * pair["p_holm"] and (own < alpha) == (pair["p_holm"] < alpha)
        for own, pair in zip(corrected, there, strict=True)
    )
    return {"p": columns["p"]} if follow else columns


def _base64(kind: str, numbers: Sequence[float]) -> str:
    return b64encode(struct.pack(f"<{len(numbers)}{kind}", *numbers)).decode()
