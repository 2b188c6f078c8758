"""Read the column `ground_truth` of the file, whose cells are written in several ways."""

import math
import re
from decimal import Decimal, InvalidOperation
from functools import lru_cache
from typing import NamedTuple

from .document import Task

_DASHES = str.maketrans(dict.fromkeys("‐‑‒–—−﹣-", "-"))
_IN_PARENTHESES = re.compile(r"\A\(([^-+]*)\)\Z")
# A unit, a blank behind a sign, or a comma between thousands.
_NO_DIGIT = re.compile(r"[$€£¥%]\s*|(?<=[-+])\s|(?<=\d),(?=\d{3}(?!\d))")
_LETTER = re.compile(
    r"""
    \**\(? (?P<letter> [A-Za-z] )
    (?: [).:]?\** | [).:]\s.* )  # nothing more, or the text of the choice
    """,
    re.DOTALL | re.VERBOSE,
)
_VERDICTS = {"true": 1, "false": 0}


class Truth(NamedTuple):
    """A ground truth: 1 or 0, a letter, or a number; the flaw says why a cell is none of these."""

    value: float | str | None
    flaw: str = ""
    step: float = 0.0
    """The last written place of a number, such as 0.01."""


@lru_cache(maxsize=8192)
def parse_truth(task: Task, cell: str) -> Truth:
    """Read a cell; a currency or percent sign does not change the value."""
    text = cell.strip().translate(_DASHES)
    if task == "calcu":
        return _number_truth(text)
    if task == "mcq":
        letter = _LETTER.fullmatch(text)
        return Truth(letter["letter"].upper()) if letter else Truth(None, "no letter")
    return _verdict_truth(text)


def _number_truth(text: str) -> Truth:
    number = _number_in(text)
    if number is None or math.isinf(float(number)):
        return Truth(None, "not one number")
    exponent = number.as_tuple().exponent
    return Truth(float(number), step=float(f"1e{exponent}"))


def _verdict_truth(text: str) -> Truth:
    verdict = _VERDICTS.get(text.lower())
    number = _number_in(text)
    if number in (0, 1):
        verdict = int(number)
    return Truth(None, "no verdict") if verdict is None else Truth(verdict)


def _number_in(text: str) -> Decimal | None:
    """Return the number that a text is; ($6) and $-6 are -6."""
    plain = _IN_PARENTHESES.sub(r"-\1", _NO_DIGIT.sub("", text))
    try:
        number = Decimal(plain)
    except InvalidOperation:
        return None
    return number if number.is_finite() else None
