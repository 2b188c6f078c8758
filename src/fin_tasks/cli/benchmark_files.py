"""Benchmarks' files brought into the cache and compared with what they should be."""

import sys

from fin_tasks.benchmarks.bizbench.files import REPO, locate
from fin_tasks.data.hub import remembered
from fin_tasks.data.sources import Source, load_source
from fin_tasks.data.store import Store
from fin_tasks.errors import DataError
from fin_tasks.sandbox import escape
from fin_tasks.settings import Settings

__all__ = ["fetch_all", "fetch_bizbench", "verify_cache"]


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
    found = locate(source="upstream", split=split, data_revision=revision, settings=settings, notify=_tell)
    for path in found.paths:
        print(path)
    print(f"bizbench: {len(found.paths)} file(s) of {split} at commit {found.commit}")


def verify_cache(name: str) -> bool:
    """Hash what is in the cache and compare with the pins and with the copies trusted on first use.

    Returns:
        Whether every file is the right one; False too when there is none.
    """
    settings = Settings.from_environ()
    source = _fetched(settings) if name == "bizbench" else load_source(name)
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


def _fetched(settings: Settings) -> Source:
    """Return BizBench's files as the hub listed them when they were fetched."""
    source = remembered(REPO, settings)
    if source is None:
        raise DataError(
            f"bizbench: expected a commit that was fetched, found none in {settings.cache_dir}. "
            "Run `fin-tasks fetch bizbench` first."
        )
    return source


def _tell(text: str) -> None:
    print(escape(text), file=sys.stderr)
