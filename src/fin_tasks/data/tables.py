"""Read a benchmark's CSV and JSON files; a bad row is a `Defect`, counted and shown, so that no row just disappears."""

import codecs
import csv
import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from io import StringIO
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from fin_tasks.errors import DataError

__all__ = ["Defect", "Record", "Table", "ids_by_kind", "read_csv", "read_json", "read_models"]

_Model = TypeVar("_Model", bound=BaseModel)


@dataclass(frozen=True)
class Defect:
    """Something wrong with a row; the id is empty if it concerns the whole file."""

    kind: str  # a short fixed name, such as "missing-figure"
    row_id: str
    detail: str


@dataclass(frozen=True, kw_only=True)
class Record:
    """One row; short rows are filled up with empty cells."""

    line: int  # the line of the file on which the row ends
    cells: dict[str, str]
    surplus: int  # cells more than the header has; negative if the row is short


@dataclass(frozen=True, kw_only=True)
class Table:
    """The rows of a file without blank lines."""

    records: tuple[Record, ...]
    has_bom: bool  # whether the file starts with a byte order mark


def read_csv(path: Path, columns: Sequence[str], *, delimiter: str = ",") -> Table:
    """Read a UTF-8 CSV file that has at least these columns; a DataError says what is wrong with it."""
    try:
        content = path.read_bytes()
        csv.field_size_limit(max(csv.field_size_limit(), len(content)))  # a response may be longer than 128 kB
        reader = csv.reader(StringIO(content.decode("utf-8-sig"), newline=""), delimiter=delimiter)
        header = next(reader, [])
        missing = [column for column in columns if column not in header]
        if missing or len(set(header)) < len(header):
            raise DataError(
                f"{path}: expected the columns {', '.join(columns)}, each once; "
                f"got {', '.join(header) or 'an empty file'}. Fetch the file again or rename its columns."
            )
        records = []
        for row in filter(None, reader):
            surplus = len(row) - len(header)
            cells = dict(zip(header, [*row, *[""] * -surplus], strict=False))
            records.append(Record(line=reader.line_num, cells=cells, surplus=surplus))
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise DataError(f"{path}: expected a CSV file in UTF-8, could not read it ({error}).") from error
    return Table(records=tuple(records), has_bom=content.startswith(codecs.BOM_UTF8))


def read_json(path: Path) -> list[Any]:
    """Read the rows of a JSON list or of JSON lines in UTF-8.

    Samples of lm-eval become their document with the responses as `output`, once: all filters list the same responses.
    """
    line = 0
    try:
        text = path.read_bytes().decode("utf-8-sig")
        if text.lstrip().startswith("["):
            return list(json.loads(text))
        rows = []
        for line, row in enumerate(text.split("\n"), start=1):  # noqa: B007 - the error names the line
            rows += [json.loads(row)] if row.strip() else []
    except (OSError, ValueError, RecursionError) as error:
        where = f"{path}, line {line}" if line else str(path)
        raise DataError(f"{where}: expected a JSON list or JSON lines in UTF-8, got {error}.") from error
    if not (rows and isinstance(rows[0], dict) and isinstance(rows[0].get("doc"), dict)):
        return rows
    return [
        {**row["doc"], "output": row.get("resps")}
        if isinstance(row, dict) and isinstance(row.get("doc"), dict)
        else row
        for row in rows
        if not isinstance(row, dict) or row.get("filter") == rows[0].get("filter")
    ]


def read_models(path: Path, kind: type[_Model], key: str) -> list[_Model]:
    """Read JSON rows as models that differ in `key`; a DataError names the first row that does not fit."""
    rows: dict[Any, _Model] = {}
    for number, raw in enumerate(read_json(path), start=1):
        where = f"{path}, row {number}"
        try:
            row = kind.model_validate(raw)
        except ValidationError as error:
            wrong = error.errors()[0]
            field = "".join(f", {part}" for part in wrong["loc"])
            raise DataError(f"{where}{field}: {wrong['msg']}, got {wrong['input']!r:.200}.") from error
        if getattr(row, key) in rows:
            raise DataError(f"{where}: expected each {key} once, got {getattr(row, key)!r} again.")
        rows[getattr(row, key)] = row
    if not rows:
        raise DataError(f"{path}: expected at least one row, got none.")
    return list(rows.values())


def ids_by_kind(defects: Iterable[Defect]) -> dict[str, tuple[str, ...]]:
    """Return the row ids of each kind of defect, kinds in alphabetical order."""
    ids: dict[str, list[str]] = {}
    for defect in defects:
        ids.setdefault(defect.kind, []).append(defect.row_id)
    return {kind: tuple(ids[kind]) for kind in sorted(ids)}
