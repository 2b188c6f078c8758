"""The page as a file: what stands in it, what its policy allows, and what a stranger's name can do (nothing)."""

import base64
import hashlib
import json
import re
from collections.abc import Iterator, Mapping
from itertools import combinations
from pathlib import Path
from typing import Any

import html5lib
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from made_leaderboard import HOSTILE, leaderboard

from fin_tasks.report.schema import check
from fin_tasks.report.site import page
from fin_tasks.report.site.compact import compact

HERE = Path(page.__file__).parent


class Beside:
    """Samples beside a page."""

    def document(self) -> Mapping[str, Any]:
        return {"runs": {"run0": "</script>"}}


def parsed(path: Path) -> Any:
    """Parse as a browser does, and fail on any error of the markup."""
    return html5lib.HTMLParser(strict=True, namespaceHTMLElements=False).parse(path.read_text(encoding="utf-8"))


def texts(tree: Any, name: str) -> list[str]:
    return [element.text or "" for element in tree.iter(name) if element.get("type") != "application/json"]


def policy(tree: Any) -> dict[str, list[str]]:
    (content,) = [one.get("content") for one in tree.iter("meta") if one.get("http-equiv") == "Content-Security-Policy"]
    return {words[0]: words[1:] for words in (rule.split() for rule in content.split(";"))}


def embedded(tree: Any, name: str = "data") -> Any:
    (found,) = [one.text for one in tree.iter("script") if one.get("id") == name]
    return json.loads(found)


def source(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def test_the_test_document_is_a_leaderboard() -> None:
    check(leaderboard())


def test_the_markup_is_valid_and_names_what_it_shows(tmp_path: Path) -> None:
    tree = parsed(page.write_page(leaderboard(), tmp_path))
    assert tree.get("lang") == "en"
    assert [one.text for one in tree.iter("title")] == ["Finance"]
    ids = [one.get("id") for one in tree.iter() if one.get("id")]
    assert len(ids) == len(set(ids))
    assert {"main", "tabs", "details", "status", "data", "samples"} <= set(ids)


def test_the_policy_allows_exactly_the_pages_own_script_and_styles(tmp_path: Path) -> None:
    tree = parsed(page.write_page(leaderboard(), tmp_path))
    rules = policy(tree)
    (script,), (style,) = texts(tree, "script"), texts(tree, "style")
    chart = (HERE / "vendor" / "plot-inline.css").read_text()
    assert rules["default-src"] == ["'none'"]
    assert rules["script-src"] == [source(script)]
    assert rules["style-src"] == [source(style), source(chart)]
    assert rules["img-src"] == ["data:"]
    assert rules["base-uri"] == rules["form-action"] == ["'none'"]
    assert rules["require-trusted-types-for"] == ["'script'"]
    assert "unsafe" not in str(rules)


def test_only_samples_let_the_page_load_files_beside_it(tmp_path: Path) -> None:
    tree = parsed(page.write_page(leaderboard(), tmp_path, samples=Beside()))
    rules = policy(tree)
    assert rules["script-src"][1:] == rules["img-src"][1:] == ["'self'", "file:"]
    assert rules["default-src"] == ["'none'"]
    assert embedded(tree, "samples") == {"runs": {"run0": "</script>"}}


def test_the_style_that_charts_write_is_the_one_allowed() -> None:
    code = (HERE / "vendor" / "plot.js").read_text(encoding="utf-8")
    assert '"plot-d6a7b5"' in code
    written = re.sub(r"\$\{\w+\}", "plot-d6a7b5", code)
    assert f"`{(HERE / 'vendor' / 'plot-inline.css').read_text()}`" in written


def test_nothing_is_loaded_from_anywhere(tmp_path: Path) -> None:
    path = page.write_page(leaderboard(), tmp_path)
    tree = parsed(path)
    addresses = [one.get(name) for one in tree.iter() for name in ("src", "href", "action", "srcset") if one.get(name)]
    assert sorted(addresses) == ["#main", "data:,"]
    assert set(re.findall(r"https?://[^/\"']+", path.read_text())) <= {"http://www.w3.org"}  # names of XML's languages
    (style,) = texts(tree, "style")
    assert not re.search(r"url\(|@import|@font-face", style)


def test_no_element_has_a_handler_or_a_style_of_its_own(tmp_path: Path) -> None:
    for element in parsed(page.write_page(leaderboard(HOSTILE, title=HOSTILE[4]), tmp_path)).iter():
        assert not [name for name in element.attrib if name.startswith("on") or name == "style"]


@pytest.mark.parametrize("name", [name for name in page.PARTS if (HERE / name).is_file()])
def test_scripts_never_read_text_as_html_or_code(name: str) -> None:
    code = (HERE / name).read_text(encoding="utf-8")
    forbidden = (
        r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|new Function|DOMParser|srcdoc|javascript:"
    )
    assert not re.findall(forbidden, code)
    assert not re.findall(r"</script|<!--", code, re.IGNORECASE)


def test_every_script_is_part_of_the_page() -> None:
    assert {path.name for path in HERE.glob("*.js")} <= set(page.PARTS)
    assert len(set(page.PARTS)) == len(page.PARTS)


@pytest.mark.parametrize("title", HOSTILE)
def test_hostile_titles_stay_text(title: str, tmp_path: Path) -> None:
    tree = parsed(page.write_page(leaderboard(title=title), tmp_path))
    (shown,) = [one.text for one in tree.iter("title")]
    assert shown == "".join(letter if letter.isprintable() else "\ufffd" for letter in title)
    assert len(list(tree.iter("script"))) == 3


def test_hostile_names_stay_text(tmp_path: Path) -> None:
    document = leaderboard(HOSTILE, title=HOSTILE[0])
    tree = parsed(page.write_page(document, tmp_path))
    assert len(list(tree.iter("script"))) == 3
    assert len(list(tree.iter("img"))) == 0
    assert [one.text for one in tree.iter("title")] == [HOSTILE[0]]
    data = embedded(tree)
    assert [model["name"] for model in data["models"]] == list(HOSTILE)
    assert data == json.loads(json.dumps(compact(document)))


@settings(max_examples=150, deadline=None)
@given(
    st.recursive(
        st.text() | st.sampled_from(HOSTILE), lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner)
    )
)
def test_any_text_comes_out_of_its_element_as_it_went_in(value: Any) -> None:
    text = page._embedded(value)
    tree = html5lib.HTMLParser(namespaceHTMLElements=False).parse(
        f'<!doctype html><title>t</title><script type="application/json" id="data">{text}</script><p>after</p>'
    )
    assert json.loads(next(tree.iter("script")).text) == value
    assert [one.text for one in tree.iter("p")] == ["after"]


