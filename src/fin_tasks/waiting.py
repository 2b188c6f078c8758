"""Let one process at a time do a piece of work that several may ask for."""

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from filelock import FileLock, Timeout

_log = logging.getLogger(__name__)


@contextmanager
def one_at_a_time(file: Path, work: str, *, max_wait: float = -1) -> Iterator[None]:
    """Hold the lock of a file; while another process holds it, say what it does, and wait.

    Args:
        file: The file of the lock, whose folder exists.
        work: What the other process does, for the message: `draws charts into DIR`.
        max_wait: Seconds; without a limit if it is negative.

    Raises:
        Timeout: The other process held the lock for longer than `max_wait`.
    """
    lock = FileLock(file)
    try:
        lock.acquire(timeout=0)
    except Timeout:
        _log.warning("Waiting for another process that %s.", work)
        lock.acquire(timeout=max_wait)
    try:
        yield
    finally:
        lock.release()
