"""One reader for tables: what it reads as text, and files that would need much memory."""

import resource
import time
import zipfile
from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pytest
from openpyxl import Workbook

from fin_tasks.data.spreadsheets import read_sheet
from fin_tasks.errors import DataError


def write_book(path: Path, change: Callable[[bytes], bytes], name: str = "") -> None:
    """Write a small workbook whose sheet part is changed, and has another name if one is given."""
    pd.DataFrame({"a": ["1", "2"], "b": ["x", "y"]}).to_excel(path, index=False)
    with zipfile.ZipFile(path) as archive:
        parts = {part: archive.read(part) for part in archive.namelist()}
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for part, content in parts.items():
            if part.endswith("sheet1.xml"):
                part = part.replace("sheet1.xml", name or "sheet1.xml")
                content = change(content)
            elif name:
                content = content.replace(b"sheet1.xml", name.encode())
            archive.writestr(part, content)


def replaced(old: bytes, new: bytes) -> Callable[[bytes], bytes]:
    return lambda content: content.replace(old, new, 1)


def many_cells(content: bytes) -> bytes:
    return content.replace(
        b"</sheetData>", b"<row>" + b"<c/>" * 5_000_000 + b"</row></sheetData>"
    )


LAUGHS = b"".join(
    b"<!ENTITY a%d '%s'>" % (number, b"&a%d;" % (number - 1) * 10)
    for number in range(1, 10)
)
OVERSIZED: dict[str, tuple[Callable[[bytes], bytes], str]] = {
    "spaces": (
        replaced(b"<sheetData>", b"<sheetData>" + b" " * 300_000_000),
        "sheet1.foo",
    ),
    "cells": (many_cells, "sheet1.foo"),
    "a far row": (replaced(b'<row r="3"', b'<row r="999999999"'), "sheet1.foo"),
    "a far column": (replaced(b'r="B3"', b'r="ZZZ3"'), ""),
    "far cells in many rows": (
        lambda content: content.replace(
            b"</sheetData>",
            b"".join(
                b'<row r="%d"><c r="ALL%d"><v>1</v></c></row>' % (row, row)
                for row in range(4, 20_000)
            )
            + b"</sheetData>",
        ),
        "",
    ),
    "entities": (
        lambda content: content.replace(
            b"<worksheet",
            b"<!DOCTYPE a [<!ENTITY a0 'ha'>" + LAUGHS + b"]><worksheet",
            1,
        ).replace(b"<sheetData>", b"<sheetData><row><c t='str'><v>&a9;</v></c></row>"),
        "",
    ),
}


@pytest.mark.parametrize("name", OVERSIZED)
def test_oversized_workbooks_are_refused_soon(tmp_path: Path, name: str) -> None:
    change, part = OVERSIZED[name]
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
