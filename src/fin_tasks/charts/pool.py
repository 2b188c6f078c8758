"""Many charts in one folder, drawn by several processes or on a Ray cluster."""

from collections.abc import Iterable
from pathlib import Path

import joblib
from tqdm import tqdm

from fin_tasks.errors import DataError, FinTasksError
from fin_tasks.waiting import one_at_a_time
from fin_tasks.workers import workers

from .candlestick import draw
from .chart import Chart


def draw_charts(
    charts: Iterable[Chart], folder: Path, *, jobs: int = 1
) -> tuple[list[Path], int]:
    """Draw the charts that a folder lacks; return the file of each chart, and how many were drawn.

    Equal charts share a file, and commands that share a folder wait for each other. If a chart cannot be drawn,
    all others are finished before the DataError.
    """
    folder.mkdir(parents=True, exist_ok=True)
    paths = []
    missing = {}
    drawing = one_at_a_time(folder / ".lock", f"draws charts into {folder}")
    with drawing, workers(jobs) as parallel:
        for chart in charts:
            path = folder / chart.file_name
            paths.append(path)
            if not path.exists():
                missing[path] = chart
        bar = tqdm(missing.items(), "Drawing charts", disable=None)
        errors = parallel(joblib.delayed(_write)(chart, path) for path, chart in bar)
    messages = [error for error in errors if error]
    if messages:
        raise DataError(
            f"{folder}: {len(messages)} charts could not be drawn, all others are there. First: {messages[0]}"
        )
    return paths, len(missing)


def _write(chart: Chart, path: Path) -> str:
    """Draw a chart into a file, which is whole or not there; return why the chart cannot be drawn."""
    part = path.with_suffix(".part")
    try:
        part.write_bytes(draw(chart))
    except FinTasksError as error:
        return str(error)  # an exception would stop the other charts too
    part.replace(path)
    return ""
