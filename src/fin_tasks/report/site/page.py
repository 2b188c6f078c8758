"""`index.html` and what it shows: the leaderboard in few bytes, names for people, and the runs' samples."""

import json
from collections.abc import Mapping, Sequence
from importlib.resources import files
from pathlib import Path
from typing import Any

import jinja2

import fin_tasks
from fin_tasks.errors import DataError
from fin_tasks.report.comparable import text_of
from fin_tasks.report.cost import COSTS
from fin_tasks.report.model import BENCHMARKS, Report, Run
from fin_tasks.report.site.folder import OWN_FOLDER
from fin_tasks.report.site.pictures import Pictures
from fin_tasks.report.site.samples import CHUNK, script, write_samples
from fin_tasks.settings import Settings

_OWN = files("fin_tasks.report.site")
_SCRIPTS = ("vendor/tabulator.min.js", "app.js")
_STYLES = ("vendor/tabulator_simple.min.css", "app.css")
_XFINBENCH = {"": "all questions", "text": "all text questions", "bool": "true or false", "mcq": "multiple choice"}
_XFINBENCH |= {"mcq_visual": "multiple choice with figures", "calc": "calculations"}
_BIZBENCH = {"": "all parts", "paper_choice": "choices of XFinBench's paper"}
_BIZBENCH |= {"paper_quantity": "quantities of XFinBench's paper"}
_LANGUAGES = {"": "English and Chinese", "en": "English", "zh": "Chinese"}
_SPLITS = {"sample": "packaged sample", "test_500": "500 test questions"}
_MODES = {"cot": "with reasoning", "da": "direct answers", "pot": "programs"}
_ARMS = {"none": "without a statement", "flipped": "statement reversed", "aligned": "statement without the bias"}
_TERMS = {"bm25": "terms found by BM25", "dense": "terms found by embeddings", "oracle": "the right terms given"}


def write_page(report: Report, board: Mapping[str, Any], folder: Path, *, samples: bool = True) -> list[str]:
    """Write the page into a folder; return what could not be shown.

    The folder holds `index.html` afterwards, and the folder `page` with all that it loads.
    """
    own, problems = folder / OWN_FOLDER, []
    own.mkdir(exist_ok=True)
    shown: dict[str, Any] = {}
    if samples:
        places = {one.samples.parent for run in report.runs for one in run.tasks if one.samples is not None}
        settings, packaged = Settings.from_environ(), Path(fin_tasks.__file__).parent / "benchmarks"
        data = [settings.data_dir] if settings.data_dir else []
        pictures = Pictures(own / "pictures", [*data, settings.cache_dir, packaged, *sorted(places)])
        for key, (_, result) in _results(report).items():
            if result.samples is not None:
                try:
                    shown[key] = write_samples(report, result, key, own, pictures)
                except (DataError, RecursionError) as error:
                    problems.append(f"{result.samples}: samples are not shown: {error}")
    data_script = script("report", page_data(report, board) | {"samples": shown, "chunk": CHUNK})
    (own / "data.js").write_bytes(data_script)
    for name in (*_SCRIPTS, *_STYLES):
        (own / Path(name).name).write_bytes(_OWN.joinpath(name).read_bytes())
    template = jinja2.Environment(autoescape=True).from_string(_OWN.joinpath("page.html").read_text(encoding="utf-8"))
    html = template.render(title=board["title"], scripts=_SCRIPTS, styles=_STYLES, folder=OWN_FOLDER)
    (folder / "index.html").write_text(html.encode("utf-8", "replace").decode(), encoding="utf-8")
    return problems


