"""Keep replies of chat models in an SQLite table.

A stopped run loses no reply, a second run asks for none, and of several runs at the same time only
one asks for a reply: it claims the request, and the others wait.
"""

import hashlib
import json
import logging
import sqlite3
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from threading import Lock
from typing import Any
from uuid import uuid4

from fin_tasks.errors import EndpointError

from .reply import ChatReply

CLAIM_SECONDS = 120.0
"""An older claim is of a run that was killed, or of a request that takes very long."""

_TABLES = """
PRAGMA journal_mode=WAL;
PRAGMA synchronous=NORMAL;
CREATE TABLE IF NOT EXISTS chat_replies (key TEXT PRIMARY KEY, reply TEXT);
CREATE TABLE IF NOT EXISTS claims (key TEXT PRIMARY KEY, owner TEXT, until REAL);
BEGIN IMMEDIATE;
ROLLBACK;
"""
"""Make the tables. The empty transaction fails if the file is read-only."""
_CLAIM = """
INSERT INTO claims
SELECT :key, :owner, :until WHERE NOT EXISTS (SELECT 1 FROM chat_replies WHERE key = :key)
ON CONFLICT (key) DO UPDATE SET owner = :owner, until = :until WHERE claims.until < :now
"""
_REPLACE = "INSERT OR REPLACE INTO chat_replies VALUES (:key, :reply)"
_log = logging.getLogger(__name__)


def request_key(base_urls: Sequence[str], request: Mapping[str, Any]) -> str:
    """Return the SHA-256 of a whole request and of the addresses that may answer it.

    The addresses count, because another model may have the same name at another address.
    """
    text = json.dumps([sorted(base_urls), request], sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()


class ReplyCache:
    """Replies by the key of their request.

    A reply that cannot be written, because the disk is full, stays in memory and is written as soon
    as that is possible. Nothing can be asked for until then.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._lock = Lock()
        self._owner = uuid4().hex
        self._unwritten: dict[str, ChatReply] = {}
        with self._using():
            self._database, self._is_writable = _open(path)

    def get(self, key: str) -> ChatReply | None:
        """Return a reply, or None."""
        with self._using():
            if key in self._unwritten:
                return self._unwritten[key]
            row = self._database.execute(
                "SELECT reply FROM chat_replies WHERE key = ?", (key,)
            ).fetchone()
            return ChatReply.model_validate_json(row[0]) if row else None

    def put(self, key: str, reply: ChatReply) -> None:
        """Keep a reply, in place of an older one; this ends the claim of its request."""
        with self._lock:
            self._unwritten[key] = reply
            self._try_to_write("stay in memory")

    def check_writable(self) -> None:
        """Raise EndpointError if a further reply could not be kept."""
        if not self._is_writable:
            raise self._error("it is read-only, and has no reply to this request")
        with self._using():
            self._write()

    def claim(self, key: str) -> bool:
        """Claim a request; return False if it is answered by now, or claimed already."""
        now = time.time()
        values = {
            "key": key,
            "owner": self._owner,
            "now": now,
            "until": now + CLAIM_SECONDS,
        }
        with self._using():
            return self._database.execute(_CLAIM, values).rowcount > 0

    def release(self, key: str) -> None:
        """Give a claim of ours up, so that others may ask."""
        with self._using():
            self._database.execute(
                "DELETE FROM claims WHERE key = ? AND owner = ?", (key, self._owner)
            )

    def close(self) -> None:
        """Close the file; log how many replies could not be written and are lost."""
        with self._lock:
            self._try_to_write("are lost")
            self._database.close()

    def _try_to_write(self, fate: str) -> None:
        try:
            self._write()
        except sqlite3.Error as error:
            _log.error(
                "%d replies %s, as %s cannot be written: %s",
                len(self._unwritten),
                fate,
                self._path,
                error,
            )

    def _write(self) -> None:
        if not self._unwritten:
            return
        self._database.execute("BEGIN IMMEDIATE")
        with self._database:  # commits, or rolls back
            for key, reply in self._unwritten.items():
                row = {"key": key, "reply": reply.model_dump_json()}
                self._database.execute(_REPLACE, row)
                self._database.execute("DELETE FROM claims WHERE key = :key", row)
        self._unwritten.clear()

    @contextmanager
    def _using(self) -> Iterator[None]:
        try:
            with self._lock:
                yield
        except (OSError, sqlite3.Error, ValueError) as error:
            raise self._error(str(error)) from error

    def _error(self, problem: str) -> EndpointError:
        return EndpointError(
            f"replies in {self._path}: expected an SQLite file that can be read and written, "
            f"got: {problem}. {len(self._unwritten)} replies are kept in memory until it can be "
            "written. Make room, delete a broken file, or name another folder with FIN_TASKS_CACHE."
        )


def _open(path: Path) -> tuple[sqlite3.Connection, bool]:
    """Open or make the database; return whether it can be written too."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        return _connect(str(path), _TABLES, timeout=60.0), True
    except (OSError, sqlite3.OperationalError) as error:
        if not path.is_file() or "locked" in str(error):
            raise
    # Without `immutable`, SQLite would have to make a file beside the database.
    address = f"{path.resolve().as_uri()}?immutable=1"
    return _connect(address, "SELECT 1 FROM chat_replies LIMIT 1;", uri=True), False


def _connect(address: str, script: str, **options: Any) -> sqlite3.Connection:
    """Open a database and run a script; an error closes it."""
    database: sqlite3.Connection = sqlite3.connect(
        address, isolation_level=None, check_same_thread=False, **options
    )
    try:
        database.executescript(script)
    except sqlite3.Error:
        database.close()
        raise
    return database
