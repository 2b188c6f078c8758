"""Pictures of a user's own questions: files, their contents, or pictures of Pillow, one or several a question."""

import hashlib
from collections.abc import Mapping, Sequence
from io import BytesIO
from pathlib import Path
from typing import Any

from PIL import Image

from fin_tasks.errors import DataError
from fin_tasks.settings import Settings

from .documents import IMAGE_MARK
from .locate import write_file
from .pictures import BROKEN, FORMATS, opened, upright_file


def add_pictures(documents: Sequence[dict[str, Any]], file: Path) -> None:
    """Replace the `image` of each document by the files that a harness sends, and mark them in its `prompt`.

    An `image` is a path as seen from the file's folder, the bytes of a picture, a picture of Pillow, or a list of
    these; a document without one is asked without a picture. Where `prompt` has no marks, pictures stand first.

    Raises:
        DataError: A picture is missing or broken, or a prompt has marks for more or fewer pictures.
    """
    folder = Settings.from_environ().cache_dir / "own_pictures"
    for number, document in enumerate(documents, start=1):
        where = f"{file}, row {number}"
        image = document.pop("image", None)
        images = image if isinstance(image, list | tuple) else [image]
        pictures = []
        for one in images:
            if not _is_missing(one):
                pictures.append(str(_file_of(one, file.parent, folder, where)))
        prompt = document["prompt"]
        n_marks = prompt.count(IMAGE_MARK)
        if n_marks == 0:
            document["prompt"] = IMAGE_MARK * len(pictures) + prompt
        elif n_marks != len(pictures):
            raise DataError(
                f"{where}: expected a picture for each {IMAGE_MARK.strip()} in its prompt, got "
                f"{len(pictures)} pictures for {n_marks} of them."
            )
        if pictures:
            document["image_path"] = pictures[0]
        if len(pictures) > 1:
            document["image_paths"] = pictures


def open_pictures(doc: Mapping[str, Any]) -> list[Image.Image]:
    """Open the pictures of a document, none if it has none; lm-eval calls this as `doc_to_image`."""
    first = doc.get("image_path")
    return opened(doc.get("image_paths") or ([first] if first else []))


def _is_missing(image: Any) -> bool:
    # A table's empty cell is a text, None or NaN, which differs from itself.
    return image is None or image == "" or image != image


def _file_of(image: Any, root: Path, folder: Path, where: str) -> Path:
    """Return the file of a picture, upright and in a format that models take."""
    if isinstance(image, Mapping):  # as the hub's tables hold a picture
        image = image.get("bytes") or image.get("path")
    if isinstance(image, str | Path):
        path = root / Path(image).expanduser()
    elif isinstance(image, bytes):
        path = _written(image, folder, where)
    elif isinstance(image, Image.Image):
        content = BytesIO()
        image.save(content, "PNG")
        path = _written(content.getvalue(), folder, where)
    else:
        raise DataError(
            f"{where}, image: expected a path, bytes or a picture of Pillow, got {image!r:.80}."
        )
    _check(path, where, f" A path is seen from {root}.")
    return upright_file(path.resolve(), folder)


def _written(content: bytes, folder: Path, where: str) -> Path:
    """Keep the bytes of a picture in a file whose name says the format."""
    suffix = _check(BytesIO(content), where).lower()
    path = folder / f"{hashlib.sha256(content).hexdigest()}.{suffix}"
    if not path.is_file():
        write_file(path, content)
    return path


def _check(picture: Path | BytesIO, where: str, advice: str = "") -> str:
    """Return the format of a picture; raise DataError if it cannot be opened. No pixels are decoded."""
    try:
        with Image.open(picture, formats=FORMATS) as image:
            return str(image.format)
    except BROKEN as error:
        raise DataError(
            f"{where}, image: expected a picture that can be read, got {error}.{advice}"
        ) from error
