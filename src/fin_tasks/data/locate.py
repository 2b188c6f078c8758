"""Find a benchmark's files: downloaded, in the user's own folder, or the packaged sample.

A file is named by its path in the authors' repository. A name may hold alternatives separated by
`|`, and each may be a shell pattern: `data/test-*.parquet|test.jsonl`. The first alternative that
matches files counts, and these are listed by their own names. A folder of the user's is laid out
like the repository, or without its first level of folders.
"""

import fnmatch
import hashlib
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TypedDict

from fin_tasks.errors import ConfigError, DataError
from fin_tasks.settings import Settings

from . import download, hub
from .files import check_name, sha256_of
from .pins import Pins, load_pins

_REMEDY = "Put the file there, name another data_dir or FIN_TASKS_DATA, or use source upstream."


class Provenance(TypedDict):
    """What results say about the files."""

    origin: str
    """`upstream`, `data_dir` or `sample`."""
    commit: str | None
    revision: str
    """Hash of all names and hashes; two sets of files have the same one only if they are equal."""
    is_own: bool
    """Whether some files are not the authors'."""
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

    @property
    def commit(self) -> str | None:
        """The commit of downloaded files, else None."""
        return self.pins.revision if self.origin == "upstream" else None

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
                added[_key(name, path)] = path
        if self.origin == "upstream":
            download.fetch(self.pins, self.root, added.values(), self.settings)
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

    @property
    def is_own(self) -> bool:
        """Whether the user's folder holds files that are not the authors'."""
        return self.origin == "data_dir" and bool(self.unlike_pins())

    def provenance(self) -> Provenance:
        """Return origin, commit and hashes of the files."""
        hashes = {name: sha256_of(self.files[name]) for name in sorted(self.files)}
        listing = "".join(f"{sha256}  {name}\n" for name, sha256 in hashes.items())
        digest = hashlib.sha256(listing.encode()).hexdigest()
        return {
            "origin": self.origin,
            "commit": self.commit,
            "revision": digest[:16],
            "is_own": self.is_own,
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
    pins = load_pins(benchmark)
    own_folder = Path(data_dir).expanduser() if data_dir else settings.data_dir
    if source == "auto":
        source = "data_dir" if own_folder else "upstream"
    if pins.host == "hub":
        pins_of = hub.look_up if source == "upstream" else hub.known_pins
        pins = pins_of(pins, revision, settings)
    cache = settings.cache_dir / pins.name / str(pins.revision)
    folders = {"upstream": cache, "data_dir": own_folder, "sample": sample}
    if source not in list(folders):
        raise ConfigError(
            f"{benchmark} source: expected one of auto, {', '.join(folders)}, got {source!r}."
        )
    folder = folders[source]
    if folder is None:
        raise ConfigError(
            f"{benchmark} source: {source} needs a folder, got none. Set data_dir or FIN_TASKS_DATA."
        )
    located = Located(origin=source, root=folder, pins=pins, settings=settings)
    if source == "data_dir" and folder.is_file():
        check_name(folder)
        only = {_key(name, folder): folder for name in paths[:1]}
        located = replace(located, root=folder.parent, files=only)
        paths = paths[1:]
    elif source == "data_dir":
        # Only one folder is searched from here on, so that two copies never mix.
        below = replace(located, root=folder / benchmark)
        if any(map(below.matches, paths)):
            located = below
    return located.with_files(paths, optional=optional)


def _key(name: str, path: Path) -> str:
    return path.name if re.search(r"[|*?\[]", name) else name
