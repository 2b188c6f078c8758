"""One file over HTTP into a partial file, resumed where it broke off and tried again where that makes sense.

What arrives is not judged here: the store hashes the partial file before it makes it visible.
"""

import re
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timezone
from email.utils import parsedate_to_datetime
from pathlib import Path

import requests
from requests.adapters import HTTPAdapter
from requests.auth import AuthBase

import fin_tasks
from fin_tasks.errors import FetchError

__all__ = ["Request", "Retry", "discard", "download", "new_session"]

_BLOCK = 1 << 16
_RANGE = re.compile(r"bytes (\d+)-\d+/(\d+|\*)")
_WORTH_ANOTHER_TRY = frozenset({408, 425, 429, 500, 502, 503, 504})


@dataclass(frozen=True, kw_only=True)
class Request:
    """What to download.

    Attributes:
        url: The address; holds no secret.
        size: Bytes it must have, None where unknown.
        pinned: Whether a checksum decides in the end. If not, a partial file is only continued when the server vouches,
            by its ETag, that the file is still the one that was begun.
        token: Sent to the address's own host, and to no other it redirects to.
    """

    url: str
    size: int | None
    pinned: bool
    token: str | None = None


@dataclass(frozen=True, kw_only=True)
class Retry:
    """How patient to be; all times in seconds.

    Attributes:
        attempts: Tries in a row that bring nothing new before we give up.
        first_wait: Pause after the first failure; doubles with each.
        longest_wait: Longest pause, also where the server asks for a longer one.
        connect_timeout: For the connection.
        read_timeout: For the next bytes.
        sleep: Makes the pause.
    """

    attempts: int = 5
    first_wait: float = 0.5
    longest_wait: float = 60.0
    connect_timeout: float = 10.0
    read_timeout: float = 30.0
    sleep: Callable[[float], None] = time.sleep


class _Passing(Exception):  # noqa: N818 - not an error for anyone outside: the next try may succeed
    """A failure that may pass."""

    def __init__(self, reason: str, *, wait: float | None = None) -> None:
        super().__init__(reason)
        self.wait = wait


class _Bearer(AuthBase):
    """Sets the token after the session is done, so that no other credentials of the machine take its place."""

    def __init__(self, token: str) -> None:
        self._token = token

    def __call__(self, request: requests.PreparedRequest) -> requests.PreparedRequest:
        request.headers["Authorization"] = f"Bearer {self._token}"
        return request


def new_session(*, connections: int = 1) -> requests.Session:
    """Return a session that keeps this many connections open per host."""
    session = requests.Session()
    # files are hashed and resumed byte for byte, so they must come as they are stored
    session.headers.update({"Accept-Encoding": "identity", "User-Agent": f"fin-tasks/{fin_tasks.__version__}"})
    for scheme in ("https://", "http://"):
        session.mount(scheme, HTTPAdapter(pool_connections=2, pool_maxsize=connections))
    return session


def download(
    request: Request,
    part: Path,
    *,
    session: requests.Session,
    retry: Retry,
    seen: Callable[[int], None] = lambda _: None,
) -> None:
    """Bring a file into `part`, continuing what is there.

    Args:
        request: What to download.
        part: Partial file; left in place when the download fails, for the next time.
        session: From `new_session`.
        retry: How patient to be.
        seen: Told how many bytes of the file are there, as they come.

    Raises:
        FetchError: With the reason alone; the caller knows what to do about it.
    """
    most, failures = 0, 0
    while True:
        try:
            _attempt(request, part, session=session, retry=retry, seen=seen)
            return
        except _Passing as problem:
            have = _size(part)
            # a shaky line that brings something new each time is given all the time it needs
            failures = 1 if have > most else failures + 1
            most = max(most, have)
            if failures >= retry.attempts:
                raise FetchError(f"{problem} ({failures} tries in a row)") from problem
            wait = problem.wait if problem.wait is not None else retry.first_wait * 2 ** (failures - 1)
            retry.sleep(min(wait, retry.longest_wait))


def discard(part: Path) -> None:
    """Remove a partial file and what was noted about it."""
    part.unlink(missing_ok=True)
    _etag_file(part).unlink(missing_ok=True)


