"""Lines of a response without any marker that may give the answer alone: the last one, and the first."""

import re

from fin_tasks.answers.notation import plain

__all__ = ["standing_lines"]

_LONGEST = 400
_EDGE = 4000
"""Characters looked at on either end: one line there may be long, but then it is no answer."""
_BULLET = re.compile(r"\s*(?:#{1,6}\s+|>\s*|[-*•+]\s+(?=\D))+")


def standing_lines(text: str) -> list[tuple[str, str]]:
    r"""Return the last and the first line that say anything, each with the next such line inwards.

    Lines are plain text (see `notation.plain`), without headings' and lists' signs. The second of a pair tells an
    answer from an item of a list; it is empty where there is one line only. A line too long for an answer is empty.

    Example:
        >>> standing_lines("**False**\n\nPrices fall.\n\nYields rise.")
        [('Yields rise.', 'Prices fall.'), ('False', 'Prices fall.')]
        >>> standing_lines("### B")
        [('B', '')]
    """
    stripped = text.strip()
    if len(stripped) <= 2 * _EDGE:
        lines = _lines(stripped)
        ends = [lines[:-3:-1], lines[:2]] if len(lines) > 1 else [lines]
    else:
        ends = [_lines(stripped[-_EDGE:])[:-3:-1], _lines(stripped[:_EDGE])[:2]]
    return [(end[0], end[1] if len(end) > 1 else "") for end in ends if end]


def _lines(text: str) -> list[str]:
    said = (line for line in text.split("\n") if any(char.isalnum() for char in line))
    return [_bare(line) for line in said]


def _bare(line: str) -> str:
    if len(line) > _LONGEST:
        return ""
    lead = _BULLET.match(line)
    return plain(line[lead.end() :] if lead else line).strip()
