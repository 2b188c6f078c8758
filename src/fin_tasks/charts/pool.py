"""Many charts into one folder, by several processes, each chart once.

A file's name holds the key of its content, so a file that is there is right and is kept. Files appear under their names
only when they are complete: whatever ends a run, at any moment, the next one draws what is missing and nothing else.
Workers end with the process that started them.
"""

import os
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import cache
from itertools import chain, count
from pathlib import Path
from threading import Thread

from filelock import FileLock

from fin_tasks.charts.render import render
from fin_tasks.charts.spec import ChartSpec
from fin_tasks.errors import ConfigError, DataError, FinTasksError

__all__ = ["Drawn", "draw", "draw_missing", "raise_failures"]

_BLOCK = 16  # charts for each of Ray's workers between two reports of progress
_SHOWN = 5  # failures that an error tells of
_WATCH = 1.0  # seconds between two looks at whether a worker's parent is there
# what goes wrong with one chart; a full disk or a lack of memory concerns all of them and ends the run
_FAILURES = (FinTasksError, ValueError, TypeError, ArithmeticError, LookupError, RuntimeError)


@dataclass(frozen=True, kw_only=True)
class Drawn:
    """What a run did.

    Attributes:
        paths: The file of each spec, in their order; those of failures are not there.
        drawn: How many files the run drew; the others were there.
        failures: What went wrong with charts that cannot be drawn.
    """

    paths: list[Path]
    drawn: int
    failures: list[str]


def draw(
    specs: Sequence[ChartSpec],
    folder: Path,
    *,
    jobs: int = 1,
    engine: str = "local",
    on_done: Callable[[int], None] | None = None,
) -> list[Path]:
    """Draw charts that are not there yet.

    Runs that share a folder wait for each other.

    Args:
        specs: The charts; equal ones share a file.
        folder: Where to put them; made if it is missing.
        jobs: Processes that draw at the same time; 1 draws in this one, unless the engine is Ray.
        engine: `local` for processes of this machine, `ray` for workers of the Ray cluster that is connected or can be
            reached, else of one that is started here for as long as it takes. The bytes are the same. All of a
            cluster's machines must see the folder.
        on_done: Told how many of the specs are done, those that were there before among them.

    Returns:
        The file of each spec, in their order.

    Raises:
        DataError: Some charts cannot be drawn; raised after all others are finished.
        ConfigError: An option means nothing, Ray is not installed, or the folder cannot be written.
    """
    done = draw_missing(specs, folder, jobs=jobs, engine=engine, on_done=on_done)
    raise_failures(folder, done.failures, of=len(specs))
    return done.paths


def draw_missing(
    specs: Sequence[ChartSpec],
    folder: Path,
    *,
    jobs: int = 1,
    engine: str = "local",
    on_done: Callable[[int], None] | None = None,
) -> Drawn:
    """Do what `draw` does, and say what was done; charts that cannot be drawn are told of and raise nothing.

    Raises:
        ConfigError: As for `draw`.
    """
    if jobs < 1:
        raise ConfigError(f"jobs: expected at least 1 process, got {jobs}.")
    if engine not in ("local", "ray"):
        raise ConfigError(f"engine: expected local or ray, got {engine!r}.")
    paths = [folder / spec.file_name for spec in specs]
    by_path = dict(zip(paths, specs, strict=True))
    if all(path.is_file() for path in by_path):
        _tell(on_done, len(specs))
        return Drawn(paths=paths, drawn=0, failures=[])
    with _owned(folder):
        missing = {path: spec for path, spec in by_path.items() if not path.is_file()}
        done = count(len(specs) - len(missing) + 1)
        _tell(on_done, len(specs) - len(missing))
        failures = []
        with ExitStack() as stack:
            for failure in _outcomes(list(missing.items()), jobs, engine, stack):
                _tell(on_done, next(done))
                if failure is not None:
                    failures.append(failure)
    return Drawn(paths=paths, drawn=len(missing) - len(failures), failures=failures)


