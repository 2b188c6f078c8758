"""Where MME-Finance's files are: on the hub, in a folder of yours, or the small sample that comes with the package."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from fin_tasks.benchmarks.mme_finance.pictures import Pictures, has_pictures
from fin_tasks.benchmarks.mme_finance.row import LANGUAGES, Language
from fin_tasks.benchmarks.mme_finance.table import read_table
from fin_tasks.benchmarks.mme_finance.unpacking import unpack
from fin_tasks.data import fetch
from fin_tasks.data.fetch import sha256_of
from fin_tasks.data.pictures import FOLDER as UPRIGHT
from fin_tasks.errors import ConfigError, DataError
from fin_tasks.settings import Settings

__all__ = ["LICENCE", "REPO", "STEMS", "Files", "Origin", "Revision", "locate", "revision_of"]

Origin = Literal["upstream", "data_dir", "sample"]

REPO = "hithink-ai/MME-Finance"
"""On the Hugging Face hub, as a data set."""

LICENCE = "CC-BY-NC-4.0"
"""Of the data set as published; where the hub's page states one, that one counts."""

SAMPLE_LICENCE = "Apache-2.0"
"""Of our own sample, as of this package."""

STEMS: Mapping[Language, str] = {"en": "MMfin", "zh": "MMfin_CN"}
"""Language to the name of its table and of its archive of pictures, without suffix."""

_SAMPLE = Path(__file__).resolve().parent / "sample"
_FOLDERS = ("mme_finance", "MME-Finance", "mme-finance")
_CACHE = "mme-finance"


@dataclass(frozen=True, kw_only=True)
class Files:
    """The files of one language.

    Attributes:
        origin: Where they come from.
        language: The language asked for.
        table: The questions.
        pictures: The folder below which the pictures are.
        decoded: Where pictures go that the table itself holds.
        upright: Where copies go of pictures that would not look the same to all, see `data.pictures`.
        commit: Commit of the hub's data set, 40 hex digits; None where the files come from elsewhere.
        licence: As the hub's page states it; `LICENCE` where it states none, or the files are in a folder of yours.
    """

    origin: Origin
    language: Language
    table: Path
    pictures: Path
    decoded: Path
    upright: Path
    commit: str | None = None
    licence: str = LICENCE

    def find_pictures(self) -> Pictures:
        """Return where the table's pictures are looked for."""
        others = frozenset(stem for language, stem in STEMS.items() if language != self.language)
        return Pictures(self.pictures, self.table.parent, others)


@dataclass(frozen=True, kw_only=True)
class Revision:
    """What identifies the data a run has used.

    Attributes:
        short: Sixteen hex digits over all of `files`.
        files: Name of the table to its SHA-256, and `pictures` to one over all that the table names.
    """

    short: str
    files: Mapping[str, str]

    def __str__(self) -> str:
        return self.short


def locate(
    *,
    language: str,
    source: str = "auto",
    data_dir: str | Path | None = None,
    data_revision: str | None = None,
    settings: Settings,
) -> Files:
    """Find the files of a language; an archive of pictures is unpacked into the cache.

    Args:
        language: `en` or `zh`.
        source: `upstream` downloads what is missing from the hub; `data_dir` reads a folder; `sample` reads the
            packaged sample; `auto` is `data_dir` where a folder is named, else `upstream`.
        data_dir: The folder, or the one above it (`DIR/mme_finance`, `DIR/MME-Finance`); `FIN_TASKS_DATA` where None.
            It has `MMfin.tsv` (`MMfin_CN.tsv`), and the pictures in a folder `MMfin`, in `MMfin.zip`, or anywhere
            below. Or the table itself.
        data_revision: Commit, branch or tag of the hub's data set; where None, the newest commit of `main` at the first
            use, and from then on the same.
        settings: The environment.

    Raises:
        ConfigError: A source or language that does not exist, or no folder is named for `data_dir`.
        FetchError: The files cannot be downloaded.
        DataError: They are not there, or an archive is not safe to unpack.
    """
    chosen = next((name for name in LANGUAGES if name == language), None)
    if chosen is None:
        raise ConfigError(f"mme_finance language: expected one of {', '.join(LANGUAGES)}, got {language!r}.")
    folder = Path(data_dir).expanduser() if data_dir else settings.data_dir
    if source == "auto":
        source = "upstream" if folder is None else "data_dir"
    if source == "upstream":
        return _upstream(chosen, data_revision, settings)
    if source == "data_dir":
        if folder is None:
            raise ConfigError(
                "mme_finance source: data_dir needs a folder, got none. "
                "Set FIN_TASKS_DATA, or data_dir in the metadata."
            )
        return _local(chosen, folder, settings)
    if source == "sample":
        return Files(
            origin="sample",
            language=chosen,
            table=_SAMPLE / f"{STEMS[chosen]}.tsv",
            pictures=_SAMPLE,
            decoded=settings.cache_dir / _CACHE / "decoded",
            upright=settings.cache_dir / UPRIGHT,
            licence=SAMPLE_LICENCE,
        )
    raise ConfigError(f"mme_finance source: expected one of auto, upstream, data_dir, sample, got {source!r}.")


