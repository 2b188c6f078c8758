"""The pictures of questions in sheets: small in their cells, and linked to the whole files."""

import shutil
from collections.abc import Sequence
from io import BytesIO
from pathlib import Path

from openpyxl.cell.cell import Cell
from openpyxl.drawing.image import Image as SmallPicture
from PIL import Image, ImageOps

from fin_tasks.benchmarks import benchmark_named
from fin_tasks.benchmarks.task_file import pictures_of
from fin_tasks.data.pictures import BROKEN, FORMATS
from fin_tasks.errors import DataError
from fin_tasks.settings import Settings

from .rows import Row

COLUMN = "picture"
"""The first column of pictures; those of further pictures are called `picture_2`, `picture_3`, ..."""
_SIDE = 300
"""Pixels of the longer side of a small picture, as wide as a column."""
_POINTS_PER_PIXEL = 0.75
_MAX_PIXELS = 50_000_000  # of a picture that is opened; larger ones take much memory


def picture_cells(row: Row, bundle: Path | None) -> dict[str, str]:
    """Return the files of a row's pictures by column.

    With a folder to bundle them in, the files are copies in it, as seen from the sheets beside it.
    """
    cells = {COLUMN: ""}
    for number, name in enumerate(pictures_of(row.doc), start=1):
        ending = "" if number == 1 else f"_{number}"
        cells[COLUMN + ending] = name
        if bundle is None:
            continue
        copy = bundle / f"{row.id}{ending}{Path(name).suffix}"
        try:
            # A run of a stranger may name any file as a picture.
            Image.open(name, formats=FORMATS).close()
            bundle.mkdir(exist_ok=True)
            shutil.copyfile(name, copy)
        except BROKEN as error:
            raise DataError(
                f"--bundle: expected to copy the pictures, got {error}."
            ) from error
        cells[COLUMN + ending] = f"{bundle.name}/{copy.name}"
    return cells


def is_picture_column(name: str) -> bool:
    """Return whether a column shows pictures."""
    return name.partition("_")[0] == COLUMN


def folders_of_pictures(benchmark: str, bundle: Path) -> list[Path]:
    """Return the folders below which pictures are shown without being asked for: a stranger's run may name any."""
    settings = Settings.from_environ()
    folders = [benchmark_named(benchmark).folder, settings.cache_dir, bundle]
    if settings.data_dir:
        folders.append(settings.data_dir)
    return [folder.resolve() for folder in folders]


def show_picture(cell: Cell, folder: Path, trusted: Sequence[Path]) -> float:
    """Show the picture that a cell names small in the cell, and link it; return its height in points.

    `folder` is that of the sheet. A picture that is not here, or is below no trusted folder, stays a name.
    """
    path = (folder / cell.value).resolve()
    if not any(path.is_relative_to(parent) for parent in trusted):
        return 0
    try:
        with Image.open(path, formats=FORMATS) as picture:
            if picture.width * picture.height > _MAX_PIXELS:
                return 0
            small = ImageOps.exif_transpose(picture).convert("RGB")
    except BROKEN:
        return 0
    small.thumbnail((_SIDE, _SIDE))
    content = BytesIO()
    small.save(content, "JPEG", quality=80)
    cell.parent.add_image(SmallPicture(content), cell.coordinate)
    is_bundled = not Path(cell.value).is_absolute()
    cell.hyperlink = cell.value if is_bundled else path.as_uri()
    return small.height * _POINTS_PER_PIXEL
