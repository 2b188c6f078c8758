"""Keep replies of chat models in an SQLite table, so that a stopped run loses none and a second run asks for none."""

import hashlib
import json
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from threading import Lock
from typing import Any

from fin_tasks.errors import EndpointError


def request_key(base_urls: Sequence[str], request: Mapping[str, Any]) -> str:
    """Return the SHA-256 of a whole request and of the addresses that may answer it.

    The addresses count, because another model may have the same name at another address.
    """
    text = json.dumps([sorted(base_urls), request], sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()


class ReplyCache:
    """Replies by the key of their request. Several processes may use one file at the same time."""

    def __init__(self, path: Path) -> None:
        self._path, self._lock = path, Lock()
        with self._using():
            path.parent.mkdir(parents=True, exist_ok=True)
            self._database = sqlite3.connect(
                path, timeout=60, isolation_level=None, check_same_thread=False
            )
            self._database.execute("PRAGMA journal_mode=WAL")
            self._database.execute("PRAGMA synchronous=NORMAL")
            self._database.execute(
                "CREATE TABLE IF NOT EXISTS chat_replies (key TEXT PRIMARY KEY, reply TEXT)"
            )

    def get(self, key: str) -> dict[str, Any] | None:
        """Return a reply, or None."""
        with self._using():
            row = self._database.execute(
                "SELECT reply FROM chat_replies WHERE key = ?", (key,)
            ).fetchone()
            return json.loads(row[0]) if row else None

    def put(self, key: str, reply: Mapping[str, Any]) -> None:
        """Keep a reply; a newer one replaces an older one."""
        with self._using():
            self._database.execute(
                "INSERT OR REPLACE INTO chat_replies VALUES (?, ?)", (key, json.dumps(reply))
            )

    def close(self) -> None:
        """Close the file."""
        self._database.close()

    @contextmanager
    def _using(self) -> Iterator[None]:
        try:
            with self._lock:
                yield
        except (OSError, sqlite3.Error, ValueError) as error:
            raise EndpointError(
                f"replies in {self._path}: expected an SQLite file that can be read and written, got {error}. "
                "Delete the file, or name another folder with FIN_TASKS_CACHE."
            ) from error
