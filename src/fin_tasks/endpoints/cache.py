"""Replies of chat models, kept so that nothing is asked twice: not after a killed run, nor by several processes."""

import hashlib
import json
import sqlite3
from collections.abc import Iterable, Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

from fin_tasks.errors import EndpointError

__all__ = ["ReplyCache", "request_key"]

_PATIENCE = 60.0
"""Seconds to wait while another process writes."""


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


class ReplyCache:
    """An SQLite file of replies; every reply is on the disk before `put` returns.

    Several processes may use one file at the same time. A connection is opened per call, so an instance may be shared
    by threads and survives a fork.

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
                database.execute("CREATE TABLE IF NOT EXISTS replies (key TEXT PRIMARY KEY, model TEXT, reply TEXT)")
        except (OSError, sqlite3.Error) as error:
            raise self._unusable(error) from error

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

    def forget(self, keys: Iterable[str]) -> None:
        """Drop replies, so that others can be kept in their place.

        Raises:
            EndpointError: The file cannot be written.
        """
        try:
            with closing(self._open()) as database:
                database.executemany("DELETE FROM replies WHERE key = ?", [(key,) for key in keys])
        except sqlite3.Error as error:
            raise self._unusable(error) from error

    def _open(self) -> sqlite3.Connection:
        return sqlite3.connect(self._path, timeout=_PATIENCE, isolation_level=None)

    def _unusable(self, error: Exception) -> EndpointError:
        return EndpointError(
            f"replies kept in {self._path}: expected an SQLite file that can be read and written, got {error}. "
            "Delete it, or name another folder with FIN_TASKS_CACHE."
        )
