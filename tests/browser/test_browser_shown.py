"""The page in the documentation, from the real runs that `shown_runs.py` makes; with FIN_TASKS_SCREENSHOTS=1 pictured.

The pictures show the packaged sample's questions alone: those of the authors' validation set are not ours to show.
"""

import os
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from browsing import CHROMIUM, CONTRASTS, REASON, Opened, opened

from fin_tasks.report.collect import collect
from fin_tasks.report.old_leaderboard import document
from fin_tasks.report.site.page import write_page
from fin_tasks.report.site.sample_store import write_samples
from fin_tasks.settings import Settings

IMAGES = Path(__file__).parents[2] / "docs" / "images"
SHOTS = os.environ.get("FIN_TASKS_SCREENSHOTS") == "1"
RUNS = os.environ.get("FIN_TASKS_SHOWN", "")

pytestmark = [
    pytest.mark.skipif(CHROMIUM is None, reason=REASON),
    pytest.mark.skipif(
        not (RUNS and Path(RUNS, "results").is_dir()),
        reason="needs real runs: make shown SHOWN=FOLDER, then FIN_TASKS_SHOWN=FOLDER here",
    ),
]


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("shown")
    results = Path(RUNS, "results")
    settings = replace(Settings.from_environ({}), cache_dir=out / "cache")
    found = collect([results, results / "replayed.json"], settings=settings)
    assert not found.problems
    index = write_samples(found, out)
    write_page(document(found, title="fin-tasks: shown runs"), out, samples=index)
    return out


@pytest.fixture
def shown(browser: Any, site: Path) -> Iterator[Opened]:
    with opened(browser, site, color_scheme="light", viewport={"width": 1200, "height": 760}) as found:
        yield found
        assert found.told == []
        assert found.strangers() == []


def keep(shown: Opened, name: str, *, height: int) -> None:
    """Write the upper part of what is shown."""
    shown.page.wait_for_load_state("networkidle")
    seen = shown.page.evaluate(CONTRASTS)
    assert seen["looked"] > 10
    assert seen["found"] == []
    if SHOTS:
        IMAGES.mkdir(parents=True, exist_ok=True)
        shown.page.set_viewport_size({"width": 1200, "height": height})
        shown.page.wait_for_timeout(300)  # charts are drawn anew for another size
        shown.page.screenshot(path=IMAGES / f"report_shown_{name}.png")


def test_the_leaderboard(shown: Opened) -> None:
    shown.show("view=board&benchmark=dynostock&variant=paper")
    shown.page.wait_for_selector(".board tbody tr .tag")
    keep(shown, "board", height=760)


def test_runs_of_a_small_model_beside_one_that_says_nothing(shown: Opened) -> None:
    shown.show("view=board&benchmark=xfinbench&variant=robust&ranks=1")
    shown.page.wait_for_selector(".board tbody tr")
    assert {"smollm2", "dummy"} <= set(shown.page.locator(".board tbody th .model").all_inner_texts())
    keep(shown, "runs", height=720)


def test_a_model_against_another(shown: Opened) -> None:
    shown.show("view=duel&a=smollm2&b=dummy&variant=robust")
    text = shown.page.inner_text("#main")
    assert "smollm2 is better in" in text
    assert "XFinBench" in text
    keep(shown, "duel", height=760)


def test_the_bias_index_by_window(shown: Opened) -> None:
    shown.show("view=bias")
    shown.page.wait_for_selector(".chart svg")
    assert "published" in shown.page.inner_text(".keys")
    keep(shown, "bias", height=900)


def test_capabilities(shown: Opened) -> None:
    shown.show("view=breakdown")
    label = "XFinBench bool · validation split · da · no role · robust: capability"
    shown.page.get_by_label("Task and parts").select_option(label=label)
    shown.page.wait_for_selector(".chart svg")
    keep(shown, "capabilities", height=760)


def test_a_sample_of_ours(shown: Opened) -> None:
    shown.show("view=samples")
    shown.page.get_by_label("Model").select_option("smollm2")
    shown.page.get_by_label("Task").select_option(label="XFinBench bool · sample · cot")
    shown.page.wait_for_selector(".samples-list tbody a:text-matches('^sample_')")
    keep(shown, "samples", height=760)
    shown.page.click(".samples-list tbody a >> nth=0")
    shown.page.wait_for_selector("article.sample")
    assert shown.page.text_content("#sample-title").startswith("sample_")
    keep(shown, "sample", height=900)
