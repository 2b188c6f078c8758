"""Download the files that a folder lacks, and check the hashes of all that are asked for.

Where the package knows no hash of a file, the hash at its first use is recorded in `hashes.json` in
the folder of the downloads, and must be the same from then on.
"""

import logging
import math
from collections.abc import Iterable, Sequence
from concurrent.futures import as_completed
from pathlib import Path
from urllib.parse import quote

from pydantic import TypeAdapter, ValidationError
from tqdm import tqdm

from fin_tasks.errors import DataError, WebError
from fin_tasks.settings import Settings
from fin_tasks.web import Limits, Request, Web

from . import hub
from .files import sha256_of, write_file
from .pins import Pin, Pins

SECONDS = 60.0
"""Time for the beginning of a file; from then on, BYTES_PER_SECOND have to come."""
BYTES_PER_SECOND = 20_000
MAX_BYTES = {"github": 512 << 20, "hub": 4 << 30}
"""Limit of a file by its host, in bytes."""

HASHES = "hashes.json"
"""Name of the file with the recorded hashes."""

_OFFLINE = "downloads are switched off (FIN_TASKS_OFFLINE, HF_HUB_OFFLINE or --verify)"
_HASHES = TypeAdapter(dict[str, str])
_log = logging.getLogger(__name__)


def fetch(pins: Pins, root: Path, paths: Iterable[Path], settings: Settings) -> None:
    """Download the missing files among these paths below `root`, and check the hashes of all."""
    requested = set(paths)
    chosen = [pin for pin in pins.files if root / pin.path in requested]
    missing = [pin for pin in chosen if not (root / pin.path).is_file()]
    if missing:
        if settings.offline:
            first = missing[0].path
            raise pins.fetch_error(
                f"{pins.name}: {root / first} is not here", _OFFLINE, first
            )
        source = f"{pins.repo} at {pins.revision}, license {pins.license}"
        _log.warning("%s: downloading from %s", pins.name, source)
        _download(pins, missing, root, settings)
    _check(pins, chosen, root)


def _download(
    pins: Pins, missing: Sequence[Pin], root: Path, settings: Settings
) -> None:
    host = settings.github_raw
    folder = f"{host}/{pins.repo}/{pins.revision}"
    headers = {}
    if pins.host == "hub":
        host = settings.hub
        folder = f"{host}/datasets/{pins.repo}/resolve/{pins.revision}"
        headers = hub.authorization(settings)
    bar = tqdm(
        desc=f"Downloading {pins.name}",
        total=sum(pin.size or 0 for pin in missing) or None,
        unit="B",
        unit_scale=True,
        disable=None,
    )
    pin_by_future = {}
    with bar, Web(follow_redirects=True, at_once=8) as web:
        for pin in missing:
            limits = Limits(
                seconds=SECONDS,
                n_bytes=min(pin.size or math.inf, MAX_BYTES[pins.host]),
                bytes_per_second=BYTES_PER_SECOND,
                retries=4,
            )
            request = Request(url=f"{folder}/{quote(pin.path)}", headers=headers)
            future = web.download(request, limits, root / pin.path, progress=bar.update)
            pin_by_future[future] = pin
        for future in as_completed(pin_by_future):
            path = pin_by_future[future].path
            try:
                future.result()
            except WebError as error:
                raise pins.fetch_error(
                    f"{host}: expected {path} of {pins.repo}", error, path
                ) from error
            except OSError as error:
                raise DataError(
                    f"{root}: cannot be written ({error.strerror}). Set FIN_TASKS_CACHE."
                ) from error


def _check(pins: Pins, chosen: Sequence[Pin], root: Path) -> None:
    """Compare hashes with the pinned or recorded ones; remove a file with another hash."""
    record = root / HASHES
    recorded = {}
    if record.is_file():
        try:
            recorded = _HASHES.validate_json(record.read_bytes())
        except ValidationError as error:
            raise DataError(
                f"{record}: expected a JSON object of file names and hashes. Delete the file."
            ) from error
    new = {}
    for pin in chosen:
        path = root / pin.path
        sha256 = sha256_of(path)
        expected = pin.sha256 or recorded.get(pin.path)
        if expected is None:
            new[pin.path] = sha256
        elif sha256 != expected:
            path.unlink(missing_ok=True)
            origin = "as pinned" if pin.sha256 else f"as recorded in {record}"
            raise DataError(
                f"{path}: expected sha256 {expected}, {origin}, got {sha256}. "
                "The file was removed: run again to download it."
            )
    if new:
        write_file(record, _HASHES.dump_json({**recorded, **new}, indent=1))
        _log.warning("no hash is known of %s; recorded in %s", ", ".join(new), record)
