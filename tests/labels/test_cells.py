"""What people write into sheets, as the spreadsheets of their languages save it."""

from pathlib import Path

import pandas as pd
import pytest
from openpyxl import load_workbook
from typer.testing import CliRunner

from fin_tasks.cli import app
from fin_tasks.labels.cells import CellRule

NUMBER = CellRule(["none"], 1e15)


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("ja", "yes"),
        ("Nein", "no"),
        ("OUI", "yes"),
        ("non", "no"),
        ("WAHR", "yes"),
        ("FALSCH", "no"),
        ("VRAI", "yes"),
        ("是", "yes"),
        ("否", "no"),
        ("True", "yes"),
        ("perhaps", None),
    ],
)
def test_words_of_other_languages(text: str, word: str | None) -> None:
    verdicts = {"yes": "true", "no": "false"}
    assert CellRule(["yes", "no"]).read(text) == word
    assert CellRule(["true", "false", "none"]).read(text) == verdicts.get(word or "")


def test_the_words_of_a_study_come_first() -> None:
    assert CellRule(["yes", "non"]).read("non") == "non"
    assert CellRule(["A", "B"]).read("ja") is None


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("2.5", "2.5"),
        ("2,5", "2.5"),
        ("1,234", "1234"),
        ("1,234.5", "1234.5"),
        ("1.234,5", "1234.5"),
        ("1e3", "1000"),
        ("\u22123", "-3"),
        ("none", "none"),
        ("1E+9999999", None),
        ("1E-9999999", None),
        ("0E+9999999", None),
        ("nan", None),
        ("Infinity", None),
        ("1.2.3", None),
    ],
)
def test_numbers(text: str, number: str | None) -> None:
    assert NUMBER.read(text) == number


def test_a_renamed_and_a_moved_tab_are_read(tmp_path: Path) -> None:
    command = "label draw --study xfinbench_capabilities --source sample --n 3 --out"
    out = tmp_path / "a.xlsx"
    done = CliRunner().invoke(app, [*command.split(), str(out)])
    assert done.exit_code == 0, done.output
    sheets = sorted(tmp_path.glob("a_*.xlsx"))
    for sheet in sheets:
        book = load_workbook(sheet)
        labels = book["Labels"]
        labels.title = "Etiketten"
        column = [cell.value for cell in labels[1]].index("capability") + 1
        for row in (2, 3, 4):
            labels.cell(row, column).value = "TU"
        book.save(sheet)
    merged = tmp_path / "merged"
    done = CliRunner().invoke(
        app, ["label", "merge", *map(str, sheets), "--out", str(merged)]
    )
    assert done.exit_code == 0, done.output
    assert set(pd.read_csv(merged / "labels.csv")["label"]) == {"TU"}
