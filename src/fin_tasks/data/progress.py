"""One bar over the bytes of a download, on stderr."""

from collections.abc import Sequence
from threading import Lock
from types import TracebackType

from rich.console import Console
from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn, TransferSpeedColumn

from fin_tasks.data.sources import RemoteFile

__all__ = ["Bar"]


class Bar:
    """Adds up what all threads have of their files; draws nothing where stderr is no terminal."""

    def __init__(self, title: str, files: Sequence[RemoteFile], *, shown: bool | None = None) -> None:
        console = Console(stderr=True, force_terminal=shown)
        self._progress = Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            DownloadColumn(),
            TransferSpeedColumn(),
            TimeRemainingColumn(),
            console=console,
            transient=True,
            disable=not console.is_terminal,
        )
        sizes = [file.size for file in files]
        total = None if None in sizes else sum(size or 0 for size in sizes)
        self._task = self._progress.add_task(f"{title}: {len(files)} file(s)", total=total)
        self._have: dict[str, int] = {}
        self._lock = Lock()

    def seen(self, path: str, size: int) -> None:
        """Note how many bytes of a file are there; may go down when a file is begun anew."""
        with self._lock:
            self._have[path] = size
            self._progress.update(self._task, completed=sum(self._have.values()))

    def __enter__(self) -> "Bar":
        self._progress.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._progress.stop()
