"""Pictures the right way up, and in a format that chat models take.

A photograph may be stored on its side with a note (EXIF orientation) that some readers follow and others ignore, so a
model and its judge could see two different pictures. Both get the file of `upright_file`: the original, or a copy.
"""

import re
import warnings
from collections.abc import Iterable
from io import BytesIO
from pathlib import Path
from typing import Literal

from PIL import Image, ImageOps
from tqdm import tqdm

from fin_tasks.data.fetch import sha256_of, write_file

FOLDER = "upright"  # of the copies, in the cache
_FORMATS = ("JPEG", "PNG", "GIF", "WEBP", "BMP", "TIFF")  # chat models take the first four
_BROKEN = (OSError, SyntaxError, ValueError, EOFError, Image.DecompressionBombError)


def change_of(path: Path) -> Literal["turned", "converted"] | None:
    """Return why a picture needs a copy, or None if it needs none or is no picture."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of Pillow about broken notes
        try:
            with Image.open(path, formats=_FORMATS) as image:
                if image.format in ("BMP", "TIFF"):
                    return "converted"
                # to look for a note behind the pixels, Pillow would decode the whole PNG
                if image.format == "PNG" and not re.search(rb"eXIf|exif|xmp", path.read_bytes()):
                    return None
                return "turned" if image.getexif().get(0x0112, 1) in range(2, 9) else None
        except _BROKEN:
            return None


def upright_file(path: Path, folder: Path) -> Path | None:
    """Return the picture itself or its upright copy in `folder`; None if it has to be changed but cannot be decoded."""
    if change_of(path) is None:
        return path
    name = sha256_of(path)
    for copy in (folder / f"{name}.jpg", folder / f"{name}.png"):
        if copy.is_file():
            return copy
    out = BytesIO()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            with Image.open(path, formats=_FORMATS) as image:
                if image.width * image.height > (Image.MAX_IMAGE_PIXELS or 0):
                    return None
                jpeg = image.format in ("JPEG", "MPO")
                shown = ImageOps.exif_transpose(image)
            if jpeg:
                shown.save(out, "JPEG", quality=95, icc_profile=shown.info.get("icc_profile"), exif=b"")
            else:
                shown = shown if shown.mode in ("1", "L", "LA", "P", "RGB", "RGBA") else shown.convert("RGB")
                shown.save(out, "PNG", compress_level=1, exif=b"")
        except _BROKEN:
            return None
    copy = folder / f"{name}{'.jpg' if jpeg else '.png'}"
    write_file(copy, out.getvalue())
    return copy


def upright_files(paths: Iterable[Path], folder: Path) -> dict[Path, Path | None]:
    """Return `upright_file` of each picture, with a progress bar on a terminal, as a photograph takes half a second."""
    bar = tqdm(list(dict.fromkeys(paths)), desc="Turning pictures upright", unit="picture", disable=None)
    return {path: upright_file(path, folder) for path in bar}
