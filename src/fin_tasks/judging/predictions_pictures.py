"""Finds the pictures that saved predictions name, and no other file.

A judge is somebody else's machine as a rule, and a file of predictions may be somebody else's too: it must not make us
send whatever it names. A picture is taken from the folder of the file and below, from the folders fin-tasks keeps data
in, and from a benchmark's own folder: one whose table is there and lists the picture. Anything else needs a folder
named by the user. Links are followed first; what counts is where they lead. What is sent has to be a picture by its
content, and goes as the benchmarks show it to models: upright, and never as BMP or TIFF.
"""

import stat
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from fin_tasks.data.pictures import change_of, upright_file
from fin_tasks.errors import DataError
from fin_tasks.judging.predictions_tables import read_delimited
from fin_tasks.settings import Settings

__all__ = ["MAX_PICTURE", "PictureFinder", "folders_of"]

MAX_PICTURE = 50 * 2**20
"""Bytes a picture may have."""

_LEVELS = 3
"""Folders above a picture in which a benchmark's table may stand."""
_SHOWN = 5
_STARTS = (b"\x89PNG\r\n\x1a\n", b"\xff\xd8\xff", b"GIF87a", b"GIF89a")
_BENCHMARKS = Path(__file__).resolve().parents[1] / "benchmarks"


@dataclass
class PictureFinder:
    """Finds pictures, and remembers which are not there.

    Attributes:
        root: What relative paths start from; pictures may lie in it and below.
        copies: Where copies go of pictures that are stored turned, or in a format judges do not take.
        trusted: Other folders pictures may lie in.
        tables: File names of benchmarks' tables; a picture listed by one in a folder above it may be taken.
        look: Whether pictures will be sent; where not, no file is looked at.
    """

    root: Path
    copies: Path
    trusted: Sequence[Path] = ()
    tables: Sequence[str] = ()
    look: bool = True
    _missing: list[str] = field(default_factory=list)
    _roots: tuple[Path, ...] = ()
    _listed: dict[Path, frozenset[str]] = field(default_factory=dict)
    _upright: dict[Path, Path | None] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._roots = tuple(folder.resolve() for folder in (self.root, *self.trusted))

    def find(self, where: str, path: str) -> Path | None:
        """Return the picture a row names; None where it is not there, which `check` reports for all rows together.

        Of a picture that is stored turned, or that judges do not take, it is an upright copy.

        Args:
            where: The row, for messages.
            path: As the row has it, absolute or from `root`.

        Raises:
            DataError: It lies, or its link leads, where nothing is taken from; or it is no picture.
        """
        if not self.look:
            return self.root / path
        try:
            real = (self.root / path).resolve()
            found = real.stat() if self._allowed(real) else None
        except (OSError, ValueError, RuntimeError):  # not there, a name no file can have, a loop of links
            self._missing.append(f"{where}, image_path {path!r:.200}")
            return None
        if found is None:
            raise DataError(
                f"{where}, image_path: expected a picture in {self.root} or below, got {path!r:.200}, which lies "
                "elsewhere. Pictures are sent to the judge: name the folder they may be taken from with --image-root, "
                "or judge without them (--no-image)."
            )
        sent = self._sent(real) if stat.S_ISREG(found.st_mode) and found.st_size <= MAX_PICTURE else None
        if sent is None:
            raise DataError(
                f"{where}, image_path: expected a PNG, JPEG, GIF, WebP, BMP or TIFF of at most {MAX_PICTURE:,} bytes, "
                f"got {path!r:.200}, which is none. Nothing else is sent to a judge; --no-image judges without "
                "pictures."
            )
        return sent

    def check(self) -> None:
        """Say which pictures are not there.

        Raises:
            DataError: Some are not.
        """
        if self._missing:
            more = f" and {len(self._missing) - _SHOWN} more" if len(self._missing) > _SHOWN else ""
            raise DataError(
                f"{len(self._missing)} pictures are not there (relative paths start from {self.root}): "
                f"{'; '.join(self._missing[:_SHOWN])}{more}. Put them there, name their folder with --image-root, or "
                "judge without pictures (--no-image)."
            )

    def _sent(self, real: Path) -> Path | None:
        """Return the file that is sent for a picture; None where there is no picture."""
        if real not in self._upright:
            is_picture = _is_picture(real) or change_of(real) is not None
            self._upright[real] = upright_file(real, self.copies) if is_picture else None
        return self._upright[real]

    def _allowed(self, real: Path) -> bool:
        if any(real.is_relative_to(root) for root in self._roots):
            return True
        return any(real.name in self._names_in(table) for table in self._tables_above(real))

    def _tables_above(self, real: Path) -> Iterable[Path]:
        for folder in list(real.parents)[:_LEVELS]:
            for name in self.tables:
                if (folder / name).is_file():
                    yield folder / name

    def _names_in(self, table: Path) -> frozenset[str]:
        if table not in self._listed:
            try:
                rows = list(read_delimited(table, "\t"))
            except DataError:  # a table that cannot be read vouches for nothing
                rows = []
            self._listed[table] = frozenset(Path(row.cells.get("image_path", "")).name for row in rows)
        return self._listed[table]


def folders_of(settings: Settings) -> tuple[Path, ...]:
    """Return the folders fin-tasks keeps data in: the user's, the downloaded, those of the packaged samples."""
    own = (settings.data_dir,) if settings.data_dir is not None else ()
    return (*own, settings.cache_dir, _BENCHMARKS)


def _is_picture(path: Path) -> bool:
    with path.open("rb") as file:
        start = file.read(16)
    return start.startswith(_STARTS) or (start[:4] == b"RIFF" and start[8:12] == b"WEBP")
