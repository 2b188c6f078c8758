"""One reader for tables: what it reads as text, and files that would need much memory."""

import gzip
import resource
import time
from pathlib import Path

import pytest
from corpus import BOOKS, write_book
from openpyxl import Workbook

from fin_tasks.data import text_file
from fin_tasks.data.tables import read_json, read_table
from fin_tasks.errors import DataError


def test_rows_have_their_line_and_their_odd_cells(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_bytes(
        '\ufeffid,text\na,"two\nlines, one\u2028cell"\n\nb\nc,d,e\n'.encode()
    )
    records = read_table(path, ["text", "id"])
    assert [(r.line, r.surplus) for r in records] == [(2, 0), (4, -1), (5, 1)]
    assert [r.cells for r in records][:2] == [
        {"id": "a", "text": "two\nlines, one\u2028cell"},
        {"id": "b", "text": ""},
    ]


@pytest.mark.parametrize(
    "body", [b"id\n", b"", b"id,text,id\n", b"id,text\n\x81,x\n", None]
)
def test_a_table_that_cannot_be_used_is_one_clear_sentence(
    tmp_path: Path, body: bytes | None
) -> None:
    if body is not None:
        (tmp_path / "a.csv").write_bytes(body)
    with pytest.raises(DataError, match=r"a\.csv: expected "):
        read_table(tmp_path / "a.csv", ["id", "text"])


def test_two_columns_of_one_name_are_refused(
    tmp_path: Path,
) -> None:
    path = tmp_path / "a.csv"
    path.write_text("id,text,text\n1,a,b\n")
    with pytest.raises(
        DataError, match="expected each column once, got id, text, text"
    ):
        read_table(path)
    with pytest.raises(DataError, match="expected the columns id, each once, got"):
        read_table(path, ["id"])


def test_a_file_name_that_is_not_utf_8_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "a\udcff"
    path.write_text('{"id": 1}')
    for read in (read_table, read_json):
        with pytest.raises(DataError, match=r"a\\xff: expected a path in UTF-8"):
            read(path, ["id"])


@pytest.mark.parametrize(
    "text",
    [
        '{"id": 1, "text": "two\u2028"}\n\n{"id": 2, "text": ""}',
        '\n [{"id": 1, "text": "two\u2028"}, {"id": 2, "text": ""}]',
    ],
)
def test_json_rows(tmp_path: Path, text: str) -> None:
    path = tmp_path / "a.jsonl"
    rows = [{"id": 1, "text": "two\u2028"}, {"id": 2, "text": ""}]
    for codec in ("utf-8-sig", "utf-16"):
        path.write_bytes(text.encode(codec))
        assert read_json(path, ["id"]) == rows


@pytest.mark.parametrize(
    "body", ["", "[]", '{"id": 1}\n{"id": 2', "[1]", '{"text": ""}', '{"doc": {}}']
)
def test_json_that_cannot_be_used_is_one_clear_sentence(
    tmp_path: Path, body: str
) -> None:
    (tmp_path / "a.jsonl").write_text(body)
    with pytest.raises(DataError, match=r"a\.jsonl.*: expected "):
        read_json(tmp_path / "a.jsonl", ["id"])


# tests/hostile reads the largest two.
@pytest.mark.parametrize("name", sorted({*BOOKS} - {"spaces", "cells"}))
def test_oversized_workbooks_are_refused_soon(tmp_path: Path, name: str) -> None:
    change, part = BOOKS[name]
    path = tmp_path / "hostile.xlsx"
    write_book(path, change, part)
    started = time.process_time()
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with pytest.raises(DataError, match="hostile"):
        read_table(path)
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
    ],
)
def test_oversized_csv_files_are_refused_soon(tmp_path: Path, text: str) -> None:
    path = tmp_path / "hostile.csv"
    path.write_text(text)
    started = time.process_time()
    with pytest.raises(DataError, match="hostile"):
        read_table(path)
    assert time.process_time() - started < 5


