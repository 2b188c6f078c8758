"""Pictures the right way up, and in a format that chat models take.

A photograph may be stored on its side with a note (EXIF orientation) that some readers follow and
others ignore, so a model and its judge could see two different pictures. Both get the file of
`upright_file`. `own_pictures.py` takes the pictures of a user's own questions.
"""

import base64
import re
import warnings
from collections.abc import Iterable
from io import BytesIO
from pathlib import Path

from PIL import Image, ImageOps

from fin_tasks.errors import DataError, EndpointError

from .locate import sha256_of, write_file

FORMATS = ("JPEG", "PNG", "GIF", "WEBP", "BMP", "TIFF")
"""Formats that are read; chat models take the first four."""
BROKEN = (OSError, SyntaxError, ValueError, EOFError, Image.DecompressionBombError)
"""What Pillow raises for a broken picture."""

_PHOTOGRAPHS = ("JPEG", "MPO")
_ORIENTATION = 0x0112  # tag of EXIF
_PNG_NOTE = re.compile(rb"eXIf|exif|xmp")
_TURNED = range(2, 9)  # 1 is upright
_TYPE_BY_MAGIC = {
    b"\x89PNG": "image/png",
    b"\xff\xd8\xff": "image/jpeg",
    b"GIF8": "image/gif",
    b"RIFF": "image/webp",
}


def upright_file(path: Path, folder: Path) -> Path:
    """Return the picture, or its upright copy in `folder` if it needs one and can be decoded."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # Pillow warns about broken notes
        try:
            with Image.open(path, formats=FORMATS) as image:
                needs_copy = image.format in ("BMP", "TIFF")
                # To look for a note behind the pixels, Pillow would decode the whole PNG.
                has_note = image.format != "PNG" or _PNG_NOTE.search(path.read_bytes())
                if not needs_copy and has_note:
                    needs_copy = image.getexif().get(_ORIENTATION, 1) in _TURNED
                if not needs_copy:
                    return path
                suffix = ".jpg" if image.format in _PHOTOGRAPHS else ".png"
                copy = folder / f"{sha256_of(path)}{suffix}"
                if not copy.is_file():
                    write_file(copy, _upright(image))
                return copy
        except BROKEN:
            return path


def _upright(image: Image.Image) -> bytes:
    upright = ImageOps.exif_transpose(image)
    content = BytesIO()
    if image.format in _PHOTOGRAPHS:
        profile = upright.info.get("icc_profile")
        upright.save(content, "JPEG", quality=95, icc_profile=profile, exif=b"")
    else:
        if upright.mode not in ("1", "L", "LA", "P", "RGB", "RGBA"):
            upright = upright.convert("RGB")
        upright.save(content, "PNG", compress_level=1, exif=b"")
    return content.getvalue()


def opened(paths: Iterable[str]) -> list[Image.Image]:
    """Open pictures as lm-eval hands them to models; raise DataError for one that is missing or broken."""
    pictures = []
    for path in paths:
        try:
            with Image.open(path, formats=FORMATS) as picture:
                pictures.append(picture.convert("RGB"))
        except BROKEN as error:
            raise DataError(
                f"{path}: expected a whole picture, got {error}. Fetch the pictures again."
            ) from error
    return pictures


def picture_url(path: Path) -> str:
    """Return a picture file as a `data:` URL; raise EndpointError unless a chat model takes it."""
    try:
        content = path.read_bytes()
    except (OSError, ValueError) as error:
        raise EndpointError(
            f"picture {path}: expected a file that can be read, got {error}."
        ) from error
    for magic, media_type in _TYPE_BY_MAGIC.items():
        if content.startswith(magic):
            return f"data:{media_type};base64,{base64.b64encode(content).decode()}"
    raise EndpointError(
        f"picture {path}: expected PNG, JPEG, GIF or WebP, got {content[:8]!r}. Convert the file."
    )
