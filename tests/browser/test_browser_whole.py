"""The page of a whole report, with papers' figures: what opens, fits on a phone, has an address, and who can use it."""

import re
from pathlib import Path
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from browsing import CHROMIUM, REASON, Opened, opened
from made_site import sample, write_run, write_site

pytestmark = pytest.mark.skipif(CHROMIUM is None, reason=REASON)

LONG = "W" * 400
VIEWS = ("board", "values", "ranks", "duel", "breakdown", "bias", "samples", "about")
FEW = {"board": "&search=made", "values": "&search=made", "about": "&search=made"}  # axe looks at every cell
LOOKED_FOR = {
    "resultTypes": ["violations"],
    "runOnly": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"],
    "rules": {"color-contrast": {"enabled": False}},  # contrasts.js looks at that, in both colours, in less time
}


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Four models, of which the first by name was asked other data than the rest."""
    base = tmp_path_factory.mktemp("whole")
    for skill, model in enumerate(("aaa", "beta", "gamma", LONG)):
        rows = [sample(at, acc=float(at % 4 < skill), unscored=0.0, acc_TU=float(at % 4 < skill)) for at in range(40)]
        rows[3] |= sample(3, doc={"capabilities": ["W" * 5000]})
        write_run(base / "runs" / model[:9], rows, model=f"made/{model}", revision="d1" if skill else "d0")
    write_site(base / "runs", base / "out", published=True)
    return base / "out"


def test_views_open_with_something_to_show(shown: Opened) -> None:
    shown.show("view=breakdown")
    shown.page.wait_for_selector(".chart svg")
    assert "made/beta" in shown.page.inner_text(".keys")
    shown.show("view=duel")
    assert shown.page.inner_text(".score").startswith("made/beta is better in")
    shown.page.get_by_label("Model").select_option("made/aaa")
    shown.page.wait_for_selector("text=were not compared")
    assert "made/beta (not compared)" in shown.page.get_by_label("against").inner_text()
    shown.show("view=breakdown&published=0")
    label = shown.page.get_by_label("Task and parts").locator("option").last.inner_text()
    shown.page.get_by_label("Task and parts").select_option(label=label)
    assert "tick “Published figures”" in shown.page.inner_text("#main .note")


@pytest.mark.parametrize(
    ("task", "benchmark"), [("dynostock_recency_w4_text", "dynostock"), ("financemath", "financemath")]
)
def test_it_opens_on_what_the_runs_are_about(browser: Any, tmp_path: Path, task: str, benchmark: str) -> None:
    rows = [sample(at, acc=float(at % 2), unscored=0.0) for at in range(20)]
    write_run(tmp_path / "runs", rows, task=task, model="made/forecaster", variants=("paper",))
    write_site(tmp_path / "runs", tmp_path / "out", published=True)
    with opened(browser, tmp_path / "out") as shown:
        assert shown.page.get_by_label("Benchmark").input_value() == benchmark
        assert not [head for head in shown.page.locator(".board thead th").all_inner_texts() if head.startswith("·")]
        assert "made/forecaster" in shown.page.locator(".board tbody th .model").all_inner_texts()
        shown.show("view=board&search=forecaster")
        assert re.fullmatch(r"1 row, \d+ columns", shown.page.locator("#status").inner_text())


def test_a_phone_needs_no_scrolling_to_the_side(browser: Any, site: Path) -> None:
    with opened(browser, site, viewport={"width": 360, "height": 740}, has_touch=True, is_mobile=True) as shown:
        for view in VIEWS:
            shown.show(f"view={view}")
            shown.page.wait_for_selector("#main :is(.grid, .samples-list)")
            assert shown.page.evaluate("document.documentElement.scrollWidth") <= 360, view
        shown.show("view=breakdown&apart=mixed")
        shown.page.wait_for_selector(".chart svg")
        cut = """() => {
          const {left} = document.querySelector(".chart svg").getBoundingClientRect();
          const texts = [...document.querySelectorAll(".chart svg text")];
          return texts.filter((one) => one.getBoundingClientRect().left < left - 1).length;
        }"""
        assert shown.page.evaluate(cut) == 0


def test_sorting_many_values_keeps_focus_and_place(browser: Any, site: Path) -> None:
    with opened(browser, site, address="view=values", viewport={"width": 500, "height": 700}) as shown:
        head = shown.page.locator("th[data-key=value]")
        head.scroll_into_view_if_needed()
        left = shown.page.evaluate("document.querySelector('.scroll').scrollLeft = 200")
        head.focus()
        for order in ("descending", "ascending"):
            shown.page.keyboard.press("Enter")
            shown.page.wait_for_selector(f"th[data-key=value][aria-sort={order}]")
            assert shown.page.evaluate("document.activeElement.dataset.key") == "value"
            assert shown.page.evaluate("document.querySelector('.scroll').scrollLeft") == left
        shown.page.locator("#show-more").focus()
        shown.page.keyboard.press("Enter")
        shown.page.wait_for_selector("text=1,250 of")
        assert shown.page.evaluate("document.activeElement.id") == "show-more"


def test_what_is_known_of_a_value_has_an_address(shown: Opened, browser: Any, site: Path) -> None:
    shown.show("view=values&search=made/beta")
    before = shown.page.url
    shown.page.click("td.opens >> nth=0")
    told = shown.page.inner_text("#details")
    shown.page.wait_for_function("address => location.href !== address", arg=before)
    address = shown.page.evaluate("location.href")
    assert "made/beta" in told
    with opened(browser, site, address=address.partition("#")[2]) as again:
        assert again.page.inner_text("#details") == told
        again.page.keyboard.press("Escape")
        again.page.wait_for_function("!location.hash.includes('detail')")
        assert again.page.locator("#details[open]").count() == 0
    shown.page.evaluate("history.back()")
    shown.page.wait_for_selector("#details[open]", state="detached")
    assert shown.page.evaluate("location.href") == before
    assert shown.page.evaluate("document.activeElement.matches('td.opens')")
    shown.page.evaluate("history.forward()")
    shown.page.wait_for_selector("#details[open]")
    assert shown.page.inner_text("#details") == told
    shown.page.click("#details >> text=Close")
    shown.page.wait_for_function("address => location.href === address", arg=before)
    shown.page.click("td.opens >> nth=0")
    shown.page.click("#details >> text=Open the samples")
    shown.page.wait_for_selector(".samples-list")
    assert shown.page.locator("#details[open]").count() == 0


def test_published_models_have_the_names_that_papers_print(shown: Opened) -> None:
    shown.show("view=values&search=claude")
    names = shown.page.locator("tbody th").all_inner_texts()
    assert len(names) > 20
    assert not [name for name in names if re.search(r"\([0-9a-f]{8}\)", name)]
    shown.page.click("td.opens >> nth=0")
    assert re.search(r"XFinBench, \w+ version, table \w+ \(published", shown.page.inner_text("#details"))


def test_axe_finds_nothing(browser: Any, site: Path) -> None:
    axe = Axe()
    with opened(browser, site, bypass_csp=True) as shown:
        for address in (*(f"view={view}{FEW.get(view, '')}" for view in VIEWS), "view=samples&row=q_3", "dialog"):
            shown.show("view=board&search=made" if address == "dialog" else address)
            shown.page.wait_for_selector("#main :is(.grid, article.sample)")
            if address == "dialog":
                shown.page.click(".board td.opens >> nth=0")
            shown.page.evaluate("document.querySelectorAll('details').forEach((one) => { one.open = true })")
            found = axe.run(shown.page, options=LOOKED_FOR)
            assert found.response["violations"] == [], address


def test_axe_is_at_work(shown: Opened) -> None:
    shown.page.evaluate("document.documentElement.removeAttribute('lang')")
    options = {"resultTypes": ["violations"], "runOnly": ["html-has-lang"]}
    assert Axe().run(shown.page, options=options).violations_count == 1
