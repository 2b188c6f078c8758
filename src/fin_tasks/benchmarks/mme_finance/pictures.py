"""The pictures of a table: where they are, and whether a program can open them.

A table is a stranger's: of what it calls a picture, only files below the folders of the data are ever opened.
"""

import base64
import binascii
import hashlib
import os
import unicodedata
import warnings
from collections import defaultdict
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from tempfile import NamedTemporaryFile

from fin_tasks.errors import DataError

__all__ = ["MOST_BYTES", "SUFFIXES", "Pictures", "decode", "faults", "has_pictures"]

MOST_BYTES = 64 << 20
"""Bytes a picture's file may have."""

SUFFIXES: Mapping[str, str] = {
    "JPEG": ".jpg",
    "MPO": ".jpg",
    "PNG": ".png",
    "WEBP": ".webp",
    "GIF": ".gif",
    "BMP": ".bmp",
    "TIFF": ".tif",
}
"""Formats that are read, by Pillow's name, and the suffix of a file of ours; phones write MPO."""

_OPENED = tuple(form for form in SUFFIXES if form != "MPO")
"""What Pillow is told to look for; it finds out by itself which JPEG is an MPO."""

_KNOWN_SUFFIXES = frozenset({*SUFFIXES.values(), ".jpeg", ".tiff"})
_ENDS: Mapping[str, bytes] = {"JPEG": b"\xff\xd9", "MPO": b"\xff\xd9", "PNG": b"IEND"}
_BEGINNINGS = (b"\xff\xd8\xff", b"\x89PNG", b"GIF8")
_TAIL = 1024
"""Bytes at the end in which a format's mark is looked for; some phones write more behind it."""


@dataclass(frozen=True)
class Pictures:
    """The folders in which the pictures of a table are looked for.

    Attributes:
        root: Searched to its bottom.
        beside: The table's folder; paths of the table may start there.
        strangers: Names of folders below the root that belong to another table.
    """

    root: Path
    beside: Path
    strangers: frozenset[str] = frozenset()

    def find(self, names: Iterable[str]) -> dict[str, Path]:
        """Return the pictures there are: name as in the table to its file.

        A name may be a path from the root, from the table, or from anywhere on its author's machine; as much of its
        end as fits decides. Where the whole of a name fits, case aside, nothing is guessed. Of other names that end at
        the same file, those count that end like these, unless two of them contradict each other.
        """
        found = {name: path for name in dict.fromkeys(names) if (path := self._find(name)) is not None}
        claims: dict[Path, list[str]] = defaultdict(list)
        for name, path in found.items():
            claims[path].append(name)
        valid = {name for path, claiming in claims.items() for name in _valid(path, claiming)}
        return {name: path for name, path in found.items() if name in valid}

    def _find(self, name: str) -> Path | None:
        parts = _parts(name)
        for start in range(len(parts)):
            for folder in self._starts:
                place = folder.joinpath(*parts[start:])
                if _is_file(place):
                    return place
        return self._nearest(parts)

    def _nearest(self, parts: tuple[str, ...]) -> Path | None:
        """Find a file that differs in case, accents or folders; None where several would do."""
        if not parts:
            return None
        folded = [_folded(part) for part in parts]
        ranked: dict[int, list[Path]] = defaultdict(list)
        for path in self._by_name.get(folded[-1], ()):
            own = [_folded(part) for part in path.relative_to(self.root).parts]
            same = 0
            for one, other in zip(reversed(folded), reversed(own), strict=False):
                if one != other:
                    break
                same += 1
            ranked[same].append(path)
        best = ranked[max(ranked)] if ranked else []
        return best[0] if len(best) == 1 else None

    @cached_property
    def _starts(self) -> tuple[Path, ...]:
        try:
            inside = [entry for entry in self.root.iterdir() if not entry.name.startswith(".")]
        except OSError:
            inside = []
        top = [entry for entry in inside if len(inside) == 1 and entry.is_dir()]
        return tuple(dict.fromkeys([self.root, *top, self.beside]))

    @cached_property
    def _by_name(self) -> dict[str, list[Path]]:
        files: dict[str, list[Path]] = defaultdict(list)
        for path in _below(self.root, self.strangers):
            files[_folded(path.name)].append(path)
        return files


def has_pictures(folder: Path) -> bool:
    """Say whether there is a picture in a folder, or below."""
    return next(_below(folder), None) is not None


