"""What people see in a sheet: small pictures with links, tables in a tab, formulas in plain signs."""

from pathlib import Path
from typing import Any

import pytest
from openpyxl import load_workbook
from PIL import Image
from studies_at_work import TASK, draw, write_judged

from fin_tasks.labels.readable import readable

TABULAR = r"""\begin{table}\begin{tabular}{l|c} \hline
Year & \textbf{Cash (\$)} \\ \hline 1 & 74,000 \\ \end{tabular}\end{table} What is \(\frac{D_1}{r - g}\)?"""
MARKDOWN = "As shown:\n| Year | Cash |\n|---|---:|\n| 1 | =A1 |\nHow much is it?"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (r"\(\frac{1}{2} \times \sqrt{x_{10}}\)", "(1)/(2) × √(x_(10))"),  # noqa: RUF001
        (r"$\alpha^2 = 4$ costs \$5", "α^2 = 4 costs $5"),  # noqa: RUF001
        ("It costs $5, or $6 = 3 x $2.", "It costs $5, or $6 = 3 x $2."),
        (r"\boxed{\text{about} 7\%}", "about 7%"),
        (r"\unknown{x}", r"\unknown{x}"),
        ("```python\nx = '\\times'\n```", "```python\nx = '\\times'\n```"),
    ],
)
def test_formulas_are_readable(text: str, expected: str) -> None:
    assert readable(text).text == expected


@pytest.mark.parametrize(
    ("text", "rows"),
    [
        (TABULAR, [["Year", "Cash ($)"], ["1", "74,000"]]),
        (MARKDOWN, [["Year", "Cash"], ["1", "=A1"]]),
    ],
)
def test_tables_are_found(text: str, rows: list[list[str]]) -> None:
    found = readable(text)
    assert found.tables == [rows]
    assert "[table 1]" in found.text
    assert "Year | Cash" in found.inline()


@pytest.fixture
def picture(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Save a large picture in the user's data folder."""
    folder = tmp_path / "data"
    folder.mkdir()
    Image.new("RGB", (900, 600), "green").save(folder / "chart.png")
    monkeypatch.setenv("FIN_TASKS_DATA", str(folder))
    return folder / "chart.png"


def sheet_of(tmp_path: Path, doc: dict[str, Any], *options: str) -> Any:
    """Draw a study of one row and open the sheet."""
    (tmp_path / "study.yaml").write_text(
        "name: mine\ntitle: Mine\ninstructions: Read.\nbenchmark: mme_finance\n"
        "tasks: {mme_finance_en: {language: en}}\nn: 1\nannotators: 1\n"
        'show: [picture, question]\nquestions: {clear: {ask: "Is it clear?"}}\n'
    )
    docs = {TASK: [{"id": "own-1", "answer": "1", **doc}]}
    judged = write_judged(tmp_path / "run", docs, lambda _: 20.0)
    (sheet,) = draw(tmp_path / "s.xlsx", tmp_path / "study.yaml", judged, *options)
    return load_workbook(sheet)


def test_a_picture_is_small_and_linked(tmp_path: Path, picture: Path) -> None:
    doc = {"question": "Which?", "image_path": str(picture)}
    sheet = sheet_of(tmp_path, doc)["Labels"]
    (small,) = sheet._images
    assert (small.width, small.height) == (300, 200)
    assert sheet.cell(2, 2).hyperlink.target == picture.as_uri()
    assert sheet.row_dimensions[2].height >= 150
    (tmp_path / "bundled").mkdir()
    cell = sheet_of(tmp_path / "bundled", doc, "--bundle")["Labels"].cell(2, 2)
    assert cell.hyperlink.target == cell.value
    assert cell.value.startswith("s_pictures/")


def test_a_picture_elsewhere_is_named_and_not_opened(tmp_path: Path) -> None:
    private = tmp_path / "private.png"
    Image.new("RGB", (9, 6)).save(private)
    doc = {"question": "Which?", "image_path": str(private)}
    sheet = sheet_of(tmp_path, doc)["Labels"]
    assert not sheet._images
    assert sheet.cell(2, 2).value == str(private)


def test_a_table_that_no_spreadsheet_holds_stays_in_the_text(tmp_path: Path) -> None:
    row = "|" + " a |" * 20_000
    text = f"As shown:\n{row}\n{row.replace(' a ', '---')}\n{row}"
    book = sheet_of(tmp_path, {"question": text})
    assert book.sheetnames == ["Instructions", "Labels"]
    assert book["Labels"].cell(2, 3).value.startswith("As shown:\n| a | a |")


def test_a_table_has_cells_of_its_own(tmp_path: Path) -> None:
    book = sheet_of(tmp_path, {"question": MARKDOWN})
    question = book["Labels"].cell(2, 3)
    assert question.value.split("\n")[1] == "[tab Tables: table 1]"
    # LibreOffice does not wrap a text that is a link, so the row's number is one.
    assert question.hyperlink is None
    assert book["Labels"].cell(2, 1).hyperlink.location == "Tables!A1"
    assert book["Tables"].column_dimensions["A"].width > len("own-1, question, table 1")
    lines = [[cell.value for cell in row] for row in book["Tables"].iter_rows()]
    assert lines[0][0].endswith("question, table 1")
    assert lines[1:3] == [["Year", "Cash"], ["1", "'=A1"]]
