"""One reader for tables: what it reads as text, and files that would need much memory."""

import resource
import time
from pathlib import Path

import pytest
from corpus import BOOKS, write_book
from openpyxl import Workbook

from fin_tasks.data.spreadsheets import read_sheet
from fin_tasks.errors import DataError


@pytest.mark.parametrize("name", BOOKS)
def test_oversized_workbooks_are_refused_soon(tmp_path: Path, name: str) -> None:
    change, part = BOOKS[name]
    path = tmp_path / "hostile.xlsx"
    write_book(path, change, part)
    started = time.process_time()
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with pytest.raises(DataError, match="hostile"):
        read_sheet(path)
    assert time.process_time() - started < 5
    grown_kilobytes = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    assert grown_kilobytes < 300_000


@pytest.mark.parametrize(
    "text",
    [
        ",".join(f"c{number}" for number in range(100_000))
        + "\n"
        + "1," * 100_000
        + "\n",
        ",".join(f"c{number}" for number in range(900)) + "\n" + "1\n" * 100_000,
        "a\n" + "1\n" * 300_000,
        "a,a\n1,2\n",
    ],
)
def test_oversized_csv_files_are_refused_soon(tmp_path: Path, text: str) -> None:
    path = tmp_path / "hostile.csv"
    path.write_text(text)
    started = time.process_time()
    with pytest.raises(DataError, match="hostile"):
        read_sheet(path)
    assert time.process_time() - started < 5


def test_cells_are_texts(tmp_path: Path) -> None:
    book = Workbook()
    sheet = book.active
    sheet.append(["a", None, "b", "c"])
    sheet.append([1, "left out", 2.0, 0.5])
    sheet.append([None, None, None])
    sheet.append(["007.50", None, True])
    book.save(tmp_path / "a.xlsx")
    records = read_sheet(tmp_path / "a.xlsx")
    assert [record.line for record in records] == [2, 4]
    assert records[0].cells == {"a": "1", "b": "2", "c": "0.5"}
    assert records[1].cells == {"a": "007.50", "b": "True", "c": ""}


def test_other_files_are_refused(tmp_path: Path) -> None:
    (tmp_path / "a.ods").write_bytes(b"x")
    (tmp_path / "a.xlsx").write_bytes(b"PK no workbook")
    for name in ("a.ods", "a.xlsx", "none.xlsx", "none.csv"):
        with pytest.raises(DataError, match=name):
            read_sheet(tmp_path / name)
