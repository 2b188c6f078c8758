"""Where a benchmark's files live: host, repository, pinned revision, size and SHA-256 of each file, licence.

The facts are JSON, one file per benchmark in `pins/`; a new benchmark adds a file there and edits nothing here.
A source is checked when it is made, whether it comes from JSON or from code: names that end up in addresses and
paths cannot leave the folder they belong to.
"""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Literal
from urllib.parse import quote

from fin_tasks.errors import ConfigError, DataError
from fin_tasks.settings import Settings

__all__ = ["Host", "RemoteFile", "Source", "load_source", "parse_source", "source_names"]

Host = Literal["github", "hub"]

_NAME = re.compile(r"[a-z0-9][a-z0-9_-]*")
_REPO = re.compile(r"[A-Za-z0-9][\w.-]*/[A-Za-z0-9][\w.-]*", re.ASCII)
_COMMIT = re.compile(r"[0-9a-f]{40}")
_SHA256 = re.compile(r"[0-9a-f]{64}")
_UNSAFE = re.compile(r'[\x00-\x1f\x7f\\:*?"<>|]')


@dataclass(frozen=True, kw_only=True)
class RemoteFile:
    """One file of a source.

    Attributes:
        path: Path inside the repository, with forward slashes.
        size: Bytes, or None where unknown.
        sha256: Checksum in lower-case hex, or None where unknown: the first copy that comes is then trusted.
    """

    path: str
    size: int | None
    sha256: str | None

    def __post_init__(self) -> None:
        parts = self.path.split("/")
        if _UNSAFE.search(self.path) or any(part in ("", ".", "..") or part != part.strip() for part in parts):
            raise DataError(
                f"pinned file: expected a plain relative path, got {self.path!r}. "
                "Write it with forward slashes and without '.' or '..' parts."
            )
        if self.size is not None and self.size < 0:
            raise DataError(f"pinned file {self.path}: expected a size of 0 bytes or more, got {self.size!r}.")
        if self.sha256 is not None and not _SHA256.fullmatch(self.sha256):
            raise DataError(
                f"pinned file {self.path}: expected 64 lower-case hex digits as sha256, got {self.sha256!r}."
            )


@dataclass(frozen=True, kw_only=True)
class Source:
    """A benchmark's files at one revision.

    Attributes:
        name: The benchmark's name, also the name of its folder in the cache.
        host: `github` (raw files) or `hub` (a data set on the Hugging Face hub).
        repo: `owner/name`.
        revision: Full commit; a branch would move under our feet and is refused.
        licence: Of the data, as upstream states it.
        non_commercial: Whether that licence forbids commercial use.
        homepage: Where a person can read about it.
        note: What else one should know.
        files: Every file we may ask for.
    """

    name: str
    host: Host
    repo: str
    revision: str
    licence: str
    non_commercial: bool
    homepage: str = ""
    note: str = ""
    files: tuple[RemoteFile, ...] = field(repr=False)

    def __post_init__(self) -> None:
        _expect(self.name, _NAME.fullmatch(str(self.name)), "name", "lower-case letters, digits, - and _", self.name)
        _expect(self.name, self.host in ("github", "hub"), "host", "'github' or 'hub'", self.host)
        _expect(self.name, _REPO.fullmatch(self.repo), "repo", "owner/name", self.repo)
        _expect(self.name, _COMMIT.fullmatch(self.revision), "revision", "a commit of 40 hex digits", self.revision)
        _expect(self.name, self.licence.strip(), "licence", "the licence upstream states", self.licence)
        paths = [file.path for file in self.files]
        twice = sorted({path for path in paths if paths.count(path) > 1})
        _expect(self.name, not twice, "files", "each path once", twice)

    def file(self, path: str) -> RemoteFile:
        """Return the entry of one file.

        Raises:
            DataError: The source has no such file.
        """
        for file in self.files:
            if file.path == path:
                return file
        near = [file.path for file in self.files if PurePosixPath(file.path).name == PurePosixPath(path).name]
        hint = (
            f"Did you mean {near[0]}?" if near else f"It lists {len(self.files)} files, see data/pins/{self.name}.json."
        )
        raise DataError(f"{self.name}: expected a file its pins list, got {path!r}. {hint}")

    def url(self, path: str, settings: Settings) -> str:
        """Return the address of one file.

        Raises:
            DataError: The source has no such file.
        """
        name = quote(self.file(path).path)
        if self.host == "github":
            return f"{settings.github_raw}/{self.repo}/{self.revision}/{name}"
        return f"{settings.hub}/datasets/{self.repo}/resolve/{self.revision}/{name}"


