"""Pictures of questions, copied beside the page once each.

A samples file may come from a stranger, so a path in it is never opened as it stands: it only says which of the
pictures is meant that lie in folders of ours (the data, the cache) or beside the file. What is copied is a picture by
its content, of a size that a browser can show.
"""

import base64
import binascii
import hashlib
import io
import os
import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path, PurePosixPath
from typing import Any

__all__ = ["MAX_BYTES", "MAX_PIXELS", "Gallery", "Pictures", "find_pictures"]

MAX_BYTES = 32 * 2**20
"""Of a picture's file; larger ones are not opened."""
MAX_PIXELS = 60_000_000
"""Of a picture; larger ones are not decoded."""

_SHOWN_PIXELS = 4_000_000
_SHOWN_BYTES = 2 * 2**20
_SHOWN_SIDE = 1800
_SUFFIXES = {".png", ".jpg", ".jpeg", ".gif", ".webp", ".bmp", ".tif", ".tiff"}
_FORMATS = ("PNG", "JPEG", "GIF", "WEBP", "BMP", "TIFF")  # no others: some decoders start programs
_MOST_FILES = 200_000


@dataclass(frozen=True)
class Gallery:
    """Pictures that may be shown, by file name."""

    files: Mapping[str, tuple[str, ...]]

    @cached_property
    def fingerprint(self) -> str:
        """A hash that is another as soon as a picture is new, gone or changed."""
        paths = sorted(Path(path) for found in self.files.values() for path in found)
        seen = [(str(path), stat.st_size, stat.st_mtime_ns) for path in paths if (stat := _stat(path))]
        return hashlib.sha256(repr(seen).encode("utf-8", "backslashreplace")).hexdigest()

    def find(self, path: str) -> Path | None:
        """Return the picture that a path means: of those of its file name the one whose folders are named alike.

        None where there is none, or where several fit as well as each other: a guess would show a wrong picture.
        """
        parts = _parts(path)
        found = self.files.get(parts[-1], ()) if parts else ()
        alike = sorted(((_alike(parts, _parts(one)), one) for one in found), reverse=True)
        if not alike or (len(alike) > 1 and alike[0][0] == alike[1][0]):
            return None
        return Path(alike[0][1])


def find_pictures(folders: Iterable[Path]) -> Gallery:
    """List the pictures in folders and below; links that lead out of them are left out."""
    found: dict[str, dict[str, None]] = {}
    count = 0
    for folder in dict.fromkeys(folder.resolve() for folder in folders if folder.is_dir()):
        for place, _, names in os.walk(folder):
            for name in names:
                if PurePosixPath(name).suffix.lower() not in _SUFFIXES or count >= _MOST_FILES:
                    continue
                path = Path(place, name).resolve()
                if path.is_relative_to(folder) and path.is_file():
                    count += 1
                    found.setdefault(name, {})[str(path)] = None
    return Gallery({name: tuple(paths) for name, paths in found.items()})


def _stat(path: Path) -> os.stat_result | None:
    try:
        return path.stat()
    except OSError:  # it went away
        return None


def _parts(path: str) -> tuple[str, ...]:
    return PurePosixPath(path.replace("\\", "/")).parts


def _alike(one: Sequence[str], other: Sequence[str]) -> int:
    count = 0
    for mine, its in zip(reversed(one), reversed(other), strict=False):
        if mine != its:
            break
        count += 1
    return count


@dataclass
class Pictures:
    """Copies pictures into a folder under the hash of their content.

    Attributes:
        folder: Where copies go.
        gallery: Pictures that a path may mean.
    """

    folder: Path
    gallery: Gallery
    _known: dict[str, str] = field(default_factory=dict)

    def add(self, path: str, sent: str) -> str:
        """Copy a picture.

        Args:
            path: As a document names it; may be empty.
            sent: The `data:` address that was sent to the model, which is preferred; may be empty.

        Returns:
            The copy's file name; empty where the picture was not found or cannot be shown.
        """
        for key, read in ((sent and hashlib.sha256(sent.encode()).hexdigest(), self._sent), (path, self._file)):
            if not key:
                continue
            if key not in self._known:
                self._known[key] = self._copy(read(sent if read == self._sent else path))
            if self._known[key]:
                return self._known[key]
        return ""

    def _sent(self, address: str) -> bytes | None:
        head, _, body = address.partition(",")
        if not head.endswith(";base64") or len(body) > 2 * MAX_BYTES:
            return None
        try:
            return base64.b64decode(body, validate=True)
        except (binascii.Error, ValueError):
            return None

    def _file(self, path: str) -> bytes | None:
        found = self.gallery.find(path)
        try:
            if found is None or found.stat().st_size > MAX_BYTES:
                return None
            return found.read_bytes()
        except OSError:
            return None

    def _copy(self, content: bytes | None) -> str:
        shown = _shown(content) if content else None
        if content is None or shown is None:
            return ""
        data, suffix = shown
        name = f"{hashlib.sha256(content).hexdigest()[:24]}.{suffix}"
        target = self.folder / name
        if not target.exists():
            self.folder.mkdir(parents=True, exist_ok=True)
            # several processes may write the same picture
            part = self.folder / f".{name}.{os.getpid()}"
            part.write_bytes(data)
            part.replace(target)
        return name


def _shown(content: bytes) -> tuple[bytes, str] | None:
    """Return a picture as a browser may show it, and its suffix; None where it is no picture or a bomb."""
    from PIL import Image, ImageOps

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of large pictures, which are measured here
            with Image.open(io.BytesIO(content), formats=_FORMATS) as picture:
                width, height = picture.size
                if not 0 < width * height <= MAX_PIXELS:
                    return None
                small = width * height <= _SHOWN_PIXELS and len(content) <= _SHOWN_BYTES
                still = getattr(picture, "n_frames", 1) == 1
                if small and still and picture.format in ("PNG", "JPEG"):
                    picture.load()  # what cannot be decoded is not copied
                    return content, "png" if picture.format == "PNG" else "jpg"
                return _smaller(ImageOps.exif_transpose(picture))
    # Decoders raise what they like over broken files, SyntaxError and struct.error among it.
    except Exception:  # noqa: BLE001
        return None


def _smaller(picture: Any) -> tuple[bytes, str]:
    photo = picture.mode in ("RGB", "L", "CMYK", "YCbCr") and picture.size[0] * picture.size[1] > _SHOWN_PIXELS
    picture = picture.convert("RGB" if photo else "RGBA")
    picture.thumbnail((_SHOWN_SIDE, _SHOWN_SIDE))
    out = io.BytesIO()
    if photo:
        picture.save(out, "JPEG", quality=85)
    else:
        picture.save(out, "PNG")
    return out.getvalue(), "jpg" if photo else "png"
