"""Pictures as everybody is to see them: the right way up, and in a format that chat models take.

A photograph may lie on its side in its file, with a note (EXIF orientation) on how to turn it. Some readers heed the
note and some do not, so a model and its judge could see two pictures. Wherever a picture goes, the file of
`upright_file` goes: the original as it is where nobody can mistake it, else a copy that says the same to all.
"""

import os
import warnings
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import TYPE_CHECKING, Literal

from fin_tasks.data.checksums import digest
from fin_tasks.errors import DataError

if TYPE_CHECKING:
    from PIL.Image import Image

__all__ = ["FOLDER", "Change", "change_of", "upright_file", "upright_files"]

FOLDER = "upright"
"""Where copies go, in the cache."""

Change = Literal["turned", "converted"]

_JPEG = ("JPEG", "MPO")
_CONVERTED = ("BMP", "TIFF")
_OPENED = ("JPEG", "PNG", "GIF", "WEBP", *_CONVERTED)
"""What Pillow is told to look for; the first four, chat models take. It finds out by itself which JPEG is an MPO."""
_ORIENTATION = 0x0112
_AS_PNG = ("1", "L", "LA", "P", "RGB", "RGBA")
_THREADS = 8


def change_of(path: Path) -> Change | None:
    """Say whether a picture needs a copy: it is to be `turned`, or `converted` as its format is BMP or TIFF.

    Only what is noted beside the pixels is read. None as well for what is no picture.
    """
    with _without_warnings():
        return _change_of(path)


def _change_of(path: Path) -> Change | None:
    from PIL import Image

    Image.init()
    try:
        with Image.open(path, formats=_OPENED) as image:
            if image.format in _CONVERTED:
                return "converted"
            return "turned" if _is_turned(image, path) else None
    except (OSError, SyntaxError, ValueError, EOFError, Image.DecompressionBombError):
        return None


def upright_file(path: Path, folder: Path) -> Path | None:
    """Return the file that shows a picture upright and in a format that chat models take.

    Args:
        path: The picture.
        folder: Where copies go: named by the original's SHA-256, JPEG (quality 95) of a JPEG and PNG of all others,
            made once.

    Returns:
        `path` itself where it needs no copy, see `change_of`; None where it needs one but cannot be decoded, or has
        more than 89 million pixels.

    Raises:
        DataError: The original cannot be read, or the folder not be written.
    """
    with _without_warnings():
        return _upright_file(path, folder)


def _upright_file(path: Path, folder: Path) -> Path | None:
    if _change_of(path) is None:
        return path
    name = digest(path).sha256
    for suffix in (".jpg", ".png"):
        if (folder / f"{name}{suffix}").is_file():
            return folder / f"{name}{suffix}"
    if (opened := _decoded(path)) is None:
        return None
    image, form = opened
    return _written(image, form, folder / f"{name}{'.jpg' if form == 'JPEG' else '.png'}")


def upright_files(paths: Iterable[Path], folder: Path) -> dict[Path, Path | None]:
    """Return `upright_file` of each of many pictures; draws a bar on a terminal, as a photograph takes half a second.

    Raises:
        DataError: An original cannot be read, or the folder not be written.
    """
    from tqdm import tqdm

    originals = list(dict.fromkeys(paths))
    if not originals:
        return {}
    with _without_warnings(), ThreadPoolExecutor(min(_THREADS, os.cpu_count() or 1)) as pool:
        done = pool.map(lambda path: _upright_file(path, folder), originals)
        # None is tqdm's word for "on a terminal only"
        bar = tqdm(done, desc="Turning pictures upright", total=len(originals), unit="picture", disable=None)
        return dict(zip(originals, bar, strict=True))


@contextmanager
def _without_warnings() -> Iterator[None]:
    """Silence Pillow on spoilt notes and on sizes. Not for use in threads, which share the filters."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def _is_turned(image: "Image", path: Path) -> bool:
    # of a PNG, Pillow would decode the pixels to see whether a note follows them
    noted = any("exif" in str(key).lower() or "xmp" in str(key).lower() for key in image.info)
    if image.format == "PNG" and not noted and not _notes_at_the_end(path):
        return False
    return image.getexif().get(_ORIENTATION, 1) in range(2, 9)


def _notes_at_the_end(path: Path) -> bool:
    """Say whether a PNG has notes behind its pixels."""
    pixels_seen = False
    with path.open("rb") as file:
        file.seek(8)
        while len(head := file.read(8)) == 8:
            kind = head[4:]
            if pixels_seen and kind in (b"eXIf", b"iTXt", b"zTXt"):
                return True
            pixels_seen = pixels_seen or kind == b"IDAT"
            file.seek(int.from_bytes(head[:4], "big") + 4, os.SEEK_CUR)
    return False


def _decoded(path: Path) -> "tuple[Image, str] | None":
    """Return the upright picture and the format to write it in; None where it cannot be decoded."""
    from PIL import Image, ImageOps

    try:
        with Image.open(path, formats=_OPENED) as image:
            if image.width * image.height > (Image.MAX_IMAGE_PIXELS or image.width * image.height):
                return None
            form = "JPEG" if image.format in _JPEG else "PNG"
            turned = ImageOps.exif_transpose(image)
    except (OSError, SyntaxError, ValueError, EOFError, Image.DecompressionBombError):
        return None
    return (turned if form == "JPEG" or turned.mode in _AS_PNG else turned.convert("RGB")), form


def _written(image: "Image", form: str, path: Path) -> Path:
    options = {"quality": 95, "icc_profile": image.info.get("icc_profile")} if form == "JPEG" else {"compress_level": 1}
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with NamedTemporaryFile(dir=path.parent, prefix=".", suffix=".part", delete=False) as draft:
            image.save(draft, form, exif=b"", **options)
        Path(draft.name).chmod(0o644)  # such files are for their owner alone
        Path(draft.name).replace(path)
    except OSError as error:
        raise DataError(
            f"{path}: expected to write an upright copy of a picture, got {error.strerror or error!r}. "
            "Free some space, or set FIN_TASKS_CACHE to a folder you may write."
        ) from error
    return path
