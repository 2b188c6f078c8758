"""Read or write many files in several processes."""

import gc
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

import joblib
from pydantic import ValidationError
from tqdm import tqdm

from fin_tasks.errors import DataError, first_problem
from fin_tasks.workers import workers

from .redact import printable

T = TypeVar("T")

_MANY_BYTES = 64 * 2**20  # fewer are read before other processes have started
_MAX_PROCESSES = 4


def for_each(
    function: Callable[..., T], calls: Collection[tuple[Any, ...]], name: str
) -> dict[Any, T | DataError]:
    """Call the function for each file, which is its first argument.

    Return its results by file; of a file that cannot be used, a DataError that says why. Large files are shared among
    processes, with a progress bar.
    """
    files = [call[0] for call in calls]
    n_bytes = sum(file.stat().st_size for file in files if file.exists())
    is_many = len(files) > 1 and n_bytes > _MANY_BYTES
    progress = tqdm(calls, name, unit="file", disable=None if is_many else True)
    n_processes = min(_MAX_PROCESSES, joblib.cpu_count()) if is_many else 1
    with workers(n_processes) as parallel:
        outcomes = parallel(
            joblib.delayed(_outcome_of)(function, *call) for call in progress
        )
        return dict(zip(files, outcomes, strict=True))


def _outcome_of(function: Callable[..., T], file: Path, *others: Any) -> T | DataError:
    """Return the function's result, or a DataError that says why the file cannot be used."""
    try:
        with _without_collection():
            return function(file, *others)
    except Exception as error:  # noqa: BLE001 - no file of a stranger may end the report of all others
        return problem_of(file, error)


@contextmanager
def _without_collection() -> Iterator[None]:
    """Do not look for cycles among the objects of a file: a quarter of its time, and there are none."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


def problem_of(file: Path, error: Exception) -> DataError:
    """Return a DataError that says why a file cannot be used."""
    if isinstance(error, DataError):
        return DataError(printable(str(error)))
    if isinstance(error, ValidationError):
        return DataError(printable(f"{file}, {first_problem(error)}."))
    message = (
        f"{file}: expected a readable file with results of our tasks, "
        f"got {type(error).__name__}: {error!s:.200}."
    )
    return DataError(printable(message))
