"""Find a benchmark's files and read them: downloaded and checked, in the user's own folder, or the packaged sample.

Files are named by their path in the authors' repository. A name may hold alternatives separated by `|`, and each may be
a shell pattern, `data/test-*.parquet|test.jsonl`: the first that finds files counts, and these are listed by their own
names. A folder of the user's is laid out like the repository, or without its first level of folders.

`pins/<benchmark>.json` names each repository. GitHub's are pinned to a commit, with the SHA-256 of nearly all files.
The hub is asked for the newest commit at the first use, or for that of a `revision`; it is used from then on.
"""

import csv
import hashlib
import json
import logging
import os
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from io import StringIO
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import quote

from pydantic import TypeAdapter
from tqdm.contrib.concurrent import thread_map

from fin_tasks.errors import ConfigError, DataError, FetchError
from fin_tasks.settings import Settings

_MOST = {"github": 512 << 20, "hub": 4 << 30}  # bytes of a file whose size we have not pinned
_OFFLINE = "downloads are switched off (FIN_TASKS_OFFLINE, HF_HUB_OFFLINE or --verify)"
_PINS = Path(__file__).parent / "pins"
_log = logging.getLogger(__name__)


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
    host: str  # "github" or "hub"
    repo: str
    revision: str | None
    license: str
    non_commercial: bool
    homepage: str
    files: tuple[Pin, ...]

    def failed(self, wanted: str, error: object, path: str = "...") -> FetchError:
        """Return an error that says how to get a file by hand."""
        reason = (str(error).strip().split("\n")[0] or type(error).__name__)[:300].rstrip(".")
        gate = (
            " (if it is gated, accept its conditions there and run `hf auth login`)"
            if self.host == "hub"
            else ""
        )
        where = f"put it at DIR/{self.name}/{path}, and set data_dir or FIN_TASKS_DATA to DIR"
        return FetchError(f"{wanted}, but {reason}. Or get it from {self.homepage}{gate}, {where}.")


_PINS_FILE = TypeAdapter(Pins)


@dataclass(frozen=True, kw_only=True)
class Located:
    """Files of a benchmark by their names, and where they come from."""

    origin: str  # "upstream", "data_dir" or "sample"
    root: Path
    pins: Pins = field(repr=False)
    settings: Settings = field(repr=False)
    files: Mapping[str, Path] = field(default_factory=dict)

    @property
    def commit(self) -> str | None:
        """The commit of downloaded files, else None."""
        return self.pins.revision if self.origin == "upstream" else None

    def more(self, paths: Iterable[str], *, optional: bool = False) -> "Located":
        """Add files from the same place; missing files are an error unless they are optional."""
        found: dict[str, Path] = {}
        for name in paths:
            here = self._here(name)
            if not here and not optional:
                advice = "Put the file there, name another data_dir or FIN_TASKS_DATA, or use source upstream."
                raise DataError(
                    f"{self.pins.name}: expected {name} in {self.root}, found none. {advice}"
                )
            found |= {_key(name, path): path for path in here}
        if self.origin == "upstream":
            _fetch(self.pins, self.root, set(found.values()), self.settings)
        return replace(self, files={**self.files, **found})

    def provenance(self) -> dict[str, Any]:
        """Return origin, commit, SHA-256 of each file, and `revision`: 16 digits that equal files have in common."""
        hashes = {name: sha256_of(path) for name, path in sorted(self.files.items())}
        lines = "".join(f"{sha256}  {name}\n" for name, sha256 in hashes.items())
        revision = hashlib.sha256(lines.encode()).hexdigest()[:16]
        return {"origin": self.origin, "commit": self.commit, "revision": revision, "files": hashes}

    def _here(self, name: str) -> list[Path]:
        for option in name.split("|"):
            if self.origin == "upstream":
                found = [
                    self.root / pin.path for pin in self.pins.files if fnmatchcase(pin.path, option)
                ]
            else:  # as in the authors' repository, or without the first level of folders
                found = [*self.root.glob(option)] or [
                    *self.root.glob(option.partition("/")[2] or option)
                ]
            if found:
                return sorted(found)
        return []


