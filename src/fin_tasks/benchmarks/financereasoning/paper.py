"""How FinanceReasoning's authors read and compare results."""

import re
from ast import literal_eval
from functools import partial

from fin_tasks.benchmarks import programs_paper

TOLERANCE = 0.002
"""A number may be off by this share of the truth."""
_NUMBER = re.compile(r"[-+]?(?:\d[\d,]*\.?\d*|\.\d+)(?:e[-+]?\d+)?")
_MAX_TEXT = 10_000
"""A program that returns a longer text (in characters) has no answer."""

Value = bool | float


def value_in(text: str) -> Value | None:
    """Return the value that a returned text stands for: a number, or true or false.

    Of a tuple or a list the first element counts. Currency, units and what stands before `=` or `≈`
    do not.
    """
    if len(text) > _MAX_TEXT:
        return None
    text = _first_element(text.strip())
    text = re.split("[=≈]", text)[-1].strip(" .'\"").lower()
    if text in ("true", "yes"):
        return True
    if text in ("false", "no"):
        return False
    number = _NUMBER.search(text)
    if number is None:
        return None
    return float(number[0].replace(",", ""))


def _first_element(text: str) -> str:
    if not text.startswith(("(", "[")):
        return text
    try:
        elements = literal_eval(text)
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        # The elements have a type of their own: `[np.float64(1.5), np.float64(2.0)]`.
        first = text.strip("()[] ").partition(",")[0]
        return re.sub(r"^[\w.]*\(", "", first)
    is_sequence = isinstance(elements, tuple | list)
    if not is_sequence:
        return str(elements)
    return str(elements[0]) if elements else ""


is_near = partial(programs_paper.is_near, tolerance=TOLERANCE)
