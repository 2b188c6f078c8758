"""Many charts in one folder, drawn by several processes or on Ray.

A chart that is there is not drawn again.
"""

import logging
import multiprocessing
import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import joblib
from filelock import FileLock
from tqdm import tqdm

from fin_tasks.charts.candlestick import draw
from fin_tasks.charts.chart import Chart
from fin_tasks.errors import ConfigError, DataError, FinTasksError
from fin_tasks.interrupt import start_workers

_log = logging.getLogger(__name__)


def draw_charts(
    charts: Iterable[Chart],
    folder: Path,
    *,
    jobs: int = 1,
    engine: str = "local",
    total: int | None = None,
) -> tuple[list[Path], int]:
    """Draw the charts that a folder lacks.

    Equal charts share a file, and runs that share a folder wait for each other.

    Args:
        charts: Charts, read one by one, so that a generator needs little memory.
        folder: Folder of the pictures.
        jobs: Number of processes.
        engine: `local`, or `ray`: a cluster that can be reached and sees the folder, otherwise one
            that is started here.
        total: Number of charts, for the progress bar.

    Returns:
        The file of each chart, and how many were drawn.

    Raises:
        DataError: A chart cannot be drawn; all others are finished first.
    """
    paths: list[Path] = []

    def missing() -> Iterator[Any]:
        seen = set[Path]()
        for chart in tqdm(charts, "Drawing charts", total, unit="chart", disable=None):
            path = folder / chart.file_name
            paths.append(path)
            if path not in seen and not path.exists():
                yield joblib.delayed(_write)(chart, path)
            seen.add(path)

    folder.mkdir(parents=True, exist_ok=True)
    backend = _backend(engine, jobs)
    with (
        FileLock(folder / ".lock"),
        joblib.parallel_config(**backend),
        joblib.Parallel(n_jobs=jobs, batch_size=1) as parallel,
    ):
        if backend["backend"] == "loky":
            start_workers(parallel)
        for left_by_a_killed_run in folder.glob("*.part"):
            left_by_a_killed_run.unlink(missing_ok=True)
        errors = parallel(missing())
    messages = [error for error in errors if error]
    if messages:
        problem = f"{len(messages)} charts could not be drawn, all others are there"
        raise DataError(f"{folder}: {problem}. First: {messages[0]}")
    return paths, len(errors)


def _write(chart: Chart, path: Path) -> str | None:
    part = path.with_name(f"{path.name}.{os.getpid()}.part")
    try:
        part.write_bytes(draw(chart))
    except FinTasksError as error:
        return str(error)  # an exception would stop the other charts too
    part.replace(path)
    return None


def _backend(engine: str, jobs: int) -> dict[str, Any]:
    """Return joblib's settings."""
    if engine == "ray":
        _start_ray()
        return {"backend": "ray"}
    if jobs == 1:
        return {"backend": "sequential"}
    try:
        multiprocessing.Lock()
    except (ImportError, OSError):
        # Processes wait for each other by shared memory, which containers may lack.
        _log.warning("one process draws all charts, since this machine lacks /dev/shm")
        return {"backend": "sequential"}
    return {"backend": "loky", "inner_max_num_threads": 1}


def _start_ray() -> None:
    try:
        import ray
        from ray.util.joblib import register_ray
    except ImportError as error:
        problem = "the package ray is missing"
        raise ConfigError(
            f"engine ray: {problem}. Run pip install 'fin-tasks[ray]'."
        ) from error
    if not ray.is_initialized():
        ray.init(include_dashboard=False, log_to_driver=False, logging_level="ERROR")
    register_ray()
