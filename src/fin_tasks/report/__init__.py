"""Reading what harnesses wrote, and the pages, tables and checks made of it."""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from fin_tasks.errors import DataError

if TYPE_CHECKING:
    from fin_tasks.report.model import Problem, Report

__all__ = ["AnyPath", "Paths", "read"]

AnyPath = str | Path
Paths = AnyPath | Iterable[AnyPath]
"""One file or folder, or several."""


def read(paths: Paths) -> "Report":
    """Read all runs of our tasks in files and folders: run folders as lm-eval writes them, and logs of inspect_ai.

    Raise DataError if there are none. What is wrong with a single file stands in the report's problems.
    """
    # these import pandas, which takes half a second that writing a run folder does not need
    from fin_tasks.report import lm_eval
    from fin_tasks.report.model import Problem, Report, table_of

    problems: list[Problem] = []
    listed = [paths] if isinstance(paths, AnyPath) else list(paths)
    files = _find([Path(path) for path in listed], problems)
    runs, tables = lm_eval.read_runs(files, problems)
    if not runs:
        found = f": {problems[0].message}" if problems else ", found none."
        raise DataError(
            f"{', '.join(map(str, listed))}: expected run folders with results of our tasks{found}"
        )
    return Report(tuple(runs), table_of(tables), tuple(problems))


def _find(paths: Sequence[Path], problems: "list[Problem]") -> dict[Path, str]:
    """Return files of runs, each once, with their names below the folder given. A file brings the others of its run."""
    from fin_tasks.report.lm_eval import stamp
    from fin_tasks.report.model import Problem

    found: dict[Path, tuple[Path, str]] = {}
    for path in paths:
        if not path.exists():
            raise DataError(
                f"{path}: expected a results file or a folder with results, found nothing there."
            )
        root = path if path.is_dir() else path.parent
        for file in sorted(root.rglob("*") if path.is_dir() else root.iterdir()):
            own = stamp(file.name)
            if own is None or not file.is_file() or not (path.is_dir() or own == stamp(path.name)):
                continue
            if file.resolve().is_relative_to(root.resolve()):
                found.setdefault(file.resolve(), (file, file.relative_to(root).as_posix()))
            else:
                problems.append(
                    Problem(
                        str(file), f"{file}: skipped, as it is a link to a place out of {root}."
                    )
                )
    return dict(found.values())