def test_a_number_that_is_none_is_refused(tmp_path: Path) -> None:
    document = leaderboard()
    document["alpha"] = float("nan")
    with pytest.raises(ValueError, match="JSON"):
        page.write_page(document, tmp_path)
    assert not (tmp_path / "index.html").exists()


def test_the_page_is_small(tmp_path: Path) -> None:
    assert page.write_page(leaderboard(), tmp_path).stat().st_size < 450_000


def test_columns_hold_what_the_document_does() -> None:
    document = leaderboard()
    found = compact(document)
    entries = found["entries"]
    assert entries["rows"] == 3
    assert entries["task"] == 0
    assert entries["model"] == [0, 1, 2]
    assert entries["value"] == [0.04115, 0.0823, 0.1235]
    assert entries["unscored"] == [0, 1, 2]
    assert [[found["texts"][mark] for mark in marks] for marks in entries["marks"]] == [[], ["odd"], []]
    provenance = found["runs"]["provenance"][2]
    assert [found["texts"][place] for place in provenance] == ["package", '"1"', "k", "gamma"]
    assert document["entries"][0]["value"] == 0.123456 / 3  # the document is left as it was


def test_pairs_stand_where_their_members_say() -> None:
    document = leaderboard(("a", "b", "c", "d"))
    pairs = document["comparisons"][0]["pairs"]
    turned = {"first": "run2", "second": "run1", "difference": 0.4, "low": 0.1, "high": 0.6}
    pairs[:] = [pair for pair in pairs if (pair["first"], pair["second"]) not in {("run1", "run2"), ("run2", "run3")}]
    pairs.append({**pairs[0], **turned})
    (found,) = compact(document)["comparisons"]
    members = found["members"]
    ordered = list(combinations(members, 2))
    at = {ends: place for place, ends in enumerate(ordered)}
    assert found["pairs"]["rows"] == 6
    sign, place = (-1, at[1, 2]) if (1, 2) in at else (1, at[2, 1])
    assert found["pairs"]["difference"][place] == sign * 0.4
    assert found["pairs"]["low"][place] == (-0.6 if sign < 0 else 0.1)  # not about the difference, so both ends stand
    missing = at[(2, 3) if (2, 3) in at else (3, 2)]
    assert found["pairs"]["n"][missing] is None
    assert found["pairs"]["n"].count(None) == 1


def channels(colour: str) -> Iterator[float]:
    for at in (1, 3, 5):
        share = int(colour[at : at + 2], 16) / 255
        yield share / 12.92 if share <= 0.04045 else ((share + 0.055) / 1.055) ** 2.4


def luminance(colour: str) -> float:
    return sum(weight * light for weight, light in zip((0.2126, 0.7152, 0.0722), channels(colour), strict=True))


def contrast(one: str, other: str) -> float:
    """Return the contrast ratio of WCAG 2."""
    dark, light = sorted((luminance(one), luminance(other)))
    return (light + 0.05) / (dark + 0.05)


COLOURS = {
    name: (light, dark)
    for name, light, dark in re.findall(
        r"--([\w-]+): light-dark\((#[0-9a-f]{6}), (#[0-9a-f]{6})\)", (HERE / "page.css").read_text(encoding="utf-8")
    )
}


def test_contrast_is_measured_as_wcag_does() -> None:
    assert contrast("#ffffff", "#000000") == pytest.approx(21)
    assert contrast("#777777", "#ffffff") == pytest.approx(4.48, abs=0.005)


@pytest.mark.parametrize("scheme", [0, 1])
@pytest.mark.parametrize(
    ("front", "back"),
    [
        *[(front, back) for front in ("ink", "soft", "accent") for back in ("paper", "raised")],
        *[("good", "good-paper"), ("bad", "bad-paper"), ("warn", "warn-paper")],
        *[("ink", "good-paper"), ("ink", "bad-paper"), ("ink", "warn-paper"), ("soft", "warn-paper")],
        *[("good", "raised"), ("bad", "raised"), ("warn", "raised")],  # a row under the pointer
    ],
)
def test_text_can_be_read_in_both_schemes(front: str, back: str, scheme: int) -> None:
    assert contrast(COLOURS[front][scheme], COLOURS[back][scheme]) >= 4.5


@pytest.mark.parametrize("scheme", [0, 1])
@pytest.mark.parametrize("name", ["control", *[f"series-{at}" for at in range(1, 8)]])
def test_borders_and_series_can_be_seen_in_both_schemes(name: str, scheme: int) -> None:
    assert contrast(COLOURS[name][scheme], COLOURS["paper"][scheme]) >= 3
