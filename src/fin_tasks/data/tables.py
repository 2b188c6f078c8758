"""Read tables that people, harnesses and authors write: CSV, TSV, XLSX, a list of JSON objects, or JSON lines.

`quote_formulas` makes texts safe in the tables that we write.
"""

import csv
import json
import logging
import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from io import StringIO
from itertools import chain, islice, zip_longest
from pathlib import Path
from typing import Any, NamedTuple

from fin_tasks.errors import DataError
from fin_tasks.limited_file import check_json

from .locate import check_name
from .text_file import read_text_file
from .workbook import workbook_rows

_log = logging.getLogger(__name__)
_MAX_ROWS = 200_000
_MAX_COLUMNS = 1000
_MAX_CELLS = 5_000_000
"""Limits of a table, so that a small file cannot take much memory."""
_MAX_HEADER = 1 << 20  # characters
_HEADER_LINES = 1000  # in which the header is looked for
_MAX_CELL = (1 << 31) - 1  # characters; the default is 128 kB
_USUAL_BYTES = 16 << 20  # a larger table is decoded line by line
_OTHER_STARTS = ("PK", "%PDF", "{\\rtf", "BZh")  # of other kinds of files
_SEPARATORS = {",": "commas", ";": "semicolons", "\t": "tabs", "|": "bars"}
_NAMED_SEPARATOR = re.compile(r"\Asep=(.)\r?\n")  # the first line that Excel writes

# Some spreadsheet programs begin a new cell at `;`, a tab or a line break. Plain numbers are no
# formulas.
_FORMULA = re.compile(
    r"""
    ^ (?= [\t\r] ) |
    (?: ^ | (?<=[;\t\r\n]) )
    (?= [^\S\t\r\n]* (?: [=@＝＠] | [-+−－＋] (?! [\d.,]+ [^\S\t\r\n]* (?: [;\t\r\n] | \Z ) ) ) )
    """,
    re.VERBOSE,
)


class Record(NamedTuple):
    """One row of a table; a short row is filled up with empty cells."""

    line: int
    """The number of the row that a spreadsheet program shows; the header is mostly 1."""
    cells: dict[str, str]
    surplus: int
    """Number of cells that the header lacks; negative if the row is short."""


def read_table(path: Path, columns: Sequence[str] = ()) -> list[Record]:
    """Read the rows of a CSV, TSV or XLSX file as texts; a file of another kind is read as CSV.

    The first row with text is the header. It must have these columns and may have more, each once;
    columns without a name are left out, and so are rows without any text. The encoding and the separator of a
    text file are found, and unusual ones are logged. Of a workbook the first sheet with these columns is read,
    whatever its name.
    """
    check_name(path)
    is_workbook = path.suffix.lower() == ".xlsx"
    rows = workbook_rows(path, columns) if is_workbook else _csv_rows(path)
    header: Sequence[str] = []
    records: list[Record] = []
    n_cells = 0
    for line, row in enumerate(rows, start=1):
        n_cells += max(len(row), len(header))
        if line > _MAX_ROWS or len(row) > _MAX_COLUMNS or n_cells > _MAX_CELLS:
            raise DataError(
                f"{path}: expected at most {_MAX_ROWS:,} rows, {_MAX_COLUMNS:,} columns and "
                f"{_MAX_CELLS:,} cells, got more."
            )
        if header:
            surplus = len(row) - len(header)
            cells = dict(zip_longest(header, row[: len(header)], fillvalue=""))
            cells.pop("", None)
            if any(cells.values()) or surplus > 0:
                records.append(Record(line, cells, surplus))
        elif any(row):
            header = row
    names = list(filter(None, header))
    if not set(columns) <= set(names) or len(set(names)) < len(names):
        expected = (
            f"the columns {', '.join(columns)}, each" if columns else "each column"
        )
        raise DataError(
            f"{path}: expected {expected} once, got {', '.join(names) or 'an empty file'}. "
            "Rename its columns."
        )
    return records


def _csv_rows(path: Path) -> Iterator[list[str]]:
    csv.field_size_limit(_MAX_CELL)
    usual = "\t" if ".tsv" in path.suffixes[-2:] else ","
    usual_text = _usual_text(path)
    encoding = "UTF-8"
    lines: Iterator[str] = StringIO(usual_text, newline="")
    if not usual_text:
        file = read_text_file(path)
        encoding = file.encoding
        lines = file.lines(newline="")
    start = list(islice(lines, _HEADER_LINES))
    text = "".join(start)[:_MAX_HEADER]
    try:
        separator = usual
        header = text.lstrip().partition("\n")[0]
        if any(header.count(sign) > header.count(usual) for sign in _SEPARATORS):
            separator = _separator_of(text, usual)
        if separator != usual or encoding != "UTF-8":
            kind = _SEPARATORS.get(separator, repr(separator))
            _log.warning("%s: read as %s with %s between cells.", path, encoding, kind)
        if start:
            start[0] = _NAMED_SEPARATOR.sub("\n", start[0])
        yield from csv.reader(chain(start, lines), delimiter=separator)
    except csv.Error as error:
        raise DataError(
            f"{path}: expected a CSV file, could not read it ({error})."
        ) from error


def _usual_text(path: Path) -> str:
    """Return the text of a small file in UTF-8, as nearly all tables are; empty for any other file."""
    text = ""
    with suppress(OSError, UnicodeDecodeError), path.open("rb") as file:
        content = file.read(_USUAL_BYTES + 1)
        if len(content) <= _USUAL_BYTES:
            text = content.decode("utf-8-sig")
    is_other = "\0" in text or text.startswith(_OTHER_STARTS)
    return "" if is_other else text


def _separator_of(text: str, usual: str) -> str:
    """Return the separator that the first line names, else the one that makes most columns of the header."""
    named = _NAMED_SEPARATOR.match(text)
    if named:
        return named[1]
    n_columns = {}
    for separator in (usual, *_SEPARATORS):
        rows = csv.reader(StringIO(text, newline=""), delimiter=separator)
        header = next(filter(any, rows), [])
        n_columns[separator] = len(header)
    return max(n_columns, key=n_columns.__getitem__)  # of equal ones the first


def read_json(path: Path, columns: Sequence[str] = ()) -> list[dict[str, Any]]:
    """Read the objects of a JSON list, or of JSON lines; each must have these columns."""
    check_name(path)
    usual_text = _usual_text(path)
    if usual_text:
        check_json(path, usual_text)
        first_sign = usual_text.lstrip()[:1]
    else:
        file = read_text_file(path)
        check_json(path, file.content)
        first_sign = file.first_sign
    try:
        if first_sign == "[":
            rows = json.loads(usual_text or file.text)
        else:
            # JSON does not break lines at other separators, as `splitlines` would.
            lines = StringIO(usual_text, newline="\n") if usual_text else file.lines()
            rows = [json.loads(line) for line in lines if line.strip()]
    except (ValueError, RecursionError) as error:
        raise DataError(
            f"{path}: expected a JSON list or JSON lines, got {error}."
        ) from error
    if not rows:
        raise DataError(f"{path}: expected at least one row, got none.")
    for number, row in enumerate(rows, start=1):
        if not isinstance(row, dict) or not set(columns) <= row.keys():
            names = f" with {', '.join(columns)}" if columns else ""
            raise DataError(
                f"{path}, row {number}: expected an object{names}, got {row!r:.200}."
            )
    return list(rows)


def quote_formulas(text: str) -> str:
    """Return a text with an apostrophe before each part that a spreadsheet program would run as a formula.

    >>> quote_formulas("a; =1+1")
    "a;' =1+1"
    """
    return _FORMULA.sub("'", text)
