"""One bar over the bytes of a download, on stderr."""

from collections.abc import Sequence
from threading import Lock
from types import TracebackType

from tqdm import tqdm

from fin_tasks.data.sources import RemoteFile

__all__ = ["Bar"]


class Bar:
    """Adds up what all threads have of their files; draws nothing where stderr is no terminal."""

    def __init__(self, title: str, files: Sequence[RemoteFile], *, shown: bool | None = None) -> None:
        sizes = [file.size for file in files]
        self._bar = tqdm(
            desc=f"{title}: {len(files)} file(s)",
            total=None if None in sizes else sum(size or 0 for size in sizes),
            unit="B",
            unit_scale=True,
            unit_divisor=1024,
            # None is tqdm's word for "on a terminal only"
            disable=None if shown is None else not shown,
        )
        self._have: dict[str, int] = {}
        self._lock = Lock()

    def seen(self, path: str, size: int) -> None:
        """Note how many bytes of a file are there; may go down when a file is begun anew."""
        with self._lock:
            self._bar.update(size - self._have.get(path, 0))
            self._have[path] = size

    def __enter__(self) -> "Bar":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._bar.close()
