"""Replies of chat models, kept so that nothing is asked twice: neither after a killed run nor by several processes."""

import hashlib
import json
import sqlite3
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from uuid import uuid4

from fin_tasks.errors import EndpointError

__all__ = ["Batch", "Claim", "ReplyCache", "request_key"]

_PATIENCE = 60.0
"""Seconds to wait while another process writes."""
_STALE = 5.0
"""Seconds after its last sign of life for which a batch's claims hold: a killed run's are free soon."""
_TABLES = (
    "CREATE TABLE IF NOT EXISTS replies (key TEXT PRIMARY KEY, model TEXT, reply TEXT)",
    "CREATE TABLE IF NOT EXISTS claims (key TEXT PRIMARY KEY, batch TEXT, seen REAL)",
)


def request_key(model: str, body: Mapping[str, Any]) -> str:
    """Return the name a request's reply is kept under: SHA-256 over the model's name and all that is sent.

    Neither the address nor the key counts, so a reply outlives a move to another server of the same model.

    Args:
        model: The model's name.
        body: The request, JSON-compatible: messages, temperature and so on.

    Example:
        >>> request_key("judge", {"a": 1, "b": 2}) == request_key("judge", {"b": 2, "a": 1})
        True
    """
    text = json.dumps({"model": model, "body": body}, sort_keys=True, ensure_ascii=False)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


@dataclass(frozen=True, kw_only=True)
class Claim:
    """What came of asking for the right to ask.

    Attributes:
        granted: The reply is ours to get.
        reply: The reply that is there by now; None with `granted` False says that another batch is getting it.
    """

    granted: bool
    reply: str | None = None


class Batch:
    """A connection for one batch of requests, which shares the work with other batches that use the same file.

    It belongs to the thread it was made in. See `ReplyCache.batch`.
    """

    def __init__(self, database: sqlite3.Connection, failed: Callable[[Exception], EndpointError]) -> None:
        self._database = database
        self._failed = failed
        self._name = uuid4().hex

    def claim(self, key: str, usable: Callable[[str], bool]) -> Claim:
        """Ask for the right to ask for a reply, lest two processes pay for the same one.

        Args:
            key: The request's name.
            usable: Says whether a reply that is there can be used; it is dropped where not.

        Raises:
            EndpointError: The file cannot be written.
        """
        now = time.time()
        with self._transaction() as database:
            row = database.execute("SELECT reply FROM replies WHERE key = ?", (key,)).fetchone()
            if row is not None:
                if usable(row[0]):
                    return Claim(granted=False, reply=row[0])
                database.execute("DELETE FROM replies WHERE key = ?", (key,))
            taken = database.execute(
                "INSERT INTO claims VALUES (?, ?, ?) ON CONFLICT (key) DO UPDATE SET batch = excluded.batch, "
                "seen = excluded.seen WHERE abs(seen - excluded.seen) > ?",
                (key, self._name, now, _STALE),
            )
            return Claim(granted=taken.rowcount == 1)

    def settle(self, key: str, *, model: str, reply: str | None) -> None:
        """Keep a reply, or nothing where there is none to keep, and give the claim back.

        Raises:
            EndpointError: The file cannot be written.
        """
        with self._transaction() as database:
            if reply is not None:
                database.execute("INSERT OR IGNORE INTO replies VALUES (?, ?, ?)", (key, model, reply))
            database.execute("DELETE FROM claims WHERE key = ? AND batch = ?", (key, self._name))

    def show_life(self) -> None:
        """Make the claims of this batch last; to be called every second or so."""
        with self._transaction() as database:
            database.execute("UPDATE claims SET seen = ? WHERE batch = ?", (time.time(), self._name))

    def end(self) -> None:
        """Give all claims back."""
        with self._transaction() as database:
            database.execute("DELETE FROM claims WHERE batch = ?", (self._name,))

    @contextmanager
    def _transaction(self) -> Iterator[sqlite3.Connection]:
        try:
            self._database.execute("BEGIN IMMEDIATE")
            with self._database:  # commits, or takes all back
                yield self._database
        except sqlite3.Error as error:
            raise self._failed(error) from error


class ReplyCache:
    """An SQLite file of replies.

    A reply that was put is there whatever becomes of the process; the last few may be lost when the machine itself
    loses power. Several processes of one machine may use one file at the same time. A connection is opened per call or
    batch, so an instance may be shared by threads and survives a fork.

    Args:
        path: The file; it and its folder are made when needed.

    Raises:
        EndpointError: The file cannot be used, or is no such file.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            with closing(self._open()) as database:
                database.execute("PRAGMA journal_mode=WAL")
                for table in _TABLES:
                    database.execute(table)
        except (OSError, sqlite3.Error) as error:
            raise self._unusable(error) from error

    @contextmanager
    def batch(self) -> Iterator[Batch]:
        """Give out a connection for one batch of requests, in the thread that asks for it.

        Raises:
            EndpointError: The file cannot be used.
        """
        with closing(self._open()) as database:
            batch = Batch(database, self._unusable)
            try:
                yield batch
            finally:
                batch.end()

    def get_all(self, keys: Iterable[str]) -> dict[str, str]:
        """Return the replies there are, by key.

        Raises:
            EndpointError: The file cannot be read.
        """
        found: dict[str, str] = {}
        try:
            with closing(self._open()) as database:
                for key in keys:
                    row = database.execute("SELECT reply FROM replies WHERE key = ?", (key,)).fetchone()
                    if row is not None:
                        found[key] = row[0]
        except sqlite3.Error as error:
            raise self._unusable(error) from error
        return found

    def put(self, key: str, *, model: str, reply: str) -> None:
        """Keep a reply; the first one for a key stays.

        Raises:
            EndpointError: The file cannot be written.
        """
        try:
            with closing(self._open()) as database:
                database.execute("INSERT OR IGNORE INTO replies VALUES (?, ?, ?)", (key, model, reply))
        except sqlite3.Error as error:
            raise self._unusable(error) from error

    def _open(self) -> sqlite3.Connection:
        database = sqlite3.connect(self._path, timeout=_PATIENCE, isolation_level=None)
        database.execute("PRAGMA synchronous=NORMAL")  # no wait for the disk at each reply; the log keeps the order
        return database

    def _unusable(self, error: Exception) -> EndpointError:
        return EndpointError(
            f"replies kept in {self._path}: expected an SQLite file that can be read and written, got {error}. "
            "Delete it, or name another folder with FIN_TASKS_CACHE."
        )
