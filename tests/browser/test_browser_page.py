"""The page in a real browser: sorting and choosing, by mouse, finger and keyboard, large and in both colours."""

import time
from pathlib import Path
from typing import Any

import pytest
from browsing import CHROMIUM, CONTRASTS, REASON, Opened, opened
from made_site import made_document, picture, sample, sent, write_run, write_site

from fin_tasks.report.site.page import write_page

pytestmark = pytest.mark.skipif(CHROMIUM is None, reason=REASON)

MINUS = "\N{MINUS SIGN}"
MODELS = ("alpha", "beta", "gamma")
TASKS = ("xfinbench_bool", "xfinbench_mcq")
VIEWS = ("board", "values", "ranks", "duel", "samples", "about")


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    base = tmp_path_factory.mktemp("page")
    for skill, model in enumerate(MODELS):
        for task in TASKS:
            rows = [sample(at, acc=float(at % 4 <= skill), unscored=0.0) for at in range(80)]
            rows[1] |= {"arguments": sent(picture(size=(400, 240), colour="steelblue"))}
            write_run(base / "runs" / model, rows, task=task, model=f"made/{model}")
    write_site(base / "runs", base / "out")
    return base / "out"


def rows(shown: Opened) -> list[str]:
    return [text.rpartition("/")[2] for text in shown.page.locator(".board tbody th .model").all_inner_texts()]


def test_it_loads_sorted_by_its_first_column(shown: Opened) -> None:
    assert rows(shown) == ["gamma", "beta", "alpha"]
    assert shown.page.inner_text("#subtitle").startswith("3 models")
    assert shown.asked == [(shown.folder / "index.html").as_uri()]


def test_columns_sort_both_ways_and_the_address_keeps_it(shown: Opened) -> None:
    head = ".board thead th >> nth=1"
    shown.page.click(head)
    assert rows(shown) == ["alpha", "beta", "gamma"]
    assert shown.page.get_attribute(head, "aria-sort") == "ascending"
    shown.page.reload()
    shown.page.wait_for_selector(".board")
    assert rows(shown) == ["alpha", "beta", "gamma"]


def test_models_and_columns_are_chosen(shown: Opened) -> None:
    shown.page.get_by_label("Find models").fill("ALPHA")
    shown.page.wait_for_function("() => document.querySelectorAll('.board tbody tr').length === 1")
    assert rows(shown) == ["alpha"]
    shown.page.get_by_label("Find models").fill("")
    shown.page.wait_for_function("() => document.querySelectorAll('.board tbody tr').length === 3")
    before = shown.page.locator(".board thead th").count()
    shown.page.click("#columns summary")
    shown.page.locator("#columns input").first.uncheck()
    shown.page.wait_for_function("n => document.querySelectorAll('.board thead th').length === n", arg=before - 1)


def test_a_model_against_another_tells_the_difference_and_whether_it_is_one(shown: Opened) -> None:
    shown.show("view=duel")
    shown.page.get_by_label("Model").select_option("made/gamma")
    shown.page.get_by_label("against").select_option("made/alpha")
    assert shown.page.inner_text(".score").startswith("made/gamma is better in 2, made/alpha in 0; in 0 of 2 tasks")
    shown.page.get_by_label("Scored as").select_option("all")
    assert "made/alpha in 0; in 0 of 4 comparisons on 2 tasks" in shown.page.inner_text(".score")
    # Of 80 rows gamma has 40 right that alpha has not, and none the other way round; Agresti and Min's interval.
    numbers = ["75.0", "25.0", "+50.0", "+37.7 to +59.9", "< 0.001", "< 0.001", "80", "▲ made/gamma"]
    assert cells(shown) == [numbers] * 4
    shown.page.click("text=Swap")
    shown.page.wait_for_selector(".grid caption:text('made/alpha against made/gamma')")
    turned = ["25.0", "75.0", f"{MINUS}50.0", f"{MINUS}59.9 to {MINUS}37.7", "< 0.001", "< 0.001", "80", "▼ made/gamma"]
    assert cells(shown) == [turned] * 4


