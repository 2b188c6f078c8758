"""The page of a report in Chromium, opened from disk."""

import json
import re
import shutil
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import pytest
from browsing import SCREENS, check_access, show, wait_for_status, write_page_of
from run_files import PROVENANCE, scored, write_models, write_run

from fin_tasks.report.board_file import BoardFile
from fin_tasks.report.write import write_report

FORMULAS = r"""A bond pays $C = 5$ a year. It costs $100 today and $105 later. \[P = \frac{C}{1+r}\] $\undefined{$
| Year | Cash |
|---|---:|
| 1 | **5** |

\begin{tabular}{lr}\hline Stock & Return \\ A\&B & 5\% \\ \end{tabular}
```
price = "$5 $"
```
$\href{javascript:alert(1)}{x}$ <b>bold</b>"""
HOSTILE = "<img src=x onerror=alert(1)></script><script>alert(2)</script>"
VIEWS = ("board", "compare", "parts", "plots", "samples", "questions", "runs")


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Two good models and a hostile one on two benchmarks, and a judge's scores.

    In FinanceMath 30 wrong responses of org/weak were cut off.
    """
    folder = tmp_path_factory.mktemp("page")
    docs: list[dict[str, Any]] = [
        {
            "prompt": f"{HOSTILE} {at}",
            "capabilities": ["TU"],
            "topic": "Risk",
            "category": "OCR",
        }
        for at in range(40)
    ]
    for model, right in (("org/strong", 36), ("org/weak", 8), (HOSTILE, 1)):
        exact = []
        judged: list[dict[str, Any]] = []
        for at in range(40):
            acc = float(at < right)
            exact.append({"acc": acc, "acc_TU": acc, "no_answer": 0.0})
            score = 100.0 if at < right else 80.0 * (at == 39)
            judged.append({"score": score, "score_OCR": 20.0})
        n_cut_off = 30 if model == "org/weak" else 0
        finished = [
            {**row, "cut_off": float(right <= at < right + n_cut_off)}
            for at, row in enumerate(exact)
        ]
        tasks = {"xfinbench_bool": exact, "financemath": finished}
        write_run(folder / "runs" / str(right), tasks, model=model, docs=docs)
        write_run(
            folder / "runs" / "judged" / str(right),
            {"mme_finance_en": judged},
            model=model,
            docs=docs,
            metadata={"judge": {"model": "some/judge", "rubric": HOSTILE}},
        )
    for model in ("org/strong", "org/weak"):
        data = {"origin": "upstream", "revision": model}
        write_run(
            folder / "runs" / f"calc-{model[4:]}",
            {"xfinbench_calc": [{"acc": 1.0}] * 40},
            model=model,
            docs=[{"prompt": FORMULAS, "answer": at} for at in range(40)],
            metadata={"provenance": {**PROVENANCE, "data": data}},
        )
    (folder / "out" / "figures").mkdir(parents=True)
    (folder / "out" / "figures" / "financemath_own.svg").write_text("<svg/>")
    return write_page_of(folder, title=HOSTILE)


def test_the_first_view_names_the_statement_and_says_why_there_is_no_index(
    page: Any, tmp_path: Path
) -> None:
    rows = [{"acc": 1.0, "bias_index": [1.0, 0.0, 0.0]}] * 4
    docs = [{"ticker": ticker, "window": 4} for ticker in "ABCD"]
    for arm in ("none", "signal"):
        provenance = {**PROVENANCE, "arm": arm, "data": {"origin": "sample"}}
        write_run(
            tmp_path / "runs" / arm,
            {"dynostock_recency_w4": rows},
            docs=docs,
            metadata={"provenance": provenance},
        )
    show(page, write_page_of(tmp_path))
    text = page.inner_text("main")
    header = text.partition("ranks and tests")[0]
    assert "with the statement" in header and "packaged sample" in header
    assert "no statement" not in text.partition("side by side")[0]
    assert "no forecast is wrong, so there is no index" in text


@pytest.mark.slow
@pytest.mark.parametrize("screen", SCREENS)
def test_every_view_is_accessible_and_fits_the_screen(
    page: Any, address: str, board_address: str, screen: tuple[int, str]
) -> None:
    more = (
        "view=board&benchmark=xfinbench",
        "view=board&benchmark=financemath",
        "view=samples&benchmark=financemath&sample=financemath-3",
        "view=questions&question=financemath:financemath-3",
    )
    places = [*(f"view={view}" for view in VIEWS), *more]
    check_access(page, address, places, screen)
    places = ["", "view=board&benchmark=financemath", "view=compare"]
    check_access(page, board_address, places, screen)


def test_the_first_sight_says_who_leads_and_how_sure_that_is(
    page: Any, address: str
) -> None:
    show(page, address)
    assert page.locator("h2").first.inner_text() == "3 models on 3 benchmarks"
    assert page.locator("#view-memory").count() == 0  # no variants were asked
    first = page.locator("table.models tbody tr").first
    assert "org/strong" in first.inner_text()
    assert "90.0\u00a0%" in first.inner_text()
    assert "rank 1" in first.inner_text()
    assert first.locator("svg .range").count() == 4  # XFinBench has two tasks
    page.click("summary:has-text('XFinBench')")
    page.click("details a[aria-label*='true or false']")
    page.wait_for_selector("table[aria-label='Measured runs']")
    assert "Clearly ahead" in page.locator(".lead").inner_text()
    assert "org/strong" in page.locator("#main tbody tr").first.inner_text()
    show(page, address, "view=board&benchmark=xfinbench")
    assert "true or false" in page.locator("h2").inner_text()  # most models have it


def test_the_first_view_is_sorted_by_any_column(page: Any, address: str) -> None:
    show(page, address)
    names = page.locator("table.models tbody th")
    page.click("table.models thead button:has-text('Model')")
    ascending = names.all_inner_texts()
    page.click("table.models thead button:has-text('Model')")
    assert names.all_inner_texts() == ascending[::-1]
    page.click("table.models thead button:has-text('Score')")
    assert names.first.inner_text() == "org/strong"
    assert page.locator("[aria-sort=descending]").count() == 1
    for _ in range(2):  # what is missing comes last in both orders
        page.click("table.models thead button:has-text('calculations')")
        assert HOSTILE in names.last.inner_text()


def test_the_choice_of_benchmark_carries_through_all_views(
    page: Any, address: str
) -> None:
    show(page, address)
    page.select_option("#choice-benchmark", "financemath")
    for view in VIEWS:
        page.click(f"#view-{view}")
        page.wait_for_selector(f"#view-{view}[aria-current]", state="attached")
        page.wait_for_selector("#main[aria-busy=false]")
        assert page.locator("#choice-benchmark").input_value() == "financemath"
        shown = page.locator("#main h2, #main h3, #main tbody").all_inner_texts()
        # The view of runs names all tasks of each run.
        assert view == "runs" or "XFinBench" not in "".join(shown), view


def test_hostile_texts_are_shown_as_they_are(page: Any, address: str) -> None:
    show(page, address, "view=samples&benchmark=xfinbench&sample=xfinbench_bool-3")
    page.wait_for_selector("article .text")
    assert page.locator("article .text").first.inner_text() == f"{HOSTILE} 3"
    assert page.locator("h1").inner_text() == HOSTILE
    assert page.locator("#main img, #main script").count() == 0


def test_samples_of_two_runs(page: Any, address: str) -> None:
    show(page, address, "view=samples&benchmark=xfinbench")
    page.select_option("#choice-run", label="org/strong")
    page.select_option("#choice-with", label="org/weak")
    for kind, shown in (("lost", 0), ("gained", 28), ("right", 36)):
        page.select_option("#choice-show", kind)
        wait_for_status(page, f"{shown} of 40")
    page.locator(".list a").nth(9).focus()
    page.keyboard.press("Enter")
    page.wait_for_selector("#sample-title")
    said = page.locator("article").inner_text()
    assert "xfinbench_bool-9" in said
    assert (
        said.index("right") < said.index("Response of org/weak") < said.rindex("wrong")
    )
    # A choice that needs two runs ends with the second run.
    page.select_option("#choice-show", "gained")
    wait_for_status(page, "28 of 40")
    page.select_option("#choice-with", label="no other run")
    wait_for_status(page, "40 of 40")
    assert page.locator("#choice-show").input_value() == ""
    assert page.locator("#choice-show option[value=gained]").count() == 0
    page.select_option("#choice-show", "disagree")
    wait_for_status(page, "0 of 40")


def test_the_first_question_is_open_and_keys_go_on(page: Any, address: str) -> None:
    show(page, address, "view=samples&benchmark=financemath")
    title = page.locator("#sample-title")
    assert title.inner_text() == "Question financemath-0"
    page.keyboard.press("j")
    page.wait_for_selector("#sample-title:text('financemath-1')")
    page.keyboard.press("k")
    page.wait_for_selector("#sample-title:text('financemath-0')")
    page.focus("#find")
    page.keyboard.press("j")
    assert page.locator("#find").input_value() == "j"
    assert title.inner_text() == "Question financemath-0"
    page.click("#back")
    page.wait_for_selector("#sample-title", state="detached")


def test_judged_samples_have_points_and_may_be_partly_right(
    page: Any, address: str
) -> None:
    show(page, address, "view=samples&benchmark=mme_finance&sample=mme_finance_en-0")
    page.wait_for_selector("#sample-title")
    text = page.locator("article").inner_text()
    assert "100 of 100 points" in text and "No answer was read" not in text
    page.select_option("#choice-run", label="org/strong")
    for kind, shown in (("right", 36), ("partly", 1), ("wrong", 3)):
        page.select_option("#choice-show", kind)
        wait_for_status(page, f"{shown} of 40")
        assert page.locator(f".list tbody .{kind}").count() == shown
    show(page, address, "view=board&benchmark=mme_finance")
    row = page.locator("#main tbody tr", has_text="org/strong").first
    assert "92.0" in row.inner_text()


def test_formulas_and_tables_are_shown_as_such(page: Any, address: str) -> None:
    where = "view=samples&benchmark=xfinbench&run=RUN&sample=xfinbench_calc-3"
    show(page, address, "view=samples&benchmark=xfinbench")
    calculations = page.locator(
        "#choice-run optgroup[label*=calculations] option"
    ).first
    show(page, address, where.replace("RUN", calculations.get_attribute("value")))
    page.wait_for_selector("article .katex")
    text = page.locator("article .text").first
    assert text.locator(".katex").count() == 3
    assert text.locator(".katex-display .frac-line").count() == 1
    assert "It costs $100 today and $105 later." in text.inner_text()
    assert r"$\undefined{$" in text.inner_text()
    tables = text.locator("table")
    assert [tables.nth(at).locator("td").all_inner_texts() for at in (0, 1)] == [
        ["1", "5"],
        ["A&B", "5%"],
    ]
    assert 'price = "$5 $"' in text.locator("code").inner_text()
    assert "<b>bold</b>" in text.inner_text()
    assert text.locator("a, b").count() == 0
    page.click("text=Show as plain text")
    page.wait_for_selector("text=Show formulas and tables")
    assert page.locator("article .text").first.inner_text() == FORMULAS


def test_other_settings_are_marked_in_the_first_view(page: Any, address: str) -> None:
    show(page, address)
    page.click("summary:has-text('XFinBench')")
    page.wait_for_selector("details sup")
    assert "version of the data" in page.locator("details ol").inner_text()
    for _ in range(2):
        page.click("summary:has-text('XFinBench')")
    fold = page.locator("details[open]", has_text="XFinBench")
    assert fold.locator("table").count() == 1


def test_every_view_fits_on_paper(page: Any, address: str) -> None:
    page.set_viewport_size({"width": 717, "height": 1000})  # A4 with the usual margins
    page.emulate_media(media="print")
    for view in VIEWS:
        show(page, address, f"view={view}&benchmark=xfinbench")
        fits = "node => node.scrollWidth <= document.documentElement.clientWidth"
        assert all(node.evaluate(fits) for node in page.locator("table").all()), view
        assert not page.locator("#menu").is_visible()


def test_figures_and_files_of_the_report_are_linked(page: Any, address: str) -> None:
    show(page, address, "view=board&benchmark=financemath")
    assert page.locator("img[src='figures/financemath_own.svg']").count() == 1
    page.click("#view-runs")
    links = page.locator("a[download]").all_inner_texts()
    assert links == [
        "leaderboard.json",
        "leaderboard.csv",
        "figures/financemath_own.svg",
    ]


def test_a_lower_bound_is_marked_with_its_upper_bound(page: Any, address: str) -> None:
    show(page, address, "view=board&benchmark=financemath")
    row = page.locator("#main tbody tr", has_text="org/weak").inner_text()
    assert "≥\u00a020.0\u00a0%" in row
    assert "at most 95.0\u00a0%; finished ones 80.0\u00a0%" in row
    assert "lower bound: 75.0 % of the responses were cut off" in row
    assert page.locator("#main svg .open").count() == 1
    heads = page.locator("table[aria-label='Measured runs'] thead").inner_text()
    assert "No answer" in heads
    lead = page.locator(".lead").inner_text()
    assert "org/strong leads with 90.0" in lead
    assert (
        "More than 2 % of the responses were cut off"
        in page.locator("aside").inner_text()
    )


def test_samples_that_were_cut_off(page: Any, address: str) -> None:
    show(page, address, "view=samples&benchmark=financemath")
    page.select_option("#choice-run", label="org/weak")
    page.select_option("#choice-show", "cut")
    wait_for_status(page, "30 of 40")
    page.locator(".list a").nth(0).click()
    page.wait_for_selector("#sample-title")
    assert "The response was cut off." in page.locator("article").inner_text()
    show(page, address, "view=samples&benchmark=xfinbench")
    assert page.locator("#choice-show option[value=cut]").count() == 0


def test_two_models_are_compared_on_the_same_questions(page: Any, address: str) -> None:
    show(page, address, "view=compare&benchmark=financemath")
    assert page.locator("h2").inner_text() == "org/strong against org/weak"
    show(page, address, "view=compare&benchmark=financemath&a=org/weak&b=org/strong")
    row = page.locator("table[aria-label=Differences] tbody tr").inner_text()
    assert "\u221270.0 points" in row
    assert "org/strong is better" in row
    assert "p < 0.001\ncorrected for 3 pairs: p < 0.001" in row
    assert "gained 0\nlost 28" in row
    differing = page.locator("table[aria-label='Questions that differ'] tbody tr")
    assert differing.count() == 20
    differing.first.locator("a").click()
    page.wait_for_selector("#sample-title")
    assert page.locator("#choice-show").input_value() == "lost"
    assert page.locator("article section").count() == 2


def test_an_interval_is_turned_round_with_its_difference(
    page: Any, address: str
) -> None:
    for a, b, sign in (("strong", "weak", 1), ("weak", "strong", -1)):
        show(page, address, f"view=compare&benchmark=financemath&a=org/{a}&b=org/{b}")
        row = page.locator("table[aria-label=Differences] tbody tr").inner_text()
        texts = re.search(r"(\S+) points\s+(\S+) to (\S+)", row)
        assert texts, row
        value, low, high = (
            float(text.replace("\N{MINUS SIGN}", "-")) for text in texts.groups()
        )
        assert low < value == 70 * sign < high


def test_differences_are_drawn_in_the_unit_of_their_metric(
    page: Any, address: str
) -> None:
    """A difference of 70 % is not hidden beside one of 68 points of 100."""
    show(page, address, "view=compare&a=org/strong&b=org/weak")
    ticks = page.locator("table[aria-label=Differences] svg .tick")
    places = [float(tick.get_attribute("x1")) for tick in ticks.all()]
    assert len(places) >= 3
    assert min(places) > 70


def test_models_are_found_by_words(page: Any, address: str) -> None:
    show(page, address)
    names = page.locator("table.models").first.locator("tbody th strong")
    assert names.count() == 3
    page.fill("#models", "WEAK org")
    page.wait_for_selector("h2:text('1 of 3 models')")
    assert names.all_inner_texts() == ["org/weak"]
    assert page.locator("#models").input_value() == "WEAK org"
    assert page.evaluate("document.activeElement.id") == "models"
    show(page, address, "view=board&benchmark=financemath&models=strong")
    rows = page.locator("table[aria-label='Measured runs'] tbody tr")
    assert rows.count() == 1


def test_a_phone_sorts_and_keeps_the_name_of_the_model(page: Any, address: str) -> None:
    page.set_viewport_size({"width": 390, "height": 850})
    show(page, address)
    names = page.locator("table.models tbody th strong")
    sort = page.locator("select[aria-label='Sort Models and benchmarks by']")
    sort.select_option(label="Model")
    ascending = names.all_inner_texts()
    page.click("button[aria-label='Turn the order round']")
    assert names.all_inner_texts() == ascending[::-1]
    position = "node => getComputedStyle(node).position"
    assert page.locator("tbody th").first.evaluate(position) == "sticky"


@pytest.mark.parametrize("is_group_run", [True, False])
def test_the_first_view_shows_tasks_that_were_run_without_their_group(
    page: Any, tmp_path: Path, is_group_run: bool
) -> None:
    text_tasks = ("xfinbench_bool", "xfinbench_mcq", "xfinbench_calc")
    tasks = dict.fromkeys((*text_tasks, "xfinbench_mcq_visual"), [{"acc": 1.0}] * 3)
    groups = {"xfinbench_text": text_tasks} if is_group_run else {}
    write_run(tmp_path / "runs", tasks, groups=groups)
    show(page, write_page_of(tmp_path))
    assert page.locator("table.models tbody th").all_inner_texts() == ["org/model"]
    heads = page.locator("table.models thead button").all_inner_texts()
    texts = ["all text questions"]
    if not is_group_run:
        texts = ["true or false", "calculations", "multiple choice"]
    expected = [*texts, "multiple choice with figures"]
    assert heads == ["Model", *(f"{text}: Accuracy" for text in expected)]


@pytest.fixture(scope="module")
def gaps(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A page of a model that computes and of one that knows the published answers."""
    folder = tmp_path_factory.mktemp("gaps")
    docs = [{"published_id": f"financemath-{at // 2}"} for at in range(40)]
    split = {"provenance": {**PROVENANCE, "split": "variants"}}
    for model, on_variants in (("org/computes", 1.0), ("org/knows", 0.0)):
        runs = folder / "runs: 1" / model[4:]
        write_run(runs, {"financemath": [{"acc": 1.0}] * 20}, model=model)
        row = {"acc": on_variants, "recalled": 1 - on_variants}
        tasks = {"financemath": [row] * 40}
        write_run(runs / "variants", tasks, model=model, docs=docs, metadata=split)
    write_report([folder / "runs: 1"], folder / "page", published=False)
    return (folder / "page" / "index.html").as_uri()


