"""`index.html` and what it shows: the leaderboard, names for people, and the runs' samples."""

import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cache, partial
from importlib.resources import files
from pathlib import Path
from typing import Any

import jinja2
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

_LIST = "page/files.txt"  # files of the report, which the next report removes
_UNFINISHED = ".fin-tasks-unfinished"
_OWN = files("fin_tasks.report.site")
_VENDORED = ("katex.min.js", "katex.min.css")
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
    if samples:
        results = [result for run in report.runs for result in run.tasks if result.samples]
    outcomes = _write_all_samples(report, results, own)
    shown = {}
    problems = []
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
    (own / "page.css").write_bytes(_OWN.joinpath("page.css").read_bytes())
    for name in _VENDORED:
        (own / name).write_bytes(_OWN.joinpath("vendor").joinpath(name).read_bytes())
    template = _OWN.joinpath("page.html").read_text(encoding="utf-8")
    page = jinja2.Environment(autoescape=True).from_string(template)
    html = page.render(title=board.title)
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
    text = _OWN.joinpath("conditions.csv").read_text(encoding="utf-8")
    words = {}
    for line in text.splitlines():
        condition, _, name = line.rpartition(",")
        words[condition] = name
    return words


def _joined_scripts() -> str:
    """Return the scripts as one, whose names stay apart from those of the browser."""
    scripts = sorted(_OWN.joinpath("scripts").iterdir(), key=lambda script: script.name)
    texts = [script.read_text(encoding="utf-8") for script in scripts]
    return "\n".join(['"use strict";\n(() => {', *texts, "})();\n"])


def _downloads(folder: Path) -> list[str]:
    """Return the files of the report that people may want, from its folder."""
    names = ["leaderboard.json", "leaderboard.csv"]
    for kind in ("figures", "tables"):
        names += sorted(f"{kind}/{path.name}" for path in (folder / kind).glob("*"))
    return names


def _benchmark(benchmark: Benchmark) -> dict[str, Any]:
    return {name: getattr(benchmark, name) for name in _BENCHMARK_FIELDS}


def _file(run: Run) -> dict[str, Any]:
    """Return what the page tells of a results file beside its cost."""
    members: set[str] = set()
    for result in run.tasks:
        members.update(result.members)
    asked = [result for result in run.tasks if not result.members]
    judges = {str(result.judge["model"]) for result in asked if result.judge.get("model")}
    return {
        "id": run.id,
        "harness": run.harness,
        "date": run.date,
        "runs": [result.id for result in run.tasks if result.task not in members],
        "members": [result.id for result in run.tasks if result.task in members],
        "rows": sum(result.n for result in asked),
        "rows_all": sum(result.n_all for result in asked),
        "judge": ", ".join(sorted(judges)),
        "settings": run.settings,
    }


@contextmanager
def replacing(out: Path) -> Iterator[Path]:
    """Give a folder for new files, which replace those of the last report at the end.

    Nothing is moved after an error.
    """
    folder = out / _UNFINISHED
    try:
        shutil.rmtree(folder, ignore_errors=True)  # of an earlier report that was killed
        folder.mkdir(parents=True)
        yield folder
        _replace(folder, out)
    except OSError as error:
        reason = error.strerror or error
        raise DataError(f"{out}: the report cannot be written: {reason}.") from error
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _replace(folder: Path, out: Path) -> None:
    listed = out / _LIST
    listed.parent.mkdir(exist_ok=True)
    new = {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}
    old = set()
    if listed.is_file():
        old.update(listed.read_text(encoding="utf-8").splitlines())
    # If the move is interrupted, the next report must remove the files of both.
    listed.write_text("\n".join(sorted(new | old)), encoding="utf-8")
    for name in sorted(new, key=lambda name: name == "index.html"):
        (out / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).replace(out / name)
    for name in old - new:
        place = out / name
        if place.resolve().is_relative_to(out.resolve()):  # the list may be a stranger's
            place.unlink(missing_ok=True)
    listed.write_text("\n".join(sorted(new)), encoding="utf-8")
