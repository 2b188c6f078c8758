"""How BM25 splits text: on white space as the paper does, or into stemmed English words."""

import hashlib
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib.metadata import version
from typing import Any

from fin_tasks.errors import ConfigError

__all__ = ["STOP_WORDS", "TOKENISERS", "Tokeniser", "open_tokeniser"]

TOKENISERS = ("whitespace", "english")

STOP_WORDS = frozenset(
    """
    a about after again all also am an and any are as at be because been before being between both but by can can't
    cannot could did didn't do does doesn't doing don't during each either else few for from further had has have having
    he her here hers him his how i if in into is isn't it its itself just let may me might more most must my neither no
    nor not of off on once only or other our out over own per same shall she should since so some such than that the
    their them then there these they this those through thus to too under until up upon us very was wasn't we were what
    when where whether which while who whom whose why will with within without won't would you your
    """.split()  # noqa: SIM905 -- a list literal of that many words fills a page
)
"""Function words of English, which say nothing about what a text is about."""

# Letters and digits, with apostrophes between them.
_WORD = re.compile(r"[^\W_]+(?:'[^\W_]+)*")


@dataclass(frozen=True, kw_only=True)
class Tokeniser:
    """A way to split text.

    Attributes:
        facts: Its name and what else decides the tokens, JSON-compatible.
        split: Gives the tokens of a text, in order, repeated ones included.
    """

    facts: Mapping[str, Any]
    split: Callable[[str], list[str]]


def open_tokeniser(name: str) -> Tokeniser:
    """Find a tokeniser by name.

    Args:
        name: `whitespace`, the text as it is, split where there is white space: "Bond," and "bond" are two tokens.
            `english`, runs of letters and digits in lower case, without function words, as Snowball's English stems.

    Raises:
        ConfigError: There is no such tokeniser.

    Example:
        >>> open_tokeniser("whitespace").split("The issuer's Bonds, maturing")
        ['The', "issuer's", 'Bonds,', 'maturing']
        >>> open_tokeniser("english").split("The issuer's Bonds, maturing")
        ['issuer', 'bond', 'matur']
    """
    if name == "whitespace":
        return Tokeniser(facts={"name": name}, split=str.split)
    if name == "english":
        stop_words = hashlib.sha256(" ".join(sorted(STOP_WORDS)).encode()).hexdigest()[:16]
        stemmer = f"snowball english {version('snowballstemmer')}"
        return Tokeniser(facts={"name": name, "stemmer": stemmer, "stop_words": stop_words}, split=_english())
    raise ConfigError(f"tokeniser: expected one of {', '.join(TOKENISERS)}, got {name!r}.")


def _english() -> Callable[[str], list[str]]:
    # The class itself, as `snowballstemmer.stemmer` would take whatever PyStemmer is installed.
    from snowballstemmer import EnglishStemmer

    stemmer = EnglishStemmer()
    stems: dict[str, str] = {}  # a bank has a few thousand distinct words, each many times

    def split(text: str) -> list[str]:
        words = (word.removesuffix("'s") for word in _WORD.findall(text.lower().replace("’", "'")))
        kept = [word for word in words if word not in STOP_WORDS]
        for word in kept:
            if word not in stems:
                stems[word] = stemmer.stemWord(word)
        return [stems[word] for word in kept]

    return split
