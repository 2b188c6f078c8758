"""What a person should know about XFinBench's files before trusting a number: counts, defects, hashes, licence."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from fin_tasks.benchmarks.xfinbench.defects import DEFECTS
from fin_tasks.benchmarks.xfinbench.files import SPLITS, Files, revision_of
from fin_tasks.benchmarks.xfinbench.metrics import CAPABILITIES
from fin_tasks.benchmarks.xfinbench.rows import Row, Rows, read_rows
from fin_tasks.benchmarks.xfinbench.truths import TASKS
from fin_tasks.data.checksums import digest
from fin_tasks.data.schema import ids_by_kind

__all__ = ["FileReport", "Inspection", "SplitReport", "inspect"]


@dataclass(frozen=True, kw_only=True)
class FileReport:
    """A file that is here.

    Attributes:
        path: Its path in the authors' repository.
        file: Where it lies.
        sha256: Its checksum.
        size: Bytes.
        state: `pinned` (the authors' file as pinned), `trusted` (no pin; the copy that came first), `unrecorded` (no
            pin, nothing to compare with), `differs` (another file than the pinned or trusted one), `sample` (ours).
    """

    path: str
    file: str
    sha256: str
    size: int
    state: str


@dataclass(frozen=True, kw_only=True)
class SplitReport:
    """The questions of one split.

    Attributes:
        split: Its name.
        questions: The file.
        revision: Identifies the questions and the figures that are here, see `revision_of`.
        rows: Rows of a known task, those to be left out as well.
        by_task: Task to rows.
        usable_by_task: Task to rows that can be asked, with their figure where they have one.
        by_figure: Task to rows `with` and `without` a figure named.
        by_table: Task to rows `with` and `without` a LaTeX table.
        by_capability: Code to rows; a row counts for each it names.
        left_out: Task to kind of defect to ids.
        defects: Kind to ids; an empty id stands for the file.
        missing_figures: Figure without a file to the number of rows that name it.
    """

    split: str
    questions: str
    revision: str
    rows: int
    by_task: dict[str, int]
    usable_by_task: dict[str, int]
    by_figure: dict[str, dict[str, int]]
    by_table: dict[str, dict[str, int]]
    by_capability: dict[str, int]
    left_out: dict[str, dict[str, tuple[str, ...]]]
    defects: dict[str, tuple[str, ...]]
    missing_figures: dict[str, int]


@dataclass(frozen=True, kw_only=True)
class Inspection:
    """All of it.

    Attributes:
        origin: `upstream`, `data_dir` or `sample`.
        repo: The authors' repository.
        pinned_revision: Its commit that the pins are of.
        licence: Of the data.
        non_commercial: Whether it forbids commercial use.
        splits: One report per split.
        files: The files that are here.
        absent: Paths the pins list that are not here.
        explained: Kind of defect, of those found, to what it is and what is done about it.
    """

    origin: str
    repo: str
    pinned_revision: str
    licence: str
    non_commercial: bool
    splits: tuple[SplitReport, ...]
    files: tuple[FileReport, ...]
    absent: tuple[str, ...]
    explained: dict[str, str]

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain dicts, tuples, strings and numbers, ready for JSON."""
        return asdict(self)


def inspect(*splits: Files) -> Inspection:
    """Inspect splits of one origin; downloads nothing beyond what `locate` did.

    Args:
        splits: From `locate`, at least one; all with the same source and folder.

    Raises:
        DataError: A file cannot be read or lacks a column.
    """
    first = splits[0]
    reports = tuple(_split_report(files) for files in splits)
    files, absent = _file_reports(first, splits)
    kinds = sorted({kind for report in reports for kind in report.defects})
    return Inspection(
        origin=first.origin,
        repo=first.source.repo,
        pinned_revision=first.source.revision,
        licence=first.source.licence if first.origin != "sample" else "Apache-2.0",
        non_commercial=first.source.non_commercial and first.origin != "sample",
        splits=reports,
        files=files,
        absent=absent,
        explained={kind: DEFECTS[kind] for kind in kinds},
    )


def _split_report(files: Files) -> SplitReport:
    read = read_rows(files, fetch_figures=False)
    here = {row.figure_path for row in read.rows if row.figure_path is not None and row.figure_path.is_file()}
    capabilities = Counter(code for row in read.rows for code in row.capabilities)
    return SplitReport(
        split=files.split,
        questions=str(files.questions),
        revision=revision_of(files, here).short,
        rows=len(read.rows),
        by_task={task: sum(row.task == task for row in read.rows) for task in TASKS},
        usable_by_task={task: len(read.usable(task)) for task in TASKS},
        by_figure=_with_and_without(read, lambda row: row.figure is not None),
        by_table=_with_and_without(read, lambda row: row.has_table),
        by_capability={code: capabilities[code] for code in CAPABILITIES},
        left_out={task: left_out for task in TASKS if (left_out := read.left_out(task))},
        defects=ids_by_kind(read.defects),
        missing_figures=_missing_figures(read),
    )


def _with_and_without(read: Rows, has: Callable[[Row], bool]) -> dict[str, dict[str, int]]:
    counts = Counter((row.task, has(row)) for row in read.rows)
    return {task: {"with": counts[task, True], "without": counts[task, False]} for task in TASKS}


def _missing_figures(read: Rows) -> dict[str, int]:
    counts = Counter(row.figure for row in read.rows if row.figure is not None and row.figure_path is None)
    return {str(name): counts[name] for name in sorted(counts, key=str)}


def _file_reports(first: Files, splits: Iterable[Files]) -> tuple[tuple[FileReport, ...], tuple[str, ...]]:
    if first.origin == "sample":
        return _sample_reports(first), ()
    found: Mapping[str, Path | None] = {entry.path: first.find(entry.path) for entry in first.source.files}
    found = {**found, **{SPLITS[files.split]: files.questions for files in splits}}
    checks = [first.check(path, file) for path, file in found.items() if file is not None]
    reports = tuple(
        FileReport(path=c.path, file=str(c.file), sha256=c.found.sha256, size=c.found.size, state=c.state)
        for c in checks
    )
    return reports, tuple(path for path, file in found.items() if file is None)


def _sample_reports(files: Files) -> tuple[FileReport, ...]:
    root = files.root
    here = sorted(path for path in root.rglob("*") if path.is_file())
    hashed = [(path, digest(path)) for path in here]
    return tuple(
        FileReport(path=path.relative_to(root).as_posix(), file=str(path), sha256=d.sha256, size=d.size, state="sample")
        for path, d in hashed
    )
