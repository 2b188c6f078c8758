"""Find the files of runs below folders, and read them into one report."""

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from pandas import DataFrame

from fin_tasks.benchmarks.corrections import Correction, Corrections
from fin_tasks.errors import DataError

from .admissions import with_admissions
from .board_file import FILE, without_hidden
from .conditions import shared_settings
from .copies import unique_runs
from .corrected_samples import CORRECTIONS, corrected_result, without_claims
from .inspect_logs import read_log
from .lm_eval_results import read_results
from .model import Problem, Report, Run, TaskResult, table_of, texts_column
from .processes import for_each
from .redact import printable
from .rows import SampleRows, read_rows
from .site.samples import PageSamples, picture_folders

_NAME = re.compile(r"(?:results|samples_.+)_(?P<time>\d{4}-\d\d-\d\dT[\d.+-]+)\.jsonl?")
_LIKELY = re.compile(r"results.*\.json|samples_.+\.jsonl|.+\.eval")
_EXPECTED = (
    "results_TIME.json and samples_TASK_TIME.jsonl as lm-eval writes them, "
    "such as results_2026-03-01T10-00-00.json, or logs of inspect_ai, *.eval"
)


def read_report(
    paths: Sequence[Path],
    page: Path | None,
    hidden: Sequence[str] = (),
    corrections: Corrections | None = None,
) -> Report:
    """Read all runs in files and folders but the hidden ones; raise DataError if there are none."""
    report = _Reader(page, hidden, corrections).read(paths)
    if not report.runs:
        listed = ", ".join(map(str, paths))
        reason = report.problems[0].message if report.problems else "found none."
        raise DataError(printable(f"{listed}: expected {_EXPECTED}; {reason}"))
    return report


class _Reader:
    """Reads files step by step, and lists what is wrong with them."""

    def __init__(
        self,
        page: Path | None,
        hidden: Sequence[str],
        corrections: Corrections | None,
    ) -> None:
        self._page = page
        self._hidden = hidden
        self._corrections = corrections
        self.problems: list[Problem] = []

    def read(self, paths: Sequence[Path]) -> Report:
        names = self._find(paths)
        runs = self._read_runs(names)
        rows_by_file = self._read_samples(runs, names)
        complete_runs = []
        tables = []
        published = []
        for run in runs:
            results = []
            corrected = set()
            for result in run.tasks:
                rows = rows_by_file.get(result.samples)
                if isinstance(rows, SampleRows):
                    tables.append(rows.table)
                    results.append(self._with_rows(result, rows))
                    if rows.published is not None:
                        published.append(_with_run(rows.published, result))
                        corrected.add(result.id)
                elif result.totals:
                    results.append(replace(result, samples=None))
            if results:
                tasks = _with_members(results, corrected)
                complete_runs.append(replace(run, tasks=tasks))
        published_rows = table_of(published)
        return Report(
            tuple(complete_runs),
            table_of(tables),
            tuple(self.problems),
            published_rows,
            self._applied_to(published_rows),
        )

    def _applied_to(self, published: DataFrame) -> list[Correction]:
        """Return the corrections of the questions of rows."""
        if self._corrections is None:
            return []
        applied = {}
        keys = published[["benchmark", "task", "doc_id"]].drop_duplicates()
        for benchmark, task, question in keys.itertuples(index=False):
            correction = self._corrections.of(benchmark, task)[question]
            applied[benchmark, correction.task, question] = correction
        return list(applied.values())

    def _add_problem(self, path: Path | None, message: str) -> None:
        self.problems.append(Problem(printable(str(path)), printable(message)))

    def _find(self, paths: Sequence[Path]) -> Mapping[Path, str]:
        """Return the files of runs, each once, with their names below the folders in `paths`."""
        files: dict[Path, tuple[Path, str]] = {}
        for path in paths:
            if not path.exists():
                raise DataError(
                    printable(
                        f"{path}: expected a results file or a folder with results, found nothing there."
                    )
                )
            root = path if path.is_dir() else path.parent
            for file in _candidates(path):
                resolved = file.resolve()
                if not resolved.is_relative_to(root.resolve()):
                    self._add_problem(
                        file,
                        f"{file}: skipped, as it is a link to a place out of {root}.",
                    )
                elif not _run_key(file):
                    self._add_problem(
                        file,
                        f"{file}: skipped because of its name; expected {_EXPECTED}.",
                    )
                else:
                    name = file.relative_to(root).as_posix()
                    files.setdefault(resolved, (file, name))
        return dict(files.values())

    def _read_runs(self, names: Mapping[Path, str]) -> list[Run]:
        """Read results files and logs, the oldest first, each run once."""
        calls = [call for call in names.items() if call[0].suffix != ".jsonl"]
        all_runs = []
        for path, run in for_each(_read_run, calls, "Reading results").items():
            if isinstance(run, DataError):
                self._add_problem(path, str(run))
            else:
                all_runs.append(run)
        visible, unused = without_hidden(all_runs, self._hidden)
        for name in unused:
            self._add_problem(Path(FILE), f"{FILE}, hidden: {name!r:.200} is no run.")
        admitted, problems = with_admissions(visible)
        runs, copies = unique_runs(admitted)
        for copy in copies:
            self._add_problem(
                copy.path, f"{copy.path}: skipped, as another run is the same."
            )
        self.problems += problems
        return sorted(runs, key=lambda run: run.date)

    def _read_samples(
        self, runs: Sequence[Run], names: Mapping[Path, str]
    ) -> dict[Path | None, SampleRows | DataError]:
        """Read the samples files of runs. One that is broken, or without a results file, is a problem."""
        calls = []
        for run in runs:
            for result in run.tasks:
                if result.samples in names:
                    corrections = self._corrections_for(result)
                    calls.append((result.samples, result, corrections))
        read = read_rows
        if self._page:
            self._page.mkdir(exist_ok=True)
            read = PageSamples(self._page, picture_folders()).read_rows
        rows_by_file = for_each(read, calls, "Reading samples")
        for file, rows in rows_by_file.items():
            problem = rows if isinstance(rows, DataError) else rows.not_shown
            if problem:
                self._add_problem(file, str(problem))
        for file in names:
            results_file = f"results_{_run_key(file)}.json"
            if file.suffix == ".jsonl" and file.with_name(results_file) not in names:
                self._add_problem(
                    file, f"{file}: skipped, as {results_file} is not beside it."
                )
        return rows_by_file

    def _corrections_for(self, result: TaskResult) -> Corrections | None:
        """Return the corrections for the rows of a result; None if it was asked under them."""
        if self._corrections is None:
            return None
        facts = self._corrections.facts(result.benchmark, ())
        has_them = result.settings.get(CORRECTIONS) == facts["sha256"]
        return None if has_them else self._corrections

    def _with_rows(self, result: TaskResult, rows: SampleRows) -> TaskResult:
        table = _with_run(rows.table, result)
        if rows.corrections:
            result = corrected_result(result, rows)
        sizes = table["scoring"].value_counts()
        n = result.n or int(sizes.max())
        if set(sizes) != {n}:
            expected = f"expected {n} rows under each scoring, got {sizes.to_dict()}"
            self._add_problem(result.samples, f"{result.samples}: {expected}.")
        return replace(result, n=n, n_all=result.n_all or n, aggregates=rows.aggregates)


