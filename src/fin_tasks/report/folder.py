"""The folder of a report: a new report replaces the files of the last one, and no others."""

import hashlib
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from filelock import Timeout

from fin_tasks.errors import ConfigError, DataError
from fin_tasks.waiting import one_at_a_time

_LIST = "page/files.txt"  # files of the report, which the next report removes
_UNFINISHED = ".fin-tasks-unfinished"
_MAX_WAIT = 3600  # seconds for another report into the same folder


@contextmanager
def replacing(out: Path) -> Iterator[Path]:
    """Give a folder for new files, which replace those of the last report at the end.

    Nothing is moved after an error. Another report into the same folder waits.

    Raises:
        ConfigError: The folder holds files, and no report wrote them.
        DataError: The files cannot be written.
    """
    folder = out / _UNFINISHED
    try:
        work = f"writes a report into {out}"
        with one_at_a_time(_lock_file(out), work, max_wait=_MAX_WAIT):
            _check_folder(out)
            shutil.rmtree(folder, ignore_errors=True)  # of a report that was killed
            try:
                folder.mkdir(parents=True)
                yield folder
                _replace(folder, out)
            finally:
                shutil.rmtree(folder, ignore_errors=True)
                with suppress(OSError):
                    out.rmdir()  # refused if it holds files
    except Timeout as error:
        raise DataError(
            f"{out}: another report is written into this folder."
        ) from error
    except OSError as error:
        reason = error.strerror or error
        raise DataError(f"{out}: the report cannot be written: {reason}.") from error


def _lock_file(out: Path) -> Path:
    """Return the file of a folder's lock; it is not in the folder, which may be published."""
    name = hashlib.sha256(str(out.resolve()).encode("utf-8", "replace")).hexdigest()[
        :24
    ]
    user = os.getuid() if hasattr(os, "getuid") else ""
    folder = Path(tempfile.gettempdir()) / f"fin-tasks-{user}"
    folder.mkdir(mode=0o700, exist_ok=True)
    return folder / f"{name}.lock"


def _check_folder(out: Path) -> None:
    """Refuse a folder with files that no report wrote."""
    if not out.exists() or (out / _LIST).is_file():
        return
    if not out.is_dir():
        raise ConfigError(f"--out {out}: expected a folder, got a file.")
    others = [path.name for path in out.iterdir() if path.name != _UNFINISHED]
    if others:
        raise ConfigError(
            f"--out {out}: expected a new folder, or one of an earlier report, "
            f"got one that holds {sorted(others)[0]!r:.100}."
        )


def _replace(folder: Path, out: Path) -> None:
    """Move the new files, and remove those of the last report that the new one does not have."""
    files = [path for path in folder.rglob("*") if path.is_file()]
    new = {path.relative_to(folder).as_posix() for path in files}
    old = set()
    listed = out / _LIST
    if listed.is_file():
        old.update(listed.read_text("utf-8").splitlines())
    for name in sorted(new - old):
        if (out / name).exists():
            raise ConfigError(
                f"--out {out}: expected no file of yours named {name!r:.100}, "
                "which the report would replace."
            )
    shutil.copytree(folder, out, dirs_exist_ok=True, copy_function=os.replace)
    for name in old - new:
        file = out / name
        # The list may be a stranger's.
        if file.resolve().is_relative_to(out.resolve()):
            file.unlink(missing_ok=True)
    listed.write_text("\n".join(sorted(new)), "utf-8")
