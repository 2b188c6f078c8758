"""Pictures of questions, copied beside the page; a stranger's path is never opened, it only chooses among our files."""

from collections import defaultdict
from functools import lru_cache
from pathlib import Path, PurePosixPath

from PIL import Image, ImageOps

from fin_tasks.data.files import sha256_of
from fin_tasks.data.pictures import BROKEN, FORMATS

_SUFFIXES = {".png", ".jpg", ".jpeg", ".gif", ".webp", ".bmp", ".tif", ".tiff"}
_SIDE = 1600  # pixels


def copy_picture(path: str, *, out: Path, folders: frozenset[Path]) -> str:
    """Copy the picture in folders that a path names; return the copy's name, or "" if no picture or several fit."""
    parts = PurePosixPath(path.replace("\\", "/")).parts
    named = _pictures_in(folders).get(
        PurePosixPath(*parts).stem, set()
    )  # some documents name no suffix
    for depth in range(
        1, len(parts) + 1
    ):  # of several of one name take that in folders of the same names
        named = {file for file in named if file.parts[-depth:] == parts[-depth:]} or named
    different = {sha256_of(file): file for file in named}
    if len(different) != 1:
        return ""
    ((digest, file),) = different.items()
    copy = out / f"{digest[:24]}.webp"
    if not copy.exists():
        try:
            with Image.open(file, formats=FORMATS) as picture:
                shown = ImageOps.exif_transpose(picture).convert("RGB")
        except BROKEN:
            return ""
        shown.thumbnail((_SIDE, _SIDE))
        out.mkdir(parents=True, exist_ok=True)
        shown.save(copy, "WEBP", quality=85)
    return copy.name


@lru_cache(maxsize=1)
def _pictures_in(folders: frozenset[Path]) -> dict[str, set[Path]]:
    found: dict[str, set[Path]] = defaultdict(set)
    for folder in map(Path.resolve, folders):
        for file in folder.rglob("*"):
            if (
                file.suffix.lower() in _SUFFIXES
                and file.is_file()
                and file.resolve().is_relative_to(folder)
            ):
                found[file.stem].add(file)
    return found