def revision_of(files: Files) -> Revision:
    """Identify the data: the same table and pictures give the same revision from the hub and from any folder.

    The hash of `pictures` is SHA-256 over the lines `<sha256>  <name>` of the pictures found, with the names that the
    table has for them, in alphabetical order; the short form is the same over the lines of `files`.

    Raises:
        DataError: A file cannot be read.
    """
    hashes = {f"{STEMS[files.language]}.tsv": sha256_of(files.table)}
    names = {record.cells.get("image_path", "") for record in read_table(files.table).records}
    found = files.find_pictures().find(names)
    # of a table that holds its pictures, the table's own hash says all
    if found:
        hashes["pictures"] = _over({name: sha256_of(found[name]) for name in sorted(found)})
    return Revision(short=_over(hashes)[:16], files=hashes)


def _over(hashes: Mapping[str, str]) -> str:
    lines = "".join(f"{sha256}  {name}\n" for name, sha256 in hashes.items())
    return hashlib.sha256(lines.encode()).hexdigest()


def _upstream(language: Language, data_revision: str | None, settings: Settings) -> Files:
    table, archive = (f"{STEMS[language]}{suffix}" for suffix in (".tsv", ".zip"))
    found = fetch.locate("mme_finance", [table, archive], source="upstream", settings=settings, revision=data_revision)
    pictures = found.files[archive].with_suffix("")
    unpack(found.files[archive], pictures)
    return Files(
        origin="upstream",
        language=language,
        table=found.files[table],
        pictures=pictures,
        decoded=settings.cache_dir / _CACHE / "decoded",
        upright=settings.cache_dir / UPRIGHT,
        commit=found.commit,
        licence=found.pins.licence,
    )


def _local(language: Language, root: Path, settings: Settings) -> Files:
    table = _named_table(language, root) if root.is_file() else _table(language, root)
    return Files(
        origin="data_dir",
        language=language,
        table=table,
        pictures=_pictures(table, settings),
        decoded=settings.cache_dir / _CACHE / "decoded",
        upright=settings.cache_dir / UPRIGHT,
    )


def _named_table(language: Language, path: Path) -> Path:
    """Take a table that was named itself; refuse what can only be a slip."""
    if path.suffix.lower() != ".tsv":
        raise DataError(f"mme_finance: expected a folder or a .tsv file, got {path}. Name another, or its folder.")
    for other, stem in STEMS.items():
        if other != language and path.stem.casefold() == stem.casefold():
            raise DataError(
                f"mme_finance: expected the questions of language {language}, got {path}, which holds those of "
                f"{other}. Name their folder."
            )
    return path


def _table(language: Language, root: Path) -> Path:
    folders = (*(root / name for name in _FOLDERS), root)
    for folder in folders:
        if (found := _entry(folder, f"{STEMS[language]}.tsv")) is not None and found.is_file():
            return found
    looked = "\n  ".join(map(str, folders))
    raise DataError(
        f"mme_finance: expected {STEMS[language]}.tsv in a folder named below, found none.\n  {looked}\n"
        f"Put it and its pictures ({STEMS[language]}.zip, or unpacked) into one of these folders, name another with "
        "data_dir or FIN_TASKS_DATA, or use source: upstream to download them."
    )


def _pictures(table: Path, settings: Settings) -> Path:
    """Return the folder of a table's pictures: one of its name, an archive of its name, or the table's own folder."""
    folder = _entry(table.parent, table.stem)
    if folder is not None and folder.is_dir() and has_pictures(folder):
        return folder
    archive = _entry(table.parent, f"{table.stem}.zip")
    if archive is None or not archive.is_file():
        return table.parent
    # the folder may be read-only, and is not ours to fill
    place = hashlib.sha256(str(archive.resolve()).encode()).hexdigest()[:12]
    target = settings.cache_dir / _CACHE / "unpacked" / f"{table.stem}-{place}"
    unpack(archive, target)
    return target


def _entry(folder: Path, name: str) -> Path | None:
    """Return what has a name in a folder, in any spelling by case; the exact one first."""
    if (folder / name).exists():
        return folder / name
    try:
        return next((path for path in sorted(folder.iterdir()) if path.name.casefold() == name.casefold()), None)
    except OSError:
        return None
