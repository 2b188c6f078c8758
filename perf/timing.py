"""Time things in turn, so that other work on the machine slows all of them alike."""

import subprocess
import time
from collections.abc import Callable, Mapping, Sequence


def in_turn(
    works: Sequence[Callable[[], object]],
    runs: int,
    clock: Callable[[], float] = time.perf_counter,
    *,
    warm: bool = True,
) -> list[list[float]]:
    """Return the seconds of each work in each run; `warm` adds a round before them that fills caches."""
    taken: list[list[float]] = [[] for _ in works]
    for number in range(-1 if warm else 0, runs):
        for work, seconds in zip(works, taken, strict=True):
            started = clock()
            work()
            if number >= 0:
                seconds.append(clock() - started)
    return taken


def command(
    *arguments: str, env: Mapping[str, str] | None = None
) -> Callable[[], object]:
    """Return a function that runs a command and expects it to succeed."""
    return lambda: subprocess.run(arguments, env=env, check=True, capture_output=True)
