"""Which entries of a zip archive may be written, and under which names."""

import os
import re
import stat
import unicodedata
import zipfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from fin_tasks.errors import DataError

__all__ = ["Entry", "name_of", "safe_entries"]

_UTF8 = 0x800
_ENCRYPTED = 0x1 | 0x40
_DRIVE = re.compile(r"^[A-Za-z]:|/[A-Za-z]:(?=/|$)")
_WINDOWS = os.name == "nt"
_LONGEST = 255
"""Bytes a part of a path may have on common file systems."""


@dataclass(frozen=True)
class Entry:
    """A file of an archive.

    Attributes:
        info: As the archive lists it.
        path: Where it goes below the folder, with forward slashes.
    """

    info: zipfile.ZipInfo
    path: str


def safe_entries(archive: Path, infos: Sequence[zipfile.ZipInfo], *, most: int) -> tuple[Entry, ...]:
    """Return the files to write.

    Args:
        archive: Named in messages.
        infos: Everything the archive lists.
        most: Entries it may list.

    Raises:
        DataError: It lists too much, or anything that must not be written: one such entry condemns the archive.
    """
    if len(infos) > most:
        raise DataError(f"{archive}: expected at most {most:,} entries, got {len(infos):,}. Unpack it by hand.")
    entries: list[Entry] = []
    for info in infos:
        name = name_of(info)
        if (wrong := _wrong(info, name)) is not None:
            raise DataError(
                f"{archive}: expected plain files below one folder, got {name!r}, {wrong}. Nothing was unpacked; "
                "fetch the archive again, or look at it before you trust it."
            )
        parts = _parts(name)
        is_folder = info.is_dir() or name.endswith("\\") or stat.S_ISDIR(info.external_attr >> 16)
        if not is_folder and not _is_clutter(parts):
            entries.append(Entry(info, "/".join(parts)))
    _check_unique(archive, entries)
    return tuple(entries)


def name_of(info: zipfile.ZipInfo) -> str:
    """Return an entry's name as it was meant.

    A name without the mark of UTF-8 should be CP437. macOS writes UTF-8 all the same, Chinese Windows GBK; so it is
    the first of UTF-8, GBK and CP437 that its bytes can be.
    """
    if info.flag_bits & _UTF8:
        return info.orig_filename
    try:
        raw = info.orig_filename.encode("cp437")
    except UnicodeEncodeError:  # the library knew better
        return info.orig_filename
    for encoding in ("utf-8", "gb18030"):
        try:
            return raw.decode(encoding)
        except UnicodeDecodeError:
            continue
    return info.orig_filename


def _parts(name: str) -> tuple[str, ...]:
    # a backslash parts folders in archives made by old programs for Windows
    return tuple(part for part in name.replace("\\", "/").split("/") if part not in ("", "."))


def _wrong(info: zipfile.ZipInfo, name: str) -> str | None:
    """Say why an entry must not be written; None where it may."""
    kind = stat.S_IFMT(info.external_attr >> 16)
    plain = name.replace("\\", "/")
    if plain.startswith("/") or _DRIVE.search(plain):
        return "an absolute path"
    if ".." in plain.split("/"):
        return "a path that leaves the folder"
    if kind == stat.S_IFLNK:
        return "a link"
    if kind not in (0, stat.S_IFREG, stat.S_IFDIR):
        return "neither a file nor a folder"
    if info.flag_bits & _ENCRYPTED:
        return "which is encrypted"
    return _not_a_name(plain)


def _not_a_name(name: str) -> str | None:
    if not _parts(name) and not name.endswith("/"):
        return "which is no name"
    if any(unicodedata.category(letter) in ("Cc", "Cs") for letter in name):
        return "a name with characters that control a terminal or are none"
    if ":" in name and _WINDOWS:  # the clock in a screenshot's name elsewhere, there a stream of another file
        return "a name with a colon"
    if any(len(part.encode("utf-8")) > _LONGEST for part in _parts(name)):
        return f"a name of more than {_LONGEST} bytes"
    return None


def _is_clutter(parts: Sequence[str]) -> bool:
    return any(part.startswith(".") or part == "__MACOSX" for part in parts)


def _check_unique(archive: Path, entries: Sequence[Entry]) -> None:
    """Refuse two files under one name, and a file where another has a folder."""
    files: dict[str, str] = {}
    for entry in entries:
        other = files.setdefault(_folded(entry.path), entry.path)
        if other is not entry.path:
            raise _clash(archive, other, entry.path)
    for entry in entries:
        folders = _folded(entry.path).split("/")[:-1]
        for end in range(1, len(folders) + 1):
            if (above := files.get("/".join(folders[:end]))) is not None:
                raise _clash(archive, above, entry.path)


def _clash(archive: Path, first: str, second: str) -> DataError:
    return DataError(
        f"{archive}: expected each name once, got {first!r} and {second!r}. Nothing was unpacked; "
        "fetch the archive again."
    )


def _folded(path: str) -> str:
    """Return the name under which file systems that fold case and accents would find a file."""
    return unicodedata.normalize("NFC", path).casefold()
