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
    "overview_tasks",
    "overview_metrics",
    "has_house_rules",
)
_CONDITIONS = ("mode", "split", "retrieval", "style", "arm")


def write_page(
    report: Report, board: Leaderboard, folder: Path, *, questions: bool = True
) -> None:
    """Write the page into the folder of a report: `index.html`, and what it loads into the folder `page`.

    The samples are there already. Without `questions` the page has no table of them, which shows the right answers.
    """
    page_folder = folder / "page"
    page_folder.mkdir(exist_ok=True)
    content, parts = packed(board)
    for task, blocks in parts.items():
        _write_data(page_folder, f"parts-{task}", blocks)
    for number, comparison in enumerate(board.comparisons):
        if comparison.pairs:
            pairs = packed_pairs(comparison.pairs, board)
            _write_data(page_folder, f"pairs-{number}", pairs)
    lists = page_folder.glob("list-*.js")
    data = {
        **content,
        "parts": sorted(parts),
        "benchmarks": _benchmarks(),
        "breakdowns": BREAKDOWN_LABELS,
        "families": {run.model: family_of(run.model) for run in report.runs},
        "names": {task.id: task_name(task) for task in board.tasks},
        "files": [_file(run) for run in report.runs],
        "samples": {file.stem.removeprefix("list-"): True for file in lists},
        "questions": questions and write_questions(report, page_folder),
        "chunk": CHUNK,
        "downloads": _downloads(folder),
    }
    (page_folder / "data.js").write_text(script("report", data))
    _write_code(page_folder)
    template = (_OWN / "page.html").read_text("utf-8")
    html = template.replace("{{ title }}", escape(board.title))
    (folder / "index.html").write_text(html, "utf-8")


def _write_data(folder: Path, name: str, value: object) -> None:
    (folder / f"{name}.js").write_text(script(name, value))


def _benchmarks() -> Json:
    """Return what the page shows of each benchmark, by its name."""
    benchmarks = {}
    for name, benchmark in KNOWN_BENCHMARKS.items():
        fields = {field: getattr(benchmark, field) for field in _BENCHMARK_FIELDS}
        benchmarks[name] = fields | {"description": benchmark.page_text}
    return benchmarks


def _downloads(folder: Path) -> list[str]:
    """Return the files of a report that the page links to."""
    names = ["leaderboard.json", "leaderboard.csv"]
    for file in sorted([*folder.glob("figures/*"), *folder.glob("tables/*")]):
        names.append(file.relative_to(folder).as_posix())
    return names


def _write_code(folder: Path) -> None:
    """Write the scripts of the page as one file, and copy the styles and KaTeX."""
    # In a function their names stay apart from those of the browser.
    files = sorted(_OWN.glob("scripts/*.js"))
    scripts = "\n".join(file.read_text("utf-8") for file in files)
    text = f'"use strict";\n(() => {{\n{scripts}\n}})();\n'
    (folder / "page.js").write_text(text, "utf-8")
    for name in _FILES:
        shutil.copy(_OWN / name, folder)


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
