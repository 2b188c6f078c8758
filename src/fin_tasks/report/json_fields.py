"""Numbers and names out of strangers' JSON, checked, and the files it is in."""

import json
import math
from pathlib import Path
from typing import Any

from fin_tasks.errors import DataError

__all__ = [
    "MAX_METRICS",
    "MAX_NAME",
    "check_nesting",
    "check_unicode",
    "from_json",
    "name_of",
    "number",
    "read_capped",
    "whole",
]

MAX_NAME = 500
"""Characters that the name of a model, task or metric may have."""
MAX_METRICS = 1_000
"""Metrics that a task may have; ours have some fifty."""

_MOST = 2**53
"""JSON's whole numbers are exact below."""
_MOST_DIGITS = 300


def from_json(text: bytes) -> Any:
    """Read JSON, or what Python writes for it (NaN), as a stranger's file has it.

    A whole number too large for a float is read as infinite: whoever looks at it refuses that, and nobody stumbles.

    Raises:
        ValueError: It is none, or no UTF-8.
        RecursionError: It is nested too deeply.

    Example:
        >>> from_json(b'[1, 1e400, 1' + 400 * b'0' + b']')
        [1, inf, inf]
    """
    text_read = text.decode("utf-8-sig")  # editors may have left a mark there
    return json.loads(text_read, parse_int=lambda digits: int(digits) if len(digits) < _MOST_DIGITS else float(digits))


def number(where: str, value: Any, *, most: float, least: float = 0.0) -> float | None:
    """Read a number or null.

    Args:
        where: File and field, for the message.
        value: What stands there.
        most: Largest it may be; infinite ones never may.
        least: Smallest.

    Raises:
        DataError: It is something else.

    Example:
        >>> number("f.json, acc", 1, most=1), number("f.json, acc", None, most=1)
        (1.0, None)
    """
    if value is None:
        return None
    fits = isinstance(value, (int, float)) and not isinstance(value, bool) and least <= value <= most
    if not fits or math.isinf(value):
        raise DataError(f"{where}: expected a number from {least:g} to {most:g} or null, got {value!r:.80}.")
    return float(value)


def whole(where: str, value: Any, *, least: int = 0) -> int:
    """Read a whole number.

    Raises:
        DataError: It is something else.
    """
    if isinstance(value, bool) or not isinstance(value, int) or not least <= value < _MOST:
        raise DataError(f"{where}: expected a whole number of {least} or more, got {value!r:.80}.")
    return value


def name_of(where: str, value: Any) -> str:
    """Read the name of something, such as a model or a metric.

    Raises:
        DataError: It is something else, too long, or no Unicode.

    Example:
        >>> name_of("f.json, judge", "gpt-4o")
        'gpt-4o'
    """
    if not isinstance(value, str) or not value:
        raise DataError(f"{where}: expected a text, got {value!r:.80}.")
    if len(value) > MAX_NAME:
        raise DataError(f"{where}: expected at most {MAX_NAME} characters, got {len(value):,}.")
    check_unicode(where, value)
    return value


def check_unicode(where: str, text: str) -> None:
    """Refuse half of a character that takes two: JSON can spell it, but no file can hold it.

    Raises:
        DataError: The text has one.
    """
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise DataError(f"{where}: expected text that is Unicode, got {text[error.start]!a}.") from error


def check_nesting(where: str, value: Any, *, deepest: int, name: str = "") -> None:
    """Refuse JSON that code which goes through it would stumble over: nested too deeply, or with texts of no Unicode.

    Args:
        where: The file, for the message.
        value: What it holds.
        deepest: How many objects and lists may stand within each other.
        name: The field that `value` is, dotted; empty for the whole.

    Raises:
        DataError: It does; the message names the field.

    Example:
        >>> check_nesting("f.json", {"a": [{"b": 1}]}, deepest=1)
        Traceback (most recent call last):
        fin_tasks.errors.DataError: f.json, a: expected values nested less deeply.
    """
    if deepest < 0:
        raise DataError(f"{where}, {name[:80]}: expected values nested less deeply.")
    if isinstance(value, str):
        check_unicode(f"{where}, {name[:80]}" if name else where, value)
    elif isinstance(value, dict):
        for key, inner in value.items():
            check_unicode(f"{where}, a name in {name[:80] or 'it'}", key)
            below = f"{name}.{key}" if name else key
            check_nesting(where, inner, deepest=deepest - isinstance(inner, (dict, list)), name=below[:100])
    elif isinstance(value, list):
        for inner in value:
            check_nesting(where, inner, deepest=deepest - isinstance(inner, (dict, list)), name=name)


def read_capped(path: Path, *, most: int) -> bytes:
    """Read a file that may be anything, such as a pipe that nobody writes to or one that grows.

    Args:
        path: The file.
        most: Bytes it may have.

    Raises:
        DataError: It is no file, cannot be read, or has more.
    """
    if not path.is_file():
        raise DataError(f"{path}: expected a file, found something else or nothing.")
    try:
        with path.open("rb") as file:
            content = file.read(most + 1)
    except OSError as error:
        raise DataError(f"{path}: expected a readable file, got {error.strerror or error}.") from error
    if len(content) > most:
        raise DataError(f"{path}: expected at most {most:,} bytes, got more.")
    return content
