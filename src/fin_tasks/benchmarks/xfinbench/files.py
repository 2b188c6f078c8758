"""Where XFinBench's files are: downloaded, in a folder of yours, or the small sample that comes with the package.

Every file is named by its path in the authors' repository, wherever it lies, so that the same content has the same
name and the same hash from all three origins.
"""

import hashlib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from fin_tasks.data.checksums import FileCheck, digest, read_trusted, state_of
from fin_tasks.data.sources import Source, load_source
from fin_tasks.data.store import Store
from fin_tasks.errors import ConfigError, DataError
from fin_tasks.settings import Settings

__all__ = [
    "KNOWLEDGE_BANK",
    "SPLITS",
    "TEMPLATES",
    "Files",
    "Origin",
    "Revision",
    "locate",
    "prompt_templates",
    "revision_of",
]

Origin = Literal["upstream", "data_dir", "sample"]

SPLITS: Mapping[str, str] = {"validation": "dataset/validation_set.csv", "test": "dataset/test_set.csv"}
"""Split to the path of its questions."""

KNOWLEDGE_BANK = "dataset/knowledge_bank.csv"

TEMPLATES = (
    *(f"{task}_{mode}.txt" for task in ("bool", "mcq", "calcu") for mode in ("CoT", "DA")),
    "calcu_PoT.txt",
    *(f"Sys_msg/{mode}.txt" for mode in ("CoT", "DA", "PoT")),
)
"""The authors' prompt files, below their template folder."""

_FIGURES = "dataset/figures/"
_TEMPLATES = "evaluate/prompt_template/"
_PICTURES = (".png", ".jpg", ".jpeg")
_SAMPLE = Path(__file__).resolve().parent / "sample"


@dataclass(frozen=True, kw_only=True)
class Files:
    """The benchmark's files for one split.

    Attributes:
        origin: Where they come from.
        split: The split asked for.
        questions: Its CSV file.
        source: The pins, to compare with whatever the origin is.
        root: The folder they are in.
        store: Downloads what is missing; None where nothing is downloaded.
    """

    origin: Origin
    split: str
    questions: Path
    source: Source
    root: Path
    store: Store | None

    def find(self, path: str) -> Path | None:
        """Return a file that is already here, by its path in the authors' repository; None where it is not."""
        return next((place for place in _places((self.root,), path) if place.is_file()), None)

    def require(self, paths: Iterable[str]) -> dict[str, Path]:
        """Return files, downloaded where that is the origin.

        Raises:
            FetchError: One cannot be downloaded.
            DataError: One is not there, or not the pinned one.
        """
        wanted = tuple(dict.fromkeys(paths))
        if self.store is not None:
            return self.store.get_all(self.source, wanted)
        found = {path: place for path in wanted if (place := self.find(path)) is not None}
        if missing := [path for path in wanted if path not in found]:
            raise _not_found(missing[0], (self.root,), self.origin)
        return found

    def figures(self, names: Iterable[str], *, fetch: bool = True) -> dict[str, Path]:
        """Return the pictures there are: name as in the table, without extension, to the file.

        Args:
            names: Figure names; those without a picture are left out of the result.
            fetch: Download the missing ones, all at once. Without, upstream's are named by the place they would have.

        Raises:
            FetchError: One cannot be downloaded.
            DataError: One is not the pinned one.
        """
        wanted = sorted(set(names))
        if self.store is None:
            known = {path.stem: path for root in reversed(self._figure_folders()) for path in _pictures(root)}
            return {name: known[name] for name in wanted if name in known}
        remote = {Path(f.path).stem: f.path for f in self.source.files if f.path.startswith(_FIGURES)}
        paths = {name: remote[name] for name in wanted if name in remote}
        here = self.store.get_all(self.source, paths.values()) if fetch and paths else {}
        return {name: here.get(path) or self.store.path(self.source, path) for name, path in paths.items()}

    def check(self, path: str, file: Path) -> FileCheck:
        """Hash a file and compare it with its pin, or with the copy trusted on first use.

        Raises:
            DataError: It cannot be read.
        """
        trusted = read_trusted(self.store.folder(self.source)) if self.store is not None else {}
        return state_of(self.source, path, file, trusted.get(path))

    def _figure_folders(self) -> tuple[Path, ...]:
        return tuple(folder for folder in _places((self.root,), _FIGURES.rstrip("/")) if folder.is_dir())


