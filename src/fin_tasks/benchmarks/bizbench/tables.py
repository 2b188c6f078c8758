"""BizBench's files as records, whatever their format: cells as they are, not yet read."""

import csv
import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from fin_tasks.data.schema import Record, read_csv
from fin_tasks.errors import DataError

__all__ = ["COLUMNS", "Cells", "read_records"]

Cells = Mapping[str, Any]

COLUMNS = ("question", "answer", "task", "context", "options", "program")
"""Columns a file must have; `context_type` is read where there is one."""

_READ = (*COLUMNS, "context_type")


def read_records(paths: Sequence[Path]) -> Iterator[Cells]:
    """Yield the rows of all shards in order: column to cell, a missing cell as None.

    Raises:
        DataError: A file cannot be read, is not of the format its name says, or lacks a column.
    """
    for path in paths:
        if path.suffix == ".parquet":
            yield from _parquet(path)
        elif path.suffix == ".csv":
            # an empty cell and a missing one are the same in CSV
            yield from ({name: cell or None for name, cell in r.cells.items()} for r in _csv(path))
        else:
            yield from _json(path)


def _parquet(path: Path) -> Iterator[Cells]:
    import pyarrow
    from pyarrow import parquet

    try:
        with parquet.ParquetFile(path) as file:
            _check_columns(path, file.schema_arrow.names)
            wanted = [name for name in file.schema_arrow.names if name in _READ]
            for batch in file.iter_batches(columns=wanted):
                yield from batch.to_pylist()
    except (OSError, pyarrow.ArrowException) as error:
        raise DataError(
            f"{path}: expected a Parquet file, got one that cannot be read ({error}). Fetch or copy it again."
        ) from error


def _csv(path: Path) -> tuple[Record, ...]:
    # filings are longer than the 131,072 characters the csv module allows a cell
    before = csv.field_size_limit(2**31 - 1)
    try:
        return read_csv(path, columns=COLUMNS).records
    finally:
        csv.field_size_limit(before)


def _json(path: Path) -> Iterator[Cells]:
    """Read a JSON list of objects, or one object a line; the suffix does not decide, as exports mix them up."""
    try:
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise DataError(f"{path}: expected a readable UTF-8 file, got {error}. Save it as UTF-8.") from error
    rows = _json_list(path, text) if text.lstrip().startswith("[") else list(_json_lines(path, text))
    names = list(dict.fromkeys(name for row in rows for name in row))
    _check_columns(path, names)
    for row in rows:
        yield {name: row.get(name) for name in names}


def _json_list(path: Path, text: str) -> list[dict[str, Any]]:
    try:
        rows = json.loads(text)
    except ValueError as error:
        raise DataError(f"{path}: expected JSON, got text that breaks off: {error}. Save it again.") from error
    for place, row in enumerate(rows):
        if not isinstance(row, dict):
            raise DataError(f"{path}, entry {place}: expected an object, got {str(row)[:80]!r}. Save it again.")
    return list(rows)


def _json_lines(path: Path, text: str) -> Iterator[dict[str, Any]]:
    # not splitlines: it breaks at separators that may stand inside a JSON text
    for number, line in enumerate(text.split("\n"), start=1):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
        except ValueError as error:
            raise DataError(f"{path}, line {number}: expected a JSON object, got {line[:80]!r} ({error}).") from error
        if not isinstance(row, dict):
            raise DataError(f"{path}, line {number}: expected a JSON object, got {line[:80]!r}.")
        yield row


def _check_columns(path: Path, names: Sequence[str]) -> None:
    if missing := [column for column in COLUMNS if column not in names]:
        raise DataError(
            f"{path}: expected the columns {', '.join(COLUMNS)}; missing {', '.join(missing)}, "
            f"got {', '.join(names) or 'none'}. Is it a file of BizBench? Fetch it again or rename its columns."
        )
