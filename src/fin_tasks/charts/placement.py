"""Where labels go so that none hides another: geometry in pixels, without any drawing."""

from collections.abc import Sequence
from dataclasses import dataclass

__all__ = ["Place", "in_levels", "side_by_side"]


@dataclass(frozen=True)
class Place:
    """A label's left edge in pixels, and its level: 0 is next to the prices."""

    left: float
    level: int


def in_levels(
    anchors: Sequence[float], widths: Sequence[float], *, low: float, high: float, gap: float, levels: int
) -> list[Place] | None:
    """Put every label over its anchor, each on the lowest level that is free there.

    Args:
        anchors: What the labels point at, ascending.
        widths: Width of each label.
        low: Leftmost pixel a label may cover; labels near an edge move inwards.
        high: Rightmost pixel a label may cover.
        gap: Pixels between neighbours on a level.
        levels: Most levels to use.

    Returns:
        A place for each label, or None where the levels do not suffice.

    Example:
        >>> in_levels([5, 40, 50], [20, 20, 20], low=0, high=100, gap=2, levels=2)
        [Place(left=0, level=0), Place(left=30.0, level=0), Place(left=40.0, level=1)]
        >>> in_levels([5, 40, 50], [20, 20, 20], low=0, high=100, gap=2, levels=1) is None
        True
    """
    free_from = [low] * levels
    places = []
    for anchor, width in zip(anchors, widths, strict=True):
        left = max(low, min(anchor - width / 2, high - width))
        level = next((n for n, free in enumerate(free_from) if free <= left), None)
        if level is None or left + width > high:
            return None
        free_from[level] = left + width + gap
        places.append(Place(left, level))
    return places


def side_by_side(
    anchors: Sequence[float], widths: Sequence[float], *, low: float, high: float, gap: float
) -> list[Place] | None:
    """Put all labels on one level, each as near to its anchor as its neighbours on the left allow.

    Args:
        anchors: What the labels point at, ascending.
        widths: Width of each label.
        low: Leftmost pixel a label may cover.
        high: Rightmost pixel a label may cover.
        gap: Pixels between neighbours.

    Returns:
        A place for each label, or None where they are wider together than the room there is.

    Example:
        >>> [place.left for place in side_by_side([5, 6, 95], [20, 20, 20], low=0, high=100, gap=2)]
        [0, 22, 80]
    """
    lefts: list[float] = []
    free_from = low
    for anchor, width in zip(anchors, widths, strict=True):
        lefts.append(max(free_from, min(anchor - width / 2, high - width)))
        free_from = lefts[-1] + width + gap
    free_to = high
    for n in reversed(range(len(lefts))):
        lefts[n] = min(lefts[n], free_to - widths[n])
        free_to = lefts[n] - gap
    if lefts and lefts[0] < low - 1e-6:  # less is the rounding of sums
        return None
    return [Place(left, 0) for left in lefts]
