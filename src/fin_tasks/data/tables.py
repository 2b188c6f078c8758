"""Read tables: CSV, a list of JSON objects, or JSON lines."""

import csv
import json
from collections.abc import Mapping, Sequence
from io import StringIO
from pathlib import Path
from typing import Any, NamedTuple

from fin_tasks.answers.cut_off import responses_of_sample
from fin_tasks.data.files import check_name
from fin_tasks.errors import DataError

MAX_COLUMNS = 1000
MAX_CELLS = 5_000_000
"""Limits of a table, so that a small file cannot take much memory."""


class Record(NamedTuple):
    """One row of a CSV file; a short row is filled up with empty cells."""

    line: int
    """The line of the file on which the row ends."""
    cells: dict[str, str]
    surplus: int
    """Number of cells that the header lacks; negative if the row is short."""


def read_csv(
    path: Path,
    columns: Sequence[str],
    *,
    delimiter: str = ",",
    max_rows: int = MAX_CELLS,
) -> list[Record]:
    """Read the rows of a UTF-8 CSV file that has these columns and maybe more; skip blank lines."""
    check_name(path)
    try:
        content = path.read_bytes()
        # A cell may be as long as the file; the default limit is 128 kB.
        limit = max(csv.field_size_limit(), len(content))
        csv.field_size_limit(limit)
        text = content.decode("utf-8-sig")
        reader = csv.reader(StringIO(text, newline=""), delimiter=delimiter)
        header = next(reader, [])
        check_header(path, header, columns)
        records: list[Record] = []
        for row in reader:
            n_cells = len(records) * len(header)
            if len(records) > max_rows or n_cells > MAX_CELLS:
                raise csv.Error(f"more than {max_rows:,} rows or {MAX_CELLS:,} cells")
            if row:
                records.append(_record(header, row, reader.line_num))
        return records
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise DataError(
            f"{path}: expected a CSV file in UTF-8, could not read it ({error})."
        ) from error


def check_header(
    path: Path,
    header: Sequence[str],
    columns: Sequence[str],
) -> None:
    """Raise DataError unless a header has these columns, each column once, and not too many."""
    if len(header) > MAX_COLUMNS:
        raise DataError(f"{path}: expected at most {MAX_COLUMNS:,} columns, got {len(header):,}.")
    has_all = set(columns) <= set(header)
    has_repeats = len(set(header)) < len(header)
    if not has_all or has_repeats:
        raise DataError(
            f"{path}: expected the columns {', '.join(columns)}, each once, "
            f"got {', '.join(header) or 'an empty file'}. Rename its columns."
        )


def _record(
    header: Sequence[str],
    row: list[str],
    line: int,
) -> Record:
    surplus = len(row) - len(header)
    padding = [""] * -surplus
    cells = dict(zip(header, row + padding, strict=False))
    return Record(line=line, cells=cells, surplus=surplus)


def read_json(
    path: Path,
    columns: Sequence[str] = (),
    *,
    aliases: Mapping[str, str] | None = None,
) -> list[dict[str, Any]]:
    """Read the objects of a JSON list, or of JSON lines, in UTF-8.

    Each object must have these columns or their aliases. A row of lm-eval's samples becomes its
    document, with the responses as `output`; those that were cut off are marked.
    """
    check_name(path)
    rows = _json_rows(path)
    if all(_is_sample(row) for row in rows):
        rows = _documents_of(rows)
    if not rows:
        raise DataError(f"{path}: expected at least one row, got none.")
    for number, row in enumerate(rows, start=1):
        if isinstance(row, dict):
            for name, alias in (aliases or {}).items():
                if alias in row:
                    row.setdefault(name, row[alias])
        if not isinstance(row, dict) or not set(columns) <= row.keys():
            raise DataError(
                f"{path}, row {number}: expected an object with {', '.join(columns)}, "
                f"got {row!r:.200}."
            )
    return rows


def _json_rows(path: Path) -> list[Any]:
    try:
        text = path.read_bytes().decode("utf-8-sig")
        if not text.lstrip().startswith("["):
            # JSON does not break lines at other separators, as `splitlines` would.
            lines = [line for line in text.split("\n") if line.strip()]
            text = "[" + ",\n".join(lines) + "]"
        rows = json.loads(text)
        return list(rows)
    except (OSError, ValueError, RecursionError) as error:
        raise DataError(
            f"{path}: expected a JSON list or JSON lines in UTF-8, got {error}."
        ) from error


def _is_sample(row: Any) -> bool:
    return isinstance(row, dict) and isinstance(row.get("doc"), dict)


def _documents_of(samples: Sequence[dict[str, Any]]) -> list[Any]:
    """Return the documents of lm-eval's samples under the first filter.

    All filters list the same responses.
    """
    documents = []
    for sample in samples:
        if sample.get("filter") == samples[0].get("filter"):
            documents.append({**sample["doc"], "output": responses_of_sample(sample)})
    return documents
