"""Read a benchmark's CSV and JSON files."""

import csv
import json
from collections.abc import Mapping, Sequence
from io import StringIO
from pathlib import Path
from typing import Any, NamedTuple

from fin_tasks.errors import DataError


class Record(NamedTuple):
    """One row; short rows are filled up with empty cells."""

    line: int  # the line of the file on which the row ends
    cells: dict[str, str]
    surplus: int  # cells more than the header has; negative if the row is short


def read_csv(path: Path, columns: Sequence[str], *, delimiter: str = ",") -> list[Record]:
    """Read the rows of a UTF-8 CSV file that has at least these columns; blank lines are skipped."""
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
    return records


def read_json(
    path: Path, columns: Sequence[str] = (), *, aliases: Mapping[str, str] | None = None
) -> list[dict[str, Any]]:
    """Read the objects of a JSON list, or of JSON lines, in UTF-8; each must have these columns or their aliases.

    A row of lm-eval's samples becomes its document, with the responses as `output`. Only the rows of the first filter
    are read, because all filters list the same responses.
    """
    try:
        text = path.read_bytes().decode("utf-8-sig")
        if not text.lstrip().startswith("["):
            text = "[" + ",\n".join(filter(str.strip, text.split("\n"))) + "]"
        rows = json.loads(text)
    except (OSError, ValueError, RecursionError) as error:
        raise DataError(f"{path}: expected a JSON list or JSON lines in UTF-8, got {error}.") from error
    if all(isinstance(row, dict) and isinstance(row.get("doc"), dict) for row in rows):
        rows = [
            {**row["doc"], "output": row.get("resps")} for row in rows if row.get("filter") == rows[0].get("filter")
        ]
    for row in filter(lambda row: isinstance(row, dict), rows):
        row |= {name: row[alias] for name, alias in (aliases or {}).items() if name not in row and alias in row}
    wanted = f"an object with {', '.join(columns)}"
    for number, row in enumerate(rows, start=1):
        if not isinstance(row, dict) or not all(name in row for name in columns):
            raise DataError(f"{path}, row {number}: expected {wanted}, got {row!r:.200}.")
    if not rows:
        raise DataError(f"{path}: expected at least one row, got none.")
    return list(rows)