def locate(
    benchmark: str,
    paths: Sequence[str],
    *,
    source: str = "auto",
    data_dir: str | Path | None = None,
    settings: Settings,
    sample: Path | None = None,
    revision: str | None = None,
) -> Located:
    """Find files of a benchmark, all of which are needed; download what upstream has and the cache lacks.

    The source is `upstream`, `data_dir`, `sample`, or `auto`: data_dir if a folder is named, else upstream. `data_dir`
    is the user's folder, `FIN_TASKS_DATA` if None; `sample` is the folder of the packaged sample. The revision is a
    commit, branch or tag of a data set on the hub.
    """
    pins = load_pins(benchmark)
    place = Path(data_dir).expanduser() if data_dir else settings.data_dir
    if source not in ("auto", "upstream", "data_dir", "sample"):
        raise ConfigError(
            f"{benchmark} source: expected one of auto, upstream, data_dir, sample, got {source!r}."
        )
    if source == "sample":
        place = sample
    elif source == "upstream" or (source == "auto" and place is None):
        source, pins = (
            "upstream",
            _ask_hub(pins, revision, settings) if pins.host == "hub" else pins,
        )
        place = settings.cache_dir / pins.name / str(pins.revision)
    else:
        source = "data_dir"
    if place is None:
        raise ConfigError(
            f"{benchmark} source: {source} needs a folder, got none. Set data_dir or FIN_TASKS_DATA."
        )
    found = Located(origin=source, root=place, pins=pins, settings=settings)
    if source == "data_dir" and place.is_file():
        return replace(found, root=place.parent, files={_key(paths[0], place): place}).more(
            paths[1:]
        )
    below = replace(found, root=place / benchmark)
    # only one folder is searched from here on, so that two copies never mix
    return (below if source == "data_dir" and below._here(paths[0]) else found).more(paths)


def pinned_benchmarks() -> tuple[str, ...]:
    """Return the benchmarks that have a file of pins."""
    return tuple(sorted(path.stem for path in _PINS.glob("*.json")))


def load_pins(benchmark: str) -> Pins:
    """Return a benchmark's pins, as packaged."""
    if benchmark not in pinned_benchmarks():
        raise ConfigError(
            f"benchmark: expected one of {', '.join(pinned_benchmarks())}, got {benchmark!r}."
        )
    return _PINS_FILE.validate_json((_PINS / f"{benchmark}.json").read_bytes())


def sha256_of(path: Path) -> str:
    """Return the SHA-256 of a file in hex."""
    try:
        return hashlib.sha256(path.read_bytes()).hexdigest()
    except OSError as error:
        raise DataError(f"{path}: expected a readable file, got {error.strerror!r}.") from error


def _key(name: str, path: Path) -> str:
    return path.name if re.search(r"[|*?\[]", name) else name


def _ask_hub(pins: Pins, revision: str | None, settings: Settings) -> Pins:
    """Ask the hub for the commit, the files and their SHA-256, and remember the answer."""
    known = settings.cache_dir / pins.name / f"files-{quote(revision or 'main', safe='')}.json"
    if known.is_file():
        return _PINS_FILE.validate_json(known.read_bytes())
    from huggingface_hub import HfApi

    try:
        if settings.offline:
            raise ConnectionError(_OFFLINE)
        api = HfApi(endpoint=settings.hub, token=settings.hub_token)
        info = api.dataset_info(pins.repo, revision=revision, files_metadata=True, timeout=30)
    except Exception as error:  # the client raises its own errors and those of its HTTP library
        wanted = f"{pins.repo}: expected to look up {revision or 'main'} at {settings.hub}"
        raise pins.failed(wanted, error) from error
    listed = info.siblings or ()
    files = tuple(
        Pin(each.rfilename, each.size, each.lfs.sha256 if each.lfs else None) for each in listed
    )
    found = replace(pins, revision=str(info.sha), files=files)
    write_file(known, _PINS_FILE.dump_json(found))
    return found


def _fetch(pins: Pins, root: Path, wanted: set[Path], settings: Settings) -> None:
    chosen = [pin for pin in pins.files if root / pin.path in wanted]
    missing = [pin for pin in chosen if not (root / pin.path).is_file()]
    if missing:
        if settings.offline:
            raise pins.failed(
                f"{pins.name}: {root / missing[0].path} is not here", _OFFLINE, missing[0].path
            )
        _log.warning(
            "%s: downloading from %s at %s, license %s",
            pins.name,
            pins.repo,
            pins.revision,
            pins.license,
        )
        bar = f"Downloading {pins.name}"
        thread_map(
            lambda pin: _download(pins, pin, root, settings),
            missing,
            max_workers=8,
            desc=bar,
            disable=None,
        )
    for pin in chosen:
        path = root / pin.path
        if pin.sha256 and (found := sha256_of(path)) != pin.sha256:
            raise DataError(
                f"{path}: expected sha256 {pin.sha256}, got {found}. Delete the file, and try again."
            )


