"""Workbooks of strangers: what openpyxl would read as a whole is counted before."""

import zipfile
from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pytest

from fin_tasks.data import workbook
from fin_tasks.data.tables import read_table
from fin_tasks.errors import DataError
from fin_tasks.limited_file import open_archive

Parts = dict[str, bytes]


def sheets(parts: Parts) -> None:
    start, _, end = parts["xl/workbook.xml"].partition(b"</sheets>")
    sheet = b'<sheet name="a" sheetId="%d"/>'
    many = b"".join(sheet % number for number in range(9, 1_100))
    parts["xl/workbook.xml"] = start + many + b"</sheets>" + end


def fonts(parts: Parts) -> None:
    start, _, end = parts["xl/styles.xml"].partition(b"</fonts>")
    many = b"<x:font><b/></x:font>" * 2_000
    parts["xl/styles.xml"] = start + many + b"</fonts>" + end


def empty_parts(parts: Parts) -> None:
    parts |= {f"p{number}": b"" for number in range(10_001)}


def cells(parts: Parts) -> None:
    start, _, end = parts["xl/worksheets/sheet1.xml"].partition(b"</row></sheetData>")
    many = b"<c/>" * 7_000 + b"</row></sheetData>"
    parts["xl/worksheets/sheet1.xml"] = start + many + end


def spaces(parts: Parts) -> None:
    parts["xl/worksheets/sheet1.xml"] += b" " * 2_000_000


@pytest.mark.parametrize(
    ("change", "what"),
    [
        (sheets, "1,000 sheets"),
        (fonts, "tags beside"),
        (empty_parts, "10,000 parts"),
        (cells, "6,000 tags"),
        (spaces, "1,000,000 bytes"),
    ],
)
def test_too_much_in_a_workbook_is_one_sentence(
    change: Callable[[Parts], None],
    what: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(workbook, "_MAX_OTHER_TAGS", 1_500)
    monkeypatch.setattr(workbook, "_MAX_TAGS", 6_000)
    monkeypatch.setattr(workbook, "_MAX_BYTES", 1_000_000)
    file = tmp_path / "a.xlsx"
    pd.DataFrame({"a": ["1"]}).to_excel(file, index=False)
    assert len(read_table(file)) == 1
    with zipfile.ZipFile(file) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    change(parts)
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in parts.items():
            archive.writestr(name, content)
    with pytest.raises(DataError, match=f"more than .*{what}"):
        read_table(file)


def test_parts_are_counted_before_the_archive_is_opened(tmp_path: Path) -> None:
    """An entry may lie across two pieces of the file that are read one after the other."""
    file = tmp_path / "a.zip"
    entry = b"PK\x01\x02" + b"\0" * 43  # no piece ends with an entry
    file.write_bytes(entry * 2_000_000)
    with pytest.raises(ValueError, match="1,999,999 parts"):
        open_archive(file, 1_999_999)
    with pytest.raises(zipfile.BadZipFile):
        open_archive(file, 2_000_000)
