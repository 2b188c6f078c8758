"""Parts of a report that did not change, taken over from the report that is replaced.

A report's folder has a record of what its parts were made of: a key for each, a hash of all that decides its content,
and its files. A part whose key is there again is not made again: its files become files of the new report too, without
a copy where the file system has links.
"""

import hashlib
import os
import shutil
from collections.abc import Iterator, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path, PurePosixPath
from typing import Any

import orjson

import fin_tasks

__all__ = ["RECORD", "Parts", "code_version", "key_of_part"]

RECORD = ".made.json"
"""Name of the record in a report's folder."""

_MAX_RECORD = 64 * 2**20


@lru_cache(maxsize=1)
def code_version() -> str:
    """Return a hash of all code of this package: whichever of it changed, nothing is taken over."""
    folder = Path(fin_tasks.__file__).parent
    digest = hashlib.sha256()
    for file in sorted(folder.rglob("*.py")):
        digest.update(str(file.relative_to(folder)).encode() + b"\0" + file.read_bytes())
    return digest.hexdigest()[:16]


def key_of_part(*decides: Any) -> str:
    """Return the key of a part: a hash of values whose `repr` says all of them."""
    return hashlib.sha256(repr(decides).encode("utf-8", "backslashreplace")).hexdigest()[:32]


@dataclass
class Parts:
    """The parts of a report while it is made.

    Attributes:
        stage: Where it is made.
        out: Where the report is that it replaces, if there is one.
    """

    stage: Path
    out: Path
    _made: dict[str, Any] = field(default_factory=dict)
    _taken: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        self._earlier = _record(self.out / RECORD)

    def take(self, key: str) -> Any | None:
        """Take a part over.

        Returns:
            What `add` was told of it; None where it has to be made, as the earlier report does not have all of it.
        """
        part = self._earlier.get(key)
        files = _files(self.out, part["files"], self._taken) if part else None
        if part is None or files is None:
            return None
        for name in files:
            target = self.stage / name
            if not target.exists():  # parts may share files
                target.parent.mkdir(parents=True, exist_ok=True)
                _link(self.out / name, target)
        self._taken.update(files)
        self._made[key] = part
        return part["facts"]

    def add(self, key: str, files: Sequence[str], facts: Any) -> None:
        """Note a part that was made.

        Args:
            key: Of `key_of_part`.
            files: Paths in the report's folder; one that ends in `/` stands for all files right below.
            facts: What `take` will return, not None; JSON.
        """
        self._made[key] = {"files": list(files), "facts": facts}

    def save(self) -> None:
        """Write the record of all parts, for the next report."""
        (self.stage / RECORD).write_bytes(orjson.dumps({"parts": self._made}))


def _record(path: Path) -> dict[str, Any]:
    """Read what a report was made of; nothing where it does not say, which costs the making of it."""
    try:
        if path.is_symlink() or path.stat().st_size > _MAX_RECORD:
            return {}
        parts = orjson.loads(path.read_bytes())["parts"]
    except (OSError, ValueError, TypeError, KeyError):
        return {}
    return {key: part for key, part in parts.items() if _is_part(part)} if isinstance(parts, dict) else {}


def _is_part(part: Any) -> bool:
    files = part.get("files") if isinstance(part, dict) else None
    return isinstance(files, list) and all(isinstance(name, str) for name in files) and part.get("facts") is not None


def _files(out: Path, names: Sequence[str], taken: AbstractSet[str]) -> list[str] | None:
    """Name the files of a part that are not taken yet.

    None where one is missing, or is elsewhere: the folder may have been a stranger's.
    """
    found = [one for name in names for one in (_below(out, name) if name.endswith("/") else [name])]
    missing = [name for name in found if name not in taken]
    return missing if found and all(_is_within(out, name) for name in missing) else None


def _below(out: Path, folder: str) -> Iterator[str]:
    try:
        yield from (f"{folder}{name}" for name in os.listdir(out / folder))  # noqa: PTH208 (names are enough)
    except OSError:
        yield folder  # which is no file


def _is_within(out: Path, name: str) -> bool:
    path = PurePosixPath(name)
    if path.is_absolute() or ".." in path.parts or "\\" in name:
        return False
    place = out / name
    return place.is_file() and not any(one.is_symlink() for one in (place, *place.parents[: len(path.parts) - 1]))


def _link(source: Path, target: Path) -> None:
    try:
        target.hardlink_to(source)
    except OSError:  # not every file system has links
        shutil.copy2(source, target)
