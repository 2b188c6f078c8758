"""What happens to requests while a model is down: most wait, and one at a time finds out whether it is back."""

import logging
import time
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field

import anyio

from fin_tasks.errors import EndpointError

MOST_FAILED = 8
"""After so many failed requests in a row, one request at a time finds out whether the model is back."""
FIRST_PAUSE = 1.0
"""Seconds before the first of these requests; each later pause is twice as long."""
LONGEST_PAUSE = 10.0
PATIENCE = 300.0
"""Seconds of failures after which requests that wait fail too, and only later ones are tried."""

_log = logging.getLogger(__name__)


class ForbiddenError(EndpointError):
    """A failure that does not pass while a run waits, such as a wrong key."""


@dataclass
class Outage:
    """Holds requests back while a model is down: one request at a time finds out whether it is back."""

    n_failed: int = 0
    """Requests that failed in a row."""
    last_error: str = ""
    began: float = 0.0
    gave_up: float = 0.0
    """When requests that waited failed, by the monotonic clock."""
    pause: float = field(default_factory=lambda: FIRST_PAUSE)
    probe: anyio.Lock = field(default_factory=anyio.Lock)

    @asynccontextmanager
    async def gate(self) -> AsyncIterator[None]:
        """Let a request through, at once or when its turn comes, and note whether it fails."""
        arrival = time.monotonic()
        async with AsyncExitStack() as stack:
            if self.n_failed >= MOST_FAILED:
                await stack.enter_async_context(self.probe)
            if self.n_failed < MOST_FAILED:
                await stack.aclose()  # the model works, so nobody has to wait
            elif arrival < self.gave_up:
                raise EndpointError(
                    f"not asked, as the model fails every time: {self.last_error}"
                )
            else:
                await anyio.sleep(self.pause)
                self.pause = min(2 * self.pause, LONGEST_PAUSE)
            try:
                yield
            except EndpointError as error:
                self._note_failure(error)
                raise
            self.n_failed = 0
            self.pause = FIRST_PAUSE

    def _note_failure(self, error: EndpointError) -> None:
        self.n_failed += 1
        self.last_error = str(error)
        if self.n_failed < MOST_FAILED:
            return
        now = time.monotonic()
        if self.n_failed == MOST_FAILED:
            self.began = now
            text = "%d requests failed in a row. Now one at a time is tried. The last one: %s"
            _log.warning(text, self.n_failed, error)
        if isinstance(error, ForbiddenError):
            self.pause = 0.0
        if isinstance(error, ForbiddenError) or now - self.began > PATIENCE:
            self.gave_up = now
