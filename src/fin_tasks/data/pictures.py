"""Pictures the right way up, and in a format that chat models take.

A photograph may be stored on its side with a note (EXIF orientation) that some readers follow and others ignore, so a
model and its judge could see two different pictures. Both get the file of `upright_file`.
"""

import re
import warnings
from collections.abc import Iterable
from io import BytesIO
from pathlib import Path

from PIL import Image, ImageOps
from tqdm import tqdm

from fin_tasks.data.files import sha256_of, write_file

FORMATS = ("JPEG", "PNG", "GIF", "WEBP", "BMP", "TIFF")  # chat models take the first four
BROKEN = (OSError, SyntaxError, ValueError, EOFError, Image.DecompressionBombError)


def upright_file(path: Path, folder: Path) -> Path:
    """Return the picture, or its upright copy in `folder` if it needs one and can be decoded."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of Pillow about broken notes
        try:
            with Image.open(path, formats=FORMATS) as image:
                # To look for a note behind the pixels, Pillow would decode the whole PNG.
                noted = image.format != "PNG" or re.search(rb"eXIf|exif|xmp", path.read_bytes())
                turned = noted and image.getexif().get(0x0112, 1) in range(2, 9)
                if not turned and image.format not in ("BMP", "TIFF"):
                    return path
                jpeg = image.format in ("JPEG", "MPO")
                copy = folder / f"{sha256_of(path)}{'.jpg' if jpeg else '.png'}"
                if copy.is_file():
                    return copy
                shown, out = ImageOps.exif_transpose(image), BytesIO()
                if jpeg:
                    shown.save(
                        out, "JPEG", quality=95, icc_profile=shown.info.get("icc_profile"), exif=b""
                    )
                else:
                    shown = (
                        shown
                        if shown.mode in ("1", "L", "LA", "P", "RGB", "RGBA")
                        else shown.convert("RGB")
                    )
                    shown.save(out, "PNG", compress_level=1, exif=b"")
        except BROKEN:
            return path
    write_file(copy, out.getvalue())
    return copy


def upright_files(paths: Iterable[Path], folder: Path) -> dict[Path, Path]:
    """Return `upright_file` of each picture, with a progress bar on a terminal, as a photograph takes half a second."""
    bar = tqdm(
        list(dict.fromkeys(paths)), desc="Turning pictures upright", unit="picture", disable=None
    )
    return {path: upright_file(path, folder) for path in bar}
