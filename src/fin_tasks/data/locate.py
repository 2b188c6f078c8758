"""Find a benchmark's files: downloaded, in the user's own folder, or the packaged sample.

`pins/<benchmark>.json` says where the authors published the files. Those on GitHub are pinned to a commit, with
the SHA-256 of nearly all files. A data set on the hub is not pinned: the commit and the hashes of its first
download are recorded in the cache, and hold from then on.

A file is named by its path in the authors' repository. A name may hold alternatives separated by
`|`, and each may be a shell pattern: `data/test-*.parquet|test.jsonl`. The first alternative that
matches files counts, and these are listed by their own names. A folder of the user's is laid out
like the repository, or without its first level of folders.
"""

import fnmatch
import hashlib
import os
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal, TypedDict
from urllib.parse import quote

from pydantic import TypeAdapter, ValidationError

from fin_tasks.errors import ConfigError, DataError
from fin_tasks.settings import Settings

_PATTERN = re.compile(r"[|*?\[]")
"""In results, a name with one of these is replaced by that of the file which it matches."""
_PINS = Path(__file__).parent / "pins"
_REMEDY = "Put the file there, name another data_dir or FIN_TASKS_DATA, or use source upstream."


@dataclass(frozen=True)
class Pin:
    """A file of a repository, with its size in bytes and SHA-256 in hex if they are known."""

    path: str
    size: int | None
    sha256: str | None


@dataclass(frozen=True, kw_only=True)
class Pins:
    """A benchmark's repository; for the hub, revision and files are unknown until it was asked."""

    name: str
    host: Literal["github", "hub"]
    repo: str
    revision: str | None
    license: str
    homepage: str
    files: tuple[Pin, ...]
    by_hand: str = ""
    """What to do without a network, for files that are not looked for in the user's folder."""


PINS_FILE = TypeAdapter(Pins)
"""The form of a file of pins."""


def pinned_benchmarks() -> list[str]:
    """Return the names of all files of pins; a benchmark of another package brings its own files."""
    return sorted(path.stem for path in _PINS.glob("*.json"))


def record_file(pins: Pins, revision: str | None, settings: Settings) -> Path:
    """Return the file of the cache that records what the hub said of a revision, by default of the newest one."""
    name = quote(revision or "main", safe="")
    return settings.cache_dir / pins.name / f"files-{name}.json"


def load_pins(
    benchmark: str, settings: Settings | None = None, revision: str | None = None
) -> Pins:
    """Return a benchmark's pins as packaged; with settings, those of a data set on the hub as recorded."""
    file = _PINS / f"{benchmark}.json"
    if not file.is_file():
        raise ConfigError(
            f"benchmark with files to fetch: expected {', '.join(pinned_benchmarks())}, got {benchmark!r}."
        )
    pins = PINS_FILE.validate_json(file.read_bytes())
    if settings and pins.host == "hub":
        record = record_file(pins, revision, settings)
        if record.is_file():
            try:
                return PINS_FILE.validate_json(record.read_bytes())
            except ValidationError as error:
                raise DataError(
                    f"{record}: expected the list of files that we wrote, got something else. Delete the file."
                ) from error
    return pins


class Provenance(TypedDict):
    """What results say about the files."""

    origin: str
    """`upstream`, `data_dir` or `sample`."""
    commit: str | None
    """The commit of downloaded files, otherwise None."""
    revision: str
    """Hash of all names and hashes; two sets of files have the same one only if they are equal."""
    is_own: bool
    """Whether the user's folder holds files that are not the authors'."""
    files: dict[str, str]
    """SHA-256 by name."""


