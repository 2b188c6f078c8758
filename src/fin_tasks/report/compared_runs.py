"""All that can be compared row by row: runs of lm-eval (replays too) and of VLMEvalKit."""

from collections.abc import Callable, Iterable
from pathlib import Path

from fin_tasks.errors import DataError
from fin_tasks.report.kit_files import KitRun, find_kit_runs, kit_run
from fin_tasks.report.runs import Found, Problem, Run, read_runs

__all__ = ["read_compared"]


def read_compared(paths: Iterable[Path], *, on_done: Callable[[int], None] | None = None) -> Found:
    """Read runs.

    Args:
        paths: As in `runs.read_runs`; of folders also the runs of VLMEvalKit anywhere below, and files of such a run.
        on_done: Told how many samples files of lm-eval are read.

    Raises:
        DataError: A path does not exist, or there is no run of our tasks at all.
    """
    there = list(paths)
    problems: list[Problem] = []
    notes: list[str] = []
    runs: list[Run] = []
    of_lm_eval: list[Path] = []
    for path in there:
        kit = _of_kit(path, problems)
        if not (path.is_file() and kit):
            of_lm_eval.append(path)
    found = Found(runs=(), problems=(), notes=())
    if of_lm_eval:
        try:
            found = read_runs(of_lm_eval, on_done=on_done)
        except DataError:
            if not all(path.exists() for path in there) or not (runs or problems):
                raise
    return Found(runs=(*found.runs, *runs), problems=(*found.problems, *problems), notes=(*found.notes, *notes))


def _of_kit(path: Path, problems: list[Problem]) -> list[KitRun]:
    if path.is_dir():
        return find_kit_runs(path, problems)
    found = kit_run(path)
    return [] if found is None else [found]
