"""MME-Finance's files as `fin-tasks doctor` shows them."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from fin_tasks.benchmarks.mme_finance.defects import DEFECTS
from fin_tasks.benchmarks.mme_finance.files import REPO, Files, revision_of
from fin_tasks.benchmarks.mme_finance.published import implied_rows
from fin_tasks.benchmarks.mme_finance.row import CATEGORIES, IMAGE_STYLES, IMAGE_TYPES, Language, Row
from fin_tasks.benchmarks.mme_finance.rows import read_rows
from fin_tasks.data.inspection import Inspection, SplitReport
from fin_tasks.data.tables import ids_by_kind

__all__ = ["LanguageReport", "inspect"]


@dataclass(frozen=True, kw_only=True)
class LanguageReport(SplitReport):
    """The questions of one language; `split` is the language, `counts` are by category.

    Attributes:
        by_type: Image type as in the file to rows.
        by_style: Image style as in the file to rows.
        published_by_type: Image type as in the file to the rows that it has by the published scores, where the name can
            be told to be one of ours; empty for a set that is not the published one.
        published_by_style: Image style, likewise.
        pictures: `files` and `bytes` of the pictures that the rows are about, as they are shown: upright copies count
            in the place of their originals.
        unlike_published: Category to its rows here and as published, where the two differ; None for a set that is not
            the published one.
    """

    by_type: Mapping[str, int]
    by_style: Mapping[str, int]
    published_by_type: Mapping[str, int]
    published_by_style: Mapping[str, int]
    pictures: Mapping[str, int]
    unlike_published: Mapping[str, tuple[int, int]] | None


def inspect(*languages: Files) -> Inspection:
    """Inspect the files of one origin.

    Args:
        languages: From `locate`, at least one.

    Raises:
        DataError: A table cannot be read or lacks a column.
    """
    reports = tuple(_report(files) for files in languages)
    return Inspection(
        name="mme_finance",
        origin=languages[0].origin,
        repo=REPO,
        commit=languages[0].commit,
        licence=languages[0].licence,
        groups="Category",
        splits=reports,
        explained={kind: DEFECTS[kind] for kind in sorted({kind for report in reports for kind in report.defects})},
    )


def _report(files: Files) -> LanguageReport:
    read = read_rows(files)
    revision = revision_of(files)
    own = files.origin == "sample" or any(row.truth for row in read.rows)
    here = Counter(row.category for row in read.rows)
    published = {name: category.rows[files.language] for name, category in CATEGORIES.items()}
    unlike = {name: (here[name], n) for name, n in published.items() if here[name] != n}
    exact = Counter(row.category for row in read.rows if row.truth)
    beside = ("with truth", exact) if own else ("published", published)
    by_type = _counted((row.image_type for row in read.rows), IMAGE_TYPES)
    by_style = _counted((row.image_style for row in read.rows), IMAGE_STYLES)
    return LanguageReport(
        split=files.language,
        files=revision.files,
        revision=revision.short,
        rows=len(read.rows),
        counts={name: {"rows": here[name], beside[0]: beside[1][name]} for name in CATEGORIES},
        left_out=read.left_out,
        defects=ids_by_kind(read.defects),
        by_type=by_type,
        by_style=by_style,
        published_by_type={} if own else _implied(by_type, files.language),
        published_by_style={} if own else _implied(by_style, files.language),
        pictures=_pictures(read.rows),
        unlike_published=None if own else unlike,
    )


def _counted(names: Iterable[str], known: tuple[str, ...]) -> dict[str, int]:
    """Count names: those we know first, in the paper's order; then the file's own, the frequent ones first."""
    counts = Counter(names)
    ordered = [*(name for name in known if name in counts), *(name for name, _ in counts.most_common())]
    return {name: counts[name] for name in dict.fromkeys(ordered)}


def _implied(names: Iterable[str], language: Language) -> dict[str, int]:
    implied = {name: implied_rows(name, language=language) for name in names}
    return {name: rows for name, rows in implied.items() if rows is not None}


def _pictures(rows: Iterable[Row]) -> dict[str, int]:
    paths = {row.image_path for row in rows}
    return {"files": len(paths), "bytes": sum(path.stat().st_size for path in paths)}
