"""HTTP requests that no server can keep open for ever or fill without end.

All requests of a `Web` run in an event loop in a thread of its own. So a limit of time holds from
the connection to the last byte, and the end of the `with` statement stops requests under way.
"""

import logging
import math
import os
import random
import time
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Future
from contextlib import ExitStack
from dataclasses import dataclass
from functools import cache
from io import BytesIO
from itertools import count
from pathlib import Path
from typing import Any

import anyio
import httpx2
from anyio.from_thread import start_blocking_portal
from tqdm.utils import CallbackIOWrapper

from .errors import WebError

FIRST_PAUSE = 0.5
"""Seconds before the second attempt; each later pause is twice as long."""

_LONGEST_PAUSE = 8.0  # seconds
_LONGEST_REQUESTED_PAUSE = 60.0  # seconds
_MAX_ERROR_BYTES = 1 << 16
_MAX_ERROR_TEXT = 1000  # characters
_TEMPORARY = (408, 409, 429)  # statuses after which another attempt may work

# Its line for each request names the whole address, which may hold a token.
logging.getLogger("httpx2").setLevel(logging.WARNING)


# Reading certificates takes a tenth of a second.
_certificates = cache(httpx2.create_ssl_context)


@dataclass(frozen=True, kw_only=True)
class Limits:
    """What one request may take."""

    seconds: float
    """Time of one attempt, from the connection to the last byte."""
    n_bytes: float
    """Size of the reply."""
    bytes_per_second: float = math.inf
    """A reply that comes at this speed or faster may take longer."""
    retries: int = 0
    """Further attempts after failures that may pass; of attempts that take too long, the second is the last."""


@dataclass(frozen=True, kw_only=True)
class Request:
    """A request; one with content is a POST."""

    url: str
    headers: Mapping[str, str] | None = None
    content: bytes | None = None


class Web(ExitStack):
    """A client that any number of threads may use; use it in a `with` statement.

    An error in the statement cancels the requests under way.
    """

    def __init__(
        self,
        *,
        follow_redirects: bool = False,
        at_once: float = math.inf,
    ) -> None:
        super().__init__()
        self._client = httpx2.AsyncClient(
            follow_redirects=follow_redirects,
            verify=_certificates(),
            # The bytes of a packed reply are not unpacked.
            headers={"Accept-Encoding": "identity"},
            timeout=httpx2.Timeout(None, connect=10.0),
            limits=httpx2.Limits(max_connections=None),
        )
        self._at_once = at_once

    def __enter__(self) -> "Web":
        self._portal = self.enter_context(start_blocking_portal())
        self.enter_context(self._portal.wrap_async_context_manager(self._client))
        self._limiter = self._portal.call(anyio.CapacityLimiter, self._at_once)
        return self

    def send(self, request: Request, limits: Limits) -> Future[bytes]:
        """Start a request; the future has the reply's body, or raises WebError."""
        return self._portal.start_task_soon(self._read, request, limits)

    def download(
        self,
        request: Request,
        limits: Limits,
        path: Path,
        *,
        progress: Callable[[int], object],
    ) -> Future[None]:
        """Start a request whose reply becomes a file, in one step at its end.

        `progress` is called with the size of each piece in bytes.
        """
        return self._portal.start_task_soon(self._save, request, limits, path, progress)

    async def _read(self, request: Request, limits: Limits) -> bytes:
        with BytesIO() as body:  # an error that is kept does not keep the body too
            await self._try(request, limits, body)
            return body.getvalue()

    async def _save(
        self,
        request: Request,
        limits: Limits,
        path: Path,
        progress: Callable[[int], object],
    ) -> None:
        part = path.with_name(f"{path.name}.{os.getpid()}.part")
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            with part.open("wb") as file:
                await self._try(
                    request, limits, CallbackIOWrapper(progress, file, "write")
                )
            part.replace(path)
        finally:
            part.unlink(missing_ok=True)

    async def _try(self, request: Request, limits: Limits, file: Any) -> None:
        """Try until an attempt works, fails for good, or none is left."""
        n_late = 0
        for n_failed in count():
            try:
                async with self._limiter:
                    await self._attempt(request, limits, file)
                return
            except TimeoutError:
                error = WebError(
                    f"it took more than {limits.seconds:g} seconds", pause=0.0
                )
                n_late += 1
            except (httpx2.RequestError, httpx2.InvalidURL) as failure:
                problem = f"{type(failure).__name__}: {failure}".removesuffix(": ")
                error = WebError(problem, pause=0.0)
            except WebError as refusal:
                error = refusal
            if error.pause is None or n_failed == limits.retries or n_late == 2:
                raise error from None
            file.seek(0)
            file.truncate()
            pause = min(FIRST_PAUSE * 2.0**n_failed, _LONGEST_PAUSE)
            pause *= random.uniform(0.75, 1.0)  # noqa: S311 - clients should differ
            await anyio.sleep(min(error.pause or pause, _LONGEST_REQUESTED_PAUSE))

    async def _attempt(self, request: Request, limits: Limits, file: Any) -> None:
        with anyio.fail_after(limits.seconds) as scope:
            deadline = scope.deadline
            async with self._client.stream(
                "GET" if request.content is None else "POST",
                request.url,
                headers=request.headers,
                content=request.content,
            ) as response:
                if not response.is_success:
                    raise await _refusal(response)
                n_bytes = 0
                async for chunk in response.aiter_raw():
                    n_bytes += len(chunk)
                    if n_bytes > limits.n_bytes:
                        raise WebError(f"it has more than {limits.n_bytes:,} bytes")
                    scope.deadline = deadline + n_bytes / limits.bytes_per_second
                    file.write(chunk)


def pieces_of(client: httpx2.Client, url: str, limits: Limits) -> Iterator[bytes]:
    """Yield what an address serves, piece by piece.

    Raises:
        WebError: It cannot be read within the limits; `pause` is None if another attempt would not help.
    """
    started = time.monotonic()
    n_bytes = 0
    headers = {"Accept-Encoding": "identity"}
    try:
        with client.stream("GET", url, headers=headers) as response:
            status = response.status_code
            if not response.is_success:
                may_pass = status in _TEMPORARY or response.is_server_error
                problem = f"{status} {response.reason_phrase}"
                raise WebError(problem, status=status, pause=0.0 if may_pass else None)
            for piece in response.iter_raw():
                n_bytes += len(piece)
                if n_bytes > limits.n_bytes:
                    raise WebError(f"it has more than {limits.n_bytes:,} bytes")
                late = time.monotonic() - started - limits.seconds
                if late > n_bytes / limits.bytes_per_second:
                    raise WebError("it took too long")
                yield piece
    except httpx2.InvalidURL as error:
        raise WebError(f"InvalidURL: {error}") from None
    except httpx2.RequestError as error:
        raise WebError(f"{type(error).__name__}: {error}", pause=0.0) from None


async def _refusal(response: httpx2.Response) -> WebError:
    """Return what the server says, and the pause that it asks for."""
    body = b""
    async for chunk in response.aiter_raw():
        body += chunk
        if len(body) >= _MAX_ERROR_BYTES:
            break
    text = " ".join(body.decode("utf-8", "replace").split())
    status = response.status_code
    pause = None
    if status in _TEMPORARY or response.is_server_error:
        seconds = response.headers.get("Retry-After", "")
        pause = float(seconds) if seconds.isdecimal() else 0.0  # it may be a date
    message = f"{status} {response.reason_phrase}: {text}"[:_MAX_ERROR_TEXT]
    return WebError(message, status=status, pause=pause)
