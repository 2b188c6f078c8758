"""Download the files that the cache lacks: from the hub by its own library, from GitHub by pooch.

The hashes of all files that are asked for are checked, of those in the cache too.
"""

import logging
import math
from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import partial
from multiprocessing.pool import ThreadPool
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote, urlsplit

from tqdm import tqdm

from fin_tasks.errors import DataError, FetchError, WebError
from fin_tasks.settings import Settings

from .locate import PINS_FILE, Pin, Pins, record_file, sha256_of, write_file

if TYPE_CHECKING:
    import httpx2

SECONDS = 30.0
"""Time for an answer, and for the beginning of a file; from then on, BYTES_PER_SECOND have to come."""
BYTES_PER_SECOND = 20_000
MAX_BYTES = {"github": 512 << 20, "hub": 4 << 30}
"""Limit of a file by its host, in bytes."""

_OFFLINE = "downloads are switched off (FIN_TASKS_OFFLINE, HF_HUB_OFFLINE or --verify)"
_AT_ONCE = 8
_RETRIES = 3
_MAX_REASON = 300  # characters
_log = logging.getLogger(__name__)


def look_up(pins: Pins, revision: str | None, settings: Settings) -> Pins:
    """Ask the hub for the commit and the files of a revision, and record the answer in the cache.

    The revision is a commit, branch or tag; by default it is the newest commit.
    """
    host = urlsplit(settings.hub).hostname
    expected = f"{pins.repo}: expected to look up {revision or 'main'} at {host}"
    if settings.offline:
        raise _fetch_error(pins, expected, _OFFLINE)
    from huggingface_hub import HfApi

    hub = HfApi(settings.hub, token=settings.hub_token)
    try:
        found = hub.dataset_info(
            pins.repo, revision=revision, timeout=SECONDS, files_metadata=True
        )
        files = []
        for file in found.siblings or ():
            sha256 = file.lfs.sha256 if file.lfs else None
            files.append(Pin(file.rfilename, file.size, sha256))
    except Exception as error:  # its classes differ between versions of the library
        reason = f"{type(error).__name__}: {error}"
        raise _fetch_error(pins, expected, reason) from error
    for pin in files:
        if pin.path.startswith("/") or ".." in pin.path.split("/"):
            reason = f"it names {pin.path}, which is not below the data set's folder"
            raise _fetch_error(pins, expected, reason)
    known = replace(pins, revision=found.sha, files=tuple(files))
    write_file(record_file(pins, revision, settings), PINS_FILE.dump_json(known))
    return known


def fetch(pins: Pins, root: Path, paths: Iterable[Path], settings: Settings) -> None:
    """Download the missing files among these paths below `root`, and check the hashes of all."""
    requested = set(paths)
    chosen = [pin for pin in pins.files if root / pin.path in requested]
    missing = [pin for pin in chosen if not (root / pin.path).is_file()]
    if missing:
        first = missing[0].path
        if settings.offline:
            raise _fetch_error(
                pins, f"{pins.name}: {root / first} is not here", _OFFLINE, first
            )
        _log.warning(
            "%s: downloading from %s at %s, license %s",
            pins.name,
            pins.repo,
            pins.revision,
            pins.license,
        )
        download = _from_hub if pins.host == "hub" else _from_github
        download(pins, missing, root, settings)
    for pin in chosen:
        path = root / pin.path
        sha256 = sha256_of(path)
        if pin.sha256 and sha256 != pin.sha256:
            path.unlink(missing_ok=True)
            raise DataError(
                f"{path}: expected sha256 {pin.sha256}, as pinned, got {sha256}. "
                "The file was removed: run again to download it."
            )


