"""FinanceMath's files as `fin-tasks doctor` shows them."""

from collections.abc import Mapping, Sequence

from fin_tasks.benchmarks.financemath.files import HUB_REPO, Files, revision_of
from fin_tasks.benchmarks.financemath.rows import TOPICS, Row, read_rows
from fin_tasks.data.inspection import Inspection, SplitReport
from fin_tasks.data.schema import ids_by_kind
from fin_tasks.data.sources import load_source

__all__ = ["DEFECTS", "inspect"]

DEFECTS: Mapping[str, str] = {
    "bad-tables": "tables that are no list of texts; row left out",
    "no-object": "an entry that is no object; row left out",
    "no-question": "no question; row left out",
    "no-truth": "a truth that is no finite number; row left out",
    "repeated-id": "an id that an earlier row has; the later row is left out",
    "unknown-topic": "a topic that is none of the seven; asked, in no topic's score",
}
"""Kind of defect to what it is and what is done about it."""


def inspect(*splits: Files) -> Inspection:
    """Inspect splits of one origin.

    Args:
        splits: From `locate`, at least one.

    Raises:
        DataError: A file cannot be read, or has no truths.
    """
    reports = tuple(_report(files) for files in splits)
    pins = load_source("financemath")
    first = splits[0]
    return Inspection(
        name="financemath",
        origin=first.origin,
        repo=HUB_REPO if first.origin == "hub" else pins.repo,
        commit=first.commit,
        licence=pins.licence if first.origin != "sample" else "Apache-2.0",
        groups="Topic",
        splits=reports,
        explained={kind: DEFECTS[kind] for kind in sorted({kind for report in reports for kind in report.defects})},
    )


def _report(files: Files) -> SplitReport:
    read = read_rows(files.questions, split=files.split)
    revision = revision_of(files)
    by_topic = {topic: [row for row in read.rows if row.topic == topic] for topic in TOPICS}
    return SplitReport(
        split=files.split,
        files=revision.files,
        revision=revision.short,
        rows=len(read.rows),
        counts={topic: _counts(rows) for topic, rows in by_topic.items()},
        left_out=read.left_out(),
        defects=ids_by_kind(read.defects),
    )


def _counts(rows: Sequence[Row]) -> dict[str, int]:
    return {
        "rows": len(rows),
        "with table": sum(bool(row.tables) for row in rows),
        "with solution": sum(bool(row.python_solution.strip()) for row in rows),
    }