@dataclass(frozen=True, kw_only=True)
class Located:
    """Files of a benchmark by their names, and where they come from."""

    origin: str
    root: Path
    pins: Pins = field(repr=False)
    settings: Settings = field(repr=False)
    files: Mapping[str, Path] = field(default_factory=dict)

    def with_files(self, names: Iterable[str], *, optional: bool = False) -> "Located":
        """Add files from the same place; a missing file is an error unless files are optional."""
        added = {}
        for name in names:
            paths = self.matches(name)
            if not paths and not optional:
                raise DataError(
                    f"{self.pins.name}: expected {name} in {self.root}, found none. {_REMEDY}"
                )
            for path in paths:
                check_name(path)
                shown_name = path.name if _PATTERN.search(name) else name
                added[shown_name] = path
        if self.origin == "upstream":
            from .download import fetch

            fetch(self.pins, self.root, added.values(), self.settings)
        return replace(self, files={**self.files, **added})

    def matches(self, name: str) -> list[Path]:
        """Return the paths of the first alternative in a name that matches files, in order."""
        for pattern in name.split("|"):
            if self.origin == "upstream":
                names = fnmatch.filter([pin.path for pin in self.pins.files], pattern)
                paths = [self.root / name for name in names]
            else:
                without_first_folder = pattern.partition("/")[2] or pattern
                paths = list(self.root.glob(pattern))
                paths = paths or list(self.root.glob(without_first_folder))
            if paths:
                return sorted(paths)
        return []

    def unlike_pins(self) -> list[str]:
        """Return the names of files whose hash is none of the pinned ones.

        Files whose hash is not known are left out. For a data set of the hub that was never looked up,
        no hash is known.
        """
        known_hashes = {pin.sha256 for pin in self.pins.files if pin.sha256}
        if not known_hashes:
            return []
        unknown = {pin.path for pin in self.pins.files if not pin.sha256}
        unlike = []
        for name, path in self.files.items():
            if name not in unknown and sha256_of(path) not in known_hashes:
                unlike.append(name)
        return unlike

    def provenance(self) -> Provenance:
        """Return origin, commit and hashes of the files."""
        hashes = {name: sha256_of(self.files[name]) for name in sorted(self.files)}
        listing = "".join(f"{sha256}  {name}\n" for name, sha256 in hashes.items())
        digest = hashlib.sha256(listing.encode()).hexdigest()
        return {
            "origin": self.origin,
            "commit": self.pins.revision if self.origin == "upstream" else None,
            "revision": digest[:16],
            "is_own": self.origin == "data_dir" and bool(self.unlike_pins()),
            "files": hashes,
        }


def locate(
    benchmark: str,
    paths: Sequence[str],
    *,
    source: str = "auto",
    data_dir: str | Path | None = None,
    settings: Settings,
    sample: Path | None = None,
    revision: str | None = None,
    optional: bool = False,
) -> Located:
    """Find files of a benchmark; download what the cache lacks.

    Args:
        benchmark: Name of a file of pins.
        paths: Names of the files.
        source: `upstream`, `data_dir`, `sample`, or `auto`, which is data_dir if a folder is named
            and upstream if not.
        data_dir: The user's folder, `FIN_TASKS_DATA` if None. A file stands for the first of the
            paths.
        settings: Folders, hosts and tokens.
        sample: Folder of the packaged sample.
        revision: Commit, branch or tag of a data set on the hub.
        optional: Whether files may be missing; otherwise a missing file is an error.
    """
    pins = load_pins(benchmark, settings, revision)
    own_folder = Path(data_dir).expanduser() if data_dir else settings.data_dir
    if source == "auto":
        source = "data_dir" if own_folder else "upstream"
    if source == "upstream" and not pins.revision:
        from .download import look_up

        pins = look_up(pins, revision, settings)
    cache = settings.cache_dir / pins.name / str(pins.revision)
    folders = {"upstream": cache, "data_dir": own_folder, "sample": sample}
    if source not in list(folders):
        raise ConfigError(
            f"{benchmark} source: expected one of auto, {', '.join(folders)}, got {source!r}."
        )
    folder = folders[source]
    if source == "sample" and data_dir:
        raise ConfigError(
            f"{benchmark} data_dir: expected none with source sample, which is in the package, "
            f"got {data_dir}."
        )
    if folder is None:
        raise ConfigError(
            f"{benchmark} source: {source} needs a folder, got none. Set data_dir or FIN_TASKS_DATA."
        )
    located = Located(origin=source, root=folder, pins=pins, settings=settings)
    if source == "data_dir" and folder.is_file():
        check_name(folder)
        files = {}
        for name in paths[:1]:
            shown_name = folder.name if _PATTERN.search(name) else name
            files[shown_name] = folder
        located = replace(located, root=folder.parent, files=files)
        paths = paths[1:]
    elif source == "data_dir":
        # Only one folder is searched from here on, so that two copies never mix.
        below = replace(located, root=folder / benchmark)
        if any(map(below.matches, paths)):
            located = below
    return located.with_files(paths, optional=optional)


# --- Files ---


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
