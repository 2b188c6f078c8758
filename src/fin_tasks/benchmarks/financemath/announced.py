r"""Reads what stands below a line that ends in a colon: an equation, a list, a table, a fenced result or a sentence.

`Therefore, the value after 10 years is:` announces what comes next, so no number of that line is the answer.
"""

import math
import re
from collections.abc import Callable, Sequence

from fin_tasks.answers.comparison import TOLERANCE
from fin_tasks.answers.notation import boxed, plain
from fin_tasks.answers.numbers import Number, find_numbers
from fin_tasks.answers.quantities import read_number, read_quantity

__all__ = ["below_label", "read_below"]

_LONGEST = 4000
_LABEL = re.compile(
    # the whole line announces
    r"[\s*_:#>]{0,20}[^\s*_:#>|][^\n|]{0,400}?:[ \t*_]{0,8}\n(?=[\s*_`$#]*[^\s*_`$#])"
    # or its words do, and the rest of it is announced
    r"|[\s*_:#>]{0,20}[^\n:|]{0,400}?\b(?:is|are|was|were|be|equals?|follows|becomes|gives)[*_]{0,3}\s?:(?![^\S\n]*\n?\Z)",
    re.IGNORECASE,
)
_STARTS = re.compile(
    r"[\s*_:#>]{0,20}(?:step\s?\d|to\s\w+|let(?:['’]s|\sus)?|we\sneed|first|second|here\sare)\b", re.IGNORECASE
)
_FENCE = re.compile(r"^[ \t]*```[^\n]*$", re.MULTILINE)
_FRAMES = re.compile(r"\\\[|\\\]|\$\$|\\(?:begin|end)\{[a-z]+\*?\}")
_ROW_END = re.compile(r"\\\\(?=\s|\[|&|\Z)(?:\[[^\]\n]{0,10}\])?")
_ITEM = re.compile(r"\s*(?:[-*•+]\s+|\(?\d{1,2}[.)]\s+)(?=\S)")
_EMPHASIS_ALONE = re.compile(r"\s*\*{2}.{1,300}\*{2}[.,;]?\s*\Z")
_PROSE = re.compile(r"\W*(?:where|with|given|note|here|this|if|since|because|assuming|i)\b", re.IGNORECASE)
_RESULT = re.compile(r"\b(?:total|net|final|answer|result|overall|sum)\b", re.IGNORECASE)
_RULE = re.compile(r"[\s|:=-]+\Z")
_EQUALS = re.compile(r"[=≈]")


def below_label(text: str) -> str | None:
    r"""Return what stands behind a first line, or its first words, that end in a colon; None where they do not.

    Example:
        >>> below_label(" the value after 10 years is:\n\n$1,629").strip()
        '$1,629'
        >>> below_label(" the value after 10 years is $1,629. Details:") is None
        True
    """
    text = text[:_LONGEST]
    found = None
    # An announcement may announce another.
    while (label := _LABEL.match(text)) is not None and _STARTS.match(text) is None:
        found = text = text[label.end() :]
    return found


def read_below(text: str, read: Callable[[str], Number | None]) -> Number | None:
    r"""Read the answer that a label announces.

    A box beats everything. Of equations below each other the last one counts, unless they give several things a value;
    of a list or a table its only result, or the one that is called total, net, final, answer or result.

    Args:
        text: What stands below the label.
        read: Reads a sentence.

    Example:
        >>> read_below("FV = 1000 * 1.05^10\n   = 1628.89", lambda _: None).value
        1628.89
        >>> read_below("- Cost: 5\n- Sales: 7\n- Total: 12", lambda _: None).value
        12.0
    """
    text = text.strip()[:_LONGEST]
    if (box := boxed(text)) is not None:
        return read_number(plain(box), framed=True)
    shown = _ROW_END.sub("\n", _FRAMES.sub("\n", _FENCE.sub("", text))).replace("&", " ")
    lines = [line for line in shown.split("\n") if any(char.isalnum() for char in line)]
    if not lines:
        return None
    for belongs, read_lines in ((_is_row, _table), (_is_item, _items), (_is_equation, _equations)):
        if belongs(lines[0]):
            end = next((at for at, line in enumerate(lines) if not belongs(line)), len(lines))
            return read_lines(lines[:end])
    return read("\n".join(lines))


def _is_row(line: str) -> bool:
    return line.count("|") >= 2 or (line.lstrip().startswith("|") and line.count("|") >= 1)


def _is_item(line: str) -> bool:
    return _ITEM.match(line) is not None and not line.strip().startswith("**")


def _is_equation(line: str) -> bool:
    return _EQUALS.search(plain(line)) is not None and _PROSE.match(line) is None and not _is_row(line)


def _equations(lines: Sequence[str]) -> Number | None:
    """The value of the last line, unless several lines do nothing but give different things a value."""
    sides = [[side.strip() for side in _EQUALS.split(plain(line))] for line in lines]
    last = _value(sides[-1][-1])
    if last is None:
        return None
    given = {side[0]: _value(side[1]) for side in sides if len(side) == 2 and side[0] and _value(side[1]) is not None}
    plainly = (
        len(given) > 1 and len(given) == len(lines) and len({number.value for number in given.values() if number}) > 1
    )
    return None if plainly else last


def _items(lines: Sequence[str]) -> Number | None:
    items = [line[match.end() :] for line in lines if (match := _ITEM.match(line))]
    if len(items) > 1 and all(_is_equation(item) for item in items):
        return _equations(items)
    return _chosen([(item, _value(_right(plain(item)))) for item in items if find_numbers(plain(item))])


def _table(lines: Sequence[str]) -> Number | None:
    rows = [line.strip().strip("|").split("|") for line in lines]
    data = [row for row in rows if not _RULE.match("|".join(row))]
    if len(data) > 1:
        data = data[1:]  # the heading
    read = [(" ".join(row), [_value(plain(cell)) for cell in (row[1:] if len(row) > 1 else row)]) for row in data]
    numbers = [(text, [number for number in values if number is not None]) for text, values in read]
    return _chosen([(text, values[0] if len(values) == 1 else None) for text, values in numbers if values])


def _chosen(results: Sequence[tuple[str, Number | None]]) -> Number | None:
    """The only result, else the last that is called one, else the only one in bold letters."""
    if len(results) == 1:
        return results[0][1]
    called = [number for text, number in results if _RESULT.search(text)]
    if called:
        return called[-1]
    bold = [number for text, number in results if _EMPHASIS_ALONE.match(text)]
    return bold[0] if len(bold) == 1 else None


def _right(text: str) -> str:
    """What stands behind the last colon or sign of equality."""
    return re.split(r"[=≈]|:\s", text)[-1]


def _value(text: str) -> Number | None:
    """The number of a text that says one, worked out, or one in two ways: `0.1587 or 15.87%`."""
    numbers = [found.number for found in find_numbers(text)]
    if len(numbers) == 1:
        return read_number(text, framed=True)
    if len(numbers) == 2 and _restated(*numbers):
        return read_quantity(text)
    return None


def _restated(one: Number, other: Number) -> bool:
    return any(math.isclose(a, b, rel_tol=TOLERANCE) for a in one.readings for b in other.readings)
