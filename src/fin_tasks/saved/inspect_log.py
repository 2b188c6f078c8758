"""Open logs of inspect_ai, and read the responses in them."""

import importlib
import zipfile
from collections import Counter
from copy import copy
from pathlib import Path
from typing import Any

from fin_tasks.errors import DataError
from fin_tasks.limited_file import most_bytes, open_archive

from .columns import Json
from .replies import unfolded

_UNREAD_PARTS = ("summaries", "_journal/summaries", "reductions")
_UNREAD = {"messages", "events", "store", "attachments"}
_NEEDED = {"id", "input", "target", "metadata", "output", "error"}
_MAX_PART = 16 * 2**20
"""Bytes of the head of a log, and of a sample in one epoch: Python may take 50 times as many to hold them."""
_MAX_SAMPLE = 32 * 2**20
"""Bytes of a sample in all epochs, which are held at once."""
_MAX_PARTS = 200_000
_MAX_TOTAL = 8 * 2**30
"""Bytes of all parts, for which a machine needs less than a minute."""
_PIECE = 2**20
"""Bytes that are unpacked at a time."""
_UNREADABLE = (OSError, ValueError, LookupError, RuntimeError, zipfile.BadZipFile)
"""Errors that inspect_ai and `zipfile` raise for a broken log."""


def records_of_log(path: Path) -> list[Json]:
    """Return a record for each epoch of each sample."""
    try:
        inspect = inspect_for(path)
        samples = inspect.read_eval_log_samples(
            str(path), False, exclude_fields=_UNREAD
        )
        return [
            unfolded(sample.model_dump(mode="json", include=_NEEDED))
            for sample in samples
        ]
    except _UNREADABLE as error:
        text = str(error).partition("\n")[0]
        raise DataError(
            f"{path}: expected a log of inspect_ai, could not read it ({text:.200})."
        ) from error


def inspect_for(path: Path) -> Any:
    """Check the size of a log, and return the module of inspect_ai that reads logs.

    Raises:
        DataError: inspect_ai is not installed, or the log is too large.
        ValueError, OSError, BadZipFile: The log is no archive, or has too many parts.
    """
    # Its import teaches `zipfile` the compression of logs, by which their size is counted.
    try:
        inspect = importlib.import_module("inspect_ai.log")
    except ImportError as error:
        raise DataError(
            f"{path}: a log of inspect_ai; `pip install inspect-ai` brings what reads it."
        ) from error
    _check_size(path)
    return inspect


def _check_size(path: Path) -> None:
    """Unpack all parts that are read later, and raise an error if one of them, a sample or their sum is too large."""
    n_bytes: Counter[str] = Counter()
    most_unpacked = max(_MAX_TOTAL, most_bytes(0))
    with open_archive(path, _MAX_PARTS) as archive:
        for part in archive.infolist():
            if part.filename.startswith(_UNREAD_PARTS):
                continue
            sample = part.filename.rpartition("_epoch_")[0]
            n_unpacked = _unpacked_size(archive, part)
            n_bytes[sample] += n_unpacked
            if n_bytes.total() > most_unpacked:
                raise DataError(
                    f"{path}: expected at most {most_unpacked >> 20:,} MB unpacked, got more. "
                    "FIN_TASKS_MAX_MB raises the limit."
                )
            if n_unpacked > _MAX_PART or (sample and n_bytes[sample] > _MAX_SAMPLE):
                raise DataError(
                    f"{path}: expected parts of at most {_MAX_PART:,} bytes, and samples of at most "
                    f"{_MAX_SAMPLE:,} bytes in all epochs, got more in {part.filename:.80}."
                )


def _unpacked_size(archive: zipfile.ZipFile, part: zipfile.ZipInfo) -> int:
    """Return the size of a part, counted up to the limit: what the archive says of it may be wrong."""
    part = copy(part)
    part.file_size = 2 * _MAX_PART
    n_bytes = 0
    with archive.open(part) as content:
        while n_bytes <= _MAX_PART and (piece := content.read(_PIECE)):
            n_bytes += len(piece)
    return n_bytes
