"""Where BizBench's files are: on the hub, in a folder of yours, or the small sample that comes with the package."""

import hashlib
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from fin_tasks.data.checksums import digest
from fin_tasks.errors import ConfigError, DataError
from fin_tasks.settings import Settings

__all__ = ["LICENCE", "REPO", "SPLITS", "Files", "Origin", "Revision", "locate", "revision_of"]

Origin = Literal["upstream", "data_dir", "sample"]

REPO = "kensho/bizbench"
"""On the Hugging Face hub, as a data set."""

LICENCE = "Apache-2.0"
"""Of the data set as published, and of our sample; where the hub's page states one, that one counts."""

SPLITS = ("test", "train")

_SAMPLE = Path(__file__).resolve().parent / "sample"
_FOLDERS = ("", "data", "default")
_SUFFIXES = (".parquet", ".jsonl", ".json", ".csv")
_SHARD = re.compile(r"-(\d{5})-of-(\d{5})\Z")


@dataclass(frozen=True, kw_only=True)
class Files:
    """The files of one split.

    Attributes:
        origin: Where they come from.
        split: The split asked for.
        paths: The files, one or more shards, in the order of their rows; all of one format.
        commit: Commit of the hub's data set, 40 hex digits; None where the files come from elsewhere.
        licence: As the hub's page states it; `LICENCE` where it states none, or the files come from elsewhere.
    """

    origin: Origin
    split: str
    paths: tuple[Path, ...]
    commit: str | None = None
    licence: str = LICENCE


@dataclass(frozen=True, kw_only=True)
class Revision:
    """What identifies the data a run has used.

    Attributes:
        short: Sixteen hex digits over all of `files`.
        files: Name of each file to its SHA-256.
    """

    short: str
    files: Mapping[str, str]

    def __str__(self) -> str:
        return self.short


def locate(
    *,
    source: str = "auto",
    data_dir: str | Path | None = None,
    split: str = "test",
    data_revision: str | None = None,
    settings: Settings,
    notify: Callable[[str], None] | None = None,
) -> Files:
    """Find the files of a split.

    Args:
        source: `upstream` downloads what is missing from the hub; `data_dir` reads a folder; `sample` reads the
            packaged sample, which has one split and gives it for any; `auto` is `data_dir` where a folder is named,
            else `upstream`.
        data_dir: The folder, or the one above it (`DIR/bizbench`); `FIN_TASKS_DATA` where None. The split is there,
            or in `data/`, as Parquet (`test-00000-of-00001.parquet`, `test.parquet`), JSON lines (`test.jsonl`), JSON
            or CSV. Or the split's file itself.
        split: `test` or `train`.
        data_revision: Commit, branch or tag of the hub's data set; where None, the newest commit of `main` at the first
            use, and from then on the same.
        settings: The environment.
        notify: Told which commit is used when it is new here, and under which licence it comes.

    Raises:
        ConfigError: A source or split that does not exist, or no folder is named for `data_dir`.
        FetchError: The files cannot be downloaded.
        DataError: They are not there, incomplete or ambiguous.
    """
    if split not in SPLITS:
        raise ConfigError(f"bizbench split: expected one of {', '.join(SPLITS)}, got {split!r}.")
    folder = Path(data_dir).expanduser() if data_dir else settings.data_dir
    if source == "auto":
        source = "upstream" if folder is None else "data_dir"
    if source == "upstream":
        return _upstream(split, data_revision, settings, notify)
    if source == "data_dir":
        if folder is None:
            raise ConfigError(
                "bizbench source: data_dir needs a folder, got none. Set FIN_TASKS_DATA, or data_dir in the metadata."
            )
        return _file(split, folder) if folder.is_file() else _local(split, folder)
    if source == "sample":
        return Files(origin="sample", split=split, paths=(_SAMPLE / "test.jsonl",))
    raise ConfigError(f"bizbench source: expected one of auto, upstream, data_dir, sample, got {source!r}.")


