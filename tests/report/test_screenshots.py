"""Pictures of the page for the documentation; what a phone shows is checked, too.

FIN_TASKS_SCREENSHOTS=docs/images writes them there.
"""

import os
import random
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from PIL import Image
from run_files import PROVENANCE, write_run
from typer.testing import CliRunner

from fin_tasks.cli import app
from fin_tasks.recordings.catalog import read_catalog, select
from fin_tasks.report import read
from fin_tasks.report.leaderboard import board
from fin_tasks.report.site.page import write_page
from fin_tasks.report.write import write_report

CHROMIUM = shutil.which("chromium")
pytestmark = pytest.mark.skipif(
    CHROMIUM is None, reason="needs Chromium: apt-get install chromium"
)

RECORDED = Path(__file__).resolve().parents[3] / "shared" / "data" / "financemath"
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


@pytest.fixture(scope="module")
def report_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Six models on four benchmarks; one of them also with terms, one with cut-off responses."""
    folder = tmp_path_factory.mktemp("screenshots")
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
        share: float, metric: str, right: float, cut_off: float = 0.0
    ) -> list[dict[str, Any]]:
        made = []
        for _ in range(100):
            is_right = chance.random() < share
            cut = not is_right and chance.random() < cut_off
            made.append(
                {metric: right * is_right, "no_answer": 0.0, "cut_off": float(cut)}
            )
        return made

    for place, model in enumerate(MODELS):
        skill = 0.3 + 0.08 * place
        tasks = {
            name: rows(skill + easier, "acc", 1.0, 0.2 if model == "elm-32b" else 0)
            for name, easier in TASKS.items()
        }
        groups = {
            "xfinbench_text": [name for name in tasks if name.startswith("xfinbench")]
        }
        write_run(folder / f"{place}", tasks, model=model, docs=docs, groups=groups)
        judged = {
            "mme_finance_en": rows(skill, "score", 100.0),
            "mme_finance_zh": rows(skill - 0.05, "score", 100.0),
        }
        judge = {"judge": {"model": "gpt-4o", "rubric": "paper"}}
        write_run(
            folder / f"judged-{place}", judged, model=model, docs=docs, metadata=judge
        )
        terms = {"provenance": {**PROVENANCE, "retrieval": {"condition": "bm25"}}}
        calculations = {"xfinbench_calc": rows(skill, "acc", 1.0)}
        write_run(
            folder / f"terms-{place}",
            calculations,
            model=model,
            docs=docs,
            metadata=terms,
        )
    out = folder / "out"
    out.mkdir()
    report = read([folder], page=out / "page")
    write_page(report, board(report), out)
    return out


@pytest.fixture(scope="module")
def chromium() -> Iterator[Any]:
    from playwright.sync_api import sync_playwright

    with sync_playwright() as play:
        browser = play.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield browser
        browser.close()


@pytest.mark.slow
@pytest.mark.parametrize("width", [1440, 390])
@pytest.mark.parametrize("name", VIEWS)
def test_pictures_of_the_page(
    chromium: Any, report_folder: Path, tmp_path: Path, name: str, width: int
) -> None:
    page = chromium.new_page(viewport={"width": width, "height": 900})
    address = (report_folder / "index.html").as_uri()
    page.goto(f"{address}#view=samples&benchmark=xfinbench")
    page.wait_for_selector("#sample-title")
    options = page.locator("#choice-run optgroup").first.locator("option")
    ids = {
        option.text_content(): option.get_attribute("value") for option in options.all()
    }
    page.goto("about:blank")
    view = VIEWS[name].format(first=ids["ash-8b"], second=ids["oak-70b"])
    page.goto(f"{address}#{view}")
    page.wait_for_selector("article .katex" if "samples" in view else "#main tbody tr")
    page.wait_for_selector("#main[aria-busy=false]")
    take_picture(page, name, width, tmp_path)


def take_picture(page: Any, name: str, width: int, tmp_path: Path) -> None:
    """Write a picture of a page that fits the width; that of a screen goes where pictures of the docs are asked for."""
    folder = (
        os.environ.get("FIN_TASKS_SCREENSHOTS", tmp_path) if width == 1440 else tmp_path
    )
    picture = Path(folder) / f"{name}.png"
    page.screenshot(path=picture)
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    first = page.locator("#main table:visible, #main article").first.bounding_box()
    assert first["y"] < 600, "the first sight shows what people came for"
    with Image.open(picture) as shown:
        assert shown.width == width
        shown.quantize(64).save(picture, optimize=True)
    page.close()


@pytest.fixture(scope="module")
def recorded_page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Score FinanceMath's recorded models that are at hand, and make their page."""
    if not RECORDED.is_dir():
        pytest.skip(f"the authors' recordings are not at {RECORDED}")
    folder = tmp_path_factory.mktemp("recorded")
    copy = folder / "copy"
    for recording in select(read_catalog(), "financemath"):
        (file,) = recording.files
        source = RECORDED / recording.part.mode / Path(file.path).name
        if source.is_file():
            (copy / file.path).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(source, copy / file.path)
    (copy / "data").mkdir()
    shutil.copy(RECORDED / "validation.json", copy / "data")
    options = ["financemath", "--from", str(copy), "--out", str(folder / "results")]
    results = CliRunner().invoke(app, ["recordings", *options])
    assert results.exit_code == 0, results.output
    written = write_report(folder / "results", folder / "out")
    return written.page


@pytest.mark.slow
@pytest.mark.parametrize("width", [1440, 390])
def test_picture_of_recorded_models(
    chromium: Any, recorded_page: Path, tmp_path: Path, width: int
) -> None:
    page = chromium.new_page(viewport={"width": width, "height": 900})
    page.goto(recorded_page.as_uri())
    page.wait_for_selector("table.models tbody tr")
    names = page.locator("table.models tbody th").all_inner_texts()
    assert len(names) == 6
    assert all("recorded by the benchmark's authors" in name for name in names)
    take_picture(page, "recorded_models", width, tmp_path)
