"""BizBench's questions as typed rows, with everything that is odd about them counted.

A row is left out only where it cannot be asked at all: no question, or a part nobody knows. An answer that cannot be
compared with stays in: the scorers know what to do with it.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from fin_tasks.benchmarks.bizbench.cells import is_text, options_of, part_of, text_of
from fin_tasks.benchmarks.bizbench.defects import DEFECTS, LEFT_OUT, answer_defects, content_defects
from fin_tasks.benchmarks.bizbench.files import Files
from fin_tasks.benchmarks.bizbench.options import index_base, resolve
from fin_tasks.benchmarks.bizbench.row import Kind, Part, Row
from fin_tasks.benchmarks.bizbench.tables import Cells, read_records
from fin_tasks.data.schema import Defect, ids_by_kind

__all__ = ["DEFECTS", "Rows", "read_rows", "read_table"]

_TEXTS = ("question", "answer", "task", "context", "context_type", "program")


@dataclass(frozen=True, kw_only=True)
class Rows:
    """A split as read.

    Attributes:
        rows: All rows that can be asked, in the file's order.
        defects: All that is odd, of the rows that are left out as well.
    """

    rows: tuple[Row, ...]
    defects: tuple[Defect, ...]

    def part(self, name: Part) -> tuple[Row, ...]:
        """Return the rows of one part."""
        return tuple(row for row in self.rows if row.part == name)

    @property
    def left_out(self) -> dict[str, tuple[str, ...]]:
        """Ids of the rows that cannot be asked, by kind of defect."""
        return {kind: ids for kind, ids in ids_by_kind(self.defects).items() if kind in LEFT_OUT}


def read_rows(files: Files) -> Rows:
    """Read the questions of a split.

    Raises:
        DataError: A file cannot be read or lacks a column.
    """
    return read_table(files.paths, prefix="sample" if files.origin == "sample" else files.split)


def read_table(paths: Iterable[Path], *, prefix: str) -> Rows:
    """Read the shards of a table of questions.

    Args:
        paths: Parquet, JSON, JSON lines or CSV, in the order of their rows.
        prefix: Of the rows' ids; what follows is the row's place, counted from 0 over all shards.

    Raises:
        DataError: A file cannot be read or lacks a column.
    """
    defects: list[Defect] = []
    rows: list[Row] = []
    for place, cells in enumerate(read_records(tuple(paths))):
        row_id = f"{prefix}_{place}"
        found, odd = _row(row_id, cells)
        defects += (Defect(kind, row_id, detail) for kind, detail in odd)
        if found is not None:
            rows.append(found)
    rows, answers = _with_truths(rows)
    return Rows(rows=tuple(rows), defects=(*defects, *answers, *_repeated(rows)))


def _row(row_id: str, cells: Cells) -> tuple[Row | None, list[tuple[str, str]]]:
    odd = [
        ("wrong-type", f"{name}: {type(cells.get(name)).__name__}") for name in _TEXTS if not is_text(cells.get(name))
    ]
    text = {name: text_of(cells.get(name)) for name in _TEXTS}
    part = part_of(text["task"])
    if part is None:
        return None, [*odd, ("unknown-task", text["task"][:80])]
    if not text["question"].strip() or not is_text(cells["question"]):
        return None, [*odd, ("empty-question", part)]
    options = options_of(cells["options"])
    if options is None:
        odd.append(("unreadable-options", str(cells["options"])[:80]))
    kind = _kind(part, options or ())
    row = Row(
        id=row_id,
        part=part,
        kind=kind,
        question=text["question"],
        context=text["context"],
        context_type=text["context_type"],
        options=(options or ()) if kind == "choice" else (),
        answer=text["answer"],
        program=text["program"],
    )
    return row, [*odd, *content_defects(row)]


def _kind(part: Part, options: tuple[str, ...]) -> Kind:
    if part in ("finknow", "formulaeval") and len(options) >= 2:
        return "choice"
    return "code" if part == "formulaeval" else "number"


def _with_truths(rows: list[Row]) -> tuple[list[Row], list[Defect]]:
    """Name the right option of each choice; how a file counts its options shows only in all rows together."""
    base = index_base((row.answer, row.options) for row in rows if row.kind == "choice")
    read: list[Row] = []
    defects: list[Defect] = []
    for row in rows:
        resolved = resolve(row.answer, row.options, base=base) if row.kind == "choice" else None
        read.append(row if resolved is None else replace(row, correct=resolved.index))
        defects += (Defect(kind, row.id, detail) for kind, detail in answer_defects(row, resolved))
    return read, defects


def _repeated(rows: Iterable[Row]) -> Iterator[Defect]:
    first: dict[Any, Row] = {}
    for row in rows:
        asked = (row.part, " ".join(row.question.split()), " ".join(row.context.split()), row.options)
        earlier = first.setdefault(asked, row)
        if earlier is row:
            continue
        same = earlier.answer.strip() == row.answer.strip()
        yield Defect("duplicate-row" if same else "conflicting-answers", row.id, f"asked by {earlier.id} as well")