def revision_of(files: Files) -> Revision:
    """Identify the data: the same files give the same revision from the hub and from a folder.

    The short form is SHA-256 over the lines `<sha256>  <name>`, in the order of the shards.

    Raises:
        DataError: A file cannot be read.
    """
    hashes = {path.name: digest(path).sha256 for path in files.paths}
    lines = "".join(f"{sha256}  {name}\n" for name, sha256 in hashes.items())
    return Revision(short=hashlib.sha256(lines.encode()).hexdigest()[:16], files=hashes)


def _upstream(split: str, data_revision: str | None, settings: Settings, notify: Callable[[str], None] | None) -> Files:
    from fin_tasks.data.hub import snapshot

    found = snapshot(
        REPO,
        patterns=[f"*{split}*.parquet"],
        revision=data_revision,
        settings=settings,
        licence=LICENCE,
        notify=notify,
    )
    paths = _whole(found.files.values(), where=f"{REPO} at {found.revision[:12]}")
    return Files(origin="upstream", split=split, paths=paths, commit=found.revision, licence=found.licence)


def _file(split: str, path: Path) -> Files:
    """Take a file that was named itself; refuse what can only be a slip."""
    if path.suffix not in _SUFFIXES:
        raise DataError(f"bizbench: expected a file {', '.join(_SUFFIXES)}, got {path}. Name another, or its folder.")
    if (shard := _SHARD.search(path.stem)) and int(shard[2]) > 1:
        raise DataError(f"bizbench: {path} is one of {int(shard[2])} shards. Name their folder: {path.parent}")
    others = [name for name in SPLITS if name != split and re.match(rf"{name}(?![a-z])", path.stem)]
    if others:
        raise DataError(
            f"bizbench: expected a file of {split}, got {path}, which is named after {others[0]}. "
            f"Set split: {others[0]}, or name another file."
        )
    return Files(origin="data_dir", split=split, paths=(path,))


def _local(split: str, root: Path) -> Files:
    folders = [above / name if name else above for above in (root / "bizbench", root) for name in _FOLDERS]
    for pattern in _patterns(split):
        for folder in folders:
            if found := [path for path in folder.glob(pattern) if path.is_file()]:
                return Files(origin="data_dir", split=split, paths=_whole(found, where=str(folder)))
    if not root.exists():
        raise DataError(
            f"bizbench: expected a folder or a file, found no {root}. Name the folder with {split}.parquet, or that "
            "file, with data_dir or FIN_TASKS_DATA, or use source: upstream to download it."
        )
    looked = "\n  ".join(map(str, folders))
    raise DataError(
        f"bizbench: expected {split}-00000-of-00001.parquet, or {split}.parquet, .jsonl, .json or .csv, found none of "
        f"them in\n  {looked}\nPut the file into one of these folders, name another, or the file itself, with data_dir "
        "or FIN_TASKS_DATA, or use source: upstream to download it."
    )


def _patterns(split: str) -> tuple[str, ...]:
    """Return the names a split's files have, the best first: on the hub, converted by the hub, saved by hand."""
    return (
        f"{split}-*-of-*.parquet",
        *(f"{split}{suffix}" for suffix in _SUFFIXES),
        f"{split}/*.parquet",
        *(f"*{split}*{suffix}" for suffix in _SUFFIXES),
    )


def _whole(paths: Iterable[Path], *, where: str) -> tuple[Path, ...]:
    """Put shards in order; refuse a set with gaps, and several files that are no shards of one."""
    ordered = tuple(sorted(paths, key=lambda path: path.name))
    names = ", ".join(path.name for path in ordered)
    shards = [_SHARD.search(path.stem) for path in ordered]
    if all(shards):
        numbers = [(int(shard[1]), int(shard[2])) for shard in shards if shard]
        if numbers != [(place, len(numbers)) for place in range(len(numbers))]:
            raise DataError(f"bizbench: expected every shard of one set in {where}, got {names}. Add what is missing.")
    elif len(ordered) > 1 and not all(path.stem.isdecimal() for path in ordered):
        raise DataError(f"bizbench: expected one file, or all shards of one, in {where}, got {names}. Leave one there.")
    return ordered
