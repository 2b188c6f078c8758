"""The files of recordings: downloaded into the cache, or taken from a copy of the repository on disk."""

from collections.abc import Sequence
from pathlib import Path

from fin_tasks.data.download import fetch
from fin_tasks.data.locate import sha256_of
from fin_tasks.errors import DataError
from fin_tasks.settings import Settings

from .catalog import Recorded, RecordedFile


def in_copy(recorded: Sequence[Recorded], copy: Path) -> list[Recorded]:
    """Return the recordings whose files are in a copy of their repository.

    Raises:
        DataError: None of them is there.
    """
    present = []
    for recording in recorded:
        paths = [copy / file.path for file in recording.files]
        if all(map(Path.is_file, paths)):
            present.append(recording)
    if recorded and not present:
        file = recorded[0].files[0]
        raise DataError(
            f"--from {copy}: expected {file.path} of {recorded[0].repository.repository}, "
            "found no such file. The folder is laid out as the repository is."
        )
    return present


def obtain(
    recorded: Sequence[Recorded], *, copy: Path | None, settings: Settings
) -> Path:
    """Return the folder with all files of some recordings of one repository, laid out as the repository.

    Args:
        recorded: At least one.
        copy: A copy of the repository, which is not changed; without it, files that the cache lacks are downloaded.
        settings: The cache, and the address of the server.

    Raises:
        DataError: A file is missing or is not the pinned one.
    """
    repository = recorded[0].repository
    files: list[RecordedFile] = []
    for recording in recorded:
        files += recording.files
    if copy:
        for file in files:
            path = copy / file.path
            sha256 = sha256_of(path)
            if sha256 != file.sha256:
                raise DataError(
                    f"{path}: expected the file of commit {repository.commit[:12]}, "
                    f"with sha256 {file.sha256}, got {sha256}."
                )
        return copy
    root = settings.cache_dir / "recordings" / repository.benchmark / repository.commit
    fetch(repository.pins(files), root, [root / file.path for file in files], settings)
    return root
