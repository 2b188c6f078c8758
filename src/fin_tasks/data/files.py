"""Hash files, write them in one step, and refuse names that are not UTF-8."""

import hashlib
import os
from pathlib import Path

from fin_tasks.errors import DataError


def sha256_of(path: Path) -> str:
    """Return the SHA-256 of a file in hex."""
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise DataError(
            f"{path}: expected a readable file, got {error.strerror!r}."
        ) from error


def check_name(path: Path) -> None:
    """Refuse a path that is not UTF-8, because tables and results could not hold it."""
    try:
        str(path).encode()
    except UnicodeEncodeError:
        name = os.fsencode(path).decode("utf-8", "backslashreplace")
        raise DataError(
            f"{name}: expected a path in UTF-8. Rename the file or folder."
        ) from None


def write_file(target: Path, content: bytes) -> None:
    """Write a file in one step, so that no reader sees half of it."""
    part = target.with_name(f"{target.name}.{os.getpid()}.part")
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        part.write_bytes(content)
        part.replace(target)
    except OSError as error:
        raise DataError(
            f"{target}: cannot be written ({error.strerror}). Set FIN_TASKS_CACHE."
        ) from error
