from pathlib import Path

import pytest

from fin_tasks.data.tables import read_csv, read_json
from fin_tasks.errors import DataError


def test_rows_have_their_line_and_their_odd_cells(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_bytes(
        '\ufeffid,text\na,"two\nlines, one\u2028cell"\n\nb\nc,d,e\n'.encode()
    )
    records = read_csv(path, ["text", "id"])
    assert [(r.line, r.surplus) for r in records] == [(3, 0), (5, -1), (6, 1)]
    assert [r.cells for r in records][:2] == [
        {"id": "a", "text": "two\nlines, one\u2028cell"},
        {"id": "b", "text": ""},
    ]


@pytest.mark.parametrize(
    "body", [b"id\n", b"", b"id,text,id\n", b"id,text\n\xff,x\n", None]
)
def test_a_table_that_cannot_be_used_is_one_clear_sentence(
    tmp_path: Path, body: bytes | None
) -> None:
    if body is not None:
        (tmp_path / "a.csv").write_bytes(body)
    with pytest.raises(DataError, match=r"a\.csv: expected "):
        read_csv(tmp_path / "a.csv", ["id", "text"])


def test_a_file_name_that_is_not_utf_8_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "a\udcff"
    path.write_text('{"id": 1}')
    for read in (read_csv, read_json):
        with pytest.raises(DataError, match=r"a\\xff: expected a path in UTF-8"):
            read(path, ["id"])


def test_json_rows(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_bytes(
        '\ufeff{"id": 1, "text": "two\u2028"}\n\n{"id": 2, "text": ""}'.encode()
    )
    assert read_json(path, ["id"]) == [
        {"id": 1, "text": "two\u2028"},
        {"id": 2, "text": ""},
    ]


@pytest.mark.parametrize(
    "body", ["", "[]", '{"id": 1}\n{"id": 2', "[1]", '{"text": ""}', '{"doc": {}}']
)
def test_json_that_cannot_be_used_is_one_clear_sentence(
    tmp_path: Path, body: str
) -> None:
    (tmp_path / "a.jsonl").write_text(body)
    with pytest.raises(DataError, match=r"a\.jsonl.*: expected "):
        read_json(tmp_path / "a.jsonl", ["id"])
