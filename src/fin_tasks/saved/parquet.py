"""Read the rows of Parquet files, in which a few bytes may stand for millions of texts.

What a file says of its size may be wrong, and pyarrow unpacks a whole page before anybody can count. So another process
reads the file first, with little memory, and only a file that it could read is read here.
"""

import subprocess
import sys
from collections.abc import Iterator, Sequence
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
_REFUSED = 3
"""Exit status of the other process if it says what is wrong with a file."""


def records_of_parquet(path: Path) -> list[Json]:
    """Return the rows of a file.

    Raises:
        DataError: The file cannot be read, or is too large once it is unpacked.
    """
    _try_with_little_memory(path)
    rows: list[Json] = []
    for batch in _batches(path):
        rows += batch.to_pylist()
    return rows


def _try_with_little_memory(path: Path) -> None:
    """Let another process read a file; raise DataError if it cannot, or if it ran out of memory."""
    # With -P nothing is imported from the current folder.
    command = [sys.executable, "-P", "-m", __name__, str(path)]
    done = subprocess.run(command, capture_output=True, check=False)  # noqa: S603 - our own module
    said = done.stderr.decode("utf-8", "surrogateescape")
    if done.returncode == _REFUSED:
        raise DataError(said)
    if done.returncode < 0:  # pyarrow ends a process that gets no memory
        raise _too_much(path)
    if done.returncode:
        reason = next(reversed(said.splitlines()), "")
        raise _unreadable(path, reason)


def _main(path: str) -> None:
    """Read a file in a process of its own; say on standard error what is wrong with it."""
    import pyarrow

    # The usual pool reserves far more memory than it uses.
    pyarrow.set_memory_pool(pyarrow.system_memory_pool())
    _limit_memory()
    try:
        for _ in _batches(Path(path)):
            pass
    except DataError as error:
        sys.stderr.buffer.write(str(error).encode("utf-8", "surrogateescape"))
        sys.exit(_REFUSED)


def _limit_memory() -> None:
    """Let this process take no more memory beside what it has than three times the limit of a file.

    Only Linux keeps to such a limit.
    """
    memory = Path("/proc/self/statm")
    if not memory.is_file():
        return
    import resource

    n_pages = int(memory.read_text().split()[0])
    limit = n_pages * resource.getpagesize() + 3 * most_bytes(ROWS_MB)
    _, hard = resource.getrlimit(resource.RLIMIT_AS)
    if hard != resource.RLIM_INFINITY:
        limit = min(limit, hard)
    resource.setrlimit(resource.RLIMIT_AS, (limit, hard))


def _batches(path: Path) -> Iterator[Any]:
    """Yield the rows of a file in batches of pyarrow; raise DataError if they are too many or too large."""
    from pyarrow import ArrowException
    from pyarrow.parquet import ParquetFile

    n_bytes = 0
    n_values = 0
    try:
        _check_footer(path)
        with ParquetFile(path) as file:
            for batch in file.iter_batches(_BATCH):
                for array in _arrays_in(batch.columns):
                    n_bytes += _size(array)
                    n_values += len(array)
                if n_bytes > 2 * most_bytes(ROWS_MB) or n_values > most_values():
                    raise _too_much(path)
                yield batch
    except MemoryError as error:
        raise _too_much(path) from error
    except (ArrowException, OSError, ValueError) as error:
        raise _unreadable(path, str(error).partition("\n")[0]) from error


def _check_footer(path: Path) -> None:
    """Check what a file says of its size."""
    from pyarrow.parquet import read_metadata

    with path.open("rb") as stream:
        stream.seek(-min(8, path.stat().st_size), 2)
        footer = int.from_bytes(stream.read(4), "little")
    if footer > _MAX_FOOTER:
        raise _too_much(path)
    facts = read_metadata(path)
    n_chunks = facts.num_row_groups * facts.num_columns
    if facts.num_rows > _MAX_ROWS or n_chunks > _MAX_CHUNKS:
        raise _too_much(path)
    groups = map(facts.row_group, range(facts.num_row_groups))
    if sum(group.total_byte_size for group in groups) > most_bytes(ROWS_MB):
        raise _too_much(path)


def _too_much(path: Path) -> DataError:
    return DataError(
        f"{path}: expected at most {_MAX_ROWS:,} rows, {_MAX_CHUNKS:,} columns in all groups of rows, "
        f"{most_values():,} values and {most_bytes(ROWS_MB) >> 20:,} MB unpacked, got more. "
        "FIN_TASKS_MAX_MB raises the limits of values and of bytes."
    )


def _unreadable(path: Path, reason: str) -> DataError:
    return DataError(f"{path}: expected a Parquet file, could not read it ({reason}).")


def _arrays_in(arrays: Sequence[Any]) -> Iterator[Any]:
    """Yield arrays and all arrays in them: the fields of objects, and the elements of lists."""
    from pyarrow import types

    for array in arrays:
        yield array
        if types.is_struct(array.type):
            yield from _arrays_in(array.flatten())
        elif types.is_nested(array.type):
            yield from _arrays_in([array.flatten()])


def _size(array: Any) -> int:
    """Return the bytes that the values of an array may take, each text counted as often as it comes."""
    from pyarrow import compute, types

    if types.is_nested(array.type):
        return 0  # the arrays in it count
    if types.is_dictionary(array.type):
        array = array.dictionary_decode()
    if not types.is_string(array.type):
        return int(array.nbytes)
    sizes = compute.binary_length(array)
    lengths = compute.utf8_length(array)
    wide = compute.multiply(lengths, _CHARACTER)
    sizes = compute.if_else(compute.equal(sizes, lengths), sizes, wide)
    return compute.sum(sizes.cast("int64")).as_py() or 0


if __name__ == "__main__":
    _main(sys.argv[1])