def test_cells_are_texts(tmp_path: Path) -> None:
    book = Workbook()
    sheet = book.active
    sheet.append(["a", None, "b", "c"])
    sheet.append([1, "left out", 2.0, 0.5])
    sheet.append([None, None, None])
    sheet.append(["007.50", None, True])
    book.save(tmp_path / "a.xlsx")
    records = read_table(tmp_path / "a.xlsx")
    assert [record.line for record in records] == [2, 4]
    assert records[0].cells == {"a": "1", "b": "2", "c": "0.5"}
    assert records[1].cells == {"a": "007.50", "b": "True", "c": ""}


def test_other_files_are_refused(tmp_path: Path) -> None:
    (tmp_path / "a.ods").write_bytes(b"PK\x03\x04\xff")
    (tmp_path / "a.xls").write_bytes(b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1")
    (tmp_path / "a.xlsx").write_bytes(b"PK no workbook")
    for name in ("a.ods", "a.xls", "a.xlsx", "none.xlsx", "none.csv"):
        with pytest.raises(DataError, match=name):
            read_table(tmp_path / name)


UMLAUTS = "id;text\na;für 5 €\n"


@pytest.mark.parametrize(
    ("body", "words"),
    [
        (UMLAUTS.encode("cp1252"), "Windows-1252 with semicolons"),
        (UMLAUTS.encode("utf-8-sig"), "UTF-8 with semicolons"),
        (UMLAUTS.encode("utf-16"), "UTF-16 with semicolons"),
        (UMLAUTS.encode("utf-16-le"), "UTF-16 with semicolons"),
        (UMLAUTS.encode("utf-16-be"), "UTF-16 with semicolons"),
        (UMLAUTS.replace(";", "\t").encode("utf-16"), "UTF-16 with tabs"),
        (UMLAUTS.replace(";", "|").encode(), "UTF-8 with bars"),
        (f"sep=;\n{UMLAUTS}".encode(), "UTF-8 with semicolons"),
        (
            gzip.compress(UMLAUTS.replace(";", ",").encode("cp1252"), mtime=0),
            "Windows-1252",
        ),
    ],
)
def test_encodings_and_separators_are_found_and_named(
    tmp_path: Path, body: bytes, words: str, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "a.csv").write_bytes(body)
    (record,) = read_table(tmp_path / "a.csv", ["id", "text"])
    assert record.cells == {"id": "a", "text": "für 5 €"}
    assert words in caplog.text


@pytest.mark.parametrize("rows", [["看涨"], ["答案是 B。收盘价更高。"] * 40])
def test_chinese_tables_of_excel_are_read(
    tmp_path: Path, rows: list[str], caplog: pytest.LogCaptureFixture
) -> None:
    english = "The answer is 5.\n" * 2000  # before the first Chinese row
    body = f"text\n{english}" + "".join(f"{row}\n" for row in rows)
    (tmp_path / "a.csv").write_bytes(body.encode("gbk"))
    records = read_table(tmp_path / "a.csv", ["text"])
    assert [record.cells["text"] for record in records[2000:]] == rows
    assert "GB 18030" in caplog.text


@pytest.mark.parametrize("separator", [",", "\t"])
def test_nothing_is_said_of_a_usual_table(
    tmp_path: Path, separator: str, caplog: pytest.LogCaptureFixture
) -> None:
    path = tmp_path / ("a.tsv" if separator == "\t" else "a.csv")
    path.write_text(f"id{separator}text\n1{separator}a; b | c\n", "utf-8-sig")
    (record,) = read_table(path)
    assert record.cells == {"id": "1", "text": "a; b | c"}
    assert not caplog.text


def test_packed_files_have_a_limit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(text_file, "ROWS_MB", 1)
    path = tmp_path / "a.csv.gz"
    path.write_bytes(gzip.compress(b"id,text\n" + b"1,aaaaaaaaaaa\n" * 100_000, 1))
    with pytest.raises(DataError, match="expected at most 1 MB"):
        read_table(path)
    path.write_bytes(gzip.compress(b"id,text\n")[:-9])
    with pytest.raises(DataError, match="expected a file that can be read"):
        read_table(path)
