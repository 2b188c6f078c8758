"""Files of a report, replaced only when all new ones are written."""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from fin_tasks.errors import DataError

OWN_FOLDER = "page"
"""The folder of which nothing old is kept; beside it other people's files stay."""

_LIST = Path(OWN_FOLDER, "files.txt")  # files of the report, which the next report removes
_UNFINISHED = ".fin-tasks-unfinished"


@contextmanager
def replacing(out: Path) -> Iterator[Path]:
    """Give a folder for new files, and move these into `out` one by one at the end; nothing is moved after an error.

    Raises:
        DataError: The files cannot be written.
    """
    new = out / _UNFINISHED
    try:
        out.mkdir(parents=True, exist_ok=True)
        if new.exists():  # an earlier report was killed
            shutil.rmtree(new)
        if (out / OWN_FOLDER).is_symlink():
            raise DataError(f"{out / OWN_FOLDER}: expected a folder of an earlier report, found a link. Remove it.")
        new.mkdir()
        yield new
        files = sorted(path.relative_to(new) for path in new.rglob("*") if path.is_file())
        listed = (out / _LIST).read_text(encoding="utf-8").splitlines() if (out / _LIST).is_file() else []
        (new / _LIST).parent.mkdir(exist_ok=True)
        (new / _LIST).write_text("\n".join(file.as_posix() for file in files), encoding="utf-8")
        files.append(_LIST)
        for file in sorted(files, key=lambda path: path.name == "index.html"):
            (out / file).parent.mkdir(parents=True, exist_ok=True)
            (new / file).replace(out / file)
        for old in [*(out / OWN_FOLDER).rglob("*"), *(out / name for name in listed)]:
            if old.is_file() and old.relative_to(out) not in files and old.resolve().is_relative_to(out.resolve()):
                old.unlink()
    except OSError as error:
        raise DataError(f"{out}: the report cannot be written: {error.strerror or error}.") from error
    finally:
        shutil.rmtree(new, ignore_errors=True)
