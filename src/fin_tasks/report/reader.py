"""Find the files of runs below folders, and read them into one report."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import pandas as pd

from fin_tasks.errors import DataError
from fin_tasks.report.inspect_logs import read_log
from fin_tasks.report.lm_eval_results import (
    ResultsFile,
    read_results,
    run_of,
    task_results,
    with_members,
)
from fin_tasks.report.model import (
    Problem,
    Report,
    Run,
    TaskResult,
    benchmark_of,
    table_of,
    texts_column,
)
from fin_tasks.report.processes import for_each
from fin_tasks.report.redact import printable
from fin_tasks.report.rows import SampleRows, read_rows

_NAME = re.compile(r"(?:samples_(?P<task>.+)|.+)_(?P<time>\d{4}-\d\d-\d\dT[\d.+-]+)\.jsonl?")
_RENAMED = re.compile(r"(?:results.*\.json|samples_.+\.jsonl)")
_EXPECTED = (
    "results_TIME.json and samples_TASK_TIME.jsonl as lm-eval writes them, "
    "such as results_2026-03-01T10-00-00.json, or logs of inspect_ai, *.eval"
)


@dataclass
class _Files:
    """Files of runs with their names below the folders where they were found."""

    names: dict[Path, str] = field(default_factory=dict)
    problems: list[Problem] = field(default_factory=list)


@dataclass
class _ReadRun:
    """A run with its tables of rows, a table for each task."""

    run: Run
    tables: list[pd.DataFrame]
    problems: list[Problem]


def read_report(paths: Sequence[Path]) -> Report:
    """Read all runs in files and folders; raise DataError if there are none."""
    files = _find(paths)
    heads, head_problems = _read_heads(files.names)
    problems = [*files.problems, *head_problems, *_assign_samples(files.names, heads)]
    rows = _read_rows(heads)
    runs: list[Run] = []
    tables: list[pd.DataFrame] = []
    for head in heads:
        read = _read_run(head, files.names[head.path], rows)
        problems += read.problems
        tables += read.tables
        if read.run.tasks:
            runs.append(read.run)
    if not runs:
        listed = ", ".join(map(str, paths))
        reason = problems[0].message if problems else "found none."
        raise DataError(printable(f"{listed}: expected {_EXPECTED}; {reason}"))
    return Report(tuple(runs), table_of(tables), tuple(problems))


def _find(paths: Sequence[Path]) -> _Files:
    """Find the files of runs, each once. A file brings the others of its run."""
    files = _Files()
    seen: set[Path] = set()
    for path in paths:
        if not path.exists():
            message = (
                f"{path}: expected a results file or a folder with results, found nothing there."
            )
            raise DataError(printable(message))
        root = path if path.is_dir() else path.parent
        for file in _candidates(path):
            if not file.resolve().is_relative_to(root.resolve()):
                message = f"{file}: skipped, as it is a link to a place out of {root}."
                files.problems.append(_problem(file, message))
            elif _run_key(file) is None:
                message = f"{file}: skipped because of its name; expected {_EXPECTED}."
                files.problems.append(_problem(file, message))
            elif file.resolve() not in seen:
                seen.add(file.resolve())
                files.names[file] = file.relative_to(root).as_posix()
    return files


def _candidates(path: Path) -> list[Path]:
    """Return the files below a folder, or those of a file's run, that are a run's by their names, or once were."""
    if path.is_dir():
        files = [file for file in path.rglob("*") if file.is_file()]
        return sorted(file for file in files if _run_key(file) or _RENAMED.fullmatch(file.name))
    key = _run_key(path)
    if key is None:
        return [path]
    return sorted(file for file in path.parent.iterdir() if _run_key(file) == key)


def _run_key(file: Path) -> str | None:
    """Return what the names of the files of one run share: the time, or a log's name; None for other files."""
    if file.suffix == ".eval":
        return file.name
    match = _NAME.fullmatch(file.name)
    return match["time"] if match else None


