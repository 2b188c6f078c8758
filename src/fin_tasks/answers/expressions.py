"""Tell a number from an expression that nobody worked out, such as `(1.05)^5`, and from a condition beside it."""

import re

from fin_tasks.answers.notation import CURRENCY
from fin_tasks.answers.numbers import find_numbers

__all__ = ["without_conditions", "without_expressions"]

_CONDITION = re.compile(
    r"\b(?:at|for|in|when|where|if|with|assuming|given|using)\s(?:\w{1,12}\s){0,2}\w{1,12}\s?=\s?[-+¤\d.,%]{1,20}"
    r"|\(\w{1,12}\s?=\s?[^()=]{1,30}\)",
    re.IGNORECASE,
)
_BESIDE_NUMBERS = re.compile(r"[\d)\]]\s?\^|\be\s?\^|√|π|[\d)]\s?[²³⁴⁵⁶⁷⁸⁹ⁿ⁻]")
_ON_NUMBERS = re.compile(
    rf"(?:√|\b(?:ln|log|exp|sqrt)\b)\s{{0,3}}\(?\s{{0,3}}{CURRENCY}?[\d.]|\d!|\d\(\s?[\d.]|\dx(?!10\s?\^)[\da-f]",
    re.IGNORECASE,
)


def without_conditions(text: str) -> str:
    """Return plain text without `at t = 1` and the like, where a number is left outside of them.

    Example:
        >>> without_conditions("95 at t=1").strip(), without_conditions("at t=1")
        ('95', 'at t=1')
    """
    rest = _CONDITION.sub("  ", text)
    return rest if find_numbers(rest) else text


def without_expressions(text: str) -> str:
    """Return the sides of an equation in plain text that are no expressions to be worked out; empty if all are.

    Example:
        >>> without_expressions("1.276 = (1.05)^5"), without_expressions("√2"), without_expressions("5 x 10^-5")
        ('1.276 ', '', '5 x 10^-5')
    """
    sides = re.split("([=≈])", text)
    kept = [side for side in sides if not _is_expression(side)]
    return "".join(kept).rstrip("=≈")


def _is_expression(text: str) -> bool:
    if _ON_NUMBERS.search(text):
        return True
    rest = list(text)
    for found in find_numbers(text):
        rest[found.start : found.end] = " " * (found.end - found.start)
    return _BESIDE_NUMBERS.search("".join(rest)) is not None