def test_the_memorization_gap_is_shown_by_model(page: Any, gaps: str) -> None:
    show(page, gaps)
    page.click("#view-memory")
    page.wait_for_selector("h2:has-text('Memorization')")
    rows = page.locator("#main tbody tr").all_inner_texts()
    assert [row.split()[0] for row in rows] == ["org/computes", "org/knows"]
    texts = {}
    for cell in (
        page.locator("#main tbody tr", has_text="org/knows").locator("td").all()
    ):
        texts[cell.get_attribute("data-label")] = cell.inner_text()
    shares = [texts[name] for name in ("Published", "Variants", "Recalled", "Spread")]
    none, all_ = "0.0\u00a0%", "100.0\u00a0%"
    assert shares == [all_, none, all_, none]
    assert "+100.0 points" in texts["Gap"] and "p < 0.001" in texts["Gap"]
    assert "+100.0 against org/computes" in texts["Gap compared"]
    assert page.locator("#main svg .tick").count() == 2


def test_the_page_links_to_results_files_beside_it(page: Any, gaps: str) -> None:
    show(page, gaps, "view=runs")
    names = page.eval_on_selector_all(
        "#main a:has-text('results file')",
        "links => links.map((link) => link.getAttribute('href'))",
    )
    assert len(names) == 4
    for name in names:
        assert name.startswith("./../runs%3A%201/")
        target = Path(gaps.removeprefix("file://")).parent / unquote(name)
        assert target.is_file()


