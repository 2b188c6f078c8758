"""The folder of a board: the runs that were admitted to it, by submission and model."""

import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from tempfile import mkdtemp
from typing import Literal

from filelock import FileLock
from pydantic import BaseModel, ValidationError

from fin_tasks.errors import DataError, first_problem

_LOCK = ".lock"
_STAGE = ".admitting-"
"""Start of the names of folders in which runs are written, and wait for their place."""
_MAX_BYTES = 2**20


class AdmissionItem(BaseModel):
    """What was checked about a run, or what is only claimed, in a sentence for the page."""

    name: str
    status: Literal["checked", "claimed"]
    sentence: str


class Admission(BaseModel):
    """What a board says of an admitted run, in `admission.json` beside it."""

    submission: str
    submitter: str
    """Who sent it, as the host says; empty if the host does not say it."""
    admitted_at: str
    """Date and time by the host's clock, in UTC."""
    sha256: str
    """Of the files of the submission."""
    model: str
    """The model's name on the board."""
    items: list[AdmissionItem]


FILE = "admission.json"


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
                if file.stat().st_size > _MAX_BYTES:
                    raise DataError(f"{file}: expected at most {_MAX_BYTES:,} bytes.")
                admissions[file.parent] = Admission.model_validate_json(
                    file.read_bytes()
                )
            except ValidationError as error:
                raise DataError(
                    f"{file}: expected what `fin-tasks verify --board` writes, got another content "
                    f"({first_problem(error)}). Remove the run's folder, and admit the run again."
                ) from error
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
    with FileLock(path / _LOCK):
        board = BoardFolder(path)
        board.clean()
        yield board
