"""Files of a report, replaced only when all new ones are written."""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from fin_tasks.errors import DataError

_LIST = "page/files.txt"  # files of the report, which the next report removes
_UNFINISHED = ".fin-tasks-unfinished"


@contextmanager
def replacing(out: Path) -> Iterator[Path]:
    """Give a folder for new files, and move these into `out` one by one at the end; nothing is moved after an error."""
    new, listed = out / _UNFINISHED, out / _LIST
    try:
        shutil.rmtree(new, ignore_errors=True)  # of an earlier report that was killed
        new.mkdir(parents=True)
        yield new
        files = {path.relative_to(new).as_posix() for path in new.rglob("*") if path.is_file()}
        old = set(listed.read_text(encoding="utf-8").splitlines()) if listed.is_file() else set()
        listed.parent.mkdir(exist_ok=True)
        listed.write_text("\n".join(sorted(files | old)), encoding="utf-8")
        for file in sorted(files, key=lambda name: name == "index.html"):
            (out / file).parent.mkdir(parents=True, exist_ok=True)
            (new / file).replace(out / file)
        for place in [out / file for file in old - files]:
            if place.resolve().is_relative_to(out.resolve()):  # the list may be a stranger's
                place.unlink(missing_ok=True)
    except OSError as error:
        raise DataError(f"{out}: the report cannot be written: {error.strerror or error}.") from error
    finally:
        shutil.rmtree(new, ignore_errors=True)