@pytest.fixture(scope="module")
def board_address(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A board of admitted runs with costs, made twice, in which a model moved and one is new."""
    folder = tmp_path_factory.mktemp("board")
    runs = folder / "runs"
    usage = {"prompt_tokens": 1000, "response_tokens": 500, "estimated": False}
    shares = {"cheap-7b": 0.3, "qwen-dear": 0.9, "failed": None}

    def write(model: str, share: float | None, stamp: str) -> None:
        rows = [
            {"acc": None if share is None else float(at < 40 * share)}
            for at in range(40)
        ]
        place = runs / model / model
        write_run(
            place,
            {"financemath": rows},
            model=model,
            metadata={"usage": usage},
            stamp=stamp,
        )
        item = {"name": "decoding", "status": "claimed", "sentence": HOSTILE}
        admission = {
            "submission": model,
            "submitter": "Ada",
            "admitted_at": "2026-05-01T10:00:00+00:00",
            "model": model,
            "items": [item, {**item, "status": "checked", "name": "scores"}],
        }
        (place / "admission.json").write_text(json.dumps(admission))

    for model, share in shares.items():
        write(model, share, "2026-03-01T10-00-00")
    prices = {"models": {"cheap-7b": {"input": 1, "output": 1}}}
    prices["models"]["qwen-dear"] = {"input": 10, "output": 10}
    (folder / "prices.yaml").write_text(json.dumps(prices))
    known = {"cheap-7b": {"name": "Cheap", "size": "7B", "open_weights": True}}
    known["qwen-dear"] = {"open_weights": False}
    (runs / "board.yaml").write_text(json.dumps({"title": "Ours", "models": known}))
    options = {"token_prices": folder / "prices.yaml", "published": False}
    write_report(runs, folder / "out", **options)
    write("new", 0.6, "2026-03-02T10-00-00")
    shutil.rmtree(runs / "failed")
    write("failed", None, "2026-03-02T10-00-00")
    write_report(runs, folder / "out", **options)
    return (folder / "out" / "index.html").as_uri()


def test_what_a_board_says_of_models_is_beside_them(
    page: Any, board_address: str
) -> None:
    show(page, board_address)
    assert page.locator("h1").inner_text() == "Ours"
    row = page.locator("table.models tbody tr", has_text="Cheap").first
    assert "7B, open weights" in row.locator("th").inner_text()
    assert "1 checked, 1 claimed" in row.locator("th").inner_text()
    row.locator("summary").click()
    assert HOSTILE in row.locator("th li").first.inner_text()
    page.select_option("#choice-weights", "open")
    page.wait_for_selector("h2:text('1 of 4 models')")
    show(page, board_address)
    last = page.locator("table.models").first.locator("tbody tr").last.inner_text()
    assert "failed" in last and "not ranked" in last


def test_the_page_says_what_changed(page: Any, board_address: str) -> None:
    show(page, board_address)
    page.click("summary:has-text('Since the page of')")
    text = page.locator("details.fold", has_text="Since the page of").inner_text()
    assert "1 new model, 1 place changed" in text
    assert "Cheap: rank 2 to 3" in text


def test_costs_are_drawn_against_scores(page: Any, board_address: str) -> None:
    show(page, board_address, "view=board&benchmark=financemath")
    assert page.locator("svg.plot circle").count() == 2
    assert page.locator("svg.plot .range").count() == 2
    assert page.locator("svg.plot .best circle").count() == 2
    text = page.locator("svg.plot title").first.text_content()
    assert text.startswith("Cheap: 30.0")


HANGS = {
    "small formulas": "$x^2$ " * 8000,
    "dollars": "$" * 50_000,
    "pairs of dollars": "$$ " * 16_000,
    "fences": "```\n" * 12_000,
    "brackets": "\\[" * 25_000,
    "tabular": "\\begin{tabular}{l}" * 2500,
    "tables": "|a|b|\n|-|-|\n" * 3500,
    "cells": "|" * 24_000 + "\n" + "|-" * 12_000,
    "deep": "$" + "\\sqrt{" * 240 + "x" + "}" * 240 + "$ ",
    "fractions": ("$" + "\\frac{1}{" * 25 + "x" + "}" * 25 + "$ ") * 100,
}


LONGEST_TASK = """window.longest = 0;
new PerformanceObserver((list) => {
  for (const { duration } of list.getEntries())
    window.longest = Math.max(window.longest, duration);
}).observe({ type: "longtask", buffered: true });"""
# Of the page's tasks, which take this machine several times as long as a reader's.
MOST_MILLISECONDS = 1500


def test_no_text_keeps_the_page_busy(page: Any, tmp_path: Path) -> None:
    docs = [{"prompt": text} for text in HANGS.values()]
    rows = [{"acc": 1.0}] * len(docs)
    write_run(tmp_path / "runs", {"financemath": rows}, docs=docs)
    address = write_page_of(tmp_path)
    page.add_init_script(LONGEST_TASK)
    show(page, address, "view=samples&benchmark=financemath&sample=financemath-0")
    page.wait_for_function("window.katex")
    for number, kind in enumerate(HANGS):
        page.evaluate("window.longest = 0")
        show(page, address, f"view=samples&sample=financemath-{number}")
        page.wait_for_selector(f"article:has-text('financemath-{number}') .text")
        page.evaluate(
            "new Promise((done) => requestAnimationFrame(() => setTimeout(done)))"
        )
        assert page.evaluate("window.longest") < MOST_MILLISECONDS, kind


def test_recorded_models_are_told_from_ones_own(page: Any, tmp_path: Path) -> None:
    rows = [{"acc": float(number % 2)} for number in range(12)]
    tasks = {"financemath": rows, "financemath_pot": rows}
    for model in ("own", "recorded/a-7b", "recorded/b-7b"):
        write_run(tmp_path / "runs" / model, tasks, model=model)
    models = BoardFile.model_validate({"models": {"own": {"open_weights": False}}})
    address = write_page_of(tmp_path, board_file=models)
    show(page, address)
    assert page.locator("table.models th strong").all_inner_texts() == ["own"]
    assert page.locator("text='rank 1 (1 to 3)'").count() == 6
    cells = page.locator("table.models tbody tr").first.locator("td")
    assert cells.count() == 2, "both modes are in the first view"
    filters = (
        ("recorded", "hide", 1),
        ("recorded", "only", 2),
        ("weights", "closed", 1),
    )
    for name, value, n in filters:
        show(page, address)
        page.select_option(f"#choice-{name}", value)
        page.wait_for_selector(f"h2:text('{n} of 3 models')")


def test_compare_opens_on_ones_own_best_and_the_nearest_recorded_model(
    page: Any, tmp_path: Path
) -> None:
    n_right = {"own-good": 20, "own-weak": 5}
    n_right |= {"recorded/best": 38, "recorded/near": 22, "recorded/weak": 4}
    rows_by_model = {}
    for model, right in n_right.items():
        rows_by_model[model] = [{"acc": float(number < right)} for number in range(40)]
    write_models(tmp_path / "runs", rows_by_model)
    show(page, write_page_of(tmp_path), "view=compare")
    assert page.locator("h2").inner_text() == "own-good against recorded/near"


def test_where_the_authors_score_otherwise(page: Any, tmp_path: Path) -> None:
    rows = scored(1, 1, 0)
    write_run(tmp_path / "runs", {"financemath": rows}, model="recorded/a")
    (file,) = (tmp_path / "runs").glob("samples_*")
    lines = [json.loads(line) for line in file.read_text().splitlines()]
    for line, score in zip(lines, [1, 0, "right"] * 2, strict=True):
        line["recorded"] = {"authors_score": score}
    file.write_text("\n".join(map(json.dumps, lines)))
    show(page, write_page_of(tmp_path), "view=samples&show=authors")
    (name,) = page.locator("table[aria-label=Samples] tbody tr").all_inner_texts()
    assert "financemath-1" in name and "scored otherwise by the authors" in name
    text = page.locator("article").inner_text()
    assert "The authors' own score: wrong, unlike scored here" in text
