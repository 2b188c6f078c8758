"""The cache: files of a source, downloaded once, checked every time.

A file lies at `cache_dir/<source>/<revision>/<path>` and is never there before its checksum was right, so whoever
finds it may read it. Processes that want the same source wait for each other.
"""

import logging
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from fin_tasks.data.checksums import RECORD, Digest, FileCheck, read_trusted, state_of, write_trusted
from fin_tasks.data.sources import RemoteFile, Source
from fin_tasks.errors import DataError, FetchError
from fin_tasks.settings import Settings

if TYPE_CHECKING:
    import requests

    from fin_tasks.data.download import Retry

__all__ = ["Store"]

_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Store:
    """The cache of downloaded files.

    Attributes:
        settings: Where the cache is, where to download from, and whether that is allowed.
        notify: Told the licence before a first download, and which file is trusted without a known checksum; a warning
            in the log where None.
        retry: How patient downloads are.
        threads: Downloads at the same time.
        progress: Whether to draw a bar on stderr; only on a terminal where None.
        lock_timeout: Seconds to wait for another process that downloads the same source.
    """

    settings: Settings = field(repr=False)
    notify: Callable[[str], None] | None = field(default=None, kw_only=True)
    retry: "Retry | None" = field(default=None, kw_only=True)
    threads: int = field(default=8, kw_only=True)
    progress: bool | None = field(default=None, kw_only=True)
    lock_timeout: float = field(default=1800.0, kw_only=True)

    def folder(self, source: Source) -> Path:
        """Return the folder of a source at its pinned revision; it need not exist."""
        return self.settings.cache_dir / source.name / source.revision

    def path(self, source: Source, path: str) -> Path:
        """Return where a file of a source lies or would lie.

        Raises:
            DataError: The source has no such file.
        """
        return self.folder(source) / source.file(path).path

    def get(self, source: Source, path: str) -> Path:
        """Return a file, downloaded if it is not there, and checked.

        Raises:
            FetchError: It cannot be downloaded; the message says where to put it by hand.
            DataError: It is not the file that was pinned or trusted, or the cache cannot be written.
        """
        return self.get_all(source, [path])[path]

    def get_all(self, source: Source, paths: Iterable[str]) -> dict[str, Path]:
        """Return several files, see `get`; the missing ones are downloaded side by side.

        Raises:
            FetchError: See `get`.
            DataError: See `get`.
        """
        wanted = {path: self.path(source, path) for path in paths}
        missing = [source.file(path) for path, file in wanted.items() if not file.is_file()]
        if missing:
            self._fetch(source, missing)
        trusted = read_trusted(self.folder(source))
        checks = [state_of(source, path, file, trusted.get(path)) for path, file in wanted.items()]
        for check in checks:
            if check.state == "differs":
                raise DataError(
                    f"{source.name}: {check.path}: expected {check.expected}, found {check.found} at {check.file}. "
                    f"Delete that file and it is fetched again.{self._if_trusted(source, source.file(check.path))}"
                )
        # a file that was put there by hand and has no pin: trusted like one that was downloaded
        if new := {check.path: check.found for check in checks if check.state == "unrecorded"}:
            with self._locked(source):
                self._trust(source, new)
        return wanted

    def verify(self, source: Source) -> list[FileCheck]:
        """Hash every file of a source that is in the cache; changes nothing.

        Raises:
            DataError: A file cannot be read.
        """
        trusted = read_trusted(self.folder(source))
        files = [(entry.path, self.path(source, entry.path)) for entry in source.files]
        return [state_of(source, path, file, trusted.get(path)) for path, file in files if file.is_file()]

    def _fetch(self, source: Source, files: Sequence[RemoteFile]) -> None:
        if self.settings.offline:
            raise FetchError(
                self._by_hand(source, files[0], "downloads are switched off (FIN_TASKS_OFFLINE or HF_HUB_OFFLINE)")
            )
        with self._locked(source):
            # another process may have brought them while we waited
            missing = [file for file in files if not self.path(source, file.path).is_file()]
            if missing:
                self._announce(source)
                self._fetch_locked(source, missing)

    def _fetch_locked(self, source: Source, files: Sequence[RemoteFile]) -> None:
        # both are slow to import and of no use to whoever has the files already
        from fin_tasks.data.download import new_session
        from fin_tasks.data.progress import Bar

        trusted = read_trusted(self.folder(source))
        with (
            new_session(connections=self.threads) as session,
            Bar(source.name, files, shown=self.progress) as bar,
            ThreadPoolExecutor(self.threads, thread_name_prefix="fin-tasks-fetch") as pool,
        ):
            jobs = {
                file.path: pool.submit(self._fetch_one, source, file, trusted.get(file.path), session, bar.seen)
                for file in files
            }
            try:
                found = {path: job.result() for path, job in jobs.items()}
            except BaseException:
                # the pool waits for what runs; what has not begun would only delay the message
                pool.shutdown(wait=False, cancel_futures=True)
                raise
        unpinned = {file.path for file in files if file.sha256 is None} - trusted.keys()
        if unpinned:
            self._trust(source, {path: found[path] for path in unpinned})

    def _fetch_one(
        self,
        source: Source,
        file: RemoteFile,
        trusted: Digest | None,
        session: "requests.Session",
        seen: Callable[[str, int], None],
    ) -> Digest:
        from fin_tasks.data.download import Request, Retry, discard, download

        target = self.path(source, file.path)
        part = target.with_name(target.name + ".part")
        target.parent.mkdir(parents=True, exist_ok=True)
        request = Request(
            url=source.url(file.path, self.settings),
            size=file.size,
            pinned=file.sha256 is not None or trusted is not None,
            token=self.settings.hub_token if source.host == "hub" else None,
        )
        while True:
            resumed = part.is_file()
            try:
                download(request, part, session=session, retry=self.retry or Retry(), seen=lambda n: seen(file.path, n))
            except FetchError as error:
                raise FetchError(self._by_hand(source, file, str(error))) from error
            check = state_of(source, file.path, part, trusted)
            if check.state != "differs":
                part.replace(target)
                discard(part)
                return check.found
            discard(part)
            # the beginning left by an earlier run may be to blame: once more from nothing
            if not resumed:
                raise DataError(
                    f"{source.name}: {file.path}: expected {check.expected}, got {check.found} from {request.url}. "
                    "The download was removed. Try again; if it comes again, a proxy or mirror serves another file: "
                    f"get the right one elsewhere and put it at {target}.{self._if_trusted(source, file)}"
                )

    def _trust(self, source: Source, found: dict[str, Digest]) -> None:
        folder = self.folder(source)
        write_trusted(folder, {**read_trusted(folder), **found})
        for path in sorted(found):
            self._say(
                f"{source.name}: {path} has no pinned checksum; this first copy is trusted from now on: {found[path]}."
            )

    def _if_trusted(self, source: Source, file: RemoteFile) -> str:
        if file.sha256 is not None:
            return ""
        return f" If you are sure the new one is right, delete {self.folder(source) / RECORD} as well."

    def _announce(self, source: Source) -> None:
        """Tell the licence, once per cache and revision."""
        told = self.folder(source) / "LICENCE-NOTICE.txt"
        if told.is_file():
            return
        forbids = ", which forbids commercial use" if source.non_commercial else ""
        text = (
            f"{source.name}: the data of {source.repo} (revision {source.revision[:12]}) comes under the licence "
            f"{source.licence}{forbids}. See {source.homepage or source.repo}."
        )
        self._say(text)
        told.write_text(text + "\n", encoding="utf-8")

    def _say(self, text: str) -> None:
        if self.notify is None:
            _log.warning("%s", text)
        else:
            self.notify(text)

    def _by_hand(self, source: Source, file: RemoteFile, reason: str) -> str:
        url, place = source.url(file.path, self.settings), self.path(source, file.path)
        return (
            f"{source.name}: {file.path}: expected to download it from {url}, but {reason}. Either get the file from "
            f"that address and put it at {place}, or set FIN_TASKS_DATA=DIR and put it at "
            f"DIR/{source.name}/{file.path}, or run "
            f"`fin-tasks fetch {source.name}` where there is a network and copy the folder {self.folder(source)}."
        )

    @contextmanager
    def _locked(self, source: Source) -> Iterator[None]:
        from filelock import FileLock, Timeout

        folder = self.folder(source)
        try:
            folder.mkdir(parents=True, exist_ok=True)
            lock = FileLock(folder / ".lock")
            try:
                lock.acquire(timeout=1.0)
            except Timeout:
                self._say(f"{source.name}: waiting for another process that is downloading it.")
                lock.acquire(timeout=self.lock_timeout)
            try:
                yield
            finally:
                lock.release()
        except Timeout as error:
            raise FetchError(
                f"{source.name}: expected {folder / '.lock'} to come free, but another process has held it for "
                f"{self.lock_timeout:g} s. Wait for its download, or end it."
            ) from error
        except OSError as error:
            raise DataError(
                f"{source.name}: expected to write {folder}, got {error.strerror or error!r}. "
                "Free some space, or set FIN_TASKS_CACHE to a folder you may write."
            ) from error