def _from_hub(
    pins: Pins, missing: Sequence[Pin], root: Path, settings: Settings
) -> None:
    from huggingface_hub import hf_hub_download

    for pin in missing:
        if (pin.size or 0) > MAX_BYTES["hub"]:
            reason = WebError(f"it has more than {MAX_BYTES['hub']:,} bytes")
            raise _failed(pins, pin, root, reason)
        try:
            hf_hub_download(
                pins.repo,
                pin.path,
                repo_type="dataset",
                revision=pins.revision,
                local_dir=root,
                endpoint=settings.hub,
                token=settings.hub_token,
                etag_timeout=SECONDS,
            )
        except Exception as error:  # its classes differ between versions of the library
            raise _failed(pins, pin, root, error) from error


def _from_github(
    pins: Pins, missing: Sequence[Pin], root: Path, settings: Settings
) -> None:
    import httpx2
    import pooch

    pooch.get_logger().setLevel(logging.WARNING)
    folder = f"{settings.github_raw}/{pins.repo}/{pins.revision}"
    store = pooch.create(
        path=root,
        base_url="",
        registry={pin.path: pin.sha256 for pin in missing},
        urls={pin.path: f"{folder}/{quote(pin.path)}" for pin in missing},
        retry_if_failed=_RETRIES,
    )
    failures: list[DataError] = []
    with (
        httpx2.Client(follow_redirects=True, timeout=SECONDS) as client,
        # Its threads are daemons, so that Ctrl-C need not wait for a server that is silent.
        ThreadPool(_AT_ONCE) as pool,
        tqdm(
            desc=f"Downloading {pins.name}",
            total=len(missing),
            unit="file",
            disable=None,
        ) as bar,
    ):

        def download(pin: Pin) -> None:
            if failures:  # those under way still end, and are not lost
                return
            limit = min(pin.size or math.inf, MAX_BYTES["github"])
            downloader = partial(_save, client=client, limit=limit)
            try:
                # Two threads of pooch that make the same folder stumble over each other.
                (root / pin.path).parent.mkdir(parents=True, exist_ok=True)
                store.fetch(pin.path, downloader=downloader)
            except (OSError, ValueError, WebError) as error:
                failure = _failed(pins, pin, root, error)
                failure.__cause__ = error
                failures.append(failure)

        for _ in pool.imap_unordered(download, missing):
            bar.update()
    if failures:
        raise failures[0]


def _save(
    url: str, path: str, _: object, *, client: "httpx2.Client", limit: float
) -> None:
    """Write what an address serves into a file; pooch tries again after a ValueError."""
    from fin_tasks.web import Limits, pieces_of

    limits = Limits(seconds=SECONDS, n_bytes=limit, bytes_per_second=BYTES_PER_SECOND)
    try:
        with Path(path).open("wb") as file:
            file.writelines(pieces_of(client, url, limits))
    except WebError as error:
        if not error.may_pass:
            raise
        raise ValueError(str(error)) from error


def _failed(pins: Pins, pin: Pin, root: Path, error: Exception) -> DataError:
    """Return the error for a file that did not come, or that the cache cannot hold."""
    if isinstance(error, OSError) and error.strerror:
        return DataError(
            f"{root}: cannot be written ({error.strerror}). Set FIN_TASKS_CACHE."
        )
    expected = f"expected {pin.path} of {pins.repo}"
    return _fetch_error(pins, expected, error, pin.path)


def _fetch_error(
    pins: Pins, expected: str, error: object, path: str = "..."
) -> FetchError:
    """Return an error that says how to get a file by hand."""
    reason = str(error).partition("\n")[0][:_MAX_REASON].rstrip(".")
    gate = " (if it is gated, accept its conditions there and run `hf auth login`)"
    if pins.host != "hub":
        gate = ""
    by_hand = (
        f"get it from {pins.homepage}{gate}, put it at DIR/{pins.name}/{path}, and set data_dir or "
        "FIN_TASKS_DATA to DIR"
    )
    return FetchError(
        f"{expected}, but {reason}. Run again with a network, or {pins.by_hand or by_hand}."
    )
