"""The folder of a board: the runs that were admitted to it, by submission and model."""

import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from tempfile import mkdtemp

from fin_tasks.errors import DataError
from fin_tasks.waiting import one_at_a_time

from ..admissions import FILE, Admission, read_admission

_LOCK = ".lock"
_STAGE = ".admitting-"
"""Start of the names of folders in which runs are written, and wait for their place."""


class BoardFolder:
    """A board that nobody else changes at the same time."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def admissions(self) -> dict[Path, Admission]:
        """Return what the board says of its runs, by their folders.

        Raises:
            DataError: A file is not what this command writes.
        """
        admissions = {}
        for file in sorted(self.path.glob(f"*/*/{FILE}")):
            try:
                admission = read_admission(file)
            except DataError as error:
                raise DataError(
                    f"{error} Remove the run's folder from the board, and admit the run again."
                ) from error
            if admission:
                admissions[file.parent] = admission
        return admissions

    @contextmanager
    def stage(self) -> Iterator[Path]:
        """Make a folder for new runs on the board's file system; it is gone afterwards."""
        stage = Path(mkdtemp(prefix=_STAGE, dir=self.path))
        try:
            yield stage
        finally:
            self._restore(stage)

    def replace(self, stage: Path, new: Mapping[Path, Path]) -> None:
        """Move runs from a stage to their places, and what is there out of the way."""
        for target, folder in new.items():
            target.parent.mkdir(exist_ok=True)
            if target.exists():
                old = stage / "old" / target.relative_to(self.path)
                old.parent.mkdir(parents=True, exist_ok=True)
                target.replace(old)
            folder.replace(target)

    def _restore(self, stage: Path) -> None:
        """Move a run back whose place is still empty, and remove the stage."""
        for old in stage.glob("old/*/*"):
            target = self.path / old.relative_to(stage / "old")
            if not target.exists():
                target.parent.mkdir(exist_ok=True)
                old.replace(target)
        shutil.rmtree(stage, ignore_errors=True)

    def clean(self) -> None:
        """Undo what an interrupted command left."""
        for stage in self.path.glob(f"{_STAGE}*"):
            self._restore(stage)


@contextmanager
def open_board(path: Path) -> Iterator[BoardFolder]:
    """Open a board, which is made if there is none, once no other command has it open."""
    path.mkdir(parents=True, exist_ok=True)
    with one_at_a_time(path / _LOCK, f"has the board {path} open"):
        board = BoardFolder(path)
        board.clean()
        yield board
