"""VLMEvalKit's runs in the form that is compared row by row, beside lm-eval's."""

import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path

from fin_tasks.errors import DataError
from fin_tasks.report.entry import RunRead, Scores
from fin_tasks.report.kit_files import TASKS, KitRun, find_kit_runs
from fin_tasks.report.runs import Found, Problem, Run, benchmark_of, read_runs
from fin_tasks.report.samples import Row, Rows
from fin_tasks.report.vlmeval_entries import read_kit_run

__all__ = ["read_both"]


def read_both(paths: Iterable[Path], *, on_done: Callable[[int], None] | None = None) -> Found:
    """Read runs of either harness.

    Args:
        paths: As in `runs.read_runs`; of folders also the runs of VLMEvalKit anywhere below.
        on_done: Told how many samples files of lm-eval are read.

    Raises:
        DataError: A path does not exist, or there is no run of our tasks at all.
    """
    there = list(paths)
    problems: list[Problem] = []
    notes: list[str] = []
    runs = [run for path in there if path.is_dir() for run in _kit_runs(path, problems, notes)]
    try:
        found = read_runs(there, on_done=on_done)
    except DataError:
        if not all(path.exists() for path in there) or not (runs or problems):
            raise
        found = Found(runs=(), problems=(), notes=())
    return Found(runs=(*found.runs, *runs), problems=(*found.problems, *problems), notes=(*found.notes, *notes))


def _kit_runs(folder: Path, problems: list[Problem], notes: list[str]) -> Iterator[Run]:
    for found in find_kit_runs(folder, problems):
        try:
            unit = read_kit_run(found)
        except DataError as error:
            problems.append(Problem(str(found.score), str(error)))
            continue
        problems += unit.problems
        for read in unit.runs:
            if read.scores:
                yield _run(found, read)
            else:
                notes.append(f"{found.score}: left out, as its rows are not known and totals cannot be paired.")


def _run(found: KitRun, read: RunRead) -> Run:
    task = TASKS[found.dataset]
    return Run(
        benchmark=benchmark_of(task),
        task=task,
        model=read.facts.model,
        date=found.date,
        setting=read.facts.provenance,
        variants={variant: _rows(scores) for variant, scores in read.scores.items()},
        path=found.items or found.score,
    )


def _rows(scores: Scores) -> Rows:
    """Give each row its values; what was answered and the reference are not in the files with the scores."""
    columns: Mapping[str, list[float]] = {metric: values.tolist() for metric, values in scores.values.items()}
    sources = scores.clusters or ("",) * len(scores.ids)
    return {
        name: Row(
            id=name,
            truth="",
            values={metric: None if math.isnan(values[at]) else values[at] for metric, values in columns.items()},
            answer=None,
            groups={},
            source="" if sources[at] == name else sources[at],
        )
        for at, name in enumerate(scores.ids)
    }