def locate(
    *,
    source: str = "auto",
    data_dir: str | Path | None = None,
    settings: Settings,
    split: str,
    notify: Callable[[str], None] | None = None,
) -> Files:
    """Find the benchmark's files.

    Args:
        source: `upstream` downloads what is missing; `data_dir` reads a folder; `sample` reads the packaged sample,
            which has one split and gives it for any; `auto` is `data_dir` where a folder is named, else `upstream`.
        data_dir: The folder, or the one above it (`DIR/xfinbench`), laid out like the authors' repository or without
            its first level of folders; `FIN_TASKS_DATA` where None.
        settings: The environment.
        split: `validation` or `test`.
        notify: Told what `Store` has to tell.

    Raises:
        ConfigError: A source or split that does not exist, or no folder is named for `data_dir`.
        FetchError: The questions cannot be downloaded.
        DataError: The questions are not there, or not the pinned ones.
    """
    if split not in SPLITS:
        raise ConfigError(f"xfinbench split: expected one of {', '.join(SPLITS)}, got {split!r}.")
    folder = Path(data_dir).expanduser() if data_dir else settings.data_dir
    if source == "auto":
        source = "upstream" if folder is None else "data_dir"
    pins, path = load_source("xfinbench"), SPLITS[split]
    if source == "upstream":
        store = Store(settings, notify=notify)
        return Files(
            origin="upstream",
            split=split,
            questions=store.get(pins, path),
            source=pins,
            root=store.folder(pins),
            store=store,
        )
    if source == "data_dir":
        if folder is None:
            raise ConfigError(
                "xfinbench source: data_dir needs a folder, got none. Set FIN_TASKS_DATA, or data_dir in the metadata."
            )
        return _local("data_dir", (folder, folder / "xfinbench"), split=split, path=path, pins=pins)
    if source == "sample":
        return _local("sample", (_SAMPLE,), split=split, path=SPLITS["validation"], pins=pins)
    raise ConfigError(f"xfinbench source: expected one of auto, upstream, data_dir, sample, got {source!r}.")


def _local(origin: Origin, roots: tuple[Path, ...], *, split: str, path: str, pins: Source) -> Files:
    """Find the questions; the folder they are in is the only one searched from then on, so copies never mix."""
    for root in roots:
        for place in _places((root,), path):
            if place.is_file():
                return Files(origin=origin, split=split, questions=place, source=pins, root=root, store=None)
    raise _not_found(path, roots, origin)


def prompt_templates(files: Files) -> dict[str, str]:
    r"""Read the authors' prompts: file name, such as `bool_CoT.txt` or `Sys_msg/CoT.txt`, to its text.

    A `\n` spelt out in a template becomes a newline, as the authors' driver has it; nothing else is changed.

    Raises:
        FetchError: One cannot be downloaded.
        DataError: One is not there; the sample has none.
    """
    found = _template_files(files)
    return {name: path.read_text(encoding="utf-8").replace("\\n", "\n") for name, path in found.items()}


@dataclass(frozen=True, kw_only=True)
class Revision:
    """What identifies the data a run has used.

    Attributes:
        short: Sixteen hex digits over all of `files`.
        files: Path in the authors' repository to SHA-256.
    """

    short: str
    files: dict[str, str]

    def __str__(self) -> str:
        return self.short


def revision_of(files: Files, figures: Iterable[Path] = ()) -> Revision:
    """Identify the data: the same content gives the same revision from whatever origin.

    The short form is SHA-256 over the lines `<sha256>  <path>`, sorted by path, as `sha256sum` would print them.

    Args:
        files: The files; the questions always count.
        figures: Pictures that were used.

    Raises:
        DataError: A file cannot be read.
    """
    used = {SPLITS[files.split] if files.origin != "sample" else "sample/validation_set.csv": files.questions}
    used |= {_FIGURES + picture.name: picture for picture in figures}
    hashes = {path: digest(used[path]).sha256 for path in sorted(used)}
    lines = "".join(f"{sha256}  {path}\n" for path, sha256 in hashes.items())
    return Revision(short=hashlib.sha256(lines.encode()).hexdigest()[:16], files=hashes)


def _template_files(files: Files) -> dict[str, Path]:
    found = files.require(_TEMPLATES + name for name in TEMPLATES)
    return {path.removeprefix(_TEMPLATES): place for path, place in found.items()}


def _places(roots: Iterable[Path], path: str) -> list[Path]:
    """Return where a file may lie: as in the authors' repository, or without its first folder."""
    flat = path.partition("/")[2]
    return [root / name for root in roots for name in (path, flat) if name]


def _pictures(folder: Path) -> list[Path]:
    """Return the pictures of a folder, the preferred format last."""
    found = [path for path in folder.iterdir() if path.suffix.lower() in _PICTURES]
    return sorted(found, key=lambda path: (-_PICTURES.index(path.suffix.lower()), path.name))


def _not_found(path: str, roots: Iterable[Path], origin: Origin) -> DataError:
    if origin == "sample":
        return DataError(
            f"xfinbench sample: expected {path}, which only the authors' files have. Use source: upstream or data_dir."
        )
    looked = "\n  ".join(str(place) for place in _places(roots, path))
    return DataError(
        f"xfinbench: expected {path}, found none of\n  {looked}\nPut the authors' file at one of these places, name "
        "another folder with data_dir or FIN_TASKS_DATA, or use source: upstream to download it."
    )
