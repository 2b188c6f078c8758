"""Numbers and names out of strangers' JSON, checked, and the files it is in."""

import math
from pathlib import Path
from typing import Any

from fin_tasks.errors import DataError

__all__ = ["MAX_NAME", "check_unicode", "name_of", "number", "read_capped", "whole"]

MAX_NAME = 500
"""Characters that the name of a model, task or metric may have."""

_MOST = 2**53
"""JSON's whole numbers are exact below."""


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
