"""Read text files that people and programs write: packed by gzip or not, in the encoding that they turn out to have."""

import codecs
import gzip
import zlib
from collections.abc import Iterator
from io import BytesIO
from pathlib import Path
from typing import NamedTuple

from fin_tasks.errors import DataError
from fin_tasks.limited_file import ROWS_MB, check_size, most_bytes

from .locate import check_name

_GZIP = b"\x1f\x8b"
_BYTE_ORDER_MARKS = {
    codecs.BOM_UTF8: "utf-8-sig",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
}
_OTHER_KINDS = {
    b"PK\x03\x04": "a ZIP archive, such as a workbook of another program; save it as .xlsx, or unpack it",
    b"\xd0\xcf\x11\xe0": "a workbook of an old Excel; save it as .xlsx",
    b"%PDF": "a PDF; save it as CSV or JSON",
    b"{\\rtf": "a document of a word processor; save it as plain text",
    b"BZh": "a file packed by bzip2; unpack it",
    b"\xfd7zXZ": "a file packed by xz; unpack it",
    b"\x28\xb5\x2f\xfd": "a file packed by Zstandard; unpack it",
}
"""What files begin with that are no text, and what to do."""
_NAMES = {
    "utf-8-sig": "UTF-8",
    "utf-8": "UTF-8",
    "cp1252": "Windows-1252",
    "gb18030": "GB 18030",
}
_LOOKED_AT = 100_000  # bytes that tell encodings apart


class TextFile(NamedTuple):
    """The text of a file, and the name of its encoding."""

    text: str
    encoding: str


def read_text_file(path: Path) -> TextFile:
    """Read a text in UTF-8 or UTF-16, or else as Excel writes it in Western countries and in China.

    Raises:
        DataError: The file cannot be read, is larger than the limit, or is no text.
    """
    check_name(path)
    try:
        content = _content_of(path)
    except (OSError, EOFError, zlib.error) as error:
        raise DataError(
            f"{path}: expected a file that can be read, got {error}."
        ) from error
    check_size(path, content, most_bytes(ROWS_MB))
    for start, kind in _OTHER_KINDS.items():
        if content.startswith(start):
            raise DataError(f"{path}: expected a text file, got {kind}.")
    for encoding in _encodings_of(content):
        try:
            text = content.decode(encoding)
        except UnicodeDecodeError:
            continue
        if "\0" not in text:
            name = _NAMES.get(encoding, "UTF-16")
            return TextFile(text.removeprefix("\ufeff"), name)
    raise DataError(
        f"{path}: expected text in UTF-8, UTF-16, Windows-1252 or GB 18030, got other bytes. Save it as UTF-8."
    )


def _content_of(path: Path) -> bytes:
    """Return the bytes of a file, unpacked, and of a file that is too large only one more than the limit."""
    limit = most_bytes(ROWS_MB)
    with path.open("rb") as file:
        content = file.read(limit + 1)
    if not content.startswith(_GZIP):
        return content
    with gzip.GzipFile(fileobj=BytesIO(content)) as unpacked:
        return unpacked.read(limit + 1)


def _encodings_of(content: bytes) -> Iterator[str]:
    """Yield the encodings that a file may have, the likeliest first."""
    for mark, encoding in _BYTE_ORDER_MARKS.items():
        if content.startswith(mark):
            yield encoding
            return
    start = content[:1000]
    if start.count(0) > len(start) / 4:  # UTF-16 without its mark
        yield "utf-16-le" if start[1::2].count(0) else "utf-16-be"
        return
    yield "utf-8"
    yield from _encodings_of_excel(content)


def _encodings_of_excel(content: bytes) -> list[str]:
    """Return the encodings of a CSV that Excel wrote, Western or Chinese, the likelier one first."""
    from charset_normalizer import from_bytes

    lines = [line for line in content.splitlines() if not line.isascii()]
    telling = b"\n".join(lines)[:_LOOKED_AT]
    best = from_bytes(telling, cp_isolation=["cp1252", "gb18030"]).best()
    if best is not None and best.encoding == "gb18030":
        return ["gb18030", "cp1252"]
    return ["cp1252", "gb18030"]
