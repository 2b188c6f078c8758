"""Checksums of files, and the record of files that were trusted on first use.

Some upstream files have no known checksum. The first copy that comes is trusted: its checksum is written to
`trusted.json` beside the files, and from then on it counts like a pinned one.
"""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Literal

from fin_tasks.data.sources import Source
from fin_tasks.errors import DataError

__all__ = ["RECORD", "Digest", "FileCheck", "FileState", "digest", "read_trusted", "state_of", "write_trusted"]

FileState = Literal["pinned", "trusted", "unrecorded", "differs"]

RECORD = "trusted.json"


@dataclass(frozen=True, kw_only=True)
class Digest:
    """What identifies the content of a file: SHA-256 in lower-case hex and size in bytes."""

    sha256: str
    size: int

    def __str__(self) -> str:
        return f"sha256 {self.sha256} ({self.size:,} bytes)"


@dataclass(frozen=True, kw_only=True)
class FileCheck:
    """What a file turned out to be.

    Attributes:
        path: Its path in the source.
        file: Where it lies.
        state: `pinned`, its checksum is the pinned one; `trusted`, the one trusted on first use; `unrecorded`, there is
            nothing to compare it with; `differs`, it is another file than it should be.
        found: What it is.
        expected: What it should be, None where nothing is known.
    """

    path: str
    file: Path
    state: FileState
    found: Digest
    expected: Digest | None


def digest(path: Path) -> Digest:
    """Hash a file.

    Raises:
        DataError: It cannot be read.
    """
    sha256, size = hashlib.sha256(), 0
    try:
        with path.open("rb") as file:
            while block := file.read(1 << 20):
                sha256.update(block)
                size += len(block)
    except OSError as error:
        raise DataError(f"{path}: expected a readable file, got {error.strerror!r}.") from error
    return Digest(sha256=sha256.hexdigest(), size=size)


def state_of(source: Source, path: str, file: Path, trusted: Digest | None = None) -> FileCheck:
    """Hash a file and compare it with its pin, or with the copy trusted on first use where it has none.

    Raises:
        DataError: It cannot be read, or the source has no such file.
    """
    entry, found = source.file(path), digest(file)
    if entry.sha256 is not None:
        # a pin may know the hash without the size
        expected = Digest(sha256=entry.sha256, size=found.size if entry.size is None else entry.size)
        state: FileState = "pinned" if found == expected else "differs"
        return FileCheck(path=path, file=file, state=state, found=found, expected=expected)
    if trusted is None:
        return FileCheck(path=path, file=file, state="unrecorded", found=found, expected=None)
    state = "trusted" if found == trusted else "differs"
    return FileCheck(path=path, file=file, state=state, found=found, expected=trusted)


def read_trusted(folder: Path) -> dict[str, Digest]:
    """Read the record of a folder: path to digest; empty where nothing was trusted yet.

    Raises:
        DataError: The record is malformed.
    """
    record = folder / RECORD
    try:
        raw = json.loads(record.read_text(encoding="utf-8"))
        return {str(path): Digest(sha256=str(entry["sha256"]), size=int(entry["size"])) for path, entry in raw.items()}
    except FileNotFoundError:
        return {}
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        raise DataError(
            f"{record}: expected a JSON object of path to sha256 and size, got something else ({error}). "
            "Delete it: the files beside it are then trusted afresh."
        ) from error


def write_trusted(folder: Path, trusted: Mapping[str, Digest]) -> None:
    """Write the record of a folder; readers see the old one or the new one, never half of it."""
    record = folder / RECORD
    draft = folder / f"{RECORD}.part"
    lines = {path: asdict(trusted[path]) for path in sorted(trusted)}
    draft.write_text(json.dumps(lines, indent=2) + "\n", encoding="utf-8")
    draft.replace(record)
