"""Take the pictures of the page for docs/images: `make pictures`.

They show made-up runs, and the authors' recordings of FinanceMath where they are in ../shared/data.
"""

import random
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from PIL import Image

from fin_tasks.recordings.catalog import read_catalog, select
from fin_tasks.report.write import write_report

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "tests" / "report"))

from browsing import show, write_page_of  # noqa: E402
from run_files import write_run  # noqa: E402

RECORDED = ROOT.parent / "shared" / "data" / "financemath"
SIZE = {"width": 1440, "height": 900}
MODELS = ("ash-8b", "birch-14b", "cedar-7b", "elm-32b", "fir-7b", "oak-70b")
QUESTION = r"""A bond pays a coupon of $C = 5$ a year for $n$ years. It costs $96.20 today.

| Year | Payment |
|---|---|
| 1 | 5.00 |
| 2 | 105.00 |

Its price is \[P = \sum_{t=1}^{n} \frac{C}{(1+y)^t} + \frac{F}{(1+y)^n}\] What is the yield $y$?"""
VIEWS = {
    "report_overview": "",
    "report_leaderboard": "view=board&benchmark=financemath",
    "report_samples": "view=samples&benchmark=xfinbench&show=lost&run={first}&with={second}",
}
TASKS = {
    "xfinbench_bool": 0.25,
    "xfinbench_mcq": 0.1,
    "xfinbench_calc": -0.1,
    "financemath": -0.15,
    "bizbench": 0.05,
}


def made_up_page(folder: Path) -> str:
    """Write the page of six models on four benchmarks, and return its address.

    One model was also asked with terms, and one has responses that were cut off.
    """
    chance = random.Random(3)  # noqa: S311 - the pictures stay the same
    docs = [
        {
            "prompt": QUESTION,
            "question": f"Bond {at}: what is its yield?",
            "answer": "0.0712",
        }
        for at in range(100)
    ]

    def rows(
        share: float, metric: str = "acc", right: float = 1.0, cut_off: float = 0.0
    ) -> list[dict[str, Any]]:
        made = []
        for _ in range(100):
            is_right = chance.random() < share
            is_cut = not is_right and chance.random() < cut_off
            row = {metric: right * is_right, "no_answer": 0.0, "cut_off": float(is_cut)}
            made.append(row)
        return made

    for place, model in enumerate(MODELS):
        skill = 0.3 + 0.08 * place
        cut_off = 0.2 if model == "elm-32b" else 0.0
        tasks = {
            name: rows(skill + easier, cut_off=cut_off)
            for name, easier in TASKS.items()
        }
        groups = {"xfinbench_text": [name for name in tasks if "xfinbench" in name]}
        judged = {
            "mme_finance_en": rows(skill, "score", 100.0),
            "mme_finance_zh": rows(skill - 0.05, "score", 100.0),
        }
        judge = {"judge": {"model": "gpt-4o", "rubric": "paper"}}
        terms = {"retrieval": {"condition": "bm25"}}
        calculations = {"xfinbench_calc": rows(skill)}
        runs = folder / "runs" / str(place)
        known: dict[str, Any] = {"model": model, "docs": docs}
        write_run(runs, tasks, groups=groups, **known)
        write_run(runs / "judged", judged, metadata=judge, **known)
        write_run(runs / "terms", calculations, provenance=terms, **known)
    return write_page_of(folder, papers=True)


def recorded_page(folder: Path) -> str:
    """Score FinanceMath's recorded models that are at hand, write their page, and return its address."""
    copy = folder / "copy"
    for recording in select(read_catalog(), "financemath"):
        (file,) = recording.files
        source = RECORDED / recording.part.mode / Path(file.path).name
        if source.is_file():
            (copy / file.path).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(source, copy / file.path)
    (copy / "data").mkdir()
    shutil.copy(RECORDED / "validation.json", copy / "data")
    command = ["-m", "fin_tasks", "recordings", "financemath", "--from", str(copy)]
    command += ["--out", str(folder / "results")]
    subprocess.run([sys.executable, *command], check=True)  # noqa: S603 - our own command line
    return write_report(folder / "results", folder / "out").page.as_uri()


def take_pictures(images: Path) -> None:
    """Take all pictures into a folder."""
    from playwright.sync_api import sync_playwright

    with tempfile.TemporaryDirectory() as temporary, sync_playwright() as play:
        chromium = play.chromium.launch(
            executable_path=shutil.which("chromium"), args=["--no-sandbox"]
        )
        page = chromium.new_page(viewport=SIZE)
        address = made_up_page(Path(temporary, "made-up"))
        show(page, address, "view=samples&benchmark=xfinbench")
        ids = {}
        options = page.locator("#choice-run optgroup").first.locator("option")
        for option in options.all():
            ids[option.text_content()] = option.get_attribute("value")
        for name, view in VIEWS.items():
            where = view.format(first=ids["ash-8b"], second=ids["oak-70b"])
            page.goto("about:blank")
            show(page, address, where)
            if "view=samples" in where:
                page.wait_for_selector("article .katex")
            save_picture(page, images / f"{name}.png")
        if RECORDED.is_dir():
            show(page, recorded_page(Path(temporary, "recorded")))
            save_picture(page, images / "recorded_models.png")
        chromium.close()


def save_picture(page: Any, file: Path) -> None:
    """Save what the screen shows, with the most frequent colors alone."""
    page.screenshot(path=file)
    with Image.open(file) as shown:
        shown.quantize(64).save(file, optimize=True)