def faults(path: Path) -> tuple[str, str] | None:
    """Say what is wrong with a picture, by its first and last bytes; only a doubtful one is decoded.

    Returns:
        Kind of defect and what was found; None where nothing is wrong.
    """
    from PIL import Image, UnidentifiedImageError

    Image.init()  # a list of formats is of those that are loaded
    try:
        size = path.stat().st_size
        if size > MOST_BYTES:
            return "picture-too-large", f"{path.name}: {size:,} bytes"
        with warnings.catch_warnings():
            # Pillow warns from 89 million pixels and refuses twice as many
            warnings.simplefilter("error", Image.DecompressionBombWarning)
            with Image.open(path, formats=_OPENED) as picture:
                if not _ends_well(path, picture.format or "", size):
                    picture.load()
    except (Image.DecompressionBombWarning, Image.DecompressionBombError) as error:
        return "picture-too-large", f"{path.name}: {error}"
    except UnidentifiedImageError:
        kind = "picture-broken" if _begins_well(path) else "not-a-picture"
        return kind, f"{path.name}: {size:,} bytes"
    except (OSError, SyntaxError, ValueError, EOFError) as error:  # Pillow's for files that break off
        return "picture-broken", f"{path.name}: {error}"
    return None


def decode(text: str, folder: Path) -> Path | None:
    """Write a picture that a table holds in base64 into a folder, under a name made of its content.

    Returns:
        The file; None where the text is no picture, or too large.

    Raises:
        DataError: The folder cannot be written.
    """
    content = _from_base64(text)
    suffix = None if content is None else _suffix(content)
    if content is None or suffix is None:
        return None
    path = folder / (hashlib.sha256(content).hexdigest() + suffix)
    try:
        if not (path.is_file() and path.stat().st_size == len(content)):
            folder.mkdir(parents=True, exist_ok=True)
            with NamedTemporaryFile(dir=folder, prefix=".", suffix=".part", delete=False) as draft:
                draft.write(content)
            Path(draft.name).replace(path)
    except OSError as error:
        raise DataError(
            f"{path}: expected to write a picture of the table, got {error.strerror or error!r}. "
            "Free some space, or set FIN_TASKS_CACHE to a folder you may write."
        ) from error
    return path


def _from_base64(text: str) -> bytes | None:
    _, comma, behind = text.partition(";base64,")
    packed = "".join((behind if comma else text).split())
    if len(packed) * 3 // 4 > MOST_BYTES:
        return None
    try:
        return base64.b64decode(packed, validate=True)
    except (binascii.Error, ValueError):
        return None


def _suffix(content: bytes) -> str | None:
    import io

    from PIL import Image

    Image.init()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", Image.DecompressionBombWarning)  # `faults` says so
            with Image.open(io.BytesIO(content), formats=_OPENED) as picture:
                return SUFFIXES[picture.format or ""]
    except (OSError, SyntaxError, ValueError, EOFError, KeyError, Image.DecompressionBombError):
        return None


def _below(root: Path, strangers: Container[str] = ()) -> Iterator[Path]:
    """Yield files with a picture's suffix, in a fixed order; nothing hidden."""
    for folder, folders, names in os.walk(root):
        folders[:] = sorted(one for one in folders if not one.startswith(".") and one not in strangers)
        for name in sorted(names):
            if not name.startswith(".") and Path(name).suffix.lower() in _KNOWN_SUFFIXES:
                yield Path(folder, name)


def _begins_well(path: Path) -> bool:
    with path.open("rb") as file:
        return file.read(4).startswith(_BEGINNINGS)


def _ends_well(path: Path, form: str, size: int) -> bool:
    if (end := _ENDS.get(form)) is None:
        return False
    with path.open("rb") as file:
        file.seek(max(size - _TAIL, 0))
        return end in file.read()


def _parts(name: str) -> tuple[str, ...]:
    """Return the parts of a path that may be looked for: none before a `..`, no drive, no root."""
    parts = [part for part in name.strip().replace("\\", "/").split("/") if part not in ("", ".")]
    if ".." in parts:
        parts = parts[len(parts) - parts[::-1].index("..") :]
    return tuple(part for part in parts if ":" not in part and "\0" not in part)


def _valid(path: Path, claiming: Sequence[str]) -> list[str]:
    """Return those of the names that end at a file which may be taken for it."""
    own = _folded_parts(path.parts)
    parts = {name: _folded_parts(_parts(name)) for name in claiming}
    whole = [name for name in claiming if _is_end(parts[name], own)]
    guessed = [name for name in claiming if name not in whole]
    guessed = [name for name in guessed if all(_is_end(parts[one], parts[name]) for one in whole)]
    longest = max((parts[name] for name in guessed), key=len, default=())
    return whole + (guessed if all(_is_end(parts[name], longest) for name in guessed) else [])


def _folded_parts(parts: Iterable[str]) -> tuple[str, ...]:
    return tuple(_folded(part) for part in parts)


def _is_end(end: tuple[str, ...], parts: tuple[str, ...]) -> bool:
    return bool(end) and parts[-len(end) :] == end


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except (OSError, ValueError):  # a name that is too long
        return False


def _folded(name: str) -> str:
    return unicodedata.normalize("NFC", name).casefold()
