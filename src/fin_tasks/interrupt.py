"""Ctrl-C: one sentence that says what is kept, and exit status 130."""

import os
import signal
import threading
import tomllib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import Any

_STATUS = 130  # as shells count it: 128 and the number of the signal
_STDERR = 2


def what_is_kept(arguments: Sequence[str]) -> str:
    """Say what a `fin-tasks` command with these arguments leaves behind if it is interrupted."""
    kept_by_command = tomllib.loads(
        Path(__file__).with_suffix(".toml").read_text("utf-8")
    )
    for n_words in (2, 1):
        command = " ".join(arguments[:n_words])
        if command in kept_by_command:
            return str(kept_by_command[command])
    return "nothing was changed"


@contextmanager
def on_interrupt(sentence: str) -> Iterator[None]:
    """Let Ctrl-C print what is kept and exit with status 130; a second Ctrl-C ends the process at once.

    Of nested `with` blocks, only the outermost one prints. Outside the main thread, or if Ctrl-C is
    ignored, nothing changes.
    """
    before = signal.getsignal(signal.SIGINT)
    is_main = threading.current_thread() is threading.main_thread()
    if not is_main or before is signal.SIG_IGN or isinstance(before, _Exit):
        yield
        return
    handler = _Exit(sentence)
    signal.signal(signal.SIGINT, handler)
    try:
        yield
    except BaseException:
        # Some libraries raise another error when they are interrupted.
        if handler.was_called:
            raise SystemExit(_STATUS) from None
        raise
    finally:
        if not handler.was_called:
            signal.signal(signal.SIGINT, before)


@contextmanager
def without_interrupts() -> Iterator[None]:
    """Handle Ctrl-C only at the end of the block; processes that start in the block never get it.

    A terminal sends Ctrl-C to all processes of a command, and each would print a traceback.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    presses = []
    handler = signal.signal(signal.SIGINT, lambda number, frame: presses.append(number))
    mask = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)
        signal.signal(signal.SIGINT, handler)
        if presses:
            signal.raise_signal(signal.SIGINT)


def start_workers(parallel: Any) -> None:
    """Start the processes of a `joblib.Parallel` that is open, so that Ctrl-C does not reach them."""
    from multiprocessing import resource_tracker

    from joblib import delayed

    # The first process would start it in the block below, and its start unblocks SIGINT.
    resource_tracker.ensure_running()
    with without_interrupts():
        parallel(delayed(os.getpid)() for _ in range(parallel.n_jobs))


@dataclass
class _Exit:
    sentence: str
    was_called: bool = False

    def __call__(self, number: int, frame: FrameType | None) -> None:
        self.was_called = True
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        # Not `print`: the signal may come in the middle of another print.
        os.write(_STDERR, f"\nfin-tasks: interrupted: {self.sentence}.\n".encode())
        raise SystemExit(_STATUS)
