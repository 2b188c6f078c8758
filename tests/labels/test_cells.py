"""What people write into sheets, as the spreadsheets of their languages save it."""

from pathlib import Path

from openpyxl import load_workbook
from studies_at_work import draw, fill_all, merge

from fin_tasks.labels.cells import CellRule

NUMBER = CellRule(["none"], 1e15)
WORDS = {
    "yes": "ja OUI WAHR VRAI 是 True",
    "no": "Nein non FALSCH 否",
}
NUMBERS = {
    "2.5": "2.5",
    "2,5": "2.5",
    "1,234": "1234",
    "1,234.5": "1234.5",
    "1.234,5": "1234.5",
    "1e3": "1000",
    "\u22123": "-3",
    "none": "none",
}


def test_words_of_other_languages() -> None:
    for word, texts in WORDS.items():
        for text in texts.split():
            assert CellRule(["yes", "no"]).read(text) == word
            verdict = {"yes": "true", "no": "false"}[word]
            assert CellRule(["true", "false", "none"]).read(text) == verdict
    assert CellRule(["yes", "no"]).read("perhaps") is None
    # The words of a study come first.
    assert CellRule(["yes", "non"]).read("non") == "non"
    assert CellRule(["A", "B"]).read("ja") is None


def test_numbers() -> None:
    assert {text: NUMBER.read(text) for text in NUMBERS} == NUMBERS
    for text in ("1E+9999999", "1E-9999999", "0E+9999999", "nan", "Infinity", "1.2.3"):
        assert NUMBER.read(text) is None


def test_a_renamed_and_a_moved_tab_are_read(tmp_path: Path) -> None:
    sheets = draw(tmp_path / "a.xlsx", "xfinbench_capabilities", "--n", 3)
    for sheet in sheets:
        book = load_workbook(sheet)
        labels = book["Labels"]
        labels.title = "Etiketten"
        book.move_sheet(labels, -1)
        column = [cell.value for cell in labels[1]].index("capability") + 1
        for row in (2, 3, 4):
            labels.cell(row, column).value = "TU"
        book.save(sheet)
    assert set(merge(sheets)["labels"]["label"]) == {"TU"}


def test_sheets_of_any_name(tmp_path: Path) -> None:
    sheets = draw(tmp_path / "a.csv", "xfinbench_capabilities", "--n", 3)
    fill_all(sheets, capability=["TU"] * 3)
    # Tables have columns of these names.
    names = ["part.csv", "label.csv", sheets[2].name]
    tables = merge(
        [
            sheet.rename(tmp_path / name)
            for sheet, name in zip(sheets, names, strict=True)
        ]
    )
    shares = tables["shares"].query("by == 'all' and value == 'TU'")
    assert shares["share"].tolist() == [1]
    assert set(names) <= set(tables["labels"])
