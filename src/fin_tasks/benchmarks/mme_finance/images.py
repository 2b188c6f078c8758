"""The pictures of a table: unpack their archive, find them by their paths, open them."""

import zipfile
import zlib
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path, PurePosixPath
from tempfile import TemporaryDirectory
from typing import Any

from PIL import Image

from fin_tasks.data.files import sha256_of
from fin_tasks.data.pictures import BROKEN, FORMATS
from fin_tasks.errors import DataError


def unpack(archive: Path, cache: Path) -> Path:
    """Unpack the pictures of a zip archive into a folder of the cache, once, and return the folder."""
    target = cache / sha256_of(archive)[:16]
    if target.is_dir():
        return target
    try:
        cache.mkdir(parents=True, exist_ok=True)
        with (
            TemporaryDirectory(dir=cache, ignore_cleanup_errors=True) as draft,
            zipfile.ZipFile(archive) as opened,
        ):
            place = Path(draft, "pictures")
            place.mkdir()
            for entry in opened.infolist():
                if (
                    not entry.flag_bits & 0x800
                ):  # macOS leaves out the mark of UTF-8, and zipfile reads cp437
                    with suppress(UnicodeError):
                        entry.filename = entry.filename.encode("cp437").decode()
                opened.extract(entry, place)  # never leaves this folder
            if not target.is_dir():  # another process may have been faster
                place.rename(target)
    except (zipfile.BadZipFile, zlib.error, EOFError, OSError, RuntimeError, ValueError) as error:
        raise DataError(
            f"{archive}: expected a zip archive of pictures, got {error}. Fetch it again."
        ) from error
    return target


class Pictures:
    """Finds pictures by the paths in a table, only below the table's folders."""

    def __init__(self, table: Path, unpacked: Path | None) -> None:
        roots = [unpacked] if unpacked else [table.with_suffix(""), table.parent]
        self._folders = [
            folder for root in roots for folder in (root, root / table.stem) if folder.is_dir()
        ]
        self._all = (
            sorted(path for path in unpacked.rglob("*") if path.is_file()) if unpacked else []
        )

    def find(self, name: str) -> Path | None:
        """Return the picture at a path; in an archive also the only picture whose path ends with it."""
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
    """Return whether a file is a picture of a usual format, without decoding its pixels."""
    try:
        with Image.open(path, formats=FORMATS):
            return True
    except BROKEN:
        return False


def open_pictures(doc: Mapping[str, Any]) -> list[Image.Image]:
    """Open the pictures of a document, in a conversation those up to its turn; lm-eval's `doc_to_image`."""
    opened = []
    for path in doc.get("image_paths") or [doc["image_path"]]:
        try:
            with Image.open(path, formats=FORMATS) as picture:
                opened.append(picture.convert("RGB"))
        except BROKEN as error:
            raise DataError(
                f"{path}: expected a whole picture, got {error}. Fetch the pictures again."
            ) from error
    return opened
