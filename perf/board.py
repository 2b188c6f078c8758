"""Make a board of many models on five benchmarks, and open it in Chromium.

    python perf/board.py [--models N] [--rows N] [--keep FOLDER] [--pictures FOLDER]

Goals for 200 models: the page loads less than 4 MB before the first paint, which comes in less than a second.
"""

import json
import random
import shutil
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from measured import Figure, finish, options

from fin_tasks.report.write import write_report

STAMP = "2026-03-01T10-00-00.123456"
CODES = ("TU", "TR", "FF", "SP", "NM")
TASKS = {
    "xfinbench_bool": "acc",
    "financemath": "acc",
    "bizbench": "acc",
    "mme_finance_en": "score",
    "dynostock_recency_w4": "acc",
}
WIDTHS, GOAL_S, GOAL_MB = (1400, 390), 1, 4
PLACES = {
    "overview": "",
    "task": "view=board&benchmark=financemath",
    "compare": "view=compare",
    "parts": "view=parts&benchmark=xfinbench",
    "samples": "view=samples&benchmark=financemath",
    "runs": "view=runs",
}


def main() -> int:
    """Make runs, report and pictures, and print sizes and seconds."""
    parser = options(__doc__)
    parser.add_argument("--models", type=int, default=200)
    parser.add_argument("--rows", type=int, default=40)
    parser.add_argument("--keep", type=Path, help="use the report of this folder")
    parser.add_argument("--pictures", type=Path, help="write pictures of the views")
    arguments = parser.parse_args()
    n_models = 2 if arguments.tiny else arguments.models
    figures = []
    with tempfile.TemporaryDirectory() as temporary:
        folder = arguments.keep or Path(temporary)
        out = folder / "out"
        if not out.exists():
            write_runs(
                folder / "runs", n_models, 5 if arguments.tiny else arguments.rows
            )
            begun = time.perf_counter()
            write_report(
                folder / "runs", out, token_prices=folder / "runs" / "prices.yaml"
            )
            seconds = time.perf_counter() - begun
            what = f"the report of {n_models} models on {len(TASKS)} benchmarks"
            figures.append(Figure(what=what, value=seconds, unit="s"))
        names = ("index.html", "page/page.css", "page/page.js", "page/data.js")
        size = sum((out / name).stat().st_size for name in names)
        what = "before the first paint"
        figures.append(Figure(what=what, value=size / 1e6, unit="MB", most=GOAL_MB))
        chromium = shutil.which("chromium")
        if chromium:
            address = (out / "index.html").as_uri()
            widths = WIDTHS[:1] if arguments.tiny else WIDTHS
            figures += browse(address, chromium, arguments.pictures, widths)
    return finish(figures, arguments, __file__)


def browse(
    address: str, chromium: str, pictures: Path | None, widths: Sequence[int]
) -> list[Figure]:
    """Return the seconds until each view is shown, and take pictures of all views."""
    from playwright.sync_api import sync_playwright

    figures = []
    with sync_playwright() as play:
        browser = play.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        for width in widths:
            page = browser.new_page(viewport={"width": width, "height": 900})
            for name, place in PLACES.items():
                page.goto("about:blank")
                begun = time.perf_counter()
                page.goto(f"{address}#{place}")
                page.wait_for_selector("#main[aria-busy=false]")
                seconds = time.perf_counter() - begun
                most = GOAL_S if name == "overview" else None
                what = f"the view *{name}* at {width} px"
                figures.append(Figure(what=what, value=seconds, unit="s", most=most))
                if pictures:
                    pictures.mkdir(parents=True, exist_ok=True)
                    page.screenshot(path=pictures / f"{name}-{width}.png")
    return figures


def write_runs(folder: Path, n_models: int, n_rows: int) -> None:
    """Write a run of each model on all tasks, with its prices and `board.yaml`."""
    prices: dict[str, dict[str, float]] = {}
    models = {}
    for number in range(n_models):
        chance = random.Random(number)  # noqa: S311 - the same board each time
        model = f"org-{number % 7}/model-{number:03}"
        prices[model] = {"input": 0.1 + number % 9, "output": 0.5 + 2 * (number % 9)}
        models[model] = {
            "size": f"{1 + number % 70}B",
            "license": "MIT" if number % 2 else "proprietary",
            "open_weights": bool(number % 2),
        }
        write_run(folder / f"{number:03}", model, n_rows, chance)
    (folder / "prices.yaml").write_text(json.dumps({"models": prices}))
    (folder / "board.yaml").write_text(
        json.dumps({"title": "Board of many models", "models": models})
    )


def write_run(folder: Path, model: str, n_rows: int, chance: random.Random) -> None:
    """Write a run of all tasks."""
    folder.mkdir(parents=True)
    skill = chance.uniform(0.1, 0.9)
    results: dict[str, Any] = {"results": {}, "configs": {}, "n-samples": {}}
    for task, metric in TASKS.items():
        sums = dict.fromkeys(("paper", "robust"), 0.0)
        largest = 100.0 if metric == "score" else 1.0
        lines = []
        for at in range(n_rows):
            code = CODES[at % len(CODES)]
            doc = {
                "id": f"{task}-{at}",
                "prompt": f"Bond {at} pays $C = {at}$ a year. What is its yield?",
                "answer": "0.05",
                "capabilities": [code],
                "topic": code,
                "category": code,
                "ticker": f"T{at % 20}",
                "window": 4,
                "arm": "signal",
            }
            for scoring in ("paper", "robust"):
                value = largest * float(chance.random() < skill)
                sums[scoring] += value
                row = {metric: value, "no_answer": 0.0, "unscored": 0.0}
                if metric == "acc":
                    row |= {f"acc_{code}": value}
                lines.append(
                    {
                        "doc_id": at,
                        "doc": doc,
                        "filter": scoring,
                        "resps": [["The yield is 5 %."]],
                        "filtered_resps": [[json.dumps({"answer": value})]],
                        "metrics": list(row),
                        **row,
                    }
                )
        text = "".join(json.dumps(line) + "\n" for line in lines)
        (folder / f"samples_{task}_{STAMP}.jsonl").write_text(text)
        means = {f"{metric},{name}": total / n_rows for name, total in sums.items()}
        results["results"][task] = means
        results["n-samples"][task] = {"original": n_rows, "effective": n_rows}
        results["configs"][task] = {
            "generation_kwargs": {"temperature": 0, "max_gen_toks": 1024},
            "metadata": {
                "provenance": {"split": "test", "data": {"revision": "d" * 16}},
                "usage": {
                    "prompt_tokens": 100 * n_rows,
                    "response_tokens": chance.randrange(50, 500) * n_rows,
                    "estimated": False,
                },
            },
        }
    results["model_name"] = model
    (folder / f"results_{STAMP}.json").write_text(json.dumps(results))


if __name__ == "__main__":
    sys.exit(main())
