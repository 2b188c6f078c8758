"""Keeps to what a service allows in a minute: so many requests, so many tokens."""

import json
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from time import monotonic
from typing import Any

from fin_tasks.endpoints.pictures import is_picture, map_leaves
from fin_tasks.errors import ConfigError

__all__ = ["Admission", "Limits", "Window", "estimate_tokens"]

_MINUTE = 60.0
_SLACK = 1.0
"""Seconds that are kept free after each sixty: one request may be longer on its way to the server than the next."""
_BYTES_PER_TOKEN = 4
"""Of English, and near enough of Chinese: three bytes of UTF-8 a character, and three characters to two or three
tokens."""
_TOKENS_PER_PICTURE = 1_100
"""GPT-4o in high detail: 85, and 170 for each of the six tiles a picture of 1,024 x 1,536 pixels is cut into."""
_UNTOLD_REPLY = 256
"""Tokens of a reply where the request sets no bound."""


@dataclass(frozen=True, kw_only=True)
class Limits:
    """What may be sent within any sixty seconds.

    Each process keeps to its own limits: three processes with 100 requests a minute make 300, so divide what the
    service grants by the number of processes. Tokens are estimated before a request is sent, and put right by what its
    reply says it used. A request larger than the limit is sent alone.

    Attributes:
        requests_per_minute: Requests, further attempts included; None for no limit.
        tokens_per_minute: Tokens of prompts and replies; None for no limit.

    Raises:
        ConfigError: A limit below 1.
    """

    requests_per_minute: int | None = None
    tokens_per_minute: int | None = None

    def __post_init__(self) -> None:
        for name in ("requests_per_minute", "tokens_per_minute"):
            value = getattr(self, name)
            if value is not None and not value >= 1:
                raise ConfigError(f"{name}: expected 1 or more, or nothing for no limit, got {value!r}.")


@dataclass
class Admission:
    """A request that was let through.

    Attributes:
        at: When, on the window's clock.
        tokens: What it needs; estimated first, set to the true number when the reply is there.
    """

    at: float
    tokens: int


class Window:
    """The requests of the last sixty seconds.

    A sliding window: no sixty seconds, wherever they start, hold more than the limits, here and, as a second is left
    between what is sent now and what was sent a minute before, at the server. What is allowed may be spent at once, at
    the window's beginning.

    Args:
        limits: What is allowed.
        clock: Returns seconds; asked for the time.

    Example:
        >>> now = 0.0
        >>> window = Window(Limits(requests_per_minute=1), clock=lambda: now)
        >>> window.delay(10)
        0.0
        >>> _ = window.admit(10)
        >>> now = 45.0
        >>> window.delay(10)
        16.0
    """

    def __init__(self, limits: Limits, *, clock: Callable[[], float] = monotonic) -> None:
        self._limits = limits
        self._clock = clock
        self._admitted: deque[Admission] = deque()

    def delay(self, tokens: int) -> float:
        """Return the seconds until a request of so many tokens may be sent; 0.0 for at once.

        It may be earlier, when replies to those under way turn out to have used less than was thought.
        """
        now = self._clock()
        while self._admitted and self._admitted[0].at + _MINUTE + _SLACK <= now:
            self._admitted.popleft()
        requests, used = len(self._admitted), sum(admission.tokens for admission in self._admitted)
        wait = 0.0
        for admission in self._admitted:
            if self._fits(requests, used, tokens):
                break
            wait = admission.at + _MINUTE + _SLACK - now
            requests, used = requests - 1, used - admission.tokens
        return wait

    def admit(self, tokens: int) -> Admission:
        """Note a request that is sent now."""
        admission = Admission(self._clock(), tokens)
        self._admitted.append(admission)
        return admission

    def _fits(self, requests: int, used: int, tokens: int) -> bool:
        most_requests, most_tokens = self._limits.requests_per_minute, self._limits.tokens_per_minute
        return (most_requests is None or requests < most_requests) and (
            most_tokens is None or used + tokens <= most_tokens
        )


def estimate_tokens(body: Mapping[str, Any]) -> int:
    """Estimate the tokens of a request and its reply: four bytes of text a token, 1,100 a picture, all of `max_tokens`.

    Example:
        >>> estimate_tokens({"messages": [{"role": "user", "content": "a" * 400}], "max_tokens": 3})
        111
    """
    pictures = 0

    def without_picture(leaf: Any) -> Any:
        nonlocal pictures
        pictures += is_picture(leaf)
        return "" if is_picture(leaf) else leaf

    text = json.dumps(map_leaves(body["messages"], without_picture), ensure_ascii=False)
    reply = body.get("max_tokens") or body.get("max_completion_tokens") or _UNTOLD_REPLY
    return len(text.encode("utf-8", "replace")) // _BYTES_PER_TOKEN + pictures * _TOKENS_PER_PICTURE + int(reply)