def _attempt(
    request: Request, part: Path, *, session: requests.Session, retry: Retry, seen: Callable[[int], None]
) -> None:
    offset, etag = _begun(request, part)
    seen(offset)
    if request.size is not None and offset == request.size:
        return
    headers = {"Range": f"bytes={offset}-"} if offset else {}
    if offset and etag:
        headers["If-Range"] = etag
    try:
        with session.get(
            request.url,
            headers=headers,
            auth=_Bearer(request.token) if request.token else None,
            stream=True,
            timeout=(retry.connect_timeout, retry.read_timeout),
        ) as response:
            _check_status(response, part)
            offset, total = _announced(response, part, offset)
            if request.size is not None and total is not None and total != request.size:
                discard(part)
                raise FetchError(f"the server's file has {total:,} bytes instead of {request.size:,}")
            if not offset:
                discard(part)
            _note_etag(response, part, wanted=not request.pinned)
            _write(response, part, offset=offset, limit=request.size or total, seen=seen)
    except requests.exceptions.SSLError as error:
        raise FetchError(f"the server's certificate was refused: {_short(error)}") from error
    except (requests.ConnectionError, requests.Timeout, requests.exceptions.ChunkedEncodingError) as error:
        raise _Passing(f"the connection failed: {_short(error)}") from error
    except requests.RequestException as error:
        raise FetchError(f"the request failed: {_short(error)}") from error


def _begun(request: Request, part: Path) -> tuple[int, str | None]:
    """Return how much of the file can be kept, and the ETag that must still hold for it."""
    offset = _size(part)
    if not offset:
        return 0, None
    if request.pinned:
        if request.size is None or offset <= request.size:
            return offset, None
    elif _etag_file(part).is_file():
        return offset, _etag_file(part).read_text(encoding="utf-8")
    discard(part)
    return 0, None


def _check_status(response: requests.Response, part: Path) -> None:
    status = response.status_code
    if status in (200, 206):
        return
    said = f"the server answered {status} {response.reason or ''}".rstrip()
    if status in _WORTH_ANOTHER_TRY:
        raise _Passing(said, wait=_retry_after(response.headers.get("Retry-After")))
    if status == 416:
        # what we hold is longer than the server's file: it cannot be a beginning of it
        discard(part)
        raise _Passing(said)
    if status in (401, 403):
        said += "; the file may need an account: accept the terms on its page and set HF_TOKEN (hub files only)"
    raise FetchError(said)


def _announced(response: requests.Response, part: Path, offset: int) -> tuple[int, int | None]:
    """Return where the body starts in the file, and the size of the whole file where the server tells."""
    encoded = response.headers.get("Content-Encoding", "identity") != "identity"
    if response.status_code == 200:
        length = response.headers.get("Content-Length", "")
        return 0, int(length) if length.isdecimal() and not encoded else None
    match = _RANGE.fullmatch(response.headers.get("Content-Range", ""))
    if match is None or int(match[1]) != offset or encoded:
        discard(part)
        raise _Passing(f"the server sent another range than bytes={offset}-")
    return offset, None if match[2] == "*" else int(match[2])


def _write(
    response: requests.Response, part: Path, *, offset: int, limit: int | None, seen: Callable[[int], None]
) -> None:
    with part.open("ab" if offset else "wb") as file:
        for block in response.iter_content(_BLOCK):
            offset += len(block)
            if limit is not None and offset > limit:
                discard(part)
                raise FetchError(f"the server sent more than the {limit:,} bytes the file has")
            file.write(block)
            seen(offset)
    if limit is not None and offset < limit:
        raise _Passing(f"the transfer ended after {offset:,} of {limit:,} bytes")


def _note_etag(response: requests.Response, part: Path, *, wanted: bool) -> None:
    """Keep a strong ETag, the only kind that vouches for single bytes."""
    etag = response.headers.get("ETag", "")
    if wanted and etag.startswith('"'):
        _etag_file(part).write_text(etag, encoding="utf-8")
    else:
        _etag_file(part).unlink(missing_ok=True)


def _retry_after(value: str | None) -> float | None:
    """Read a Retry-After header, seconds or a date; None where there is none or it makes no sense."""
    if value is None:
        return None
    if value.strip().isdecimal():
        return float(value)
    try:
        when = parsedate_to_datetime(value)
    except ValueError:
        return None
    if when.tzinfo is None:
        when = when.replace(tzinfo=timezone.utc)
    return max(0.0, (when - datetime.now(timezone.utc)).total_seconds())


def _size(part: Path) -> int:
    return part.stat().st_size if part.is_file() else 0


def _etag_file(part: Path) -> Path:
    return part.with_name(part.name + ".etag")


def _short(error: BaseException) -> str:
    """Return the innermost reason: the outer layers only repeat each other."""
    while isinstance(error.__context__, BaseException):
        error = error.__context__
    return str(error) or type(error).__name__