def raise_failures(folder: Path, failures: Sequence[str], *, of: int) -> None:
    """Raise a DataError that counts the failures among all charts and tells of the first, if there are any."""
    if failures:
        more = f" and {len(failures) - _SHOWN} more" if len(failures) > _SHOWN else ""
        raise DataError(
            f"{folder}: expected {of} charts, {len(failures)} could not be drawn; the others are there. "
            f"{'; '.join(failures[:_SHOWN])}{more}"
        )


def _outcomes(
    tasks: Sequence[tuple[Path, ChartSpec]], jobs: int, engine: str, stack: ExitStack
) -> Iterator[str | None]:
    """Draw charts; yield for each, in their order, what went wrong with it or None."""
    if engine == "local" and (jobs == 1 or len(tasks) == 1):
        return (_draw_one(path, spec) for path, spec in tasks)
    import joblib

    if engine == "ray":
        calls = [joblib.delayed(_draw_one)(path, spec) for path, spec in tasks]
        jobs = min(jobs, stack.enter_context(_ray()))
        stack.enter_context(joblib.parallel_config(backend="ray"))
        parallel = stack.enter_context(joblib.Parallel(n_jobs=jobs, batch_size=1))
        # joblib's Ray backend returns lists only: one block after the other, so that progress can be told
        size = jobs * _BLOCK
        return chain.from_iterable(parallel(calls[first : first + size]) for first in range(0, len(calls), size))
    # a chart keeps one core busy as it is
    stack.enter_context(joblib.parallel_config(backend="loky", inner_max_num_threads=1))
    calls = [joblib.delayed(_draw_for)(os.getpid(), path, spec) for path, spec in tasks]
    outcomes: Iterator[str | None] = joblib.Parallel(n_jobs=jobs, batch_size=1, return_as="generator")(calls)
    return outcomes


def _draw_for(parent: int, path: Path, spec: ChartSpec) -> str | None:
    _end_with(parent)
    return _draw_one(path, spec)


@cache
def _end_with(parent: int) -> None:
    """Let this worker end soon after the process that started it; its pool would wait for minutes otherwise.

    Windows keeps the number of a parent that is gone, so nothing can be watched there.
    """
    if sys.platform == "win32" or os.getpid() == parent:
        return

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(_WATCH)
        os._exit(1)  # files appear when they are whole, so there is nothing to tidy

    Thread(target=watch, name="parent-watch", daemon=True).start()


def _draw_one(path: Path, spec: ChartSpec) -> str | None:
    """Write one chart, whole or not at all; runs in a worker, where an error raised would end all work."""
    try:
        image = render(spec)
    except _FAILURES as error:
        return f"{path.name}: {error}"
    unfinished = path.with_name(f"{path.name}.{os.getpid()}.tmp")
    unfinished.write_bytes(image)
    unfinished.replace(path)
    return None


@contextmanager
def _owned(folder: Path) -> Iterator[None]:
    """Hold the folder, so that whatever unfinished files are in it were left by a run that was killed."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with FileLock(folder / ".lock"):
            _remove(folder.glob("*.png.*.tmp"))
            yield
    except OSError as error:
        raise ConfigError(
            f"{folder}: expected a folder that charts can be written to, got {error.strerror or error!r}."
        ) from error


def _remove(files: Iterable[Path]) -> None:
    for file in files:
        file.unlink(missing_ok=True)


@contextmanager
def _ray() -> Iterator[int]:
    """Connect to Ray unless that is done; yield the number of workers there is room for."""
    try:
        import ray
        from ray.util.joblib import register_ray
    except ImportError as error:
        raise ConfigError(
            "engine: expected the package ray for the engine ray, it is not installed. "
            "Install it with pip install 'fin-tasks[ray]', or use the engine local."
        ) from error
    own = not ray.is_initialized()
    if own:
        ray.init(include_dashboard=False, log_to_driver=False, logging_level="ERROR")
    try:
        register_ray()
        yield max(1, int(ray.cluster_resources().get("CPU", 1)))
    finally:
        if own:
            ray.shutdown()


def _tell(on_done: Callable[[int], None] | None, done: int) -> None:
    if on_done is not None:
        on_done(done)
