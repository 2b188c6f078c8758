"""The pictures of a table: unpack their archive, find them by their paths, open them."""

import zipfile
import zlib
from collections.abc import Mapping, Set
from pathlib import Path, PurePosixPath
from tempfile import TemporaryDirectory

from PIL import Image

from fin_tasks.data.locate import sha256_of
from fin_tasks.data.pictures import BROKEN, FORMATS
from fin_tasks.errors import DataError

from ..contract import Document

FilesByFolder = Mapping[Path, Set[Path]]
"""The files below each folder that may have pictures."""


def unpack(archive: Path, cache: Path) -> Path:
    """Unpack the pictures of a zip archive into a folder of the cache, once, and return the folder."""
    target = cache / sha256_of(archive)[:16]
    if target.is_dir():
        return target
    try:
        cache.mkdir(parents=True, exist_ok=True)
        with TemporaryDirectory(dir=cache, ignore_cleanup_errors=True) as draft:
            # Archives of macOS name files in UTF-8 without saying so.
            with zipfile.ZipFile(archive, metadata_encoding="utf-8") as opened:
                opened.extractall(Path(draft, "pictures"))
            if not target.is_dir():  # another process may have been faster
                Path(draft, "pictures").rename(target)
    except (
        zipfile.BadZipFile,
        zlib.error,
        EOFError,
        OSError,
        RuntimeError,
        ValueError,
    ) as error:
        raise DataError(
            f"{archive}: expected a zip archive of pictures, got {error}. Fetch it again."
        ) from error
    return target


def find_picture(name: str, files_by_folder: FilesByFolder) -> Path | None:
    """Return the picture at a path of a table, else the only one of a folder whose path ends with this path."""
    parts = PurePosixPath(name.strip().replace("\\", "/")).parts
    for folder, files in files_by_folder.items():
        exact = folder.joinpath(*parts)
        if exact in files:
            return exact
        similar = [file for file in files if file.parts[-len(parts) :] == parts]
        if len(similar) == 1:
            return similar[0]
    return None


def is_usable(path: Path) -> bool:
    """Return whether a file is a picture of a usual format, without decoding its pixels."""
    try:
        with Image.open(path, formats=FORMATS):
            return True
    except BROKEN:
        return False


def open_pictures(doc: Document) -> list[Image.Image]:
    """Open the pictures of a document, in a conversation those up to its turn; lm-eval calls this as `doc_to_image`."""
    pictures = []
    for path in doc.get("image_paths") or [doc["image_path"]]:
        try:
            with Image.open(path, formats=FORMATS) as picture:
                pictures.append(picture.convert("RGB"))
        except BROKEN as error:
            raise DataError(
                f"{path}: expected a whole picture, got {error}. Fetch the pictures again."
            ) from error
    return pictures
