"""Parquet files that say little of their size, and unpack to gigabytes."""

import random
from pathlib import Path

MB = 10**6
_PAGE = 0
_PLAIN = 0
_RLE = 3


def forge_page(path: Path, n_bytes: int) -> None:
    """Write one response of so many blanks into a file whose footer says that it is far shorter.

    The footer is that of a response that cannot be packed. Its page is then written over by a shorter one.
    """
    import pyarrow as pa
    from pyarrow import parquet

    size = n_bytes // 2000
    texts = pa.array([_random_text(size)], pa.string())
    fields = [pa.field(name, pa.string(), nullable=False) for name in ("id", "text")]
    table = pa.Table.from_arrays([pa.array(["a"]), texts], schema=pa.schema(fields))
    parquet.write_table(
        table, path, compression="zstd", use_dictionary=False, write_statistics=False
    )
    column = parquet.read_metadata(path).row_group(0).column(1)
    packed = _packed(n_bytes)
    page = _page_header(n_bytes + 4, len(packed)) + packed
    assert len(page) <= column.total_compressed_size
    with path.open("r+b") as file:
        file.seek(column.data_page_offset)
        file.write(page)


def _random_text(size: int) -> str:
    return random.Random(0).randbytes(size // 2).hex()  # noqa: S311 - the same each time


def _packed(n_bytes: int) -> bytes:
    """Return a text of blanks as a page holds it: its length in four bytes, then the text."""
    import pyarrow as pa

    sink = pa.BufferOutputStream()
    with pa.CompressedOutputStream(sink, "zstd") as stream:
        stream.write(n_bytes.to_bytes(4, "little"))
        for _ in range(n_bytes // MB):
            stream.write(b" " * MB)
    return bytes(sink.getvalue())


def _page_header(n_unpacked: int, n_packed: int) -> bytes:
    """Return the header of a page with one value, in Thrift's compact protocol."""
    sizes = b"".join(map(_number, (_PAGE, n_unpacked, n_packed)))
    facts = b"".join(map(_number, (1, _PLAIN, _RLE, _RLE)))
    return sizes + b"\x2c" + facts + b"\0\0"


def _number(value: int) -> bytes:
    """Return the next field of a Thrift structure, a number of 32 bits."""
    value *= 2  # zigzag
    digits = bytearray()
    while value > 0x7F:
        digits.append(value & 0x7F | 0x80)
        value >>= 7
    return b"\x15" + bytes([*digits, value])


def forge_width(path: Path, n_bytes: int) -> None:
    """Write equal values of a fixed width, so that few of them are in the file."""
    import pyarrow as pa
    from pyarrow.parquet import ParquetWriter

    schema = pa.schema([pa.field("id", pa.string()), pa.field("text", pa.binary(MB))])
    n_rows = 10  # of a group, whose size is that of one
    rows = {"id": ["a"] * n_rows, "text": [b"x" * MB] * n_rows}
    group = pa.table(rows, schema)
    with ParquetWriter(
        path, schema, compression="zstd", dictionary_pagesize_limit=2 * MB
    ) as writer:
        for _ in range(n_bytes // MB // n_rows):
            writer.write_table(group)
