"""Zip archives of strangers, unpacked once and safely.

All names are judged before anything is written, sizes are counted while the data come, and a folder appears under its
name only when it is whole. What it was unpacked from is noted inside, so that the next run finds it done, and an
archive that changed is unpacked again.
"""

import json
import shutil
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import mkdtemp
from typing import IO

from fin_tasks.data.archive_names import Entry, safe_entries
from fin_tasks.data.checksums import digest
from fin_tasks.errors import DataError

__all__ = ["MARKER", "Limits", "unpack"]

MARKER = ".unpacked.json"
"""In an unpacked folder: the archive's SHA-256, and the files with their sizes."""

_BLOCK = 1 << 20
_MANY_BYTES = 32 << 20
"""Bytes in all from which on many small files are looked at as one."""
_LOCK_TIMEOUT = 1800.0
"""Seconds to wait for another process that unpacks the same archive."""


@dataclass(frozen=True, kw_only=True)
class Limits:
    """What an archive may hold.

    Attributes:
        entries: Files and folders.
        file_bytes: Bytes of one file, unpacked.
        total_bytes: Bytes of all files, unpacked.
        ratio: Bytes unpacked for each byte packed, in a file of more than a mebibyte, and in all files together where
            they are more than 32 MiB.
    """

    entries: int = 20_000
    file_bytes: int = 64 << 20
    total_bytes: int = 8 << 30
    ratio: float = 200.0


def unpack(archive: Path, target: Path, *, limits: Limits | None = None) -> tuple[Path, ...]:
    """Unpack a zip archive into a folder of its own, unless that is done already.

    Links, devices, encrypted files, two files under one name (case does not count), absolute paths and paths that leave
    the folder are refused, and then nothing is unpacked. macOS's `__MACOSX` and everything whose name begins with a
    dot is left out.

    Args:
        archive: The zip file.
        target: The folder; it belongs to the archive, and is replaced when the archive has changed.
        limits: What the archive may hold; the defaults of `Limits` where None.

    Returns:
        The files, in the archive's order.

    Raises:
        DataError: The archive cannot be read, is not safe, or the folder cannot be written or is something else.
    """
    sha256 = digest(archive).sha256
    if (done := _done(target, sha256)) is not None:
        return done
    with _locked(archive, target):
        # another process may have unpacked it while we waited
        if (done := _done(target, sha256)) is not None:
            return done
        _expect_ours(archive, target)
        _unpack(archive, target, sha256, limits or Limits())
    done = _done(target, sha256)
    if done is None:
        raise DataError(f"{target}: expected the files of {archive}, which somebody removed again. Try once more.")
    return done


def _done(target: Path, sha256: str) -> tuple[Path, ...] | None:
    """Return the files of a folder that holds all of the archive; None where there is something to do."""
    try:
        noted = json.loads((target / MARKER).read_text(encoding="utf-8"))
        if noted["sha256"] != sha256:
            return None
        sizes = {target / name: size for name, size in noted["files"].items()}
        whole = all(path.stat().st_size == size for path, size in sizes.items())
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return None
    return tuple(sizes) if whole else None


def _expect_ours(archive: Path, target: Path) -> None:
    """Refuse a folder that we did not make: it would be replaced."""
    if target.is_symlink() or (target.exists() and not (target / MARKER).is_file()):
        raise DataError(
            f"{target}: expected nothing there, or what {archive.name} was unpacked into, got something else. "
            "Move it away."
        )


def _unpack(archive: Path, target: Path, sha256: str, limits: Limits) -> None:
    # nobody else writes here while we hold the lock: what is left of earlier runs was interrupted
    _clear(target)
    draft = Path(mkdtemp(dir=target.parent, prefix=f".{target.name}.", suffix=".part"))
    try:
        sizes = _inflate_all(archive, draft, limits)
        (draft / MARKER).write_text(json.dumps({"sha256": sha256, "files": sizes}), encoding="utf-8")
        draft.chmod(0o755)  # mkdtemp's folders are for their owner alone
        if target.exists():
            old = Path(mkdtemp(dir=target.parent, prefix=f".{target.name}.", suffix=".part"))
            target.rename(old / target.name)
        draft.rename(target)
    finally:
        _clear(target)


