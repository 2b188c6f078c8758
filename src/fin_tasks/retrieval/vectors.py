"""The cache of embeddings: what was embedded once is read from disk.

One SQLite file per encoder, `FOLDER/<encoder>.sqlite`, holds a vector per text, found by the text's SHA-256 and by
whether it was embedded as a query. Several processes may use it at once; each batch is written as it comes, so a run
that is killed loses what was under way and no more. A cache is a convenience: where it is damaged or cannot be written
there is a warning, and the embedding goes on.
"""

import hashlib
import logging
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Literal, TypeVar

import numpy as np

__all__ = ["Role", "VectorCache"]

Role = Literal["query", "text"]
"""What a text is embedded as; some encoders treat questions and the texts to be found differently."""
_LAYOUT = """CREATE TABLE IF NOT EXISTS vectors (
    role TEXT NOT NULL, text BLOB NOT NULL, cut INTEGER NOT NULL, vector BLOB NOT NULL, PRIMARY KEY (role, text))"""
_AT_ONCE = 500
"""Texts looked up by one statement; SQLite may allow no more than 999 parameters."""
_UNIT = 1e-4
"""How far from 1 the length of a stored vector may be; float32 rounding stays well below."""

_log = logging.getLogger(__name__)
_Result = TypeVar("_Result")


class VectorCache:
    """Vectors of one encoder.

    Args:
        folder: Where the files are; made when the first vector is written.
        encoder: The encoder's identity, hexadecimal: other weights, other identity.
        patience: Seconds to wait for another process that writes.
    """

    def __init__(self, folder: Path, encoder: str, *, patience: float = 60.0) -> None:
        self.file = folder / f"{encoder[:32]}.sqlite"
        self._patience = patience
        self._writable = True

    def load(self, texts: Sequence[str], role: Role) -> dict[int, tuple[np.ndarray, bool]]:
        """Find what is known.

        Args:
            texts: The texts, each once.
            role: What they are embedded as.

        Returns:
            Position of each known text to its vector, float32 (d,) of length 1, and whether the encoder cut the text.
        """
        if not self.file.is_file():
            return {}
        positions = {_key(text): i for i, text in enumerate(texts)}
        known = self._careful(lambda: self._select(list(positions), role)) or {}
        usable = {positions[key]: value for key, value in known.items() if _is_unit(value[0])}
        if len(usable) < len(known):
            _log.warning(
                "%s: %d of %d vectors found there are damaged and made anew.",
                self.file,
                len(known) - len(usable),
                len(known),
            )
        return usable

    def save(self, texts: Sequence[str], role: Role, vectors: np.ndarray, cut: Sequence[bool]) -> None:
        """Keep vectors, float32 (n, d) of length 1, and whether the encoder cut each text; in one transaction."""
        if not self._writable:
            return
        rows = [
            (role, _key(text), int(was_cut), row.astype("<f4").tobytes())
            for text, row, was_cut in zip(texts, vectors, cut, strict=True)
        ]
        try:
            self.file.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            self._give_up(error)
            return
        self._careful(lambda: self._insert(rows))

    def _select(self, keys: Sequence[bytes], role: Role) -> dict[bytes, tuple[np.ndarray, bool]]:
        known: dict[bytes, tuple[np.ndarray, bool]] = {}
        with self._opened() as connection:
            for start in range(0, len(keys), _AT_ONCE):
                some = keys[start : start + _AT_ONCE]
                marks = ",".join("?" * len(some))
                found = connection.execute(
                    f"SELECT text, cut, vector FROM vectors WHERE role = ? AND text IN ({marks})",  # noqa: S608 - marks only
                    [role, *some],
                )
                known.update((key, (_vector(blob), bool(cut))) for key, cut, blob in found)
        return known

    def _insert(self, rows: Sequence[tuple[str, bytes, int, bytes]]) -> None:
        with self._opened() as connection, connection:
            connection.execute(_LAYOUT)
            connection.executemany("INSERT OR REPLACE INTO vectors VALUES (?, ?, ?, ?)", rows)

    @contextmanager
    def _opened(self) -> Iterator[sqlite3.Connection]:
        # A connection of its own each time: nothing is left open over a fork, and threads do not meet.
        with closing(sqlite3.connect(self.file, timeout=self._patience)) as connection:
            yield connection

    def _careful(self, work: Callable[[], _Result]) -> _Result | None:
        """Do something with the file; a damaged one is moved aside and one that cannot be used is left alone."""
        for _ in range(2):
            try:
                return work()
            except sqlite3.OperationalError as error:
                self._give_up(error)
                return None
            except sqlite3.DatabaseError as error:
                if not self._move_aside(error):
                    return None
        return None

    def _move_aside(self, error: sqlite3.DatabaseError) -> bool:
        from filelock import FileLock, Timeout

        try:
            with FileLock(self.file.with_suffix(".lock"), timeout=self._patience):
                # another process may have done it while we waited, and the file be a good one again
                if not self._is_damaged():
                    return True
                aside = _free_name(self.file)
                self.file.replace(aside)
        except (OSError, Timeout) as problem:
            self._give_up(problem)
            return False
        _log.warning("%s: expected embeddings, got a damaged file (%s). It is now %s.", self.file, error, aside.name)
        return True

    def _is_damaged(self) -> bool:
        try:
            with self._opened() as connection:
                (found,) = connection.execute("PRAGMA quick_check(1)").fetchone()
        except sqlite3.OperationalError:
            return False
        except sqlite3.DatabaseError:
            return True
        return bool(found != "ok")

    def _give_up(self, error: Exception) -> None:
        if self._writable:
            _log.warning(
                "%s: expected to keep embeddings there, got %s. They are not kept in this run; free some space, or set "
                "FIN_TASKS_CACHE to a folder you may write.",
                self.file,
                error,
            )
        self._writable = False


def _key(text: str) -> bytes:
    # real files hold broken characters now and then, and a hash is no place to fail on them
    return hashlib.sha256(text.encode(errors="surrogatepass")).digest()


def _vector(blob: object) -> np.ndarray:
    if not isinstance(blob, bytes) or len(blob) % 4:
        return np.zeros(0, dtype=np.float32)
    return np.frombuffer(blob, dtype="<f4").astype(np.float32, copy=False)


def _is_unit(vector: np.ndarray) -> bool:
    with np.errstate(over="ignore", invalid="ignore"):
        return bool(abs(float(np.linalg.norm(vector.astype(np.float64))) - 1.0) < _UNIT)


def _free_name(file: Path) -> Path:
    number = 1
    while (aside := file.with_name(f"{file.name}.damaged-{number}")).exists():
        number += 1
    return aside
