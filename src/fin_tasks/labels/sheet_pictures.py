"""The pictures of questions in sheets: small in their cells, and linked to the whole files."""

import shutil
from collections.abc import Sequence
from io import BytesIO
from pathlib import Path

import pandas as pd
from openpyxl.cell.cell import Cell
from openpyxl.drawing.image import Image as SmallPicture
from PIL import Image, ImageOps

from fin_tasks.benchmarks import benchmark_named
from fin_tasks.data.pictures import BROKEN, FORMATS
from fin_tasks.errors import DataError
from fin_tasks.settings import Settings

COLUMN = "picture"
"""The first column of pictures; those of further pictures are called `picture_2`, `picture_3`, ..."""
_SIDE = 300
"""Pixels of the longer side of a small picture, as wide as a column."""
_POINTS_PER_PIXEL = 0.75
_MAX_PIXELS = 50_000_000  # of a picture that is opened; larger ones take much memory


def picture_columns(names: Sequence[str]) -> dict[str, str]:
    """Return the pictures of a question by the name of their column."""
    columns = {}
    for number, name in enumerate(names, start=1):
        columns[COLUMN if number == 1 else f"{COLUMN}_{number}"] = name
    return columns


def is_picture_column(name: object) -> bool:
    """Return whether a column shows pictures."""
    return str(name).partition("_")[0] == COLUMN


def copy_pictures(table: pd.DataFrame, folder: Path) -> None:
    """Copy the pictures of a table into a folder, and name in the table the copies, as seen from the sheets."""
    try:
        folder.mkdir(exist_ok=True)
        for column in filter(is_picture_column, table.columns):
            for line, name in table[column].items():
                if not name:
                    continue
                # A run of a stranger may name any file as a picture.
                Image.open(name, formats=FORMATS).close()
                ending = str(column).removeprefix(COLUMN)
                copy = folder / f"{table.at[line, 'row']}{ending}{Path(name).suffix}"
                shutil.copyfile(name, copy)
                table.at[line, column] = f"{folder.name}/{copy.name}"
    except BROKEN as error:
        raise DataError(
            f"--bundle: expected to copy the pictures, got {error}."
        ) from error


def folders_of_pictures(benchmark: str, *others: Path) -> list[Path]:
    """Return the folders below which pictures are shown without being asked for: a stranger's run may name any."""
    settings = Settings.from_environ()
    folders = [benchmark_named(benchmark).folder, settings.cache_dir, *others]
    if settings.data_dir:
        folders.append(settings.data_dir)
    return [folder.resolve() for folder in folders]


def show_picture(cell: Cell, folder: Path, trusted: Sequence[Path]) -> float:
    """Show the picture that a cell names small in the cell, and link it; return its height in points.

    `folder` is that of the sheet. A picture that is not here, or is below no trusted folder, stays a name.
    """
    path = (folder / str(cell.value)).resolve()
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
    is_bundled = not Path(str(cell.value)).is_absolute()
    cell.hyperlink = str(cell.value) if is_bundled else path.as_uri()
    return small.height * _POINTS_PER_PIXEL
