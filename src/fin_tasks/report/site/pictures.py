"""Pictures of questions, copied beside the page.

A path in a samples file comes from a stranger, so it is never opened. It only says which of the pictures is meant that
lie in folders of ours or beside the file.
"""

import hashlib
import os
import warnings
from collections.abc import Iterable
from pathlib import Path, PurePosixPath

from PIL import Image, ImageOps

__all__ = ["Pictures"]

_SUFFIXES = {".png", ".jpg", ".jpeg", ".gif", ".webp", ".bmp", ".tif", ".tiff"}
_FORMATS = ("PNG", "JPEG", "GIF", "WEBP", "BMP", "TIFF")  # no others: some decoders start programs
_MOST_FILES, _MOST_BYTES, _MOST_PIXELS, _SIDE = 200_000, 32 * 2**20, 60_000_000, 1600


class Pictures:
    """Finds and copies pictures.

    Args:
        out: Where copies go.
        folders: Where pictures may lie, at any depth.
    """

    def __init__(self, out: Path, folders: Iterable[Path]) -> None:
        self._out = out
        self._roots = list(dict.fromkeys(folder.resolve() for folder in folders if folder.is_dir()))
        self._found: dict[str, list[Path]] | None = None
        self._copied: dict[str, str] = {}

    def copy(self, path: str) -> str:
        """Copy the picture that a path means; returns the copy's name, empty if there is none or it is not clear."""
        if path not in self._copied:
            found = self._find(PurePosixPath(path.replace("\\", "/")).parts)
            self._copied[path] = self._shown(found) if found else ""
        return self._copied[path]

    def _find(self, parts: tuple[str, ...]) -> Path | None:
        if self._found is None:
            self._found = {}
            for root in self._roots:
                for place, _, names in os.walk(root):
                    for name in names:
                        if Path(name).suffix.lower() in _SUFFIXES and len(self._found) < _MOST_FILES:
                            file = Path(place, name).resolve()
                            if file.is_relative_to(root) and file not in self._found.setdefault(file.stem, []):
                                self._found[file.stem].append(file)
        named = self._found.get(Path(parts[-1]).stem, []) if parts else []  # some documents name no suffix
        for depth in range(1, len(parts) + 1):  # of several pictures of one name that whose folders are named alike
            alike = [file for file in named if file.parts[-depth:] == parts[-depth:]]
            named = alike or named
        return named[0] if len(named) == 1 else None

    def _shown(self, path: Path) -> str:
        try:
            if path.stat().st_size > _MOST_BYTES:
                return ""
            name = f"{hashlib.sha256(path.read_bytes()).hexdigest()[:24]}.webp"
            with warnings.catch_warnings(), Image.open(path, formats=_FORMATS) as picture:
                warnings.simplefilter("ignore")
                if picture.width * picture.height > _MOST_PIXELS:
                    return ""
                shown = ImageOps.exif_transpose(picture).convert("RGB")
            shown.thumbnail((_SIDE, _SIDE))
        except Exception:  # noqa: BLE001 - decoders of broken files raise whatever they like
            return ""
        self._out.mkdir(parents=True, exist_ok=True)
        shown.save(self._out / name, "WEBP", quality=85)
        return name