def _problem(path: Path, message: object) -> Problem:
    return Problem(printable(str(path)), printable(str(message)))


def _read_heads(files: Iterable[Path]) -> tuple[list[ResultsFile], list[Problem]]:
    """Read all results files and logs. Several logs of one run become one; a copy is a problem."""
    paths = [file for file in files if file.suffix in (".json", ".eval")]
    heads: dict[str, ResultsFile] = {}
    problems: list[Problem] = []
    outcomes = for_each(_read_head, [(path,) for path in paths], "Reading results")
    for path, head in zip(paths, outcomes, strict=True):
        if isinstance(head, DataError):
            problems.append(_problem(path, head))
        elif head is None:
            continue
        elif head.id not in heads:
            heads[head.id] = head
        elif path.suffix == ".eval":
            heads[head.id].add(head)
        else:
            first = heads[head.id].path
            problems.append(_problem(path, f"{path}: skipped, as it is the same as {first}."))
    return list(heads.values()), problems


def _read_head(path: Path) -> ResultsFile | None:
    return read_log(path) if path.suffix == ".eval" else read_results(path)


def _assign_samples(files: Iterable[Path], heads: Sequence[ResultsFile]) -> list[Problem]:
    """Give each results file the samples files beside it; return a problem for each file without one."""
    head_by_place = {(head.path.parent, _run_key(head.path)): head for head in reversed(heads)}
    known_places = {(file.parent, _run_key(file)) for file in files if file.suffix == ".json"}
    problems = []
    for file in files:
        match = _NAME.fullmatch(file.name)
        if match is None or match["task"] is None or file.suffix != ".jsonl":
            continue
        place = (file.parent, match["time"])
        task = printable(match["task"])
        head = head_by_place.get(place)
        if head is None:
            if place not in known_places:  # otherwise the results file is a problem
                message = f"{file}: skipped, as no results file of its run can be read."
                problems.append(_problem(file, message))
        elif task in head.content.results:
            head.samples[task] = file
        else:
            message = f"{file}: skipped, as {head.path.name} does not name {task}."
            problems.append(_problem(file, message))
    return problems


def _read_rows(heads: Sequence[ResultsFile]) -> Mapping[Path, SampleRows | DataError]:
    """Read the rows of all samples files."""
    calls = []
    for head in heads:
        for task, path in head.samples.items():
            calls.append((path, benchmark_of(task).name))
    paths = [path for path, _ in calls]
    return dict(zip(paths, for_each(read_rows, calls, "Reading samples"), strict=True))


def _read_run(
    head: ResultsFile,
    name: str,
    rows: Mapping[Path, SampleRows | DataError],
) -> _ReadRun:
    read = _ReadRun(run_of(head, name), [], [])
    results: list[TaskResult] = []
    for result in task_results(head):
        if isinstance(result, DataError):
            read.problems.append(_problem(head.path, result))
            continue
        path = head.samples.get(result.task)
        if path is not None:
            result = _add_rows(read, result, path, rows[path])
        if result.totals or result.samples:
            results.append(result)
    read.run = replace(read.run, tasks=tuple(with_members(results)))
    return read


def _add_rows(
    read: _ReadRun,
    result: TaskResult,
    path: Path,
    rows: SampleRows | DataError,
) -> TaskResult:
    """Add the rows of a task to the run; return the result with what follows from them."""
    if isinstance(rows, DataError):
        read.problems.append(_problem(path, rows))
        return result
    table = rows.table
    for name in ("run", "benchmark", "task"):
        table[name] = texts_column([getattr(result, name)] * len(table))
    read.tables.append(table)
    sizes = table["variant"].value_counts()
    n = result.n or int(sizes.max())
    if set(sizes) != {n}:
        message = f"{path}: expected {n} rows under each variant, got {sizes.to_dict()}."
        read.problems.append(_problem(path, message))
    n_all = result.n_all or n
    return replace(result, samples=path, n=n, n_all=n_all, aggregates=rows.aggregates)
