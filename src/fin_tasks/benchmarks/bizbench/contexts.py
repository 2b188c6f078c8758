"""Contexts cut to a length, with a count of what was left out."""

from dataclasses import dataclass

from fin_tasks.errors import ConfigError

__all__ = ["MARK", "Cut", "cut"]

MARK = "[... {dropped:,} characters of the document are left out here ...]"
"""Stands where text is missing, on a line of its own; not counted as text."""


@dataclass(frozen=True, kw_only=True)
class Cut:
    """A text that fits.

    Attributes:
        text: What is shown: the text, or its beginning and `MARK`.
        dropped: Characters of the text that are not shown; 0 where all of it is.
    """

    text: str
    dropped: int


def cut(text: str, limit: int | None) -> Cut:
    r"""Cut a text to at most `limit` characters of its own, and say so in it.

    The beginning is kept: in reports the table comes early and its header first, so that the end alone, or both ends
    without the middle, leave rows whose columns have no names. The cut is made behind the last line that fits, so that
    no row of a table loses cells; where that would give up more than half of what fits, behind the last word; where
    even that would, in the middle of a word.

    Args:
        text: The text.
        limit: Characters of the text to show, at least 1; the mark comes on top. None for no limit.

    Raises:
        ConfigError: The limit is below 1.

    Example:
        >>> cut("Sales\n2021: 10\n2022: 12", 17)
        Cut(text='Sales\n2021: 10\n[... 8 characters of the document are left out here ...]', dropped=8)
        >>> cut("Sales", 5)
        Cut(text='Sales', dropped=0)
    """
    if limit is None or len(text) <= limit:
        return Cut(text=text, dropped=0)
    if limit < 1:
        raise ConfigError(f"context limit: expected at least 1 character, or None for no limit, got {limit!r}.")
    end = _end(text, limit)
    dropped = len(text) - end
    kept = text[:end]
    return Cut(text=kept + ("" if kept.endswith("\n") else "\n") + MARK.format(dropped=dropped), dropped=dropped)


def _end(text: str, limit: int) -> int:
    """Return where to cut: behind the last newline or blank that fits, if that keeps half of what fits."""
    for separator in ("\n", " "):
        # what ends exactly at the limit is whole
        end = limit if text[limit] == separator else text.rfind(separator, 0, limit) + 1
        if end * 2 >= limit:
            return end
    return limit
