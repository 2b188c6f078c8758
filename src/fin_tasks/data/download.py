"""Download the files that a folder lacks, and check the hashes of all that are asked for."""

import logging
from collections.abc import Iterable
from pathlib import Path
from typing import Any
from urllib.parse import quote

from tqdm.contrib.concurrent import thread_map

from fin_tasks.data.files import sha256_of, write_file
from fin_tasks.data.pins import Pin, Pins
from fin_tasks.errors import DataError
from fin_tasks.settings import Settings

MAX_BYTES = {"github": 512 << 20, "hub": 4 << 30}
"""Limit of a file whose size is not pinned, in bytes."""

_OFFLINE = "downloads are switched off (FIN_TASKS_OFFLINE, HF_HUB_OFFLINE or --verify)"
_AT_ONCE = 8  # downloads
_log = logging.getLogger(__name__)


def fetch(pins: Pins, root: Path, paths: Iterable[Path], settings: Settings) -> None:
    """Download those of the paths below `root` that are missing, and check the hashes of all."""
    requested = set(paths)
    chosen = [pin for pin in pins.files if root / pin.path in requested]
    missing = [pin for pin in chosen if not (root / pin.path).is_file()]
    if missing and settings.offline:
        first = missing[0].path
        raise pins.fetch_error(f"{pins.name}: {root / first} is not here", _OFFLINE, first)
    if missing:
        source = f"{pins.repo} at {pins.revision}"
        _log.warning("%s: downloading from %s, license %s", pins.name, source, pins.license)
        thread_map(
            lambda pin: _download(pins, pin, root, settings),
            missing,
            max_workers=_AT_ONCE,
            desc=f"Downloading {pins.name}",
            disable=None,
        )
    for pin in chosen:
        _check(root / pin.path, pin)


def _check(path: Path, pin: Pin) -> None:
    if pin.sha256 is None:
        return
    sha256 = sha256_of(path)
    if sha256 != pin.sha256:
        problem = f"expected sha256 {pin.sha256}, got {sha256}"
        raise DataError(f"{path}: {problem}. Delete the file, and try again.")


def _download(pins: Pins, pin: Pin, root: Path, settings: Settings) -> None:
    host = settings.hub if pins.host == "hub" else settings.github_raw
    max_bytes = MAX_BYTES[pins.host]
    try:
        if (pin.size or 0) > max_bytes:
            raise ValueError(f"it has {pin.size:,} bytes, more than {max_bytes:,}")
        if pins.host == "github":
            url = f"{host}/{pins.repo}/{pins.revision}/{quote(pin.path)}"
            write_file(root / pin.path, _read_url(url, pin.size or max_bytes))
        else:
            from huggingface_hub import HfApi

            place: dict[str, Any] = {
                "repo_type": "dataset",
                "revision": pins.revision,
                "local_dir": root,
            }
            HfApi(endpoint=host, token=settings.hub_token).hf_hub_download(
                pins.repo, pin.path, **place
            )
    except Exception as error:  # the clients raise their own errors and those of their libraries
        expected = f"{host}: expected {pin.path} of {pins.repo}"
        raise pins.fetch_error(expected, error, pin.path) from error


def _read_url(url: str, max_bytes: int) -> bytes:
    import requests
    from requests.adapters import HTTPAdapter
    from urllib3 import Retry

    retry = Retry(5, backoff_factor=0.3, status_forcelist=(408, 429, 500, 502, 503, 504))
    with requests.Session() as session:
        session.mount(url, HTTPAdapter(max_retries=retry))
        with session.get(url, stream=True, timeout=(10, 30)) as reply:
            reply.raise_for_status()
            content = bytes(reply.raw.read(max_bytes + 1, decode_content=True))
    if len(content) > max_bytes:
        raise ValueError(f"it has more than {max_bytes:,} bytes")
    return content