def source_names() -> tuple[str, ...]:
    """Return the benchmarks that have pins."""
    names = (entry.name for entry in _pins().iterdir())
    hub = ("bizbench.json", "mme_finance.json")  # these are for data/fetch.py, which replaces this module
    return tuple(sorted(name[: -len(".json")] for name in names if name.endswith(".json") and name not in hub))


def load_source(name: str) -> Source:
    """Read a benchmark's pins.

    Raises:
        ConfigError: No such benchmark.
        DataError: Its pins are malformed.
    """
    names = source_names()
    if name not in names:
        raise ConfigError(f"benchmark: expected one of {', '.join(names)}, got {name!r}.")
    return parse_source((_pins() / f"{name}.json").read_text(encoding="utf-8"), origin=f"data/pins/{name}.json")


def parse_source(text: str, *, origin: str) -> Source:
    """Read pins from JSON.

    Args:
        text: The JSON.
        origin: What to call it in an error.

    Raises:
        DataError: Not JSON, a key is missing, unknown or of the wrong type, or a value is not allowed.
    """
    try:
        raw = json.loads(text)
    except json.JSONDecodeError as error:
        raise DataError(
            f"{origin}: expected JSON, got text that breaks off at line {error.lineno}: {error.msg}."
        ) from error
    head = _typed(raw, _SOURCE_KEYS, origin)
    files = head.pop("files")
    if not isinstance(files, list) or not files:
        raise DataError(f"{origin}: expected files to be a non-empty list, got {files!r}.")
    entries = [_typed(entry, _FILE_KEYS, f"{origin}, files[{i}]") for i, entry in enumerate(files)]
    try:
        return Source(**head, files=tuple(RemoteFile(**entry) for entry in entries))  # type: ignore[arg-type]
    except DataError as error:
        raise DataError(f"{origin}: {error}") from error


_SOURCE_KEYS: Mapping[str, tuple[type, ...]] = {
    "name": (str,),
    "host": (str,),
    "repo": (str,),
    "revision": (str,),
    "licence": (str,),
    "non_commercial": (bool,),
    "homepage": (str,),
    "note": (str,),
    "files": (list,),
}
_FILE_KEYS: Mapping[str, tuple[type, ...]] = {"path": (str,), "size": (int, type(None)), "sha256": (str, type(None))}


def _typed(raw: object, keys: Mapping[str, tuple[type, ...]], origin: str) -> dict[str, object]:
    if not isinstance(raw, dict) or raw.keys() != keys.keys():
        found = sorted(raw) if isinstance(raw, dict) else raw
        raise DataError(f"{origin}: expected an object with the keys {', '.join(keys)}, got {found!r}.")
    for key, types in keys.items():
        # bool is an int to isinstance, so the exact type is what counts
        if type(raw[key]) not in types:
            wanted = " or ".join("null" if t is type(None) else t.__name__ for t in types)
            raise DataError(f"{origin}: expected {key} to be {wanted}, got {raw[key]!r}.")
    return dict(raw)


def _expect(name: str, holds: object, key: str, wanted: str, value: object) -> None:
    if not holds:
        raise DataError(f"source {name!r}: expected {key} to be {wanted}, got {value!r}.")


def _pins() -> Path:
    return Path(__file__).resolve().parent / "pins"
