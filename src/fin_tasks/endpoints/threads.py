"""Ask chat models about many items at a time."""

from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor, as_completed, wait
from typing import TypeVar

from tqdm import tqdm

from fin_tasks.interrupt import without_interrupts

GRACE_SECONDS = 5.0
"""Time for replies that are on their way when a run is stopped."""

_Item = TypeVar("_Item")
_Result = TypeVar("_Result")


def map_in_threads(
    function: Callable[[_Item], _Result],
    items: Iterable[_Item],
    *,
    n_threads: int = 16,
    title: str,
) -> list[_Result]:
    """Return the result of a function, which asks chat models, for each item.

    After an exception or Ctrl-C no further item is begun.
    """
    pool = ThreadPoolExecutor(n_threads, "fin-tasks-chat")
    try:
        # The pool forgets a thread that is interrupted at its start.
        with without_interrupts():
            futures = [pool.submit(function, item) for item in items]
        for future in tqdm(as_completed(futures), title, len(futures), disable=None):
            future.result()
    except BaseException:  # Ctrl-C too
        pool.shutdown(wait=False, cancel_futures=True)
        wait(futures, timeout=GRACE_SECONDS)
        raise
    return [future.result() for future in futures]
