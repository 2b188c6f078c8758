"""The view of questions on the page: the table of the command, filters, and the responses to a question."""

from pathlib import Path
from typing import Any

import pytest
from answered_runs import write_runs
from browsing import show

from fin_tasks.report import read
from fin_tasks.report.questions.table import question_table
from fin_tasks.report.write import write_report

TRUTHS = [12.0, 250.0, 31.5, 44.0]
ANSWERS = {
    "good": [12, 2.5, 31.5, 44],
    "fair": [12, 2.5, 31.5, 8],
    "weak": [3, 250, 31.5, 9],
}
TABLE = "table[aria-label=Questions] tbody"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("questions")
    runs = write_runs(root / "answered", TRUTHS, ANSWERS)
    write_report(runs, root / "report", published=False)
    return root


@pytest.fixture
def view(page: Any) -> Any:
    """A page on a phone."""
    page.set_viewport_size({"width": 390, "height": 800})
    return page


def address(folder: Path, name: str = "report") -> str:
    return (folder / name / "index.html").as_uri()


def test_the_view_has_the_rows_of_the_command(view: Any, folder: Path) -> None:
    show(view, address(folder), "view=questions&look=all")
    shown = view.locator(f"{TABLE} tr").all_inner_texts()
    table = question_table(read(folder / "answered" / "runs"))
    assert len(shown) == len(table) == 4
    for text, row in zip(shown, table.to_dict("records"), strict=True):
        assert f"\n{row['question']}, financemath" in text
        assert f"{row['truth']}" in text
        assert f"{100 * row['right']:.0f}\u00a0%" in text
    assert "factor 100 (percent)" in shown[0]
    assert "2 of 3" in shown[0]
    lead = table["lead"][0]
    assert f"{lead:.2f}" in shown[0]
    assert view.evaluate("document.documentElement.scrollWidth") <= 390


def test_the_list_is_filtered_and_searched(view: Any, folder: Path) -> None:
    show(view, address(folder), "view=questions")
    assert view.locator(f"{TABLE} tr").count() == 1  # a rival leads
    assert "On 1 a rival of the truth leads" in view.inner_text("#main")
    show(view, address(folder), "view=questions&look=all&find=NUMBER 3")
    assert "q3" in view.inner_text(TABLE)
    assert view.locator(f"{TABLE} tr").count() == 1
    show(view, address(folder), "view=questions&look=none")
    assert view.locator(f"{TABLE} tr").count() == 0


def test_a_question_shows_each_response_and_leads_to_its_sample(
    view: Any, folder: Path
) -> None:
    show(view, address(folder), "view=questions&question=financemath:q1")
    assert "What is number 1?" in view.inner_text("article")
    rows = view.locator("table[aria-label='Responses to q1'] tbody tr")
    texts = rows.all_inner_texts()
    # The runs that are right on most of the other questions come first.
    assert [text.split("\n")[0] for text in texts] == ["good", "fair", "weak"]
    assert ["2.5" in text for text in texts] == [True, True, False]
    assert "right" in texts[2]
    assert "100\u00a0%" in texts[0]
    rows.nth(1).locator("a").click()
    view.wait_for_selector("h3:has-text('Response')")
    view.wait_for_selector("#main[aria-busy=false]")
    assert "Therefore, my answer is 2.5." in view.inner_text("#main")
    assert view.locator("#choice-run option[selected]").text_content() == "fair"
    assert view.input_value("#choice-scoring") == "robust"
    view.click("a:has-text('All responses to this question')")
    view.wait_for_selector("table[aria-label='Responses to q1']")


def test_values_lead_to_the_corrections_and_both_values(
    view: Any, folder: Path
) -> None:
    file = folder / "corrections.yaml"
    reason = "{benchmark: financemath, id: q1, exclude: true, reason: It is unclear.}"
    file.write_text(f"corrections: [{reason}]")
    runs, out = folder / "answered" / "runs", folder / "corrected"
    write_report(runs, out, corrections=file, published=False, samples=False)
    show(view, address(folder, "corrected"))
    view.locator("ol a:has-text('1 question excluded')").click()
    view.wait_for_selector("table[aria-label='Corrections of questions']")
    listed = view.inner_text("table[aria-label='Corrections of questions'] tbody")
    assert "q1" in listed and "It is unclear." in listed
    name = "table[aria-label='Values with and without corrections'] tbody tr"
    shown = {text.split("\n")[0]: text for text in view.locator(name).all_inner_texts()}
    # The authors accept 2.5 for 250.
    assert "66.7\u00a0%" in shown["fair"] and "75.0\u00a0%" in shown["fair"]


def test_without_samples_the_page_holds_no_right_answer(tmp_path: Path) -> None:
    runs = write_runs(tmp_path, [314159.25], {"good": [314159.25]})
    for samples in (True, False):
        write_report(runs, tmp_path / "out", published=False, samples=samples)
        files = [path for path in tmp_path.glob("out/**/*") if path.is_file()]
        has_truth = [b"314159.25" in path.read_bytes() for path in files]
        assert any(has_truth) is samples


def test_a_report_of_judged_runs_has_no_such_view(tmp_path: Path) -> None:
    from fin_tasks.report.site.questions import write_questions

    runs = write_runs(tmp_path, TRUTHS[:1], {"good": [12]})
    report = read(runs)
    del report.rows["acc"]
    assert write_questions(report, tmp_path) is False
