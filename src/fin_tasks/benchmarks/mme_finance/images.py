"""The pictures of a table: unpack their archive, find each one by its path, open them."""

import shutil
import stat
import warnings
import zipfile
import zlib
from collections.abc import Mapping
from pathlib import Path, PurePosixPath
from tempfile import mkdtemp
from typing import Any

from PIL import Image

from fin_tasks.data.fetch import sha256_of
from fin_tasks.errors import DataError

SUFFIXES = (".jpg", ".jpeg", ".png", ".webp", ".gif", ".bmp", ".tif", ".tiff")
_FORMATS = ("JPEG", "PNG", "WEBP", "GIF", "BMP", "TIFF")
_MOST_FILES, _MOST_BYTES = 100_000, 8 << 30  # in an archive
_MOST_BYTES_EACH = 64 << 20
_BROKEN = (OSError, SyntaxError, ValueError, EOFError, Image.DecompressionBombError, Image.DecompressionBombWarning)


def unpack(archive: Path, cache: Path) -> Path:
    """Unpack the pictures of a zip archive into a folder of the cache, once, and return the folder."""
    target = cache / sha256_of(archive)[:16]
    if target.is_dir():
        return target
    draft = None
    try:
        cache.mkdir(parents=True, exist_ok=True)
        draft = Path(mkdtemp(dir=cache, prefix=".unpacking-"))
        with zipfile.ZipFile(archive) as opened:
            entries = opened.infolist()
            size, largest = sum(one.file_size for one in entries), max((one.file_size for one in entries), default=0)
            if len(entries) > _MOST_FILES or size > _MOST_BYTES or largest > _MOST_BYTES_EACH:
                raise ValueError(f"{len(entries):,} files of {size:,} bytes, the largest of {largest:,} bytes")
            for entry in entries:
                path = PurePosixPath(_name(entry).replace("\\", "/"))
                if path.is_absolute() or ".." in path.parts or stat.S_ISLNK(entry.external_attr >> 16):
                    raise ValueError(f"{str(path)!r}, which is a link or leaves the folder")
                if path.name.startswith(".") or path.suffix.lower() not in SUFFIXES:
                    continue
                (draft / path).parent.mkdir(parents=True, exist_ok=True)
                with opened.open(entry) as packed, (draft / path).open("xb") as file:
                    shutil.copyfileobj(packed, file)  # reads no more than the size stated above
        draft.chmod(0o755)
        if not target.is_dir():  # another process may have been faster
            draft.rename(target)
    except (zipfile.BadZipFile, zlib.error, EOFError, OSError, RuntimeError, ValueError) as error:
        raise DataError(f"{archive}: expected a zip archive of pictures, got {error}. Fetch it again.") from error
    finally:
        if draft is not None:
            shutil.rmtree(draft, ignore_errors=True)
    return target


class Pictures:
    """Finds pictures by the paths of a table, below its folders only."""

    def __init__(self, table: Path, unpacked: Path | None) -> None:
        roots = [unpacked] if unpacked else [table.with_suffix(""), table.parent]
        self._folders = [folder for root in roots for folder in (root, root / table.stem) if folder.is_dir()]
        self._all = sorted(path for path in unpacked.rglob("*") if path.is_file()) if unpacked else []

    def find(self, name: str) -> Path | None:
        """Return the picture of a path; in an archive also the only one whose path ends like it."""
        parts = PurePosixPath(name.strip().replace("\\", "/")).parts
        if not parts or ".." in parts or parts[0] == "/" or "\0" in name or len(name) > 1000:
            return None
        for folder in self._folders:
            place = folder.joinpath(*parts)
            if place.is_file() and place.resolve().is_relative_to(folder.resolve()):
                return place
        ending = [path for path in self._all if path.parts[-len(parts) :] == parts]
        return ending[0] if len(ending) == 1 else None


def is_usable(path: Path) -> bool:
    """Return whether a file is a picture of a usual format and size; its pixels are not decoded."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", Image.DecompressionBombWarning)
            with Image.open(path, formats=_FORMATS):
                return path.stat().st_size <= _MOST_BYTES_EACH
    except _BROKEN:
        return False


def open_pictures(doc: Mapping[str, Any]) -> list[Image.Image]:
    """Open the pictures of a document, those of a conversation up to its turn; lm-eval's `doc_to_image`."""
    opened = []
    for path in doc.get("image_paths") or [doc["image_path"]]:
        try:
            with Image.open(path, formats=_FORMATS) as picture:
                opened.append(picture.convert("RGB"))
        except _BROKEN as error:
            raise DataError(f"{path}: expected a whole picture, got {error}. Fetch the pictures again.") from error
    return opened


def _name(entry: zipfile.ZipInfo) -> str:
    """Return the name of a file; macOS writes UTF-8 and Chinese Windows GBK, both without saying so."""
    if not entry.flag_bits & 0x800:
        raw = entry.orig_filename.encode("cp437", errors="replace")
        for encoding in ("utf-8", "gb18030"):
            try:
                return raw.decode(encoding)
            except UnicodeDecodeError:
                continue
    return entry.orig_filename