def _with_run(table: DataFrame, result: TaskResult) -> DataFrame:
    """Add the columns that say which result the rows of a table are of, and return the table."""
    for name in ("run", "benchmark", "task"):
        table[name] = texts_column([getattr(result, name)]).repeat(len(table))
    return table


def _candidates(path: Path) -> list[Path]:
    """Return the files below a folder, or those of a file's run, whose names are like those of runs."""
    if path.is_dir():
        files = []
        for file in path.rglob("*"):
            # In a hidden folder of a board, runs wait for their place.
            folders = file.relative_to(path).parts[:-1]
            is_hidden = any(folder.startswith(".") for folder in folders)
            if _LIKELY.fullmatch(file.name) and not is_hidden and file.is_file():
                files.append(file)
        return sorted(files)
    return sorted({path, *path.parent.glob(f"*_{_run_key(path)}.json*")})


def _run_key(file: Path) -> str | None:
    """Return what the names of the files of one run share: the time, or a log's name; None for other files."""
    if file.suffix == ".eval":
        return file.name
    match = _NAME.fullmatch(file.name)
    return match["time"] if match else None


def _read_run(path: Path, name: str) -> Run:
    return read_log(path, name) if path.suffix == ".eval" else read_results(path, name)


def _with_members(
    results: Sequence[TaskResult], corrected: Collection[str]
) -> tuple[TaskResult, ...]:
    """Return the results, those of groups with the settings and questions of their tasks.

    What a results file claims of a group is dropped if some of its tasks are corrected, whose ids are given.
    """
    complete = []
    for result in results:
        members = [other for other in results if other.task in result.members]
        if members:
            n = sum(member.n for member in members)
            settings, decoding = shared_settings(members)
            result = replace(result, settings=settings, decoding=decoding, n=n)
            if any(member.id in corrected for member in members):
                result = without_claims(result)
        complete.append(result)
    return tuple(complete)
