"""Characters that a reader does not see, in texts that strangers wrote."""

import re
import unicodedata

__all__ = ["JOINERS", "visible"]

JOINERS = "\u200c\u200d"
"""Invisible, but they decide how words of Persian or Hindi and some emoji are read."""
_BREAKS = re.compile(r"\r\n?|[\v\f\x1c-\x1e\x85\u2028\u2029]")
_SUSPECT = re.compile("[^\n\t\x20-\x7e\u00a1-\u00ac\u3000-\u9fff\uff01-\uff5e]")
"""All but ASCII and Chinese, which need no closer look."""


def visible(text: str) -> str:
    r"""Return a text as a reader sees it.

    Line breaks of all kinds become `\n`; control characters and halves of surrogate pairs become U+FFFD; what is
    invisible goes (zero-width characters, marks that turn the direction of writing, tags), joiners aside.

    Example:
        >>> visible("Buy\r\n\u202eSell\x00")
        'Buy\nSell\ufffd'
    """
    return _SUSPECT.sub(_seen, _BREAKS.sub("\n", text))


def _seen(match: re.Match[str]) -> str:
    character = match[0]
    category = unicodedata.category(character)
    if category in ("Cc", "Cs"):
        return "\ufffd"
    return "" if category == "Cf" and character not in JOINERS else character
