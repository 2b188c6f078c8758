"""Read or write many files in several processes."""

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import joblib
from tqdm import tqdm

from fin_tasks.errors import DataError
from fin_tasks.interrupt import start_workers
from fin_tasks.report.redact import printable

T = TypeVar("T")

_MANY = 16  # fewer files are done before other processes have started
_MAX_PROCESSES = 4


def for_each(
    function: Callable[..., T],
    calls: Sequence[tuple[Any, ...]],
    name: str,
) -> list[T | DataError]:
    """Call the function for each file, which is its first argument.

    Return its results, or the DataError that a file caused. Many files are shared among processes,
    with a progress bar.
    """
    is_many = len(calls) > _MANY
    calls_with_progress = tqdm(calls, name, unit="file", disable=None if is_many else True)
    n_processes = min(_MAX_PROCESSES, joblib.cpu_count()) if is_many else 1
    with joblib.Parallel(n_jobs=n_processes) as parallel:
        if is_many:
            start_workers(parallel)
        return list(parallel(joblib.delayed(_call)(function, call) for call in calls_with_progress))


def _call(function: Callable[..., T], call: tuple[Any, ...]) -> T | DataError:
    try:
        return function(*call)
    except DataError as error:
        return DataError(printable(str(error)))
    except OSError as error:
        reason = f"expected a readable file, got {error.strerror or error}"
    except RecursionError:
        reason = "expected JSON as lm-eval writes it, got values that are nested too deeply"
    except Exception as error:  # noqa: BLE001 - no file of a stranger may end the report of all others
        reason = f"expected results of our tasks, got {type(error).__name__}: {error!s:.200}"
    return DataError(printable(f"{call[0]}: {reason}."))
