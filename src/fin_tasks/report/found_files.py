"""Which files of the paths given are lm-eval's, and which belong together."""

import os
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from fin_tasks.errors import DataError
from fin_tasks.report.json_fields import read_capped
from fin_tasks.report.runs import BENCHMARKS, MAX_RESULTS, Problem, benchmark_of
from fin_tasks.report.samples import json_of

__all__ = ["MAX_FILES", "LmEvalRun", "find_runs", "is_lm_evals", "legible"]

MAX_FILES = 200_000
"""Files that are looked at below one path."""

_DAY, _CLOCK = r"\d{4}-?\d\d-?\d\d", r"[T_]?[\d.:+-]+Z?"
_DATE = rf"{_DAY}(?:{_CLOCK})?"
_RESULTS = re.compile(r"results(?:_(?P<suffix>.+))?\.json")
_NAMED = re.compile(rf".+_(?P<suffix>{_DAY}T{_CLOCK})\.json")  # as `--output_path NAME.json` has it
_SAMPLES = re.compile(rf"samples_(?P<rest>.+?(?:_(?P<date>{_DATE}))?)\.jsonl")
_PACKED = re.compile(r"(?:results(?:_.+)?\.json|samples_.+\.jsonl)\.(?:gz|bz2|xz|zst|zip)")
_ISO = re.compile(r"(\d{4})-?(\d\d)-?(\d\d)(?:[T_]?(\d\d)[-:]?(\d\d)[-:]?(\d\d(?:\.\d+)?))?")


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
        problems: Told of links that lead out of a folder, and of what cannot be read for what it is.

    Raises:
        DataError: A path does not exist, or has more files than anyone has results.
    """
    runs: list[LmEvalRun] = []
    seen: set[Path] = set()
    for path in paths:
        if not path.exists():
            raise DataError(f"{path}: expected a results file or a folder with such files, found nothing there.")
        folders: dict[Path, list[Path]] = defaultdict(list)
        for file in _below(path, problems) if path.is_dir() else _named(path, problems):
            if legible(file, problems) and (real := file.resolve()) not in seen:
                seen.add(real)
                folders[file.parent].append(file)
        root = path if path.is_dir() else path.parent
        runs += [run for folder, files in folders.items() for run in _runs(root, folder, files)]
    return sorted(_merged(runs), key=lambda run: (run.folder, run.date))


def is_lm_evals(file: Path) -> bool:
    """Say whether a file has a name that lm-eval gives to results and samples, or holds results of our tasks."""
    return bool(_SAMPLES.fullmatch(file.name)) or _has_usual_name(file) or _holds_results(file)


def legible(file: Path, problems: list[Problem]) -> bool:
    """Say whether a file's name is text; where it is not, a report could not name it."""
    try:
        str(file).encode()
    except UnicodeEncodeError:
        shown = os.fsencode(file).decode("utf-8", "replace")
        problems.append(Problem(shown, f"{shown}: expected a name that is UTF-8. Rename it."))
        return False
    return True


def _runs(root: Path, folder: Path, files: Sequence[Path]) -> Iterator[LmEvalRun]:
    """Put together the files of a folder that belong to a run, by what their names end with."""
    results = [file for file in files if not _SAMPLES.fullmatch(file.name)]
    known = {_suffix(file) for file in results}
    samples: dict[str, dict[str, Path]] = defaultdict(dict)
    for file in files:
        if (match := _SAMPLES.fullmatch(file.name)) is not None:
            endings = [end for end in known if end and match["rest"].endswith(f"_{end}")]
            suffix = max(endings, key=len, default=match["date"] or "")
            task = match["rest"].removesuffix(f"_{suffix}")
            if benchmark_of(task):
                samples[suffix][task] = file
    for file in results:
        suffix = _suffix(file)
        yield LmEvalRun(root=root, folder=folder, date=_iso(suffix), results=file, samples=samples.pop(suffix, {}))
    for suffix, of_tasks in samples.items():
        yield LmEvalRun(root=root, folder=folder, date=_iso(suffix), results=None, samples=of_tasks)


def _merged(runs: Iterable[LmEvalRun]) -> list[LmEvalRun]:
    """Put together what several paths gave of one run: links count where their folder is named, not beside a file."""
    found: dict[tuple[Path, str], LmEvalRun] = {}
    others = []
    for run in runs:
        known = found.setdefault((run.folder.resolve(), run.date), run)
        if known is run:
            continue
        if known.results and run.results:
            others.append(run)
        else:
            both = replace(known, results=known.results or run.results, samples={**known.samples, **run.samples})
            found[run.folder.resolve(), run.date] = both
    return [*found.values(), *others]


def _suffix(results: Path) -> str:
    """Return what the name of a results file shares with those of its samples."""
    match = _RESULTS.fullmatch(results.name) or _NAMED.fullmatch(results.name)
    return (match["suffix"] or "") if match else ""


def _iso(written: str) -> str:
    """Turn `2026-03-01T10-00-00.123456` into ISO form; empty where it is no time.

    Example:
        >>> _iso("2026-03-01T10-00-00.5+00-00"), _iso("20260301"), _iso("final")
        ('2026-03-01T10:00:00.5', '2026-03-01', '')
    """
    match = _ISO.match(written)
    if match is None:
        return ""
    day, clock = "-".join(match.group(1, 2, 3)), match.group(4, 5, 6)
    return f"{day}T{':'.join(clock)}" if match[4] else day


def _could_be(file: Path) -> bool:
    return any(pattern.fullmatch(file.name) for pattern in (_SAMPLES, _RESULTS, _NAMED))


def _has_usual_name(file: Path) -> bool:
    match = _RESULTS.fullmatch(file.name)
    return match is not None and (match["suffix"] is None or bool(re.fullmatch(_DATE, match["suffix"])))


def _holds_results(file: Path) -> bool:
    """Say whether a JSON file of another name has results of our tasks, or had before it was cut."""
    if file.suffix != ".json" or not file.is_file():
        return False
    try:
        content = read_capped(file, most=MAX_RESULTS)
        value = json_of(content)
    except DataError:
        return False
    except (ValueError, RecursionError):
        return b'"results"' in content and any(f'"{name}'.encode() in content for name in BENCHMARKS)
    results = value.get("results") if isinstance(value, dict) else None
    return isinstance(results, dict) and any(benchmark_of(name) for name in results)


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
            if _PACKED.fullmatch(name) and file.stem not in names:
                problems.append(Problem(str(file), f"{file}: expected a file that is not compressed. Unpack it."))
            if not _could_be(file):
                continue
            if not file.resolve().is_relative_to(real):
                problems.append(Problem(str(file), f"{file}: a link out of {folder}, which is not followed."))
            elif not file.is_file():
                problems.append(Problem(str(file), f"{file}: expected a file, found something else or nothing."))
            elif is_lm_evals(file):
                yield file


def _named(file: Path, problems: list[Problem]) -> Iterator[Path]:
    """Give a file and the others of its run; nothing where it is none of lm-eval's."""
    if not file.is_file():
        problems.append(Problem(str(file), f"{file}: expected a file or a folder, found something else."))
        return
    if not is_lm_evals(file):
        return
    yield file
    others = [one for one in sorted(file.parent.iterdir()) if one.is_file() and not one.is_symlink()]
    others = [one for one in others if _could_be(one) and is_lm_evals(one)]
    for run in _runs(file.parent, file.parent, list(dict.fromkeys([file, *others]))):
        if file in run.files:
            yield from run.files
