"""Every view draws every odd document, and every address, without an error and without asking for anything."""

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from made_leaderboard import HOSTILE, leaderboard

from fin_tasks.report.schema import check
from fin_tasks.report.site.page import write_page

CHROMIUM = shutil.which("chromium")
VIEWS = ("board", "values", "ranks", "duel", "breakdown", "bias", "about")
ADDRESSES = (
    *(f"view={view}" for view in VIEWS),
    *("view=nonsense&sort=zz", "view=ranks&on=99", "view=breakdown&of=9%20x&models=zz", "view=bias&family=x"),
    *("view=values&count=x&fields=zz&vsort=-q", "view=board&benchmark=q&variant=q&metric=q&hide=a", "a=%00&b=%E0%A4"),
)

pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="needs Chromium: apt-get install chromium")


def with_parts_and_windows() -> dict[str, Any]:
    """Return a document that has all views."""
    document = leaderboard(("a", "b", "c"))
    (task,) = document["tasks"]
    part = {**document["metrics"]["acc"], "label": "Accuracy: TU", "by": "capability", "of": "TU"}
    index = {**document["metrics"]["acc"], "label": "Bias index", "higher_is_better": False}
    document["metrics"] |= {"acc_TU": part, "bias_index": index}
    windows = {"id": "w", "benchmark": "dynostock", "task": "dynostock_recency_w4", "bias": "recency", "window": 4}
    document["tasks"].append({**task, **windows, "headline": "bias_index", "metrics": ["bias_index"]})
    task["metrics"].append("acc_TU")
    for entry in document["entries"][:3]:
        document["entries"] += [{**entry, "metric": "acc_TU"}, {**entry, "metric": "bias_index", "task": "w"}]
    return document


def nothing() -> dict[str, Any]:
    document = leaderboard(())
    return {**document, "tasks": [], "metrics": {}, "comparisons": []}


def only_published() -> dict[str, Any]:
    document = with_parts_and_windows()
    for run in document["runs"]:
        run |= {"source": "published", "date": ""}
    for entry in document["entries"]:
        entry |= {"low": None, "high": None, "n": 0, "marks": ["not measured here"]}
    return {**document, "comparisons": []}


def no_numbers() -> dict[str, Any]:
    document = with_parts_and_windows()
    for entry in document["entries"]:
        entry |= {"value": None, "low": None, "high": None}
    (comparison,) = document["comparisons"]
    comparison["detectable"] = {"paired": None, "unpaired": None}
    for place in comparison["ranks"]:
        place["value"] = None
    for pair in comparison["pairs"]:
        pair |= {"difference": None, "low": None, "high": None}
    return document


def all_apart() -> dict[str, Any]:
    document = with_parts_and_windows()
    for entry in document["entries"]:
        entry["marks"] = list(HOSTILE)
    return document


def hostile() -> dict[str, Any]:
    return leaderboard(HOSTILE, title=HOSTILE[0])


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    from playwright.sync_api import sync_playwright

    with sync_playwright() as play:
        found = play.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield found
        found.close()


@pytest.mark.parametrize(
    "make",
    [nothing, only_published, no_numbers, all_apart, hostile, with_parts_and_windows, lambda: leaderboard(("a",))],
)
def test_every_view_draws(make: Callable[[], dict[str, Any]], browser: Any, tmp_path: Path) -> None:
    document = make()
    check(document)
    path = write_page(document, tmp_path)
    page = browser.new_page()
    told: list[str] = []
    asked: list[str] = []
    page.on("console", lambda message: told.append(message.text))
    page.on("pageerror", lambda error: told.append(str(error)))
    page.on("request", lambda request: asked.append(request.url))
    page.goto(path.as_uri())
    for address in ADDRESSES:
        page.evaluate("address => { location.hash = address }", address)
        page.wait_for_function("() => document.querySelector('#tabs [aria-current]')")
        page.wait_for_timeout(20)
        assert page.locator("#main [role=alert]").count() == 0, address
    assert told == []
    assert asked == [path.as_uri()]
    assert page.evaluate("window.ran") is None
    page.close()


