"""Read the rows of Parquet files, in which a few bytes may stand for millions of texts."""

from pathlib import Path
from typing import Any

from fin_tasks.errors import DataError
from fin_tasks.limited_file import ROWS_MB, most_bytes, most_values

from .columns import Json

_MAX_ROWS = 1_000_000
_MAX_CHUNKS = 100_000
"""Columns, each counted once for each group of rows."""
_MAX_FOOTER = 32 << 20
"""Bytes of the description of groups and columns, which is read as a whole."""
_BATCH = 1000  # rows
_CHARACTER = 4  # bytes that Python may need for one


def records_of_parquet(path: Path) -> list[Json]:
    """Return the rows of a file.

    Raises:
        DataError: The file cannot be read, or is too large once it is unpacked.
    """
    from pyarrow import ArrowException

    try:
        return _rows(path)
    except (ArrowException, OSError, ValueError) as error:
        text = str(error).partition("\n")[0]
        raise DataError(
            f"{path}: expected a Parquet file, could not read it ({text})."
        ) from error


def _rows(path: Path) -> list[Json]:
    from pyarrow.parquet import ParquetFile

    texts = _check(path)
    # Equal texts stay one text, so that they can be counted before each row has its own.
    with ParquetFile(path, read_dictionary=texts) as file:
        limit = 2 * most_bytes(ROWS_MB)
        n_bytes = 0
        rows: list[Json] = []
        for batch in file.iter_batches(_BATCH):
            n_bytes += sum(map(_size, batch.columns))
            if n_bytes > limit:
                raise _too_much(path)
            rows += batch.to_pylist()
        return rows


def _check(path: Path) -> list[str]:
    """Check what a file says of its size, and return the names of its columns of texts."""
    from pyarrow.parquet import ParquetFile

    with path.open("rb") as stream:
        stream.seek(-min(8, path.stat().st_size), 2)
        footer = int.from_bytes(stream.read(4), "little")
    if footer > _MAX_FOOTER:
        raise _too_much(path)
    with ParquetFile(path) as file:
        facts = file.metadata
        if facts.num_rows > _MAX_ROWS:
            raise _too_much(path)
        if facts.num_row_groups * facts.num_columns > _MAX_CHUNKS:
            raise _too_much(path)
        n_bytes = 0
        n_values = 0
        for at in range(facts.num_row_groups):
            group = facts.row_group(at)
            n_bytes += group.total_byte_size
            for column in range(group.num_columns):
                n_values += group.column(column).num_values
        if n_bytes > most_bytes(ROWS_MB) or n_values > most_values():
            raise _too_much(path)
        columns = map(file.schema.column, range(facts.num_columns))
        return [
            column.path for column in columns if column.physical_type == "BYTE_ARRAY"
        ]


def _too_much(path: Path) -> DataError:
    return DataError(
        f"{path}: expected at most {_MAX_ROWS:,} rows, {_MAX_CHUNKS:,} columns in all groups of rows, "
        f"{most_values():,} values and {most_bytes(ROWS_MB) >> 20:,} MB, got more. "
        "FIN_TASKS_MAX_MB raises the limits of values and of bytes."
    )


def _size(array: Any) -> int:
    """Return the bytes that the values of an array may take, each text counted as often as it comes."""
    from pyarrow import compute, types

    if types.is_dictionary(array.type):
        texts = array.dictionary
        sizes = compute.binary_length(texts)
        if types.is_string(texts.type):
            lengths = compute.utf8_length(texts)
            wide = compute.multiply(lengths, _CHARACTER)
            sizes = compute.if_else(compute.equal(sizes, lengths), sizes, wide)
        total = compute.sum(sizes.cast("int64").take(array.indices))
        return total.as_py() or 0
    if types.is_struct(array.type):
        return sum(map(_size, array.flatten()))
    if types.is_nested(array.type):
        return _size(array.flatten())
    return int(array.nbytes)
