"""Which files of the paths given are lm-eval's, and which belong together."""

import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from fin_tasks.errors import DataError
from fin_tasks.report.runs import Problem, benchmark_of

__all__ = ["MAX_FILES", "LmEvalRun", "find_runs", "named_by_lm_eval"]

MAX_FILES = 200_000
"""Files that are looked at below one path."""

_DATE = r"\d{4}-\d\d-\d\dT[\d.-]+"
_RESULTS = re.compile(rf"results(?:_(?P<date>{_DATE}))?\.json")
_SAMPLES = re.compile(rf"samples_(?P<task>.+?)(?:_(?P<date>{_DATE}))?\.jsonl")


@dataclass(frozen=True, kw_only=True)
class LmEvalRun:
    """The files of one run.

    Attributes:
        root: The path that was given, a folder.
        folder: Where the files are.
        date: In ISO form, from the files' names; empty where they have none.
        results: The results file, or None.
        samples: Task to samples file.
    """

    root: Path
    folder: Path
    date: str
    results: Path | None
    samples: dict[str, Path] = field(default_factory=dict)

    @property
    def files(self) -> tuple[Path, ...]:
        """All of them, the results first."""
        return (*([self.results] if self.results else []), *(self.samples[task] for task in sorted(self.samples)))

    def shown(self, path: Path) -> str:
        """Return a path as others may see it: from the folder that was given."""
        return path.relative_to(self.root).as_posix()


def find_runs(paths: Sequence[Path], problems: list[Problem]) -> list[LmEvalRun]:
    """Find lm-eval's files of our tasks.

    Args:
        paths: Files, or folders with such files anywhere below. A file brings the others of its run with it.
        problems: Told of links that lead out of a folder, and of what is no file.

    Raises:
        DataError: A path does not exist, or has more files than anyone has results.
    """
    runs: dict[tuple[Path, str], LmEvalRun] = {}
    seen: set[Path] = set()
    for path in paths:
        if not path.exists():
            raise DataError(f"{path}: expected a results file or a folder with such files, found nothing there.")
        root = path if path.is_dir() else path.parent
        found = list(_below(path, problems)) if path.is_dir() else [path, *_beside(path)]
        for file in found:
            if (real := file.resolve()) not in seen:
                seen.add(real)
                _add(runs, root, file)
    return sorted((run for run in runs.values() if run.files), key=lambda run: (run.folder, run.date))


def named_by_lm_eval(file: Path) -> bool:
    """Say whether a file has a name that lm-eval gives to results and samples."""
    return bool(_RESULTS.fullmatch(file.name) or _SAMPLES.fullmatch(file.name))


def _add(runs: dict[tuple[Path, str], LmEvalRun], root: Path, file: Path) -> None:
    results, samples = _RESULTS.fullmatch(file.name), _SAMPLES.fullmatch(file.name)
    match = results or samples
    if match is None or (samples and not benchmark_of(samples["task"])):
        return
    written = match["date"] or ""
    key = (file.parent.resolve(), written)
    known = runs.get(key, LmEvalRun(root=root, folder=file.parent, date=_iso(written), results=None))
    if samples:
        runs[key] = _replaced(known, results=known.results, samples={**known.samples, samples["task"]: file})
    else:
        runs[key] = _replaced(known, results=file, samples=known.samples)


def _replaced(run: LmEvalRun, *, results: Path | None, samples: dict[str, Path]) -> LmEvalRun:
    return LmEvalRun(root=run.root, folder=run.folder, date=run.date, results=results, samples=samples)


def _iso(written: str) -> str:
    """Turn `2026-03-01T10-00-00.123456` into ISO form."""
    day, _, clock = written.partition("T")
    return f"{day}T{clock.replace('-', ':')}" if clock else ""


def _below(folder: Path, problems: list[Problem]) -> Iterator[Path]:
    real = folder.resolve()
    count = 0
    for at, folders, names in os.walk(folder):
        folders.sort()
        count += len(names)
        if count > MAX_FILES:
            raise DataError(f"{folder}: expected at most {MAX_FILES:,} files, found more. Name a folder further down.")
        for name in sorted(names):
            file = Path(at) / name
            if not named_by_lm_eval(file):
                continue
            if not file.resolve().is_relative_to(real):
                problems.append(Problem(str(file), f"{file}: a link out of {folder}, which is not followed."))
            elif not file.is_file():
                problems.append(Problem(str(file), f"{file}: expected a file, found something else or nothing."))
            else:
                yield file


def _beside(file: Path) -> Iterator[Path]:
    """Give the other files of a run, by the date in their names."""
    match = _RESULTS.fullmatch(file.name) or _SAMPLES.fullmatch(file.name)
    if match is None:
        return
    for beside in sorted(file.parent.iterdir()):
        other = _RESULTS.fullmatch(beside.name) or _SAMPLES.fullmatch(beside.name)
        if other and other["date"] == match["date"] and beside.is_file() and not beside.is_symlink():
            yield beside