def cells(shown: Opened) -> list[list[str]]:
    lines = shown.page.locator("#main .grid tbody tr").all()
    return [[text.strip() for text in line.locator("td").all_inner_texts()] for line in lines]


def test_who_is_better_than_whom_leads_to_the_two(shown: Opened) -> None:
    shown.show("view=ranks")
    cell = shown.page.locator(".matrix tbody tr:has-text('made/gamma') td:has-text('+50.0')")
    assert "▲" in cell.inner_text()
    cell.click()
    shown.page.wait_for_selector(".grid caption:text('made/gamma against made/alpha')")


def test_by_keyboard_alone(shown: Opened) -> None:
    for _ in range(40):
        shown.page.keyboard.press("Tab")
        if shown.page.evaluate("document.activeElement.matches('.board th, .board td')"):
            break
    for key in ("ArrowDown", "ArrowRight", "Enter"):
        shown.page.keyboard.press(key)
    assert shown.page.locator("#details[open]").count() == 1
    shown.page.keyboard.press("Escape")
    assert shown.page.locator("#details[open]").count() == 0
    assert shown.page.evaluate("document.activeElement.matches('.board td')")


@pytest.mark.parametrize("colours", ["light", "dark"])
def test_text_can_be_read_in_both_colours(browser: Any, site: Path, colours: str) -> None:
    with opened(browser, site, color_scheme=colours) as shown:
        for view in VIEWS:
            shown.show(f"view={view}")
            shown.page.wait_for_selector("#main .view")
            seen = shown.page.evaluate(CONTRASTS)
            assert seen["looked"] > 10, view
            assert seen["found"] == [], view


def test_low_contrast_is_noticed(shown: Opened) -> None:
    shown.page.evaluate("document.getElementById('subtitle').style.setProperty('color', '#cccccc')")
    assert len(shown.page.evaluate(CONTRASTS)["found"]) == 1


def test_a_phone_needs_no_scrolling_to_the_side(browser: Any, site: Path) -> None:
    with opened(browser, site, viewport={"width": 360, "height": 740}, has_touch=True, is_mobile=True) as shown:
        for view in VIEWS:
            shown.show(f"view={view}")
            assert shown.page.evaluate("document.documentElement.scrollWidth") <= 360, view


def test_sixty_models_on_forty_tasks_stay_quick(browser: Any, tmp_path: Path) -> None:
    write_run(tmp_path / "runs", [sample(at) for at in range(20)])
    document = made_document(tmp_path / "runs", tmp_path)
    (model,), (run,) = document["models"], document["runs"]
    task = next(one for one in document["tasks"] if one["variant"] == "robust")
    entry = next(one for one in document["entries"] if one["task"] == task["id"] and one["metric"] == "acc")
    models, tasks = [f"model {at}" for at in range(60)], [f"task {at}" for at in range(40)]
    document |= {
        "comparisons": [],
        "models": [{**model, "name": name, "runs": [name]} for name in models],
        "runs": [{**run, "id": name, "label": name, "model": name} for name in models],
        "tasks": [{**task, "id": name, "title": f"{name} · robust"} for name in tasks],
        "entries": [
            {**entry, "model": name, "run": name, "task": of, "value": (at * 37 + place * 11) % 100 / 100}
            for at, name in enumerate(models)
            for place, of in enumerate(tasks)
        ],
    }
    write_page(document, tmp_path)
    with opened(browser, tmp_path, address="benchmark=all") as shown:
        begun = time.monotonic()
        shown.page.reload()
        shown.page.wait_for_selector(".board tbody tr:nth-child(60)")
        shown.page.click(".board thead th >> nth=3")
        assert time.monotonic() - begun < 60  # far less on a machine that is not busy
        assert shown.page.locator(".board td").count() == 2400
        assert shown.told == []
