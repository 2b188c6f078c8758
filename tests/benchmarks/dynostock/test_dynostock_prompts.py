"""What the model is asked about a window."""

import difflib
from dataclasses import replace
from datetime import date
from pathlib import Path

import pytest
from shown_windows import one, plain, sample_market, sample_windows

from fin_tasks.benchmarks.dynostock import prompts
from fin_tasks.benchmarks.dynostock.authorities import Authority
from fin_tasks.benchmarks.dynostock.narrative import in_words
from fin_tasks.benchmarks.dynostock.prompts import Prompt, house_prompts, upstream_prompts
from fin_tasks.benchmarks.dynostock.statements import ARMS, statement_of
from fin_tasks.benchmarks.dynostock.upstream import read_template
from fin_tasks.benchmarks.dynostock.window import Window

TEMPLATE = "Q {} B {} R {} S {} E {} I {} as {{ told }}"
FIGURE = Authority(name="Ray Dalio", role="He {is} him.", standing="He matters.")
REAL = Path(__file__).parents[4] / "shared" / "data" / "dynostock" / "config" / "prompt.json"


def ask(window: Window, *, arm: str = "signal", image: bool = True, style: str = "structured") -> Prompt:
    wording = house_prompts(style)  # type: ignore[arg-type]
    statement = statement_of(sample_market(), window, arm=arm, authority_named=wording.authority_named)  # type: ignore[arg-type]
    return wording.ask(
        window,
        reported=window.end,
        information=None if image else in_words(sample_market(), window),
        statement=None if statement is None or style == "naive" else statement.text,
    )


def test_a_structured_prompt_has_the_paper_s_parts_in_order() -> None:
    text = ask(one("recency")).user
    parts = ["Question:", "Background:", "Resolution:", "Start date:", "End date:", "Information", "Facts:"]
    parts += ["Latest report:", "Guidelines:", "Thought:", "Final prediction:"]
    places = [text.index(part) for part in parts]
    assert places == sorted(places)
    assert text.endswith("Final prediction: <a number from 0 to 1>")


def test_going_up_means_what_the_truth_is_made_of() -> None:
    text = ask(replace(one("recency"), end=date(2010, 4, 19))).user
    assert (
        "the 8 calendar days 2010-04-20 to 2010-04-27 is at least that of the 8 calendar days 2010-04-12 to 2010-04-19"
        in text
    )


def test_the_chart_is_explained_only_where_there_is_one() -> None:
    image, text = ask(one("authority")).user, ask(one("authority"), image=False).user
    assert "see the chart" in image and "triangle" in image
    assert "chart" not in text and "triangle" not in text
    assert "Share prices in dollars" in text


@pytest.mark.parametrize("image", [True, False])
@pytest.mark.parametrize("window", sample_windows()[::6], ids=lambda window: window.id)
def test_arms_differ_in_one_line(window: Window, image: bool) -> None:
    asked = {arm: ask(window, arm=arm, image=image) for arm in ARMS}
    assert len({prompt.system for prompt in asked.values()}) == 1
    without = asked["none"].user.splitlines()
    for arm in ("signal", "aligned", "flipped"):
        changes = [
            line for line in difflib.ndiff(without, asked[arm].user.splitlines()) if line.startswith(("+", "-", "?"))
        ]
        assert len(changes) == 1
        assert changes[0].startswith("+ - ")


def test_a_naive_prompt_has_the_figures_but_neither_facts_nor_statement() -> None:
    prompt = ask(one("recency"), style="naive", image=False)
    assert prompt.system == ""
    assert "Share prices in dollars" in prompt.user and "Latest report:" in prompt.user
    assert "Facts" not in prompt.user and "earlier reports" not in prompt.user
    assert "most recent" not in prompt.user and "Guidelines" not in prompt.user


def test_a_plain_question_is_about_the_window_s_last_day() -> None:
    window = plain(end=date(2010, 5, 3))
    text = house_prompts().ask(window, reported=date(2010, 4, 19), information="", statement=None).user
    assert "go up after 2010-05-03?" in text
    assert "for the quarter to 2010-03-31, reported on 2010-04-19, EPS was 1.97" in text


def test_the_latest_report_is_written_as_people_write() -> None:
    window = plain(eps=1.97, estimate=float("nan"), surprise=0.04, surprise_percentage=2.0725)
    text = house_prompts().ask(window, reported=window.end, information="", statement=None).user
    assert "EPS was 1.97 against an estimate of not known. The surprise was 0.04 (2.1%): a Meet." in text
    assert "nan" not in text


def test_nobody_is_told_what_happened() -> None:
    for window in sample_windows()[::5]:
        assert ask(window, image=False) == ask(replace(window, truth=1 - (window.truth or 0)), image=False)


def test_the_authors_template_is_filled_in_order() -> None:
    prompt = upstream_prompts(TEMPLATE, [FIGURE]).ask(
        one("authority"), reported=one("authority").end, information="x {y} {}", statement="A {statement}."
    )
    house = ask(one("authority")).user
    question = house.split("Question: ")[1].split("\n")[0]
    assert prompt.user.startswith(f"Q {question} B Earnings per share")
    assert f"S {one('authority').start} E {one('authority').end} I x {{y}} {{}}" in prompt.user
    assert "- A {statement}." in prompt.user
    assert prompt.user.endswith("as { told }")
    assert (prompt.system, prompt.cue) == ("", "")


def test_the_authors_introductions_go_with_their_template() -> None:
    wording = upstream_prompts(TEMPLATE, [FIGURE])
    window = replace(one("authority"), authority="Ray Dalio")
    said = statement_of(sample_market(), window, arm="signal", authority_named=wording.authority_named)
    assert said is not None
    assert said.text.startswith("He {is} him. He matters. Ray Dalio said that")


@pytest.mark.skipif(not REAL.is_file(), reason="the authors' files are not beside the checkout")
def test_the_wording_is_our_own() -> None:
    """No seven words in a row are the authors', but for the form of the answer."""
    theirs = " ".join(read_template(REAL).split())
    wording = {**prompts.TEMPLATES, "form": ""}
    for name, text in wording.items():
        words = text.split()
        phrases = [" ".join(words[i : i + 7]) for i in range(len(words) - 6)]
        assert not [phrase for phrase in phrases if phrase in theirs], name


def test_the_hash_tells_wordings_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    house, naive = house_prompts().sha256(), house_prompts("naive").sha256()
    upstream = upstream_prompts(TEMPLATE, [FIGURE]).sha256()
    other = upstream_prompts(TEMPLATE, [replace(FIGURE, role="Somebody else.")]).sha256()
    assert len({house, naive, upstream, other}) == 4
    assert house_prompts().sha256() == house
    monkeypatch.setattr(prompts, "TEMPLATES", {**prompts.TEMPLATES, "background": "changed"})
    assert house_prompts().sha256() != house
