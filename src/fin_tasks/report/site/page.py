"""`index.html` and what it shows: the leaderboard, names for people, and the runs' samples."""

import shutil
from collections.abc import Iterator
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
from fin_tasks.report.model import BREAKDOWN_LABELS, Report, Run, known_benchmarks
from fin_tasks.report.processes import for_each
from fin_tasks.report.site.pictures import copy_picture
from fin_tasks.report.site.samples import CHUNK, script, write_samples
from fin_tasks.settings import Settings

_LIST = "page/files.txt"  # files of the report, which the next report removes
_UNFINISHED = ".fin-tasks-unfinished"
_OWN = files("fin_tasks.report.site")
_VENDORED = ("katex.min.js", "katex.min.css")


def write_page(
    report: Report, board: Leaderboard, folder: Path, *, samples: bool = True
) -> list[str]:
    """Write the page into a folder; return what could not be shown.

    The folder holds `index.html` afterwards, and the folder `page` with all that it loads.
    """
    own, variants = folder / "page", report.rows["variant"].unique()
    own.mkdir(exist_ok=True)
    results = {one.id: one for run in report.runs for one in run.tasks if samples and one.samples}
    settings = Settings.from_environ()
    folders = {benchmark.folder for benchmark in all_benchmarks().values()}
    folders |= {settings.cache_dir, *(run.path.parent for run in report.runs)}
    if settings.data_dir is not None:
        folders.add(settings.data_dir)
    copy = partial(copy_picture, out=own / "pictures", folders=frozenset(folders))
    calls = [
        (
            one.samples,
            one,
            pd.concat([report.rows_of(one, variant) for variant in variants]),
            own,
            copy,
        )
        for one in results.values()
    ]
    shown = dict(zip(results, for_each(write_samples, calls, "Writing samples"), strict=True))
    data = {
        **board.model_dump(mode="json"),
        "benchmarks": {name: _benchmark(own) for name, own in known_benchmarks().items()},
        "breakdowns": dict(BREAKDOWN_LABELS),
        "names": {task.id: task_name(task) for task in board.tasks},
        "files": [_file(run) for run in report.runs],
        "samples": {name: one for name, one in shown.items() if isinstance(one, dict)},
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
    return [str(one) for one in shown.values() if isinstance(one, DataError)]


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
    """Return what conditions are called for people, by condition and value."""
    lines = _OWN.joinpath("conditions.csv").read_text(encoding="utf-8").splitlines()
    words = {}
    for line in lines[1:]:
        condition, value, name = line.split(",")
        words[f"{condition},{value}"] = name
    return words


def _joined_scripts() -> str:
    """Return the scripts as one, whose names stay apart from those of the browser."""
    folder = _OWN.joinpath("scripts")
    scripts = sorted(folder.iterdir(), key=lambda script: script.name)
    texts = [script.read_text(encoding="utf-8") for script in scripts]
    return "\n".join(['"use strict";\n(() => {', *texts, "})();\n"])


def _downloads(folder: Path) -> list[str]:
    """Return the files of the report that people may want, from its folder."""
    paths = sorted(path for path in folder.glob("*/*") if path.parent.name in ("tables", "figures"))
    names = [path.relative_to(folder).as_posix() for path in paths]
    return ["leaderboard.json", "leaderboard.csv", *names]


def _benchmark(benchmark: Benchmark) -> dict[str, Any]:
    """Return what the page says of a benchmark."""
    return {
        "title": benchmark.title,
        "description": benchmark.description,
        "overview_tasks": benchmark.overview_tasks,
        "overview_metrics": benchmark.overview_metrics,
    }


def _file(run: Run) -> dict[str, Any]:
    """Return what the page tells of a results file beside its cost."""
    members = {member for one in run.tasks for member in one.members}
    asked = [one for one in run.tasks if not one.members]
    return {
        "id": run.id,
        "harness": run.harness,
        "date": run.date,
        "runs": [one.id for one in run.tasks if one.task not in members],
        "members": [one.id for one in run.tasks if one.task in members],
        "rows": sum(one.n for one in asked),
        "rows_all": sum(one.n_all for one in asked),
        "judge": ", ".join(
            sorted({str(one.judge["model"]) for one in asked if one.judge.get("model")})
        ),
        "settings": run.settings,
    }


@contextmanager
def replacing(out: Path) -> Iterator[Path]:
    """Give a folder for new files, and move these into `out` one by one at the end; nothing is moved after an error."""
    new, listed = out / _UNFINISHED, out / _LIST
    try:
        shutil.rmtree(new, ignore_errors=True)  # of an earlier report that was killed
        new.mkdir(parents=True)
        yield new
        files = {path.relative_to(new).as_posix() for path in new.rglob("*") if path.is_file()}
        old = set(listed.read_text(encoding="utf-8").splitlines()) if listed.is_file() else set()
        listed.parent.mkdir(exist_ok=True)
        listed.write_text("\n".join(sorted(files | old)), encoding="utf-8")
        for file in sorted(files, key=lambda name: name == "index.html"):
            (out / file).parent.mkdir(parents=True, exist_ok=True)
            (new / file).replace(out / file)
        for place in [out / file for file in old - files]:
            if place.resolve().is_relative_to(out.resolve()):  # the list may be a stranger's
                place.unlink(missing_ok=True)
        listed.write_text("\n".join(sorted(files)), encoding="utf-8")
    except OSError as error:
        raise DataError(
            f"{out}: the report cannot be written: {error.strerror or error}."
        ) from error
    finally:
        shutil.rmtree(new, ignore_errors=True)
