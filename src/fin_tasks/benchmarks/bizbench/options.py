"""Which of the options an answer of the file means."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from string import ascii_uppercase
from typing import Literal

from fin_tasks.benchmarks.bizbench.truths import number_truth

__all__ = ["Base", "Resolved", "index_base", "resolve"]

Base = Literal[0, 1]
How = Literal["text", "number", "letter", "index", "none"]

_LETTER = re.compile(r"\(?([A-Za-z])(?:[).:]|\)?\Z)\s*(.*)", re.DOTALL)
_WORD = re.compile(r"[A-Za-z]{2,}")
_INDEX = re.compile(r"\d{1,3}(?:\.0)?")


@dataclass(frozen=True, kw_only=True)
class Resolved:
    """What an answer means.

    Attributes:
        index: Of the option, from 0; None where it is none of them.
        how: The reading that found it.
        ambiguous: Whether several options are equally good; the first is taken.
    """

    index: int | None
    how: How
    ambiguous: bool = False


def resolve(answer: str, options: Sequence[str], *, base: Base = 0) -> Resolved:
    """Find the option an answer means.

    The first reading that fits any option decides:

    1. the option's text, letter by letter, then without regard to case, blanks and a leading `A.` or `(a)`;
    2. the same number written differently, such as `1,000` and `$1000.00`;
    3. an option's letter, alone or before the text: `b`, `(B)`, `B. Bonds`;
    4. its index, counted from `base`.

    So an option's own text always wins: where the options are `3`, `1`, `2`, the answer `1` is the second.

    Args:
        answer: As the file has it.
        options: Texts in the file's order.
        base: What the first option's index is.

    Example:
        >>> resolve("bonds", ["Stocks", "Bonds"])
        Resolved(index=1, how='text', ambiguous=False)
        >>> resolve("1", ["3", "1", "2"]), resolve("1", ["x", "y", "z"])
        (Resolved(index=1, how='text', ambiguous=False), Resolved(index=1, how='index', ambiguous=False))
    """
    if not answer.strip():
        return Resolved(index=None, how="none")
    for normal in (str.strip, _normal, _bare):
        wanted = normal(answer)
        found = [place for place, option in enumerate(options) if normal(option) == wanted]
        if found and not (normal is _bare and _contradicts(answer, found)):
            return Resolved(index=found[0], how="text", ambiguous=len(found) > 1)
    if found := _same_number(answer, options):
        return Resolved(index=found[0], how="number", ambiguous=len(found) > 1)
    if (place := _lettered(answer, options)) is not None:
        return Resolved(index=place, how="letter")
    if (index := _index(answer)) is not None and 0 <= index - base < len(options):
        return Resolved(index=index - base, how="index")
    return Resolved(index=None, how="none")


def index_base(pairs: Iterable[tuple[str, Sequence[str]]]) -> Base:
    """Say whether a file counts its options from 0 or from 1.

    Only answers that nothing but an index explains count. From 1, if one of them is as large as its options are many
    and none is 0; from 0 otherwise.

    Args:
        pairs: Each answer with its options.

    Example:
        >>> index_base([("1", ["x", "y"]), ("2", ["x", "y"])]), index_base([("1", ["x", "y"])])
        (1, 0)
    """
    indexes = [
        (index, len(options))
        for answer, options in pairs
        if (index := _index(answer)) is not None and resolve(answer, options).how in ("index", "none")
    ]
    past_the_end = any(index == count for index, count in indexes)
    return 1 if past_the_end and all(index for index, _ in indexes) else 0


def _normal(text: str) -> str:
    return " ".join(text.split()).casefold()


def _bare(text: str) -> str:
    """Drop a leading letter with its sign, and a full stop at the end."""
    match = _LETTER.fullmatch(text.strip())
    return _normal(match[2] if match and match[2] else text).removesuffix(".")


def _contradicts(answer: str, places: Sequence[int]) -> bool:
    """Whether the letter before an answer's text names another option than the text does."""
    match = _LETTER.fullmatch(answer.strip())
    return match is not None and match[2] != "" and ascii_uppercase.index(match[1].upper()) not in places


def _same_number(answer: str, options: Sequence[str]) -> list[int]:
    wanted = _number(answer)
    return [] if wanted is None else [place for place, option in enumerate(options) if _number(option) == wanted]


def _number(text: str) -> float | None:
    """Read a text that is nothing but a number; one with words around it says more than the number."""
    if _WORD.search(text):
        return None
    found = number_truth(text).number
    return None if found is None else found.value


def _lettered(answer: str, options: Sequence[str]) -> int | None:
    match = _LETTER.fullmatch(answer.strip())
    if match is None:
        return None
    place = ascii_uppercase.index(match[1].upper())
    # a text behind the letter must not speak of something else
    if place >= len(options) or (match[2] and _normal(match[2]) not in _normal(options[place])):
        return None
    return place


def _index(answer: str) -> int | None:
    match = _INDEX.fullmatch(answer.strip())
    return int(float(match[0])) if match else None
