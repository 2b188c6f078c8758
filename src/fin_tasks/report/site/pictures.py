"""Pictures of questions, copied beside the page; a stranger's path is never opened, it only chooses among our files."""

from collections import defaultdict
from collections.abc import Iterable
from functools import cached_property
from pathlib import Path, PurePosixPath

from PIL import Image, ImageOps

from fin_tasks.data.files import sha256_of
from fin_tasks.data.pictures import BROKEN, FORMATS

_SUFFIXES = {".png", ".jpg", ".jpeg", ".gif", ".webp", ".bmp", ".tif", ".tiff"}
_SIDE = 1600  # pixels


class Pictures:
    """Finds pictures in `folders`, at any depth, and copies them into `out`."""

    def __init__(self, out: Path, folders: Iterable[Path]) -> None:
        self._out, self._folders = out, {folder.resolve() for folder in folders}
        self._copied: dict[str, str] = {}

    def copy(self, path: str) -> str:
        """Copy the picture that a path names; return the copy's name, or "" if no picture or more than one fits."""
        if path not in self._copied:
            parts = PurePosixPath(path.replace("\\", "/")).parts
            named = self._found.get(PurePosixPath(*parts).stem, set())  # some documents name no suffix
            for depth in range(1, len(parts) + 1):  # of several of one name take that in folders of the same names
                named = {file for file in named if file.parts[-depth:] == parts[-depth:]} or named
            self._copied[path] = self._shown(*named) if len(named) == 1 else ""
        return self._copied[path]

    @cached_property
    def _found(self) -> dict[str, set[Path]]:
        found: dict[str, set[Path]] = defaultdict(set)
        for folder in self._folders:
            for file in folder.rglob("*"):
                if file.suffix.lower() in _SUFFIXES and file.is_file() and file.resolve().is_relative_to(folder):
                    found[file.stem].add(file)
        return found

    def _shown(self, path: Path) -> str:
        try:
            with Image.open(path, formats=FORMATS) as picture:
                shown = ImageOps.exif_transpose(picture).convert("RGB")
        except BROKEN:
            return ""
        name = f"{sha256_of(path)[:24]}.webp"
        shown.thumbnail((_SIDE, _SIDE))
        self._out.mkdir(parents=True, exist_ok=True)
        shown.save(self._out / name, "WEBP", quality=85)
        return name
