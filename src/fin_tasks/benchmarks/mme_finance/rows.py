"""MME-Finance's questions as typed rows, with everything that is odd about them counted.

A row is left out only where it cannot be asked or judged: it lacks its question, its reference answer or its picture,
or no rubric fits. Cells are never read as numbers: `007.50`, `N/A` and `nan` stay what they are; only a background that
is one of a program's words for nothing is none.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from fin_tasks.benchmarks.mme_finance.category_names import category_of
from fin_tasks.benchmarks.mme_finance.defects import DEFECTS, LEFT_OUT, says_nothing, text_defects
from fin_tasks.benchmarks.mme_finance.files import Files
from fin_tasks.benchmarks.mme_finance.pictures import decode, faults
from fin_tasks.benchmarks.mme_finance.row import Row
from fin_tasks.benchmarks.mme_finance.table import read_table
from fin_tasks.data.pictures import change_of, upright_files
from fin_tasks.data.tables import Defect, Record, Table

__all__ = ["DEFECTS", "Rows", "read_rows"]

_LONGEST_REFERENCE = 64
"""Characters up to which VLMEvalKit takes a cell of `image` for the index of the row that has the picture."""


@dataclass(frozen=True, kw_only=True)
class Rows:
    """A table as read.

    Attributes:
        rows: All rows that can be asked, in the file's order.
        defects: All that is odd, of the rows that are left out as well.
    """

    rows: tuple[Row, ...]
    defects: tuple[Defect, ...]

    @property
    def left_out(self) -> dict[str, tuple[str, ...]]:
        """Indexes of the rows that cannot be asked, by kind of defect."""
        kinds = sorted({defect.kind for defect in self.defects if defect.kind in LEFT_OUT})
        return {kind: tuple(defect.row_id for defect in self.defects if defect.kind == kind) for kind in kinds}


def read_rows(files: Files) -> Rows:
    """Read the questions of a language and look at their pictures.

    Pictures that the table holds itself are written to `files.decoded`, upright copies of those that are stored turned,
    or in a format chat models do not take, to `files.upright`.

    Raises:
        DataError: The table cannot be read or lacks a column.
    """
    table = read_table(files.table)
    pictures = _Shown(files, table)
    defects = [Defect("bom", "", files.table.name)] if table.has_bom else []
    rows: list[Row] = []
    seen: set[str] = set()
    for record in table.records:
        index = record.cells["index"]
        row_id = index if index.strip() else f"line {record.line}"
        category = category_of(record.cells["task_category"])
        odd = list(text_defects(record, category))
        if index.strip() and index in seen:
            odd.append(("duplicate-index", f"line {record.line}"))
        seen.add(index)
        picture, fault = pictures.of(record)
        defects += (Defect(kind, row_id, detail) for kind, detail in [*odd, *fault])
        if category is not None and picture is not None and not LEFT_OUT & {kind for kind, _ in odd}:
            rows.append(_row(record.cells, category, picture))
    shown, odd_pictures = _upright(rows, files.upright)
    return Rows(rows=shown, defects=(*defects, *odd_pictures))


def _upright(rows: Sequence[Row], folder: Path) -> tuple[tuple[Row, ...], list[Defect]]:
    """Give rows the pictures that everybody sees alike; say of each whose picture needed that, or cannot be shown."""
    changes = {path: change_of(path) for path in {row.image_path for row in rows}}
    copies = upright_files((path for path, change in sorted(changes.items()) if change), folder)
    shown: list[Row] = []
    defects: list[Defect] = []
    for row in rows:
        change, copy = changes[row.image_path], copies.get(row.image_path, row.image_path)
        if copy is None:
            defects.append(Defect("picture-broken", row.index, row.image_path.name))
            continue
        if change is not None:
            defects.append(Defect(f"picture-{change}", row.index, row.image_path.name))
        shown.append(replace(row, image_path=copy))
    return tuple(shown), defects


def _row(cells: Mapping[str, str], category: str, picture: Path) -> Row:
    return Row(
        index=cells["index"],
        question=cells["question"],
        answer=cells["answer"],
        image_path=picture,
        category=category,
        image_type=cells["image_type"],
        image_style=cells["image_style"],
        background="" if says_nothing(cells.get("background", "")) else cells.get("background", ""),
        truth=cells.get("truth", ""),
    )


class _Shown:
    """The pictures of a table's rows, each looked at once."""

    def __init__(self, files: Files, table: Table) -> None:
        self._decoded = files.decoded
        self._found = files.find_pictures().find(record.cells.get("image_path", "") for record in table.records)
        self._held = {record.cells["index"]: record.cells.get("image", "") for record in reversed(table.records)}
        self._faults: dict[Path, tuple[str, str] | None] = {}

    def of(self, record: Record) -> tuple[Path | None, list[tuple[str, str]]]:
        """Return a row's picture, None where it cannot be shown, and kind and detail of what is wrong with it."""
        name, held = record.cells.get("image_path", ""), record.cells.get("image", "")
        picture = self._found.get(name)
        if picture is None and held.strip():
            if len(held) <= _LONGEST_REFERENCE:
                held = self._held.get(held.strip(), "")
            picture = decode(held, self._decoded)
            if picture is None:
                return None, [("not-a-picture", f"line {record.line}: {len(held):,} characters of base64")]
        if picture is None:
            return None, [("picture-missing", name[:80])]
        if picture not in self._faults:
            self._faults[picture] = faults(picture)
        fault = self._faults[picture]
        return (picture, []) if fault is None else (None, [fault])
