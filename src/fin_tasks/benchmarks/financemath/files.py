"""Where FinanceMath's files are: on GitHub, on the gated hub page, in a folder of yours, or our small sample."""

import hashlib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from fin_tasks.data.checksums import digest
from fin_tasks.data.hub import snapshot
from fin_tasks.data.sources import load_source
from fin_tasks.data.store import Store
from fin_tasks.errors import ConfigError, DataError, FetchError
from fin_tasks.settings import Settings

__all__ = ["HUB_REPO", "SPLITS", "Files", "Origin", "Revision", "locate", "revision_of"]

Origin = Literal["upstream", "hub", "data_dir", "sample"]

HUB_REPO = "yale-nlp/FinanceMath"
"""On the Hugging Face hub, as a data set whose conditions have to be accepted."""

SPLITS = ("validation", "test")

_SAMPLE = Path(__file__).resolve().parent / "sample" / "validation.json"
_SUFFIXES = (".json", ".jsonl", ".parquet")


@dataclass(frozen=True, kw_only=True)
class Files:
    """The file of one split.

    Attributes:
        origin: Where it comes from.
        split: The split asked for.
        questions: The file: JSON, JSON lines or Parquet.
        commit: Of the repository it was fetched from, 40 hex digits; None where it was not fetched.
    """

    origin: Origin
    split: str
    questions: Path
    commit: str | None = None


@dataclass(frozen=True, kw_only=True)
class Revision:
    """What identifies the data a run has used.

    Attributes:
        short: Sixteen hex digits.
        files: The file's name to its SHA-256.
    """

    short: str
    files: dict[str, str]

    def __str__(self) -> str:
        return self.short


def locate(
    *,
    source: str = "auto",
    data_dir: str | Path | None = None,
    split: str = "validation",
    settings: Settings,
    notify: Callable[[str], None] | None = None,
) -> Files:
    """Find the file of a split.

    Args:
        source: `upstream` downloads it from the authors' repository on GitHub, `hub` from their gated page; `data_dir`
            reads a folder; `sample` reads the packaged sample, which has one split and gives it for any; `auto` is
            `data_dir` where a folder is named, else `upstream`.
        data_dir: The folder with `validation.json`, or one that has it in `data/` or in `financemath/`, or the file
            itself; `FIN_TASKS_DATA` where None.
        split: `validation` or `test`.
        settings: The environment.
        notify: Told what is downloaded for the first time, and under which licence.

    Raises:
        ConfigError: A source or split that does not exist, or no folder is named for `data_dir`.
        FetchError: The file cannot be downloaded.
        DataError: It is not there.
    """
    if split not in SPLITS:
        raise ConfigError(f"financemath split: expected one of {', '.join(SPLITS)}, got {split!r}.")
    folder = Path(data_dir).expanduser() if data_dir else settings.data_dir
    if source == "auto":
        source = "upstream" if folder is None else "data_dir"
    if source == "upstream":
        pins = load_source("financemath")
        path = Store(settings, notify=notify).get(pins, f"data/{split}.json")
        return Files(origin="upstream", split=split, questions=path, commit=pins.revision)
    if source == "hub":
        return _from_hub(split, settings, notify)
    if source == "data_dir":
        if folder is None:
            raise ConfigError(
                "financemath source: data_dir needs a folder, got none. Set FIN_TASKS_DATA, or data_dir as metadata."
            )
        return _from_folder(split, folder)
    if source == "sample":
        return Files(origin="sample", split=split, questions=_SAMPLE)
    raise ConfigError(f"financemath source: expected one of auto, upstream, hub, data_dir, sample, got {source!r}.")


def revision_of(files: Files) -> Revision:
    """Identify the data: the same file gives the same revision from whatever origin.

    Raises:
        DataError: It cannot be read.
    """
    name = f"sample/{files.questions.name}" if files.origin == "sample" else files.questions.name
    sha256 = digest(files.questions).sha256
    return Revision(short=hashlib.sha256(f"{sha256}  {name}\n".encode()).hexdigest()[:16], files={name: sha256})


def _from_hub(split: str, settings: Settings, notify: Callable[[str], None] | None) -> Files:
    patterns = [f"*{split}*{suffix}" for suffix in _SUFFIXES]
    try:
        found = snapshot(HUB_REPO, patterns=patterns, revision=None, settings=settings, notify=notify)
    except FetchError as error:
        raise FetchError(
            f"{error} Or use source: upstream, which reads the same questions from GitHub and needs no account."
        ) from error
    names = sorted(found.files, key=lambda name: (_SUFFIXES.index(Path(name).suffix), name))
    if len([name for name in names if Path(name).suffix == Path(names[0]).suffix]) > 1:
        raise DataError(f"{HUB_REPO}: expected one file for {split}, got {', '.join(names)}. Use source: upstream.")
    return Files(origin="hub", split=split, questions=found.files[names[0]], commit=found.revision)


def _from_folder(split: str, folder: Path) -> Files:
    if folder.is_file():
        if folder.suffix not in _SUFFIXES:
            raise DataError(f"financemath: expected a folder or a file ending in {', '.join(_SUFFIXES)}, got {folder}.")
        return Files(origin="data_dir", split=split, questions=folder)
    if folder.suffix in _SUFFIXES and not folder.exists():
        raise DataError(f"financemath: expected the questions of {split}, found no file {folder}. Is the path right?")
    roots = (folder, folder / "data", folder / "financemath", folder / "financemath" / "data")
    places = [root / f"{split}{suffix}" for root in roots for suffix in _SUFFIXES]
    found = next((place for place in places if place.is_file()), None)
    if found is None:
        looked = "\n  ".join(str(root / f"{split}.json") for root in roots)
        raise DataError(
            f"financemath: expected the questions of {split}, found none of\n  {looked}\nPut the authors' file at one "
            "of these places, name another folder with data_dir or FIN_TASKS_DATA, or use source: upstream."
        )
    return Files(origin="data_dir", split=split, questions=found)
