"""Read text files that people and programs write: packed by gzip or not, in the encoding that they turn out to have."""

import codecs
import gzip
import sys
import zlib
from collections.abc import Iterator
from io import BytesIO, TextIOWrapper
from pathlib import Path
from typing import Literal, NamedTuple

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
_START = 1000  # bytes
_PIECE = 1 << 20  # bytes that are decoded at a time


class TextFile(NamedTuple):
    """The bytes of a text file, which are decoded line by line or as a whole."""

    path: Path
    content: bytes
    codec: str
    n_bytes: int
    """What the whole text takes in memory; a rare character makes it four times as large."""

    @property
    def encoding(self) -> str:
        """The name of the encoding, for people."""
        return _NAMES.get(self.codec, "UTF-16")

    @property
    def text(self) -> str:
        """The whole text.

        Raises:
            DataError: It takes more memory than a file may have bytes.
        """
        limit = most_bytes(ROWS_MB)
        if self.n_bytes > limit:
            raise DataError(
                f"{self.path}: expected a text of at most {limit >> 20:,} MB in memory, got "
                f"{self.n_bytes >> 20:,} MB; rare characters make a text up to four times as "
                "large. JSON lines and CSV need less. FIN_TASKS_MAX_MB raises the limit."
            )
        return self.content.decode(self.codec).removeprefix("\ufeff")

    @property
    def first_sign(self) -> str:
        """The first character that is no blank; empty if there is none soon."""
        start = self.content[:_START].decode(self.codec, "ignore")
        return start.lstrip("\ufeff \t\r\n")[:1]

    def lines(self, newline: Literal["", "\n"] = "\n") -> Iterator[str]:
        """Yield the lines with their line breaks.

        Args:
            newline: Where lines end: at line feeds, or, if it is empty, also at carriage returns.

        Raises:
            DataError: The lines take more than twice as much memory as a file may have bytes.
        """
        limit = 2 * most_bytes(ROWS_MB)
        n_bytes = 0
        stream = TextIOWrapper(BytesIO(self.content), self.codec, newline=newline)
        for number, line in enumerate(stream):
            n_bytes += sys.getsizeof(line)
            if n_bytes > limit:
                raise DataError(
                    f"{self.path}: expected lines of at most {limit >> 20:,} MB in memory, got "
                    "more; rare characters make a line up to four times as large. "
                    "FIN_TASKS_MAX_MB raises the limit."
                )
            yield line if number else line.removeprefix("\ufeff")


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
    for codec in _encodings_of(content):
        n_bytes = _decoded_size(content, codec)
        if n_bytes is not None:
            return TextFile(path, content, codec, n_bytes)
    raise DataError(
        f"{path}: expected text in UTF-8, UTF-16, Windows-1252 or GB 18030, got other bytes. Save it as UTF-8."
    )


def _decoded_size(content: bytes, codec: str) -> int | None:
    """Return the bytes that a text takes in memory; None if the bytes are no such text."""
    decoder = codecs.getincrementaldecoder(codec)()
    n_characters = 0
    width = 1
    view = memoryview(content)
    for start in range(0, len(content) + 1, _PIECE):
        piece = view[start : start + _PIECE]
        try:
            text = decoder.decode(piece, final=start + _PIECE > len(content))
        except UnicodeDecodeError:
            return None
        if "\0" in text:
            return None
        n_characters += len(text)
        if text:
            # Python holds all characters of a text in 1, 2 or 4 bytes each.
            width = max(width, (sys.getsizeof(text) - sys.getsizeof("")) // len(text))
    return n_characters * width


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
    start = content[:_START]
    if start.count(0) > len(start) / 4:  # UTF-16 without its mark
        yield "utf-16-le" if start[1::2].count(0) else "utf-16-be"
        return
    yield "utf-8"
    yield from _encodings_of_excel(content)


def _encodings_of_excel(content: bytes) -> list[str]:
    """Return the encodings of a CSV that Excel wrote, Western or Chinese, the likelier one first."""
    from charset_normalizer import from_bytes

    telling = b""
    for line in BytesIO(content):
        if not line.isascii():
            telling += line[:_LOOKED_AT]
        if len(telling) >= _LOOKED_AT:
            break
    best = from_bytes(telling[:_LOOKED_AT], cp_isolation=["cp1252", "gb18030"]).best()
    if best is not None and best.encoding == "gb18030":
        return ["gb18030", "cp1252"]
    return ["cp1252", "gb18030"]
