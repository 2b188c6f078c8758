"""`index.html` and what it shows: the leaderboard, names for people, and the runs' samples."""

import shutil
from html import escape
from pathlib import Path

from fin_tasks.report import Json

from ..conditions import WORDS
from ..entries import family_of
from ..leaderboard_model import BoardTask, Leaderboard
from ..model import BREAKDOWN_LABELS, KNOWN_BENCHMARKS, Report, Run
from .packed import packed, packed_pairs
from .questions import write_questions
from .samples import CHUNK, script

_OWN = Path(__file__).parent
_FILES = ("page.css", "vendor/katex.min.js", "vendor/katex.min.css")
_BENCHMARK_FIELDS = (
    "title",
    "description",
    "overview_tasks",
    "overview_metrics",
    "has_house_rules",
)
_CONDITIONS = ("mode", "split", "retrieval", "style", "arm")


def write_page(report: Report, board: Leaderboard, folder: Path) -> None:
    """Write the page into the folder of a report: `index.html`, and what it loads into the folder `page`.

    The samples are there already.
    """
    page_folder = folder / "page"
    page_folder.mkdir(exist_ok=True)
    benchmarks = {}
    for name, benchmark in KNOWN_BENCHMARKS.items():
        benchmarks[name] = {
            field: getattr(benchmark, field) for field in _BENCHMARK_FIELDS
        }
        benchmarks[name]["description"] = benchmark.page_text
    content, parts = packed(board)
    for task, blocks in parts.items():
        name = f"parts-{task}"
        (page_folder / f"{name}.js").write_text(script(name, blocks))
    for number, comparison in enumerate(board.comparisons):
        if comparison.pairs:
            name = f"pairs-{number}"
            pairs = packed_pairs(comparison.pairs, board)
            (page_folder / f"{name}.js").write_text(script(name, pairs))
    lists = page_folder.glob("list-*.js")
    downloads = ["leaderboard.json", "leaderboard.csv"]
    for file in sorted([*folder.glob("figures/*"), *folder.glob("tables/*")]):
        downloads.append(file.relative_to(folder).as_posix())
    data = {
        **content,
        "parts": sorted(parts),
        "benchmarks": benchmarks,
        "breakdowns": BREAKDOWN_LABELS,
        "families": {run.model: family_of(run.model) for run in report.runs},
        "names": {task.id: task_name(task) for task in board.tasks},
        "files": [_file(run) for run in report.runs],
        "samples": {file.stem.removeprefix("list-"): True for file in lists},
        "questions": write_questions(report, page_folder),
        "chunk": CHUNK,
        "downloads": downloads,
    }
    (page_folder / "data.js").write_text(script("report", data))
    # In a function their names stay apart from those of the browser.
    files = sorted(_OWN.glob("scripts/*.js"))
    scripts = "\n".join(file.read_text("utf-8") for file in files)
    text = f'"use strict";\n(() => {{\n{scripts}\n}})();\n'
    (page_folder / "page.js").write_text(text, "utf-8")
    for name in _FILES:
        shutil.copy(_OWN / name, page_folder)
    template = (_OWN / "page.html").read_text("utf-8")
    html = template.replace("{{ title }}", escape(board.title))
    (folder / "index.html").write_text(html, "utf-8")


def task_name(task: BoardTask) -> str:
    """Return what a task asks, in plain words."""
    benchmark = KNOWN_BENCHMARKS[task.benchmark]
    part = task.task.removeprefix(benchmark.name).strip("_")
    parts = [benchmark.title]
    if task.family:
        windows = f"{task.window} reports" if task.window else "all windows"
        family = benchmark.part_labels.get(task.family, task.family)
        parts.append(f"{family}, {windows}")
    else:
        parts.append(benchmark.part_labels.get(part, part.replace("_", " ")))
    for condition in _CONDITIONS:
        value = getattr(task, condition)
        words = WORDS.get(condition, {})
        parts.append(words.get(value, value.replace("_", " ")))
    return ", ".join(part for part in parts if part)


def _file(run: Run) -> Json:
    """Return what the page tells of a results file beside its cost."""
    members = set().union(*(result.members for result in run.tasks))
    asked = [result for result in run.tasks if not result.members]
    return {
        "id": run.id,
        "model": run.model,
        "path": run.name,
        "harness": run.harness,
        "date": run.date,
        "runs": [result.id for result in run.tasks if result.task not in members],
        "members": [result.id for result in run.tasks if result.task in members],
        "rows": sum(result.n for result in asked),
        "rows_all": sum(result.n_all for result in asked),
        "settings": run.settings,
    }