def test_all_views_are_offered_where_there_is_something_to_show(browser: Any, tmp_path: Path) -> None:
    page = browser.new_page()
    page.goto(write_page(with_parts_and_windows(), tmp_path).as_uri())
    assert page.eval_on_selector_all("#tabs a", "all => all.map((one) => one.id.slice(4))") == list(VIEWS)
    page.close()


def test_a_run_of_which_nothing_could_be_scored_is_seen_and_told(browser: Any, tmp_path: Path) -> None:
    document = leaderboard(("a", "b"))
    for entry in document["entries"]:
        if entry["model"] == "a":
            entry |= {"value": None, "low": None, "high": None, "n": 0, "unscored": 12}
    page = browser.new_page()
    page.goto(write_page(document, tmp_path).as_uri())
    cell = page.locator(".board tbody tr:has-text('a') td .none")
    assert cell.inner_text() == "none scored"
    assert cell.get_attribute("title") == "none of 12 rows could be scored"
    page.close()


def test_no_name_looks_like_another_by_what_cannot_be_seen(browser: Any, tmp_path: Path) -> None:
    blank = "\u00ad\u034f\u115f\u180e\u200d\u2800\u3164\ufe0f\uffa0\U000e0041\U000e0100"
    family = "\U0001f468\u200d\U0001f469 \u2764\ufe0f"
    page = browser.new_page()
    page.goto(write_page(leaderboard((*(f"gpt{letter}" for letter in blank), family)), tmp_path).as_uri())
    names = page.locator(".board tbody th .model bdi").all_inner_texts()
    told = [f"\\u{{{ord(one):x}}}" if ord(one) > 0xFFFF else f"\\u{ord(one):04x}" for one in blank]
    assert sorted(names) == sorted([*(f"gpt{one}" for one in told), family])
    page.close()


ATTACK = "".join(HOSTILE)
KNOWN = "bias_index"  # without which there is no view of it
CLOSED = {"unit", "source", "sources", "format", "version", "date", "generated", "test", "benchmark", "by"}


def attacked(value: Any, key: str = "") -> Any:
    """Put hostile text at the end of every text that a results file may bring, names of fields of it too."""
    if isinstance(value, str) and value:
        return value if key in CLOSED or value == KNOWN else value + ATTACK
    if isinstance(value, list):
        return [attacked(one, key) for one in value]
    if not isinstance(value, dict):
        return value
    if key in ("groups", "metrics"):  # by names of strangers
        inner = "provenance" if key == "groups" else ""
        return {name if name == KNOWN else name + ATTACK: attacked(one, inner) for name, one in value.items()}
    named = key == "provenance"
    return {name + ATTACK if named else name: attacked(one, "" if named else name) for name, one in value.items()}


def test_hostile_text_in_every_field_is_only_ever_text(browser: Any, tmp_path: Path) -> None:
    document = attacked(with_parts_and_windows())
    document["notes"] = [ATTACK]
    path = write_page(document, tmp_path)
    page = browser.new_page()
    told: list[str] = []
    asked: list[str] = []
    page.on("console", lambda message: told.append(message.text))
    page.on("pageerror", lambda error: told.append(str(error)))
    page.on("dialog", lambda dialog: (told.append(dialog.message), dialog.dismiss()))
    page.on("request", lambda request: asked.append(request.url))
    page.goto(path.as_uri())
    odd = "img, iframe, style:not(svg > style), base, form[action], [onload], [onerror], [href^=javascript]"
    made = f"body :is({odd}), main script"
    for view in VIEWS:
        page.evaluate("address => { location.hash = address }", f"view={view}&variant=all&benchmark=all")
        page.wait_for_function("view => document.querySelector('#main > .view.' + view)", arg=view)
        page.wait_for_timeout(20)
        opening = page.locator("#main .opens").first
        if opening.count():
            opening.click()
            page.evaluate("document.querySelectorAll('details').forEach((one) => { one.open = true })")
        assert page.locator(made).count() == 0, view
        assert page.locator("#main [role=alert]").count() == 0, view
        page.evaluate("document.getElementById('details').close()")
    assert "onerror=alert(1)" in str(page.text_content("#main"))
    assert told == []
    assert asked == [path.as_uri()]
    assert page.evaluate("window.ran") is None
    page.close()
