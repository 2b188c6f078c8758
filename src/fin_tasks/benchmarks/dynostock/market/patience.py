"""How to ask a server that says no for now: pauses that grow, a rate that is kept, and an end to it."""

import random
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import requests

import fin_tasks
from fin_tasks.errors import FetchError

__all__ = ["LimitError", "Pace", "Patience", "ask"]

_WORTH_ANOTHER_TRY = frozenset({408, 425, 429, 500, 502, 503, 504})


class LimitError(FetchError):
    """The source gives nothing more for now: what is missing waits for the next run."""


@dataclass(frozen=True, kw_only=True)
class Patience:
    """How often and how long to try; all times in seconds.

    Attributes:
        attempts: Tries before we give up.
        first_wait: Pause after the first failure; doubles with each.
        longest_wait: Longest pause, also where the server asks for a longer one.
        timeout: For the connection, and for the next bytes.
        sleep: Makes the pause.
        chance: Returns a number in [0, 1): pauses get up to half as long again, so that several clients do not all
            return at once.
    """

    attempts: int = 5
    first_wait: float = 2.0
    longest_wait: float = 120.0
    timeout: float = 30.0
    sleep: Callable[[float], None] = time.sleep
    chance: Callable[[], float] = random.random

    def pause(self, failures: int, *, asked: float | None = None) -> None:
        """Wait after the `failures`th failure in a row, or as long as the server asked for.

        Example:
            >>> Patience(sleep=print, chance=lambda: 0.5).pause(3)
            10.0
        """
        wait = self.first_wait * 2.0 ** (failures - 1) if asked is None else asked
        self.sleep(min(wait, self.longest_wait) * (1 + 0.5 * self.chance()))


@dataclass(kw_only=True)
class Pace:
    """Keeps requests a minimum time apart.

    Attributes:
        per_minute: Requests a minute may have.
        sleep: Makes the pause.
        now: A clock in seconds that never goes back.
    """

    per_minute: float
    sleep: Callable[[float], None] = time.sleep
    now: Callable[[], float] = time.monotonic
    _next: float = field(default=float("-inf"), init=False)

    def wait(self) -> None:
        """Return when the next request may go out."""
        if (early := self._next - self.now()) > 0:
            self.sleep(early)
        self._next = self.now() + 60.0 / self.per_minute


def ask(
    url: str, *, subject: str, patience: Patience, pace: Pace | None = None, query: Mapping[str, str] | None = None
) -> str:
    """Return the text at an address, trying again where that may help.

    Redirects are not followed and no message holds the query, which may contain a key.

    Raises:
        LimitError: The server still answers 429 after every try.
        FetchError: It cannot be reached or answers with another status.
    """
    problem, failures = "", 0
    while failures < patience.attempts:
        if pace is not None:
            pace.wait()
        asked: float | None = None
        try:
            answer = _get(url, query, patience.timeout)
        except (requests.ConnectionError, requests.Timeout, requests.exceptions.ChunkedEncodingError) as error:
            # the text of these errors holds the whole address
            problem = type(error).__name__
        else:
            if answer.status_code == 200:
                return answer.text
            problem = f"status {answer.status_code}"
            if answer.status_code not in _WORTH_ANOTHER_TRY:
                raise FetchError(f"{subject}: expected an answer from {url}, got {problem}.")
            asked = _seconds(answer.headers.get("Retry-After"))
        failures += 1
        if failures < patience.attempts:
            patience.pause(failures, asked=asked)
    kind = LimitError if problem == "status 429" else FetchError
    raise kind(f"{subject}: expected an answer from {url}, got {problem} {failures} times. Try again later.")


def _get(url: str, query: Mapping[str, str] | None, timeout: float) -> requests.Response:
    with requests.Session() as session:
        session.headers["User-Agent"] = (
            f"fin-tasks/{fin_tasks.__version__} (benchmark data; requests one page at a time)"
        )
        parameters: Any = dict(query or {})
        return session.get(url, params=parameters, timeout=timeout, allow_redirects=False)


def _seconds(text: str | None) -> float | None:
    return float(text) if text and text.isdecimal() else None
