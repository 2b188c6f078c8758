"""Make the report of 51 recorded models in two modes beside a model of one's own, and open it in Chromium.

    python perf/recorded_page.py [--keep FOLDER]

The runs are made up, with the sizes of FinanceMath's recordings. Goal: the report in 45 s, and less than 4 MB before
the first paint. With `--keep`, the report and screenshots at 1,400 and 390 px stay in the folder.
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
from urllib.parse import unquote, urlsplit

from measured import Figure, finish, options

from fin_tasks import write_report

MODELS = 51
QUESTIONS = 200
TOPICS = ("Accounting", "Economics", "Derivatives", "Portfolio management")
WORDS = ("the", "discount", "rate", "of", "a", "bond", "is", "its", "yield", "7.25")
STAMP = "2026-03-01T10-00-00.123456"
GOAL_S = 45
GOAL_MB = 4
WIDTHS = (1400, 390)  # pixels: a screen and a phone
VIEWS = {
    "board": "table.models tbody tr",
    "compare": "table[aria-label=Differences] tbody tr",
    "samples": "#sample-title",
}
"""The views, and what is in sight when they are there."""


def main() -> int:
    parser = options(__doc__)
    parser.add_argument("--keep", type=Path, help="report and screenshots stay here")
    given = parser.parse_args()
    keep, n_models = given.keep, 1 if given.tiny else MODELS
    with tempfile.TemporaryDirectory() as temporary:
        folder = keep or Path(temporary)
        shutil.rmtree(folder / "runs", ignore_errors=True)
        write_model(folder / "runs", "own-9b", 0, is_recorded=False)
        for number in range(n_models):
            write_model(folder / "runs", f"family{number % 9}-{number}b", number)
        begun = time.perf_counter()
        written = write_report(folder / "runs", folder / "report")
        seconds = time.perf_counter() - begun
        assert not written.problems, written.problems
        what = f"the report of {written.n_models} models in two modes"
        figures = [Figure(what=what, value=seconds, unit="s", most=GOAL_S)]
        widths = WIDTHS[-1:] if given.tiny else WIDTHS
        figures += browse(folder / "report" / "index.html", folder, widths)
    return finish(figures, given, __file__)


def write_model(
    runs: Path, name: str, number: int, *, is_recorded: bool = True
) -> None:
    """Write what one model answered in both modes."""
    model = f"recorded/{name}" if is_recorded else name
    folder = runs / name
    folder.mkdir(parents=True)
    provenance: dict[str, Any] = {"split": "validation", "prompts": {"set": "upstream"}}
    if is_recorded:
        facts = {"repository": "some/repository", "date": "2024-08-10"}
        provenance["recording"] = {**facts, "decoding": "unknown"}
    results: dict[str, Any] = {"model_name": model, "results": {}, "configs": {}}
    results["n-samples"] = {}
    for task, mode in (("financemath", "cot"), ("financemath_pot", "pot")):
        lines = samples(number, mode, is_recorded)
        text = "\n".join(map(json.dumps, lines)) + "\n"
        (folder / f"samples_{task}_{STAMP}.jsonl").write_text(text)
        values = [line["acc"] for line in lines]
        share = sum(values) / len(values)
        results["results"][task] = {"acc,paper": share, "acc,robust": share}
        results["configs"][task] = {"metadata": {"provenance": provenance}}
        counts = {"original": QUESTIONS, "effective": QUESTIONS}
        results["n-samples"][task] = counts
    (folder / f"results_{STAMP}.json").write_text(json.dumps(results))


def samples(number: int, mode: str, is_recorded: bool) -> list[dict[str, Any]]:
    """Return the lines of a samples file; a model is the better, the higher its number."""
    chance = random.Random(f"{number} {mode} {is_recorded}")  # noqa: S311
    lines = []
    for place in range(QUESTIONS):
        texts = random.Random(place)  # noqa: S311
        doc = {
            "id": f"validation-{place}",
            "mode": mode,
            "topic_name": TOPICS[place % len(TOPICS)],
            "ground_truth": place / 4,
            "prompt": f"Question: {' '.join(texts.choices(WORDS, k=150))}",
        }
        acc = float(chance.random() < 0.05 + 0.012 * number)
        answer = place / 4 if acc else texts.choice((1.0, 7.25, 12.5))
        response = " ".join(chance.choices(WORDS, k=300))
        line = {
            "doc_id": place,
            "doc": doc,
            "resps": [[response]],
            "filtered_resps": [[json.dumps({"answer": answer, "reason": ""})]],
            "metrics": ["acc", "no_answer"],
            "acc": acc,
            "no_answer": 0.0,
        }
        if is_recorded:
            line["recorded"] = {"authors_score": int(acc or chance.random() < 0.02)}
        lines.append(line)
    return [
        {**line, "filter": scoring} for scoring in ("paper", "robust") for line in lines
    ]


def browse(page_file: Path, out: Path, widths: Sequence[int]) -> list[Figure]:
    """Open the views in each width, and return the seconds and the megabytes before the first table."""
    from playwright.sync_api import sync_playwright

    figures = []
    megabytes = 0.0
    with sync_playwright() as play:
        chromium = play.chromium.launch(
            executable_path=shutil.which("chromium"), args=["--no-sandbox"]
        )
        for width in widths:
            page = chromium.new_page(viewport={"width": width, "height": 900})
            loaded: list[str] = []
            page.on("request", lambda request, seen=loaded: seen.append(request.url))
            for view, sight in VIEWS.items():
                address = f"{page_file.resolve().as_uri()}#view={view}"
                begun = time.perf_counter()
                page.goto(address)
                page.wait_for_selector(sight)
                seconds = time.perf_counter() - begun
                what = f"the view *{view}* at {width} px"
                figures.append(Figure(what=what, value=seconds, unit="s"))
                if view == "board":
                    paths = [Path(unquote(urlsplit(url).path)) for url in loaded]
                    megabytes = sum(path.stat().st_size for path in paths) / 1e6
                page.screenshot(path=out / f"{view}_{width}.png")
    what = "before the first paint"
    return [*figures, Figure(what=what, value=megabytes, unit="MB", most=GOAL_MB)]


if __name__ == "__main__":
    sys.exit(main())