def page_data(report: Report, board: Mapping[str, Any]) -> dict[str, Any]:
    """Return what the page shows of a report, without samples: `board` with entries as columns and names for people."""
    results = _results(report)
    files_of = {run.id: at for at, run in enumerate(report.runs)}
    groups = {(run.id, member) for run in report.runs for one in run.tasks for member in one.members}
    runs = []
    for one in board["runs"]:
        run, result = results.get(one["id"], (None, None))
        more = {"file": files_of[run.id], "member": (run.id, result.task) in groups} if run and result else {}
        kept = {name: one[name] for name in ("id", "label", "model", "source")}
        runs.append(kept | more | {"paper": ", table ".join(_paper(one)) if run is None else ""})
    tasks = [
        {name: one[name] for name in ("id", "benchmark", "variant", "headline", "metrics", "bias", "window", "task")}
        | {"key": one["id"].replace(f"/{one['variant']}", "", 1), "name": task_name(one)}
        for one in board["tasks"]
    ]
    columns = ("value", "low", "high", "n", "unscored")
    entries: dict[str, Any] = {name: [one[name] for one in board["entries"]] for name in columns}
    for name in ("task", "run", "metric", "group", "judge", "marks"):
        words = {json.dumps(one[name]): one[name] for one in board["entries"]}
        codes = {word: code for code, word in enumerate(words)}
        entries[name] = [codes[json.dumps(one[name])] for one in board["entries"]]
        entries[f"{name}s"] = list(words.values())
    costs = {one["run"]: one for one in board["costs"]}
    shared = ("title", "generated", "fin_tasks", "alpha", "prices", "metrics", "comparisons", "problems", "notes")
    return {name: board[name] for name in shared} | {
        "benchmarks": dict(BENCHMARKS),
        "groups": {name: {key: text_of(value) for key, value in of.items()} for name, of in board["groups"].items()},
        "files": [_file(run, costs[run.id]) for run in report.runs],
        "runs": runs,
        "tasks": tasks,
        "entries": entries,
    }


def task_name(task: Mapping[str, Any]) -> str:
    """Return what a task asks, in plain words.

    Example:
        >>> asked = {"benchmark": "dynostock", "task": "dynostock_recency_w4", "bias": "recency", "window": 4}
        >>> task_name({**asked, "mode": "text", "split": "", "style": "", "retrieval": "none", "arm": "signal"})
        'DynoStock, recency, 4 reports, price tables'
    """
    benchmark, rest = task["benchmark"], task["task"].removeprefix(task["benchmark"]).strip("_")
    if benchmark == "dynostock":
        part = ", ".join([task["bias"], f"{task['window']} reports" if task["window"] else "all windows"])
        mode = "price tables" if task["mode"] == "text" else "price charts"
    else:
        names = {"xfinbench": _XFINBENCH, "bizbench": _BIZBENCH, "mme_finance": _LANGUAGES}.get(benchmark, {})
        part, mode = names.get(rest, rest.replace("_", " ")), _MODES.get(task["mode"], task["mode"])
    split = _SPLITS.get(task["split"], f"{task['split']} questions" if task["split"] else "")
    terms = _TERMS.get(task["retrieval"], task["retrieval"].replace("none", ""))
    said = [BENCHMARKS[benchmark], part, mode, split, terms, task["style"].replace("_", " ")]
    said.append(_ARMS.get(task["arm"], ""))
    return ", ".join(text for text in said if text)


def _results(report: Report) -> dict[str, Any]:
    """Return run and result by the leaderboard's id."""
    return {one.id: (run, one) for run in report.runs for one in run.tasks}


def _paper(run: Mapping[str, Any]) -> Sequence[str]:
    return [str(run["provenance"][name]) for name in ("paper", "table") if run["provenance"].get(name)]


def _file(run: Run, cost: Mapping[str, Any]) -> dict[str, Any]:
    judges = {str(one.judge.get("model")) for one in run.tasks if one.judge.get("model")}
    tasks = [one for one in run.tasks if not one.members]
    return {
        "model": run.model,
        "harness": run.harness,
        "date": run.date,
        "name": run.name,
        "tasks": [one.task for one in tasks],
        "rows": sum(one.n for one in tasks),
        "rows_all": sum(one.n_all for one in tasks),
        "judge": ", ".join(sorted(judges)),
        **{name: cost[name] for name in (*COSTS, "estimated")},
        "settings": {name: text_of(value) for name, value in run.settings.items()},
    }