def _download(pins: Pins, pin: Pin, root: Path, settings: Settings) -> None:
    host = settings.hub if pins.host == "hub" else settings.github_raw
    most = _MOST[pins.host]
    try:
        if (pin.size or 0) > most:
            raise ValueError(f"it has {pin.size:,} bytes, more than {most:,}")
        if pins.host == "github":
            url = f"{host}/{pins.repo}/{pins.revision}/{quote(pin.path)}"
            write_file(root / pin.path, _read_url(url, pin.size or most))
        else:
            from huggingface_hub import HfApi

            place: dict[str, Any] = {
                "repo_type": "dataset",
                "revision": pins.revision,
                "local_dir": root,
            }
            HfApi(endpoint=host, token=settings.hub_token).hf_hub_download(
                pins.repo, pin.path, **place
            )
    except Exception as error:  # see _ask_hub
        raise pins.failed(f"{host}: expected {pin.path} of {pins.repo}", error, pin.path) from error


def _read_url(url: str, most: int) -> bytes:
    import requests
    from requests.adapters import HTTPAdapter
    from urllib3 import Retry

    retry = Retry(5, backoff_factor=0.3, status_forcelist=(408, 429, 500, 502, 503, 504))
    with requests.Session() as session:
        session.mount(url, HTTPAdapter(max_retries=retry))
        with session.get(url, stream=True, timeout=(10, 30)) as reply:
            reply.raise_for_status()
            content = bytes(reply.raw.read(most + 1, decode_content=True))
    if len(content) > most:
        raise ValueError(f"it has more than {most:,} bytes")
    return content


def write_file(target: Path, content: bytes) -> None:
    """Write a file in one step, so that no reader sees half of it."""
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        part = target.with_name(f"{target.name}.{os.getpid()}.part")
        part.write_bytes(content)
        part.replace(target)
    except OSError as error:
        raise DataError(
            f"{target}: cannot be written ({error.strerror}). Set FIN_TASKS_CACHE."
        ) from error


class Record(NamedTuple):
    """One row; short rows are filled up with empty cells."""

    line: int  # the line of the file on which the row ends
    cells: dict[str, str]
    surplus: int  # cells more than the header has; negative if the row is short


def read_csv(path: Path, columns: Sequence[str], *, delimiter: str = ",") -> list[Record]:
    """Read the rows of a UTF-8 CSV file that has at least these columns; blank lines are skipped."""
    try:
        content = path.read_bytes()
        csv.field_size_limit(
            max(csv.field_size_limit(), len(content))
        )  # a response may be longer than 128 kB
        reader = csv.reader(StringIO(content.decode("utf-8-sig"), newline=""), delimiter=delimiter)
        header = next(reader, [])
        missing = [column for column in columns if column not in header]
        if missing or len(set(header)) < len(header):
            expected, got = ", ".join(columns), ", ".join(header) or "an empty file"
            raise DataError(
                f"{path}: expected the columns {expected}, each once, got {got}. Rename its columns."
            )
        records = []
        for row in filter(None, reader):
            surplus = len(row) - len(header)
            cells = dict(zip(header, [*row, *[""] * -surplus], strict=False))
            records.append(Record(line=reader.line_num, cells=cells, surplus=surplus))
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise DataError(
            f"{path}: expected a CSV file in UTF-8, could not read it ({error})."
        ) from error
    return records


def read_json(
    path: Path, columns: Sequence[str] = (), *, aliases: Mapping[str, str] | None = None
) -> list[dict[str, Any]]:
    """Read the objects of a JSON list, or of JSON lines, in UTF-8; each must have these columns or their aliases.

    A row of lm-eval's samples becomes its document, with the responses as `output`. Only the rows of the first filter
    are read, because all filters list the same responses.
    """
    try:
        text = path.read_bytes().decode("utf-8-sig")
        if not text.lstrip().startswith("["):
            text = "[" + ",\n".join(filter(str.strip, text.split("\n"))) + "]"
        rows = json.loads(text)
    except (OSError, ValueError, RecursionError) as error:
        raise DataError(
            f"{path}: expected a JSON list or JSON lines in UTF-8, got {error}."
        ) from error
    if all(isinstance(row, dict) and isinstance(row.get("doc"), dict) for row in rows):
        first = rows[0].get("filter") if rows else None
        rows = [
            {**row["doc"], "output": row.get("resps")} for row in rows if row.get("filter") == first
        ]
    for number, row in enumerate(rows, start=1):
        if isinstance(row, dict):
            row |= {
                name: row[alias]
                for name, alias in (aliases or {}).items()
                if name not in row and alias in row
            }
        if not isinstance(row, dict) or not all(name in row for name in columns):
            wanted = f"an object with {', '.join(columns)}"
            raise DataError(f"{path}, row {number}: expected {wanted}, got {row!r:.200}.")
    if not rows:
        raise DataError(f"{path}: expected at least one row, got none.")
    return list(rows)
