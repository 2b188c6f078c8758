"""Read the column `ground_truth` of the file, whose cells are written in several ways."""

import math
import re
from decimal import Decimal
from functools import lru_cache
from typing import NamedTuple

from fin_tasks.benchmarks.xfinbench.document import Task

_DASHES = str.maketrans(dict.fromkeys("‐‑‒–—−﹣-", "-"))
_IN_PARENTHESES = re.compile(r"\A\(([^-+]*)\)\Z")
_CURRENCY_BEFORE_SIGN = re.compile(r"\A([$€£¥])\s*([-+])")
_NUMBER = re.compile(
    r"""
    (?P<sign> [-+]? ) \s* [$€£¥]? \s*
    (?P<digits> (?: \d{1,3}(?:,\d{3})+ | \d+ ) (?:\.\d*)? | \.\d+ )
    (?P<exponent> e[-+]?\d{1,4} )? \s* %?
    """,
    re.IGNORECASE | re.VERBOSE,
)
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
    if number is not None and math.isfinite(float(number)):
        exponent = int(number.as_tuple().exponent)
        step = Decimal(1).scaleb(exponent)
        return Truth(float(number), step=float(step))
    n_numbers = len(_NUMBER.findall(text))
    return Truth(None, "two numbers" if n_numbers == 2 else "not one number")


def _verdict_truth(text: str) -> Truth:
    verdict = _VERDICTS.get(text.lower())
    number = _number_in(text)
    if number in (0, 1):
        verdict = int(number)
    return Truth(None, "no verdict") if verdict is None else Truth(verdict)


def _number_in(text: str) -> Decimal | None:
    """Return the number that a text is; ($6) and $-6 are -6."""
    negative_in_front = _IN_PARENTHESES.sub(r"-\1", text)
    sign_in_front = _CURRENCY_BEFORE_SIGN.sub(r"\2\1", negative_in_front)
    match = _NUMBER.fullmatch(sign_in_front)
    if match is None:
        return None
    digits = match["digits"].replace(",", "")
    return Decimal(f"{match['sign']}{digits}{match['exponent'] or ''}")
