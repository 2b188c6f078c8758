"""One server process as the evaluator sees it: start, send a program, read what came back, end."""

import contextlib
import json
import os
import select
import subprocess
import tempfile
import time
from dataclasses import asdict, dataclass
from types import TracebackType

from fin_tasks.errors import SandboxError
from fin_tasks.sandbox.outcome import ENOUGH_CPU, Outcome, classify, escape
from fin_tasks.sandbox.tiers import library_dirs, readable_paths, server_command, server_environ
from fin_tasks.sandbox.wire import ENDED, MAX_FRAME, REQUEST, RESPONSE, WALL

__all__ = ["Limits", "Report", "Server", "ServerDied"]

_START_S = 120.0
_SLACK_S = 10.0


@dataclass(frozen=True, kw_only=True)
class Limits:
    """What one program may use.

    Attributes:
        cpu_s: CPU seconds; the kernel rounds up to whole ones.
        wall_s: Seconds from start to end.
        memory_mb: Address space in MiB beyond what the libraries take.
    """

    cpu_s: float
    wall_s: float
    memory_mb: int

    def __post_init__(self) -> None:
        for name, value in asdict(self).items():
            if not 0 < value < 1_000_000:
                raise SandboxError(f"sandbox limit {name}: expected a number above 0, got {value!r}")


class ServerDied(Exception):  # noqa: N818 - an event the client handles, not an error of the package
    """The server ended or went silent while a program was in it."""


@dataclass(frozen=True, kw_only=True)
class Report:
    """An outcome and whether a second try could end differently."""

    outcome: Outcome
    cut_short: bool
    """Killed with little CPU used: a busy machine may be to blame rather than the program."""


class Server:
    """A running server; use it from one thread at a time, and start it from a thread that outlives it."""

    def __init__(self, *, tier: str, limits: Limits, preload: tuple[str, ...]) -> None:
        self._limits = limits
        self._asked = 0
        config = {
            "cpu_s": limits.cpu_s,
            "wall_s": limits.wall_s,
            "memory_mb": limits.memory_mb,
            "confine": tier != "unsafe-local-exec",
            "need_landlock": tier != "bwrap",
            "preload": preload,
            "library_dirs": library_dirs(),
            "readable": readable_paths(),
        }
        command = server_command(tier, json.dumps(config))
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115 - closed by close()
        try:
            self._process = subprocess.Popen(  # noqa: S603 - our own command, no shell
                command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=self._errors,
                env=server_environ(),
                bufsize=0,
                start_new_session=True,
            )
            self.greeting = self._greet(tier)
        except BaseException:
            self.close()
            raise

    def _greet(self, tier: str) -> dict[str, object]:
        try:
            data = self._receive(timeout_s=_START_S)[3]
        except ServerDied as death:
            raise SandboxError(f"{tier}: the server did not start ({death}): {self._last_words()}") from death
        greeting: dict[str, object] = json.loads(data)
        return greeting

    def _last_words(self) -> str:
        self._process.kill()
        self._process.wait()
        self._errors.seek(0)
        lines = self._errors.read().decode("utf-8", "replace").strip().splitlines()
        return escape(lines[-1][:500]) if lines else "it left no message"

    def run(self, program: bytes) -> Report:
        """Run one program.

        Raises:
            ServerDied: The server is gone; close it and start another.
        """
        self._asked += 1
        self._send(REQUEST.pack(len(program)) + program)
        wait_status, ending, cpu_s, data = self._receive(timeout_s=self._limits.wall_s + _SLACK_S)
        outcome = classify(
            data=data, wait_status=wait_status, ending=ending, cpu_s=cpu_s, cpu_limit_s=self._limits.cpu_s
        )
        silent = len(data) <= 1 or ending == WALL
        killed = ending == WALL or (ending == ENDED and wait_status & 0x7F == 9)
        return Report(outcome=outcome, cut_short=silent and killed and cpu_s < ENOUGH_CPU * self._limits.cpu_s)

    def _send(self, data: bytes) -> None:
        assert self._process.stdin is not None  # noqa: S101 - for the type checker: Popen was given PIPE
        view = memoryview(data)
        try:
            while view:
                view = view[self._process.stdin.write(view) or 0 :]
        except OSError as error:
            raise ServerDied(str(error)) from error

    def _receive(self, *, timeout_s: float) -> tuple[int, int, float, bytes]:
        deadline = time.monotonic() + timeout_s
        number, wait_status, ending, cpu_s, length = RESPONSE.unpack(self._read(RESPONSE.size, deadline))
        if number != self._asked or length > MAX_FRAME:
            raise ServerDied(f"answered {number} with {length} bytes when asked {self._asked}")
        return wait_status, ending, cpu_s, self._read(length, deadline)

    def _read(self, size: int, deadline: float) -> bytes:
        assert self._process.stdout is not None  # noqa: S101 - for the type checker: Popen was given PIPE
        fd = self._process.stdout.fileno()
        parts = b""
        while len(parts) < size:
            left = deadline - time.monotonic()
            if left <= 0 or not select.select([fd], [], [], left)[0]:
                raise ServerDied("silent for too long")
            part = os.read(fd, size - len(parts))
            if not part:
                raise ServerDied("ended")
            parts += part
        return parts

    def close(self) -> None:
        """End the server and whatever runs in it; harmless when it is gone already."""
        process = getattr(self, "_process", None)
        if process is not None:
            process.kill()
            process.wait()
            for pipe in (process.stdin, process.stdout):
                with contextlib.suppress(OSError):
                    pipe.close()
        self._errors.close()

    def __enter__(self) -> "Server":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
