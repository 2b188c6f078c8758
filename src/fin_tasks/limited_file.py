"""Read files that strangers may have made: no more bytes than a limit, and no more values of JSON.

An empty list takes 25 times as much memory as its text, so values are counted before a file is
parsed. FIN_TASKS_MAX_MB raises the limits.
"""

import zipfile
from pathlib import Path

from .errors import DataError
from .settings import Settings

RESULTS_MB = 64
"""Most megabytes of a results file."""
ROWS_MB = 256
"""Most megabytes of a table, or of a file of responses."""
_VALUES = 8_000_000
_PIECE = 1 << 20  # bytes
_LISTED = b"PK\x01\x02"
"""The start of each entry in the list of an archive's parts."""
_SIGNS = (",", "[", "{")  # each value but the first has one before it


def read_limited(path: Path, max_mb: int) -> bytes:
    """Return the content of a file; raise DataError if it is larger.

    Bytes are counted as they are read, because a pipe or a file that grows states no size.
    """
    limit = most_bytes(max_mb)
    with path.open("rb") as file:
        content = file.read(limit + 1)
    check_size(path, content, limit)
    return content


def most_bytes(max_mb: int) -> int:
    """Return the bytes that a file may have; FIN_TASKS_MAX_MB raises the limit."""
    return max(max_mb, Settings.from_environ().max_mb) << 20


def most_values() -> int:
    """Return the values that a file may have; FIN_TASKS_MAX_MB raises the limit."""
    return _VALUES * max(1, Settings.from_environ().max_mb // ROWS_MB)


def check_size(path: Path, content: bytes, limit: int) -> None:
    """Raise DataError if a content has more bytes than the limit."""
    if len(content) > limit:
        raise DataError(
            f"{path}: expected at most {limit >> 20:,} MB, got more. FIN_TASKS_MAX_MB raises the limit."
        )


def read_limited_json(path: Path, max_mb: int) -> bytes:
    """Return the content of a JSON file; raise DataError if it is larger or may hold too many values."""
    content = read_limited(path, max_mb)
    check_json(path, content)
    return content


def check_json(path: Path, content: bytes | str) -> None:
    """Raise DataError if a JSON text may hold too many values."""
    most = most_values()
    if isinstance(content, bytes):
        n_values = sum(content.count(sign.encode()) for sign in _SIGNS)
    else:
        n_values = sum(map(content.count, _SIGNS))
    if n_values > most:
        raise DataError(
            f"{path}: expected at most {most:,} values, got a file with {n_values:,} commas and "
            "opening brackets. FIN_TASKS_MAX_MB raises the limit."
        )


def open_archive(path: Path, most_parts: int) -> zipfile.ZipFile:
    """Open a ZIP archive; raise ValueError if it may list more parts.

    `zipfile` makes an object of each part that is listed, before anybody can count them.
    """
    n_parts = 0
    end = b""
    with path.open("rb") as file:
        while piece := file.read(_PIECE):
            n_parts += (end + piece).count(_LISTED)
            end = piece[1 - len(_LISTED) :]
    if n_parts > most_parts:
        raise ValueError(f"more than {most_parts:,} parts")
    return zipfile.ZipFile(path)
