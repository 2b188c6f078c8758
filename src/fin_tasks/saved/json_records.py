"""Records in JSON: a list, lines, or one object that holds a table, a response for each id, or a log of inspect_ai."""

import json
import logging
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from fin_tasks.data.text_file import TextFile
from fin_tasks.errors import DataError
from fin_tasks.limited_file import check_json

from .columns import Json, candidates
from .replies import unfolded

_ONE_RECORD = {"doc", "messages", "conversations", "conversation"}
"""Names that one record has; a file of one line may hold it alone."""
_log = logging.getLogger(__name__)


def leave_out(message: str, *, strict: bool) -> None:
    """Log what of a file is left out, or raise it as a DataError if nothing may be."""
    if strict:
        raise DataError(message)
    _log.warning("%s", message)


def records_of_json(path: Path, file: TextFile, *, strict: bool) -> list[Json]:
    """Return the objects of a JSON list, of JSON lines, or those that one object holds."""
    check_json(path, file.content)
    try:
        content = None if _has_lines(file) else json.loads(file.text)
    except (ValueError, RecursionError) as error:
        if file.first_sign != "{":
            raise DataError(
                f"{path}: expected a JSON list or JSON lines, got {error}."
            ) from error
        content = None
    if content is None:
        content = list(_objects_of_lines(path, file, strict))
    if isinstance(content, dict):
        if {"results", "configs"} <= content.keys():
            raise DataError(
                f"{path}: expected responses, got a results file of lm-eval. Its responses are in samples_*.jsonl "
                "beside it, which --log_samples writes."
            )
        content = _records_in(content)
    rows = content if isinstance(content, list) else [content]
    for number, row in enumerate(rows, start=1):
        if not isinstance(row, dict):
            raise DataError(
                f"{path}, row {number}: expected an object, got {row!r:.200}."
            )
    return [unfolded(row) for row in rows]


def _has_lines(file: TextFile) -> bool:
    """Return whether the first line of a file is an object, and not most of the file."""
    if file.first_sign != "{":
        return False
    n_bytes = len(file.content)
    line = next(line for line in file.lines() if line.strip())
    if 2 * len(line) > n_bytes:
        return False
    try:
        return isinstance(json.loads(line), dict)
    except (ValueError, RecursionError):
        return False


def _objects_of_lines(path: Path, file: TextFile, strict: bool) -> Iterator[Json]:
    """Yield the objects of JSON lines; a broken line, such as the last one of a stopped run, is left out."""
    broken = []
    n_read = 0
    for number, line in enumerate(file.lines(), start=1):
        if not line.strip():
            continue
        try:
            record = json.loads(line)
        except (ValueError, RecursionError):
            record = None
        if isinstance(record, dict):
            n_read += 1
            yield record
        else:
            broken.append(number)
    if broken and not n_read:
        raise DataError(f"{path}: expected a JSON list or JSON lines, got neither.")
    if broken:
        n_lines = n_read + len(broken)
        message = (
            f"{path}: {len(broken):,} of {n_lines:,} lines hold no JSON object and are left out, "
            f"first line {broken[0]}."
        )
        leave_out(message, strict=strict)


def _records_in(content: Json) -> list[Any]:
    """Return the records in one object.

    It may hold one list of rows, as a log of inspect_ai does, a list for each column, or a response
    for each id. Any other object is a record itself.
    """
    if _ONE_RECORD & content.keys():
        return [content]
    if candidates(content, "id") and candidates(content, "response"):
        return _rows_of_columns(content) or [content]
    samples = content.get("samples")
    tables = [value for value in content.values() if _is_table(value)]
    if _is_table(samples):
        tables = [samples]
    if len(tables) == 1:
        return list(tables[0])
    if candidates(content, "id"):
        return [content]
    entries = []
    for name, value in content.items():
        if isinstance(value, dict):
            entries.append({"id": name, **value})
        elif value is None or isinstance(value, str | list):
            entries.append({"id": name, "response": value})
        else:
            return [content]
    return entries


def _is_table(value: object) -> bool:
    """Return whether a value is a list of objects that are no messages of a chat."""
    if not isinstance(value, list) or not value:
        return False
    return all(isinstance(row, dict) and "role" not in row for row in value)


def _rows_of_columns(content: Json) -> list[Json]:
    """Return the rows of a table that is written column by column; none if it is something else."""
    columns = []
    for value in content.values():
        cells = list(value.values()) if isinstance(value, dict) else value
        if not isinstance(cells, list):
            return []
        columns.append(cells)
    if len({len(cells) for cells in columns}) != 1:
        return []
    return [dict(zip(content, row, strict=True)) for row in zip(*columns, strict=True)]
