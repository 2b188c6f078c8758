"""Benchmarks' files brought into the cache and compared with what they should be."""

import sys

from fin_tasks.benchmarks.bizbench import files as bizbench
from fin_tasks.benchmarks.mme_finance import files as mme_finance
from fin_tasks.benchmarks.mme_finance.row import LANGUAGES
from fin_tasks.data.hub import remembered
from fin_tasks.data.sources import Source, load_source
from fin_tasks.data.store import Store
from fin_tasks.errors import ConfigError, DataError
from fin_tasks.sandbox import escape
from fin_tasks.settings import Settings

__all__ = ["fetch_all", "fetch_bizbench", "fetch_mme_finance", "verify_cache"]

_REPOS = {"bizbench": bizbench.REPO, "mme-finance": mme_finance.REPO}
"""Benchmarks without pins to their data sets on the hub."""


def fetch_all(name: str) -> None:
    """Download every pinned file of a benchmark.

    Raises:
        ConfigError: No such benchmark.
        FetchError: A file cannot be downloaded.
        DataError: A file is not the pinned one.
    """
    source = load_source(name)
    store = Store(Settings.from_environ(), notify=_tell)
    files = store.get_all(source, [file.path for file in source.files])
    print(f"{name}: {len(files)} files in {store.folder(source)}")


def fetch_bizbench(*, split: str, revision: str | None) -> None:
    """Download a split of BizBench.

    Args:
        split: `test` or `train`.
        revision: Commit, branch or tag of the hub's data set; None for the commit that is used here already, or the
            newest where there is none.

    Raises:
        FetchError: It cannot be downloaded.
        DataError: A file is not the one the hub lists.
    """
    settings = Settings.from_environ()
    found = bizbench.locate(source="upstream", split=split, data_revision=revision, settings=settings, notify=_tell)
    for path in found.paths:
        print(path)
    print(f"bizbench: {len(found.paths)} file(s) of {split} at commit {found.commit}")


def fetch_mme_finance(*, languages: str, revision: str | None) -> None:
    """Download MME-Finance and unpack its pictures.

    Args:
        languages: `en`, `zh`, or both with a comma between them.
        revision: Commit, branch or tag of the hub's data set; None for the commit that is used here already, or the
            newest where there is none.

    Raises:
        ConfigError: A language that does not exist.
        FetchError: A file cannot be downloaded.
        DataError: A file is not the one the hub lists, or an archive is not safe to unpack.
    """
    names = list(dict.fromkeys(name.strip() for name in languages.split(",")))
    if unknown := [name for name in names if name not in LANGUAGES]:
        raise ConfigError(f"--lang: expected {', '.join(LANGUAGES)} or both with a comma between, got {unknown[0]!r}.")
    settings = Settings.from_environ()
    for name in names:
        found = mme_finance.locate(
            language=name, source="upstream", data_revision=revision, settings=settings, notify=_tell
        )
        print(found.table)
        print(found.pictures)
        # what `main` meant a moment ago is what the next language is of
        revision = found.commit
    print(f"mme-finance: {', '.join(names)} at commit {found.commit}")


def verify_cache(name: str) -> bool:
    """Hash what is in the cache and compare with the pins and with the copies trusted on first use.

    Returns:
        Whether every file is the right one; False too when there is none.
    """
    settings = Settings.from_environ()
    source = _fetched(name, settings) if name in _REPOS else load_source(name)
    store = Store(settings)
    checks = store.verify(source)
    for check in checks:
        print(f"{check.state:10}  {check.found.sha256}  {check.path}")
    wrong = [check for check in checks if check.state == "differs"]
    print(f"{name}: {len(checks)} of {len(source.files)} files in {store.folder(source)}, {len(wrong)} differ")
    for check in wrong:
        print(
            f"{check.path}: expected {check.expected}, found {check.found}. Delete {check.file} and fetch again.",
            file=sys.stderr,
        )
    return bool(checks) and not wrong


def _fetched(name: str, settings: Settings) -> Source:
    """Return a data set's files as the hub listed them when they were fetched."""
    source = remembered(_REPOS[name], settings)
    if source is None:
        raise DataError(
            f"{name}: expected a commit that was fetched, found none in {settings.cache_dir}. "
            f"Run `fin-tasks fetch {name}` first."
        )
    return source


def _tell(text: str) -> None:
    print(escape(text), file=sys.stderr)
