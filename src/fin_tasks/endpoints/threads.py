"""Ask chat models about many items at a time."""

from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from typing import TypeVar

from tqdm import tqdm

from fin_tasks.endpoints.chat import Chat
from fin_tasks.interrupt import without_interrupts

_Item = TypeVar("_Item")
_Result = TypeVar("_Result")


def map_in_threads(
    function: Callable[[_Item], _Result],
    items: Iterable[_Item],
    *,
    chats: Sequence[Chat],
    n_threads: int = 16,
    title: str,
) -> list[_Result]:
    """Return the result of a function, which asks these chat models, for each item.

    After an exception no further item is begun. After Ctrl-C the models are stopped too.
    """
    with ThreadPoolExecutor(n_threads, "fin-tasks-chat") as pool:
        try:
            with (
                without_interrupts()
            ):  # the pool forgets a thread that is interrupted at its start
                futures = [pool.submit(function, item) for item in items]
            for future in tqdm(
                as_completed(futures), title, len(futures), disable=None
            ):
                future.result()
        except (KeyboardInterrupt, SystemExit):  # Ctrl-C
            for chat in chats:
                chat.stop()
            raise
        finally:
            pool.shutdown(wait=False, cancel_futures=True)
    return [future.result() for future in futures]
