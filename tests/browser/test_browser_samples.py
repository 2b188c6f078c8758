"""The sample browser in a real one: finding, opening and walking through samples, and samples that attack the page."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from browsing import CHROMIUM, CONTRASTS, REASON, Opened, opened
from made_site import HOSTILE, picture, sample, sent, write_run, write_site

pytestmark = pytest.mark.skipif(CHROMIUM is None, reason=REASON)

ROWS = 260  # more than a file of responses holds


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    base = tmp_path_factory.mktemp("site")
    rows = [sample(place) for place in range(ROWS)]
    rows[7] = sample(
        7, arguments=sent(picture()), response="It is a red picture of a needle " + "and more " * 500 + "HAYSTACK-END"
    )
    rows[8] = sample(8, doc={"figure_path": "/nowhere/figure.png"})
    write_run(base / "runs" / "a", rows, model="made/alpha")
    write_run(
        base / "runs" / "b", [sample(place, response=f"beta says {place}") for place in range(ROWS)], model="made/beta"
    )
    write_site(base / "runs", base / "out")
    return base / "out"


@pytest.fixture
def shown(browser: Any, site: Path) -> Iterator[Opened]:
    with opened(browser, site) as found:
        yield found
        assert found.told == []
        assert found.strangers() == []
        assert found.page.locator("#main [role=alert]").count() == 0


def ids(shown: Opened) -> list[str]:
    shown.page.wait_for_selector(".samples-list, .samples-body .hint:not(:text('Loading'))")
    return shown.page.eval_on_selector_all(".samples-list tbody th", "all => all.map((one) => one.textContent)")


def title(shown: Opened) -> str:
    return str(shown.page.text_content("#sample-title"))


def at_sample(shown: Opened, name: str) -> None:
    shown.page.wait_for_function("name => document.getElementById('sample-title')?.textContent === name", arg=name)


def caption(shown: Opened, text: str) -> None:
    shown.page.wait_for_function(
        "text => document.querySelector('.samples-list caption')?.textContent === text", arg=text
    )


def test_a_cell_of_the_board_leads_to_its_samples(shown: Opened) -> None:
    assert not [url for url in shown.asked if "/samples/" in url]  # nothing is loaded before somebody asks
    shown.page.click(".board tbody tr:has-text('made/beta') td >> nth=0")
    shown.page.click("#details >> text=Open the samples >> nth=0")
    assert ids(shown)[:2] == ["q_0", "q_1"]
    assert "made/beta" in shown.page.locator(".samples .filters select >> nth=0").input_value()
    assert shown.page.locator(".samples-list tbody tr >> nth=0").inner_text().endswith("beta says 0")


def test_a_sample_shows_all_that_is_known_of_it(shown: Opened) -> None:
    shown.page.click("#tab-samples")
    shown.page.click(".samples-list >> text='q_7'")
    article = shown.page.locator("article.sample")
    article.wait_for()
    text = article.inner_text()
    for part in ("What is 7 and 7?", "truth 7", "target 7", "red picture of a needle", "HAYSTACK-END", "reason of 7"):
        assert part in text
    assert text.count("the reply") == 2  # of the judge, under each variant
    assert "robust ✓ 100 %" in text and "paper ✗ 0 %" in text
    image = article.locator("img")
    image.scroll_into_view_if_needed()
    shown.page.wait_for_function("() => document.querySelector('article img').naturalWidth === 40")
    assert "You know finance." in str(article.text_content())


def test_a_picture_that_is_not_there_is_told(shown: Opened) -> None:
    shown.show("view=samples&row=q_8")
    shown.page.wait_for_selector("article.sample")
    assert "was not found" in shown.page.inner_text("article.sample .note")


def test_a_link_opens_the_sample_it_names(shown: Opened, browser: Any, site: Path) -> None:
    shown.show("view=samples&row=q_250")
    at_sample(shown, "q_250")
    shown.page.click("#sample-on")
    at_sample(shown, "q_251")
    with opened(browser, site, address=shown.page.evaluate("location.hash.slice(1)")) as again:
        at_sample(again, "q_251")


def test_arrows_walk_through_the_samples_that_are_filtered(shown: Opened) -> None:
    shown.show("view=samples&only=differ&variant=robust")
    right = [f"q_{at}" for at in range(ROWS) if at % 7 == 0 and at % 3 and at % 11 != 10]
    assert ids(shown) == right[:50]
    shown.page.click(f".samples-list >> text='{right[0]}'")
    for name in right[:3]:
        at_sample(shown, name)
        shown.page.keyboard.press("ArrowRight")
    at_sample(shown, right[3])
    assert shown.page.evaluate("document.activeElement.id") == "sample-on"
    shown.page.keyboard.press("ArrowLeft")
    at_sample(shown, right[2])
    shown.page.keyboard.press("Escape")
    assert ids(shown) == right[:50]
    shown.page.evaluate("history.back()")
    at_sample(shown, right[2])


@pytest.mark.parametrize(
    ("only", "fits"),
    [
        ("wrong", lambda at: at % 3 and at % 11 != 10),
        ("right", lambda at: at % 3 == 0 and at % 11 != 10),
        ("unscored", lambda at: at % 11 == 10),
    ],
)
def test_filters_leave_what_they_say(shown: Opened, only: str, fits: Any) -> None:
    shown.show("view=samples&variant=paper")
    ids(shown)
    shown.page.get_by_label("Show").select_option(only)
    count = sum(bool(fits(at)) for at in range(ROWS))
    caption(shown, f"{count} samples of {ROWS}")
    assert ids(shown) == [f"q_{at}" for at in range(ROWS) if fits(at)][:50]


def test_the_list_sorts_over_all_of_its_pages(shown: Opened) -> None:
    shown.show("view=samples&variant=paper")
    ids(shown)
    head = ".samples-list thead th:has-text('paper')"
    shown.page.click(head)
    shown.page.wait_for_selector(f"{head}[aria-sort=descending]")
    right = [f"q_{at}" for at in range(ROWS) if at % 3 == 0 and at % 11 != 10]
    assert ids(shown) == right[:50]
    shown.page.click("#page-on")
    shown.page.wait_for_selector(f".samples-list >> text='{right[50]}'")
    wrong = [f"q_{at}" for at in range(ROWS) if at % 3 and at % 11 != 10]
    assert ids(shown) == [*right, *wrong][50:100]
    shown.page.click(f".samples-list >> text='{right[-1]}'")
    at_sample(shown, right[-1])
    shown.page.keyboard.press("ArrowRight")
    at_sample(shown, wrong[0])
    shown.show("view=samples&variant=paper&ssort=v0&page=9")  # those not scored are last in either order
    assert ids(shown) == [f"q_{at}" for at in range(ROWS) if at % 11 == 10][-len(ids(shown)) :]
    shown.show("view=samples&ssort=-id")
    assert ids(shown)[:2] == ["q_259", "q_258"]


def test_back_in_the_list_the_link_of_the_sample_has_the_focus(shown: Opened) -> None:
    shown.show("view=samples")
    ids(shown)
    shown.page.click(".samples-list >> text='q_12'")
    at_sample(shown, "q_12")
    shown.page.evaluate("history.back()")
    shown.page.wait_for_selector("article.sample", state="detached")
    ids(shown)
    assert shown.page.evaluate("document.activeElement.textContent") == "q_12"
    shown.show("view=samples&row=q_120")
    at_sample(shown, "q_120")
    shown.page.click("#sample-list")  # to the page that it is on
    ids(shown)
    assert shown.page.evaluate("document.activeElement.textContent") == "q_120"


def test_a_samples_link_is_copied_with_how_it_is_scored(shown: Opened, browser: Any, site: Path) -> None:
    shown.page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    shown.show("view=samples&row=q_5&find=q_5&page=2")
    at_sample(shown, "q_5")
    shown.page.click("article >> text=Copy link")
    shown.page.wait_for_selector("article >> text=Copied")
    link = shown.page.evaluate("navigator.clipboard.readText()")
    assert "variant=robust" in link and "row=q_5" in link and "find" not in link
    with opened(browser, site, address=link.partition("#")[2]) as again:
        at_sample(again, "q_5")
        refuse = "() => { navigator.clipboard.writeText = () => Promise.reject(new Error('refused')) }"
        again.page.evaluate(refuse)
        again.page.click("article >> text=Copy link")
        assert again.page.locator("article input.address").input_value() == link


def test_categories_and_pages(shown: Opened) -> None:
    shown.show("view=samples")
    ids(shown)
    shown.page.get_by_label("Category").select_option("capabilities: TU")
    caption(shown, f"130 samples of {ROWS}")
    shown.page.click("#page-on")
    shown.page.wait_for_selector(".samples-list >> text='q_101'")
    assert ids(shown)[0] == "q_101"
    assert shown.page.evaluate("document.activeElement.id") == "page-on"


def test_search_finds_in_lists_and_in_whole_texts(shown: Opened) -> None:
    shown.show("view=samples")
    ids(shown)
    shown.page.get_by_label("Find in samples").fill("needle picture")
    caption(shown, f"1 sample of {ROWS}")
    assert ids(shown) == ["q_7"]
    shown.page.get_by_label("Find in samples").fill("haystack-end")
    shown.page.wait_for_selector("text=No sample fits these filters.")
    shown.page.get_by_label("Search whole texts").check()
    caption(shown, f"1 sample of {ROWS}")
    assert ids(shown) == ["q_7"]
    shown.page.get_by_label("Find in samples").fill("truth 259")
    shown.page.wait_for_selector(".samples-list >> text='q_259'")
    assert ids(shown) == ["q_259"]


def test_the_same_sample_of_another_model(shown: Opened) -> None:
    shown.show("view=samples&row=q_5")
    at_sample(shown, "q_5")
    shown.page.get_by_label("Model").select_option("made/beta")
    shown.page.wait_for_selector("#sample-response >> text=beta says 5")


def test_by_keyboard_alone(shown: Opened) -> None:
    shown.page.focus("#tab-samples")
    shown.page.keyboard.press("Enter")
    ids(shown)
    for _ in range(40):
        shown.page.keyboard.press("Tab")
        if shown.page.evaluate("document.activeElement.matches('.samples-list :is(th, td)')"):
            break
    shown.page.keyboard.press("ArrowDown")
    shown.page.keyboard.press("ArrowDown")
    shown.page.keyboard.press("Enter")
    at_sample(shown, "q_1")


@pytest.mark.parametrize("colours", ["light", "dark"])
def test_samples_can_be_read_in_both_colours(browser: Any, site: Path, colours: str) -> None:
    with opened(browser, site, color_scheme=colours) as shown:
        for address in ("view=samples", "view=samples&row=q_7", "view=samples&row=q_8", "view=samples&row=q_10"):
            shown.show(address)
            shown.page.wait_for_selector(".samples-list, article.sample")
            shown.page.evaluate("document.querySelectorAll('details').forEach((one) => { one.open = true })")
            seen = shown.page.evaluate(CONTRASTS)
            assert seen["looked"] > 30
            assert seen["found"] == []


def test_a_phone_needs_no_scrolling_to_the_side(browser: Any, site: Path) -> None:
    with opened(browser, site, viewport={"width": 360, "height": 740}, has_touch=True) as shown:
        for address in ("view=samples", "view=samples&row=q_7"):
            shown.show(address)
            shown.page.wait_for_selector(".samples-list, article.sample")
            assert shown.page.evaluate("document.documentElement.scrollWidth") <= 360


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Path:
    base = tmp_path_factory.mktemp("hostile")
    everywhere = []
    for at, text in enumerate(HOSTILE):
        doc = {
            "id": f"{at} {text}".replace("\ud800", ""),  # such an id is a broken file
            "prompt": text,
            "system": text,
            "ground_truth": text,
            "target": text,
            "capabilities": [text],
        }
        doc |= {text: text, "category": text, "__proto__": text, "image_path": text}
        read = {"answer": text, "reason": text, "raw": text, "error": text, text: text, "__proto__": {"x": text}}
        everywhere.append(sample(at, response=text, doc=doc, filtered_resps=[[read]]))
    everywhere.append(sample(90, response="X" * 3_000_000, doc={"prompt": "\u202e" * 100_000}))
    write_run(base / "runs" / "a", everywhere, model=HOSTILE[0], variants=("paper", HOSTILE[4], "__proto__"))
    write_site(base / "runs", base / "out")
    return base / "out"


def test_hostile_samples_neither_run_nor_load_anything(browser: Any, hostile: Path) -> None:
    with opened(browser, hostile, address="view=samples") as shown:
        ids(shown)
        assert len(ids(shown)) == len(HOSTILE) + 1
        shown.page.click(".samples-list tbody a >> nth=0")
        for _ in range(len(HOSTILE) + 1):
            shown.page.wait_for_selector("article.sample")
            shown.page.evaluate("document.querySelectorAll('details').forEach((one) => { one.open = true })")
            shown.page.mouse.move(300, 500)
            before = title(shown)
            shown.page.keyboard.press("ArrowRight")
            if shown.page.locator("#sample-on:disabled").count():
                break
            shown.page.wait_for_function("t => document.getElementById('sample-title').textContent !== t", arg=before)
        shown.page.wait_for_timeout(200)
        assert shown.page.evaluate("window.ran") is None
        assert shown.page.evaluate("({}).x") is None
        made = "article :is(script, iframe, img, style, base, form, meta, svg, [onload], [onerror], [href^=javascript])"
        assert shown.page.locator(made).count() == 0
        assert shown.strangers() == []
        assert shown.told == []
        assert shown.page.evaluate("document.getElementById('sample-response').textContent.length") < 60_000


def test_hostile_text_is_shown_letter_by_letter(browser: Any, hostile: Path) -> None:
    with opened(browser, hostile, address="view=samples") as shown:
        ids(shown)
        shown.page.click(".samples-list tbody a >> nth=0")
        shown.page.wait_for_selector("article.sample")
        assert shown.page.locator("#sample-response pre").text_content() == HOSTILE[0]
        for _ in range(5):
            shown.page.click("#sample-on")
        shown.page.wait_for_selector("#sample-response >> text=window.ran = 9")
        text = str(shown.page.locator("#sample-response pre").text_content())
        assert "\\u2028window.ran = 9\\u2029" in text and "\\u202egnp.exe" in text and "\u202e" not in text


def test_files_that_are_not_there_are_told(browser: Any, site: Path, tmp_path: Path) -> None:
    (tmp_path / "index.html").write_bytes((site / "index.html").read_bytes())
    with opened(browser, tmp_path, address="view=samples") as shown:
        shown.page.wait_for_selector("[role=alert]")
        assert "copy the folder along" in shown.page.inner_text("[role=alert]")
        (tmp_path / "samples").symlink_to(site / "samples")
        shown.page.click("text=Try again")
        assert ids(shown)[0] == "q_0"


@pytest.mark.parametrize(
    "address",
    [
        "run=zz",
        "variant=__proto__",
        "only=__proto__",
        "only=constructor",
        "ssort=__proto__",
        "detail=__proto__",
        "page=-9",
        "page=x",
        "group=zz",
        "row=zz",
        "find=%00",
        "find=a&whole=1",
    ],
)
def test_made_up_addresses_are_harmless(browser: Any, site: Path, address: str) -> None:
    with opened(browser, site, address=f"view=samples&{address}") as shown:
        shown.page.wait_for_selector(".samples-list, .samples-body .hint:not(:text('Loading')), .samples-body .note")
        assert shown.told == []
