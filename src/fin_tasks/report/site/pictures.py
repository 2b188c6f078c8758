"""Pictures of questions, copied beside the page.

A stranger's path is never opened; it only chooses among our files.
"""

from collections import defaultdict
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path, PurePosixPath

from PIL import Image, ImageOps

from fin_tasks.data.locate import sha256_of
from fin_tasks.data.pictures import BROKEN, FORMATS

_SUFFIXES = {".png", ".jpg", ".jpeg", ".gif", ".webp", ".bmp", ".tif", ".tiff"}
_SIDE = 1600  # pixels
_MAX_PIXELS = 50_000_000  # of a picture that is opened; larger ones take much memory


def copy_picture(path: str, *, out: Path, folders: Sequence[Path]) -> str:
    """Copy the picture that a path names; return the copy's name.

    The first folder that has a picture of this name counts. The name is empty if no picture fits, or several in that
    folder, or if it cannot be read.
    """
    try:
        for folder in folders:
            files = _files_named(path, folder)
            if files:
                return _copy(files, out)
    except BROKEN:
        return ""
    return ""


def _copy(files: set[Path], out: Path) -> str:
    """Copy a picture of which all files are equal; return the copy's name, or nothing."""
    file_by_hash = {sha256_of(file): file for file in files}
    if len(file_by_hash) != 1:
        return ""
    digest, file = file_by_hash.popitem()
    copy = out / f"{digest[:24]}.webp"
    if copy.exists():
        return copy.name
    with Image.open(file, formats=FORMATS) as picture:
        if picture.width * picture.height > _MAX_PIXELS:
            return ""
        image = ImageOps.exif_transpose(picture).convert("RGB")
    image.thumbnail((_SIDE, _SIDE))
    out.mkdir(parents=True, exist_ok=True)
    image.save(copy, "WEBP", quality=85)
    return copy.name


def _files_named(path: str, folder: Path) -> set[Path]:
    """Return the files of a path's name; of several, those in folders of the same names."""
    parts = PurePosixPath(path.replace("\\", "/")).parts
    stem = PurePosixPath(*parts).stem  # some documents name no suffix
    files = _pictures_in(folder).get(stem, set())
    for depth in range(1, len(parts) + 1):
        nearer = {file for file in files if file.parts[-depth:] == parts[-depth:]}
        files = nearer or files
    return files


@lru_cache(maxsize=32)
def _pictures_in(folder: Path) -> dict[str, set[Path]]:
    files_by_stem = defaultdict(set)
    root = folder.resolve()
    for file in root.rglob("*"):
        is_picture = file.suffix.lower() in _SUFFIXES and file.is_file()
        if is_picture and file.resolve().is_relative_to(root):
            files_by_stem[file.stem].add(file)
    return files_by_stem
