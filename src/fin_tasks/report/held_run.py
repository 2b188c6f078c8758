"""One program at a time in a folder, whatever becomes of the command that started it.

The lock of a folder is handed on to the program, so it is held for as long as either of them runs: a program that
outlives its command, as that was killed, still keeps others out.
"""

import os
import signal
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import IO

from fin_tasks.errors import ConfigError

__all__ = ["alone_in", "run_held"]

_LOCK = "run.lock"


@contextmanager
def alone_in(folder: Path) -> Iterator[int | None]:
    """Lock a folder, made where missing, while this process or a program given the lock runs.

    Returns:
        The file descriptor of the lock, for `run_held`. None where the system has no locks that can be handed on
        (Windows); this process alone holds it there.

    Raises:
        ConfigError: Somebody else holds it.
    """
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / _LOCK
    try:
        import fcntl
    except ImportError:
        with _held_here(path):
            yield None
        return
    # filelock would take the same kind of lock, but lets go of it for all who share it when this process does.
    with path.open("a", encoding="utf-8") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise _taken(path) from error
        yield file.fileno()


@contextmanager
def _held_here(path: Path) -> Iterator[None]:
    from filelock import FileLock, Timeout

    try:
        with FileLock(path, timeout=0):
            yield
    except Timeout as error:
        raise _taken(path) from error


def _taken(path: Path) -> ConfigError:
    try:
        who = path.read_text(encoding="utf-8").strip()
    except (OSError, ValueError):
        who = ""
    by = f" (process {who})" if who.isdecimal() else ""
    return ConfigError(
        f"{path.parent}: expected nobody at work there, but a run is still under way{by}, though the command that "
        "started it may have ended. Wait for it or end it; the same command then goes on."
    )


def run_held(command: Sequence[str], held: int | None, *, stdout: IO[str]) -> int:
    """Run a program that shares a lock, and hand on the signals that would end this process.

    A first SIGINT, SIGTERM or SIGHUP reaches the program as it is, a second one kills it. When it has ended, this
    process ends by the signal too (SIGINT: KeyboardInterrupt). To be called from the main thread.

    Args:
        command: The program and its arguments.
        held: The lock, from `alone_in`.
        stdout: Where the program's output goes.

    Returns:
        The status it ended with; below 0 for a signal.
    """
    received: list[int] = []
    started: list[subprocess.Popen[bytes]] = []

    def hand_on(number: int, _: FrameType | None) -> None:
        received.append(number)
        for program in started:
            _send(program, received)

    names = [signal.SIGINT, signal.SIGTERM, *([signal.SIGHUP] if hasattr(signal, "SIGHUP") else [])]
    # nohup and the like have told this process to ignore a signal: the program inherits that
    before = {name: signal.signal(name, hand_on) for name in names if signal.getsignal(name) is not signal.SIG_IGN}
    try:
        share = () if held is None else (held,)
        program = subprocess.Popen(command, stdout=stdout, pass_fds=share)  # noqa: S603 - the user's own arguments
        started.append(program)
        if held is not None:
            os.ftruncate(held, 0)
            os.write(held, str(program.pid).encode())
        if received:  # before there was anything to hand it on to
            _send(program, received)
        status = program.wait()
    finally:
        for name, handler in before.items():
            signal.signal(name, handler)
    if received:
        signal.raise_signal(received[0])
    return status


def _send(program: "subprocess.Popen[bytes]", received: Sequence[int]) -> None:
    if len(received) > 1 or os.name == "nt":  # Windows has nothing between asking a console and killing
        program.kill()
    else:
        program.send_signal(received[0])
