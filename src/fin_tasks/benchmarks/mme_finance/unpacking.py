"""Unpack the archive of pictures, once."""

import shutil
import zipfile
import zlib
from pathlib import Path, PurePosixPath
from tempfile import mkdtemp

from fin_tasks.data.fetch import sha256_of
from fin_tasks.errors import DataError

__all__ = ["unpack"]

_MARKER = ".unpacked"  # in the folder: the archive's SHA-256
_MOST = 8 << 30  # bytes of all files
_BROKEN = (zipfile.BadZipFile, zlib.error, EOFError, OSError, RuntimeError, ValueError)


def unpack(archive: Path, target: Path) -> None:
    """Unpack a zip archive into a folder that appears when it is whole; hidden files and `__MACOSX` are left out."""
    sha256 = sha256_of(archive)
    marker = target / _MARKER
    if marker.is_file() and marker.read_text(encoding="utf-8") == sha256:
        return
    if target.exists() and not marker.is_file():
        raise DataError(f"{target}: expected a folder unpacked from {archive.name}, got another one. Move it away.")
    draft = None
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        draft = Path(mkdtemp(dir=target.parent, prefix=f".{target.name}."))
        with zipfile.ZipFile(archive) as opened:
            if sum(info.file_size for info in opened.infolist()) > _MOST:
                raise ValueError(f"it holds more than {_MOST:,} bytes")
            for info in opened.infolist():
                path = PurePosixPath(_name(info).replace("\\", "/"))
                if path.is_absolute() or ".." in path.parts:
                    raise ValueError(f"the name {str(path)!r} leaves the folder")
                if info.is_dir() or any(part.startswith(".") or part == "__MACOSX" for part in path.parts):
                    continue
                place = draft / path
                place.parent.mkdir(parents=True, exist_ok=True)
                with opened.open(info) as packed, place.open("xb") as file:
                    shutil.copyfileobj(packed, file)
        (draft / _MARKER).write_text(sha256, encoding="utf-8")
        draft.chmod(0o755)
        shutil.rmtree(target, ignore_errors=True)
        draft.rename(target)
    except _BROKEN as error:
        raise DataError(f"{archive}: expected a zip archive of pictures, got {error}. Fetch it again.") from error
    finally:
        if draft is not None:
            shutil.rmtree(draft, ignore_errors=True)


def _name(info: zipfile.ZipInfo) -> str:
    """Return the name of a file; macOS writes UTF-8 and Chinese Windows GBK, both without saying so."""
    if not info.flag_bits & 0x800:
        raw = info.orig_filename.encode("cp437", errors="replace")
        for encoding in ("utf-8", "gb18030"):
            try:
                return raw.decode(encoding)
            except UnicodeDecodeError:
                continue
    return info.orig_filename
