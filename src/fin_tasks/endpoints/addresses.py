"""Which of a model's addresses is asked next, and how long to wait after a failure."""

import asyncio
import email.utils
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from random import uniform

from fin_tasks.endpoints.client import Endpoint, HugeReplyError, NoCompletionError
from fin_tasks.errors import ConfigError

__all__ = [
    "LONGEST_PAUSE",
    "Address",
    "Addresses",
    "backoff",
    "may_be_repeated",
    "misdirected",
    "pause_told",
    "repetitions",
    "unreachable",
]

LONGEST_PAUSE = 120.0
"""Seconds that are waited because a server says so; one that wants more is not asked again in this run."""
_SET_ASIDE = 30.0
"""Seconds for which an address that does not connect, or does not know us or the model, is left out."""
_PAUSES = (0.5, 8.0)
"""Seconds before the second attempt, doubled before each further one, and the most there are."""
_TEMPORARY = frozenset({408, 409, 429})
"""Statuses below 500 that may be another one the next time."""
_MISDIRECTED = frozenset({401, 403, 404, 405, 410})
"""Statuses that say as a rule that the key, the address or the model's name is wrong there."""
_ODD_REPEATED = 2
"""Further attempts where a server says that all is well and sends what is no reply of a chat model."""


@dataclass(eq=False, kw_only=True)
class Address:
    """One of a model's addresses, and how it fares.

    Attributes:
        endpoint: The address.
        down_until: It does not connect, or serves something else; nothing is sent to it before this time while there is
            another one.
        paused_until: It asked to be left alone until then.
    """

    endpoint: Endpoint
    down_until: float = 0.0
    paused_until: float = 0.0


class Addresses:
    """A model's addresses, asked in turn.

    Args:
        endpoints: At least one; all of one model.
        clock: Returns seconds; asked for the time.

    Raises:
        ConfigError: There is none, or they name several models.
    """

    def __init__(self, endpoints: Sequence[Endpoint], *, clock: Callable[[], float] = time.monotonic) -> None:
        models = sorted({endpoint.model for endpoint in endpoints})
        if len(models) != 1:
            raise ConfigError(f"endpoints: expected one or more addresses of one model, got the models {models!r}.")
        self.all = tuple(Address(endpoint=endpoint) for endpoint in endpoints)
        self._clock = clock
        self._turn = 0

    def next(self, *, avoid: Address | None = None) -> tuple[Address, float]:
        """Return the address whose turn it is, and the seconds to wait before it may be asked.

        Those that connect and have not asked for a pause come first, then the pause that ends soonest, then, where all
        others want to be left alone for longer than we wait, those that did not connect when last tried.

        Args:
            avoid: Where an attempt has just failed; returned only where no other one may be asked at once.
        """
        now = self._clock()
        up = [address for address in self._in_turn() if address.down_until <= now]
        ready = [address for address in up if address.paused_until <= now]
        if ready:
            address = next((address for address in ready if address is not avoid), ready[0])
            self._turn = self.all.index(address) + 1
            return address, 0.0
        soonest = min(up, key=lambda address: address.paused_until, default=None)
        if soonest is not None and soonest.paused_until - now <= LONGEST_PAUSE:
            return soonest, soonest.paused_until - now
        address = min(self._in_turn(), key=lambda address: address.paused_until)
        self._turn = self.all.index(address) + 1
        return address, max(0.0, address.paused_until - now)

    def set_aside(self, address: Address) -> bool:
        """Leave out an address that cannot be used, for a while; return whether another one is left."""
        now = self._clock()
        address.down_until = now + _SET_ASIDE
        return any(other.down_until <= now for other in self.all)

    def take_back(self, address: Address) -> None:
        """Ask an address that was set aside again: what was wrong was not the address."""
        address.down_until = 0.0

    def pause(self, address: Address, seconds: float) -> None:
        """Leave an address alone for as long as it asked."""
        address.paused_until = max(address.paused_until, self._clock() + seconds)

    def _in_turn(self) -> Sequence[Address]:
        start = self._turn % len(self.all)
        return [*self.all[start:], *self.all[:start]]


def backoff(failures: int) -> float:
    """Return the seconds to wait after so many failures of a request, its time being left to us.

    They double from half a second to eight, and up to a quarter less by chance, lest all that failed together come back
    together.
    """
    first, most = _PAUSES
    return min(first * 2.0 ** min(failures - 1, 10), most) * uniform(0.75, 1.0)  # noqa: S311


def pause_told(headers: Mapping[str, str]) -> float | None:
    """Return the seconds a server asks to wait: `Retry-After` as a number or a date, or `Retry-After-Ms`.

    Example:
        >>> pause_told({"retry-after": "7.5"})
        7.5
        >>> pause_told({"retry-after": "soon"}) is None
        True
    """
    for name, per_second in (("retry-after-ms", 1000.0), ("retry-after", 1.0)):
        try:
            seconds = float(headers[name]) / per_second
        except (KeyError, ValueError):
            continue
        return seconds if seconds > 0 else None
    try:
        date = email.utils.parsedate_to_datetime(headers["retry-after"]).timestamp()
    except (KeyError, TypeError, ValueError, OverflowError, OSError):
        return None
    return date - time.time() if date > time.time() else None


def may_be_repeated(error: Exception) -> bool:
    """Return whether a request that failed so may succeed when it is sent again.

    A failed connection, a timeout, status 408, 409, 429 or 5xx, and a reply that is none of a chat model may, unless
    the server says `X-Should-Retry: false`.
    """
    import openai

    if isinstance(error, HugeReplyError) or isinstance(error.__cause__, HugeReplyError):
        return False
    if isinstance(error, NoCompletionError):
        return True
    if isinstance(error, openai.APIStatusError):
        said = error.response.headers.get("x-should-retry")
        if said in ("true", "false"):
            return bool(said == "true")
        return error.status_code in _TEMPORARY or error.status_code >= 500
    return isinstance(error, openai.APIConnectionError | asyncio.TimeoutError)


def repetitions(error: Exception, endpoint: Endpoint) -> int:
    """Return how many further attempts a failed one allows: as many as the endpoint says, two after an odd reply."""
    return min(endpoint.retries, _ODD_REPEATED) if isinstance(error, NoCompletionError) else endpoint.retries


def misdirected(error: Exception) -> bool:
    """Return whether the failure is the address's as a rule, so that the same may do well at another one."""
    return isinstance(error, NoCompletionError) or getattr(error, "status_code", None) in _MISDIRECTED


def unreachable(error: Exception) -> bool:
    """Return whether no connection was made, so that nothing can have been asked."""
    return type(error.__cause__).__name__ in ("ConnectError", "ConnectTimeout")
