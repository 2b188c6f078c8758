"""BizBench's files as `fin-tasks doctor` shows them."""

from collections.abc import Sequence

from fin_tasks.benchmarks.bizbench.defects import DEFECTS
from fin_tasks.benchmarks.bizbench.files import REPO, Files, revision_of
from fin_tasks.benchmarks.bizbench.row import PARTS, Row
from fin_tasks.benchmarks.bizbench.rows import read_rows
from fin_tasks.data.inspection import Inspection, SplitReport
from fin_tasks.data.schema import ids_by_kind

__all__ = ["inspect"]


def inspect(*splits: Files) -> Inspection:
    """Inspect splits of one origin.

    Args:
        splits: From `locate`, at least one.

    Raises:
        DataError: A file cannot be read or lacks a column.
    """
    reports = tuple(_report(files) for files in splits)
    return Inspection(
        name="bizbench",
        origin=splits[0].origin,
        repo=REPO,
        commit=splits[0].commit,
        licence=splits[0].licence,
        groups="Part",
        splits=reports,
        explained={kind: DEFECTS[kind] for kind in sorted({kind for report in reports for kind in report.defects})},
    )


def _report(files: Files) -> SplitReport:
    read = read_rows(files)
    revision = revision_of(files)
    return SplitReport(
        split=files.split,
        files=revision.files,
        revision=revision.short,
        rows=len(read.rows),
        counts={name: _counts(read.part(part)) for part, name in PARTS.items()},
        left_out=read.left_out,
        defects=ids_by_kind(read.defects),
    )


def _counts(rows: Sequence[Row]) -> dict[str, int]:
    kinds = [row.kind for row in rows]
    return {
        "rows": len(rows),
        **{kind: kinds.count(kind) for kind in ("number", "choice", "code")},
        "with program": sum(bool(row.program.strip()) for row in rows),
        "longest context": max((len(row.context) for row in rows), default=0),
    }
