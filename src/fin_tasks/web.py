"""Read what an address serves, within limits of time and size."""

import logging
import math
import time
from collections.abc import Iterator
from dataclasses import dataclass

import httpx2

from .errors import WebError

_TEMPORARY = (408, 409, 429)  # statuses after which another attempt may work

# Its line for each request names the whole address, which may hold a key.
logging.getLogger("httpx2").setLevel(logging.WARNING)


@dataclass(frozen=True, kw_only=True)
class Limits:
    """What one request may take."""

    seconds: float
    """Time from the request to the last byte."""
    n_bytes: float
    """Size of the reply."""
    bytes_per_second: float = math.inf
    """A reply that comes at this speed or faster may take longer."""


def pieces_of(client: httpx2.Client, url: str, limits: Limits) -> Iterator[bytes]:
    """Yield what an address serves, piece by piece.

    Raises:
        WebError: It cannot be read within the limits. `may_pass` says whether another attempt may work.
    """
    started = time.monotonic()
    n_bytes = 0
    # The bytes of a packed reply are not unpacked.
    headers = {"Accept-Encoding": "identity"}
    try:
        with client.stream("GET", url, headers=headers) as response:
            status = response.status_code
            if not response.is_success:
                may_pass = status in _TEMPORARY or response.is_server_error
                raise WebError(f"{status} {response.reason_phrase}", may_pass=may_pass)
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
        problem = f"{type(error).__name__}: {error}"
        raise WebError(problem, may_pass=True) from None