def _clear(target: Path) -> None:
    for left in list(target.parent.iterdir()):
        if left.name.startswith(f".{target.name}.") and left.name.endswith(".part"):
            shutil.rmtree(left, ignore_errors=True)


def _inflate_all(archive: Path, draft: Path, limits: Limits) -> dict[str, int]:
    """Write the files of an archive; return path to size."""
    sizes: dict[str, int] = {}
    try:
        with zipfile.ZipFile(archive) as opened:
            entries = safe_entries(archive, opened.infolist(), most=limits.entries)
            _check_sizes(archive, entries, limits)
            left = limits.total_bytes
            for entry in entries:
                path = draft / entry.path
                path.parent.mkdir(parents=True, exist_ok=True)
                sizes[entry.path] = _inflate(opened, entry, path, min(left, limits.file_bytes))
                left -= sizes[entry.path]
    except (zipfile.BadZipFile, EOFError, NotImplementedError, RuntimeError, ValueError) as error:
        raise _broken(archive, error) from error
    return sizes


def _check_sizes(archive: Path, entries: tuple[Entry, ...], limits: Limits) -> None:
    """Refuse a bomb by what it says of itself; `_inflate` counts what really comes."""
    for entry in entries:
        size, packed = entry.info.file_size, entry.info.compress_size
        if size > limits.file_bytes:
            raise _bomb(archive, f"{size:,} bytes in {entry.path!r}", f"at most {limits.file_bytes:,} in a file")
        if size > _BLOCK and size > limits.ratio * max(packed, 1):
            found = f"{size:,} bytes from {packed:,} in {entry.path!r}"
            raise _bomb(archive, found, f"at most {limits.ratio:g} bytes from one")
    if (total := sum(entry.info.file_size for entry in entries)) > limits.total_bytes:
        raise _bomb(archive, f"{total:,} bytes in all", f"at most {limits.total_bytes:,} in all")
    # the archive's own size too: entries may claim to share their bytes
    packed = min(sum(entry.info.compress_size for entry in entries), archive.stat().st_size)
    if total > _MANY_BYTES and total > limits.ratio * max(packed, 1):
        raise _bomb(archive, f"{total:,} bytes in all from {packed:,}", f"at most {limits.ratio:g} bytes from one")


def _inflate(opened: zipfile.ZipFile, entry: Entry, path: Path, most: int) -> int:
    """Write one file; return its size. The library compares the checksum at the end."""
    size = 0
    archive = Path(str(opened.filename))
    with opened.open(entry.info) as packed, path.open("xb") as file:
        while block := _read(packed, archive):
            size += len(block)
            if size > most:
                raise _bomb(archive, f"more than {most:,} bytes in {entry.path!r}", "no more than the limit")
            file.write(block)
    if size != entry.info.file_size:
        raise _broken(archive, f"{size:,} of {entry.info.file_size:,} bytes of {entry.path!r}")
    return size


def _read(packed: IO[bytes], archive: Path) -> bytes:
    import lzma
    import zlib

    try:
        return packed.read(_BLOCK)
    except (zlib.error, lzma.LZMAError, OSError) as error:  # bz2 raises the last
        raise _broken(archive, error) from error


@contextmanager
def _locked(archive: Path, target: Path) -> Iterator[None]:
    from filelock import FileLock, Timeout

    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        with FileLock(target.parent / f".{target.name}.lock", timeout=_LOCK_TIMEOUT):
            yield
    except Timeout as error:
        raise DataError(
            f"{archive}: expected to unpack it, but another process has held {error.lock_file} for "
            f"{_LOCK_TIMEOUT:g} s. Wait for it, or end it."
        ) from error
    except OSError as error:
        raise DataError(
            f"{archive}: expected to unpack it into {target}, got {error.strerror or error!r}. "
            "Free some space, or set FIN_TASKS_CACHE to a folder you may write."
        ) from error


def _bomb(archive: Path, found: str, expected: str) -> DataError:
    return DataError(
        f"{archive}: expected {expected}, got {found}. Nothing was unpacked; unpack it by hand if it is so."
    )


def _broken(archive: Path, found: object) -> DataError:
    return DataError(
        f"{archive}: expected a whole zip archive, got {str(found) or 'one that ends early'}. Fetch it again."
    )
