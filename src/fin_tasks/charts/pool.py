"""Many charts in one folder, drawn by several processes or on Ray; a chart that is there is not drawn again."""

import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import joblib
from filelock import FileLock
from tqdm import tqdm

from fin_tasks.charts.candlestick import Chart, draw
from fin_tasks.errors import ConfigError, DataError, FinTasksError


def draw_charts(
    charts: Iterable[Chart],
    folder: Path,
    *,
    jobs: int = 1,
    engine: str = "local",
    total: int | None = None,
) -> tuple[list[Path], int]:
    """Draw the charts that a folder lacks; return the file of each chart, and how many were drawn.

    Equal charts share a file, and runs that share a folder wait for each other. Charts are read one by one, so that a
    generator needs little memory. The engine is `local` (processes) or `ray` (a cluster that can be reached and sees
    the folder, otherwise one started here). DataError is raised after all charts that can be drawn are finished.
    """
    options: dict[str, Any] = (
        _ray() if engine == "ray" else {"backend": "loky", "inner_max_num_threads": 1}
    )
    paths: list[Path] = []

    def missing() -> Iterator[Any]:
        seen = set[Path]()
        for chart in tqdm(charts, "Drawing charts", total, unit="chart", disable=None):
            paths.append(path := folder / chart.file_name)
            if path not in seen and not path.exists():
                yield joblib.delayed(_write)(chart, path)
            seen.add(path)

    folder.mkdir(parents=True, exist_ok=True)
    with FileLock(folder / ".lock"), joblib.parallel_config(**options):
        for left_by_a_killed_run in folder.glob("*.part"):
            left_by_a_killed_run.unlink(missing_ok=True)
        errors = joblib.Parallel(n_jobs=jobs, batch_size=1)(missing())
    if failed := [error for error in errors if error]:
        raise DataError(
            f"{folder}: {len(failed)} charts could not be drawn, all others are there. First: {failed[0]}"
        )
    return paths, len(errors)


def _write(chart: Chart, path: Path) -> str | None:
    part = path.with_name(f"{path.name}.{os.getpid()}.part")
    try:
        part.write_bytes(draw(chart))
    except FinTasksError as error:
        return str(error)  # an exception would stop the other charts too
    part.replace(path)
    return None


def _ray() -> dict[str, Any]:
    try:
        import ray
        from ray.util.joblib import register_ray
    except ImportError as error:
        raise ConfigError(
            "engine ray: the package ray is missing. Run pip install 'fin-tasks[ray]'."
        ) from error
    if not ray.is_initialized():
        ray.init(include_dashboard=False, log_to_driver=False, logging_level="ERROR")
    register_ray()
    return {"backend": "ray"}
