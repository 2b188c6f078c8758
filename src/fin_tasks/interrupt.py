"""Ctrl-C: one sentence that says what is kept, and exit status 130."""

import os
import signal
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from types import FrameType
from typing import Any

_STATUS = 130  # as shells count it: 128 and the number of the signal
_STDERR = 2

_NOTHING = "nothing was changed"
_REPLIES = "replies so far are kept in the cache, and the same command asks for the others only"
_KEPT_BY_COMMAND = {
    "build dynostock": "charts so far are kept, and the same command draws the others only",
    "build mme_finance": "the new folder is not complete, so delete it and run the command again",
    "build variants": "no variants were written, so run the command again",
    "build xfinbench": _REPLIES,
    "chart": "no chart was written",
    "compare": _NOTHING,
    "demo": "results that were written before are kept",
    "doctor": _NOTHING,
    "fetch": "files that are here as a whole are kept, and the same command gets the others only",
    "judge": _REPLIES,
    "label agree": _NOTHING,
    "label draw": "files of --out may be missing, so run the command again",
    "label math": _REPLIES,
    "label merge": "files of --out may be missing, so run the command again",
    "path": _NOTHING,
    "predict": "a reply that came is kept in the cache",
    "replay": "files that were scored before are kept in --out, the others were not scored",
    "report": "an older report stays as it was",
    "verify": "no finding was written, and replies of a judge are kept in the cache",
}


def what_is_kept(arguments: Sequence[str]) -> str:
    """Say what a `fin-tasks` command with these arguments leaves behind if it is interrupted."""
    both_words = " ".join(arguments[:2])
    first_word = " ".join(arguments[:1])
    return _KEPT_BY_COMMAND.get(both_words) or _KEPT_BY_COMMAND.get(first_word, _NOTHING)


@contextmanager
def on_interrupt(sentence: str) -> Iterator[None]:
    """Let Ctrl-C print what is kept and exit with status 130; a second Ctrl-C ends the process at once.

    The outermost `with` speaks. Nothing changes where Ctrl-C is ignored, and outside the main thread.
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
        if handler.was_called:  # some libraries raise another error when they are interrupted
            raise SystemExit(_STATUS) from None
        raise
    finally:
        if not handler.was_called:
            signal.signal(signal.SIGINT, before)


@contextmanager
def without_interrupts() -> Iterator[None]:
    """Put Ctrl-C off to the end; processes that start inside never get it.

    A terminal sends Ctrl-C to all processes of a command, and each would print a traceback.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    presses: list[int] = []
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

    resource_tracker.ensure_running()  # its start, which comes with the first process, ends the block
    with without_interrupts():
        parallel(delayed(os.getpid)() for _ in range(parallel.n_jobs))


class _Exit:
    def __init__(self, sentence: str) -> None:
        self.sentence = sentence
        self.was_called = False

    def __call__(self, number: int, frame: FrameType | None) -> None:
        self.was_called = True
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        # Not `print`: the signal may come in the middle of another print.
        os.write(_STDERR, f"\nfin-tasks: interrupted: {self.sentence}.\n".encode())
        raise SystemExit(_STATUS)
