from pathlib import Path

import pytest

from fin_tasks.data.tables import read_csv
from fin_tasks.errors import DataError


def test_rows_have_their_line_and_their_odd_cells(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_bytes('\ufeffid,text\na,"two\nlines, one\u2028cell"\n\nb\nc,d,e\n'.encode())
    table = read_csv(path, ["text", "id"])
    assert table.has_bom
    assert [(r.line, r.surplus) for r in table.records] == [(3, 0), (5, -1), (6, 1)]
    assert [r.cells for r in table.records][:2] == [
        {"id": "a", "text": "two\nlines, one\u2028cell"},
        {"id": "b", "text": ""},
    ]


@pytest.mark.parametrize("body", [b"id\n", b"", b"id,text,id\n", b"id,text\n\xff,x\n", None])
def test_a_table_that_cannot_be_used_is_one_clear_sentence(tmp_path: Path, body: bytes | None) -> None:
    if body is not None:
        (tmp_path / "a.csv").write_bytes(body)
    with pytest.raises(DataError, match=r"a\.csv: expected "):
        read_csv(tmp_path / "a.csv", ["id", "text"])
