"""`index.html` and what it shows: the leaderboard, names for people, and the runs' samples."""

import shutil
from collections.abc import Sequence
from functools import cache, partial
from html import escape
from pathlib import Path
from typing import Any

import pandas as pd

from fin_tasks.benchmarks import all_benchmarks
from fin_tasks.benchmarks.contract import Benchmark
from fin_tasks.errors import DataError
from fin_tasks.report.leaderboard_model import BoardTask, Leaderboard
from fin_tasks.report.model import BREAKDOWN_LABELS, Report, Run, TaskResult, known_benchmarks
from fin_tasks.report.processes import for_each
from fin_tasks.report.site.pictures import copy_picture
from fin_tasks.report.site.samples import CHUNK, script, write_samples
from fin_tasks.settings import Settings

_OWN = Path(__file__).parent
_FILES = ("page.css", "vendor/katex.min.js", "vendor/katex.min.css")
_BENCHMARK_FIELDS = ("title", "description", "overview_tasks", "overview_metrics")


def write_page(
    report: Report, board: Leaderboard, folder: Path, *, samples: bool = True
) -> list[str]:
    """Write the page into a folder; return what could not be shown.

    The folder holds `index.html` afterwards, and the folder `page` with all that it loads.
    """
    own = folder / "page"
    own.mkdir(exist_ok=True)
    results = []
    for run in report.runs:
        results += [result for result in run.tasks if samples and result.samples]
    shown = {}
    problems = []
    outcomes = _write_all_samples(report, results, own)
    for result, outcome in zip(results, outcomes, strict=True):
        if isinstance(outcome, DataError):
            problems.append(str(outcome))
        else:
            shown[result.id] = outcome
    data = {
        **board.model_dump(mode="json"),
        "benchmarks": {name: _benchmark(own) for name, own in known_benchmarks().items()},
        "breakdowns": dict(BREAKDOWN_LABELS),
        "names": {task.id: task_name(task) for task in board.tasks},
        "files": [_file(run) for run in report.runs],
        "samples": shown,
        "chunk": CHUNK,
        "downloads": _downloads(folder),
    }
    (own / "data.js").write_bytes(script("report", data))
    (own / "page.js").write_text(_joined_scripts(), encoding="utf-8")
    for name in _FILES:
        shutil.copy(_OWN / name, own)
    template = (_OWN / "page.html").read_text(encoding="utf-8")
    html = template.replace("{{ title }}", escape(board.title))
    (folder / "index.html").write_text(html, encoding="utf-8")
    return problems


def _write_all_samples(report: Report, results: Sequence[TaskResult], folder: Path) -> list[Any]:
    """Return for each result what the page must know of its samples, or the DataError of its file."""
    settings = Settings.from_environ()
    folders = {benchmark.folder for benchmark in all_benchmarks().values()}
    folders.add(settings.cache_dir)
    folders.update(run.path.parent for run in report.runs)
    if settings.data_dir is not None:
        folders.add(settings.data_dir)
    copy = partial(copy_picture, out=folder / "pictures", folders=frozenset(folders))
    variants = report.rows["variant"].unique()
    calls = []
    for result in results:
        rows = pd.concat([report.rows_of(result, variant) for variant in variants])
        calls.append((result.samples, result, rows, folder, copy))
    return for_each(write_samples, calls, "Writing samples")


def task_name(task: BoardTask) -> str:
    """Return what a task asks, in plain words."""
    benchmark = known_benchmarks()[task.benchmark]
    part = task.task.removeprefix(benchmark.name).strip("_")
    parts = [benchmark.title]
    if task.family:
        windows = f"{task.window} reports" if task.window else "all windows"
        parts.append(f"{task.family}, {windows}")
    else:
        parts.append(benchmark.part_labels.get(part, part.replace("_", " ")))
    for condition in ("mode", "split", "retrieval", "style", "arm"):
        value = getattr(task, condition)
        words = _words().get(f"{condition},{value}")
        parts.append(value.replace("_", " ") if words is None else words)
    return ", ".join(part for part in parts if part)


@cache
def _words() -> dict[str, str]:
    """Return what conditions are called for people, by condition and value: `mode,cot`."""
    text = (_OWN / "conditions.csv").read_text(encoding="utf-8")
    words = {}
    for line in text.splitlines():
        condition, _, name = line.rpartition(",")
        words[condition] = name
    return words


def _joined_scripts() -> str:
    """Return the scripts as one, whose names stay apart from those of the browser."""
    scripts = sorted(_OWN.glob("scripts/*.js"))
    texts = [script.read_text(encoding="utf-8") for script in scripts]
    return "\n".join(['"use strict";\n(() => {', *texts, "})();\n"])


def _downloads(folder: Path) -> list[str]:
    """Return the files of the report that people may want, from its folder."""
    files = sorted([*folder.glob("figures/*"), *folder.glob("tables/*")])
    names = [file.relative_to(folder).as_posix() for file in files]
    return ["leaderboard.json", "leaderboard.csv", *names]


def _benchmark(benchmark: Benchmark) -> dict[str, Any]:
    return {name: getattr(benchmark, name) for name in _BENCHMARK_FIELDS}


def _file(run: Run) -> dict[str, Any]:
    """Return what the page tells of a results file beside its cost."""
    members: set[str] = set()
    for result in run.tasks:
        members.update(result.members)
    asked = [result for result in run.tasks if not result.members]
    return {
        "id": run.id,
        "harness": run.harness,
        "date": run.date,
        "runs": [result.id for result in run.tasks if result.task not in members],
        "members": [result.id for result in run.tasks if result.task in members],
        "rows": sum(result.n for result in asked),
        "rows_all": sum(result.n_all for result in asked),
        "settings": run.settings,
    }
