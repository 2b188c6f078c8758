"""How MME-Finance's authors read the replies of a judge."""

import re
from contextlib import suppress

from fin_tasks.judging.rubric import Rubric

from .multi_turn import dict_in

_INTEGER = re.compile(r"[-+]?\d+")


def score_of(rubric: Rubric, reply: str) -> int | dict[str, int] | None:
    """Read one reply; return None if the authors' parser finds no score in it.

    A score is the whole reply if that is an integer of the scale, else the last such integer in it.
    """
    if rubric.parser == "text":
        return None
    if rubric.dimensions:
        return _dimensions_of(rubric, reply) or None
    scale = range(rubric.lowest, rubric.highest + 1)
    for texts in ([reply], _INTEGER.findall(reply)):
        with suppress(ValueError):  # Python reads no integer of more than 4,300 digits
            on_scale = [number for number in map(int, texts) if number in scale]
            return on_scale[-1] if on_scale else None
    return None


def _dimensions_of(rubric: Rubric, reply: str) -> dict[str, int]:
    """Read each dimension by itself in the Python dict of a reply, and clip it to the scale."""
    points = dict_in(reply)
    scores = {}
    for name, title in rubric.dimensions.items():
        # Infinity gives an OverflowError.
        with suppress(KeyError, ValueError, TypeError, OverflowError):
            number = int(points[title])
            scores[name] = min(max(number, rubric.lowest), rubric.highest)
    return scores
