from pathlib import Path

import pytest

from fin_tasks.data.schema import read_csv
from fin_tasks.errors import DataError


def write(tmp_path: Path, content: bytes) -> Path:
    path = tmp_path / "table.csv"
    path.write_bytes(content)
    return path


@pytest.mark.parametrize("mark", [b"", b"\xef\xbb\xbf"])
def test_cells_line_numbers_and_mark(tmp_path: Path, mark: bytes) -> None:
    path = write(tmp_path, mark + 'id,text\r\n1,"two\nlines, é"\r\n\r\n2,x\r\n'.encode())
    table = read_csv(path, columns=("id", "text"))
    assert table.has_bom is bool(mark)
    assert [record.cells for record in table.records] == [
        {"id": "1", "text": "two\nlines, é"},
        {"id": "2", "text": "x"},
    ]
    assert [record.line for record in table.records] == [3, 5]


def test_short_and_long_rows_are_told(tmp_path: Path) -> None:
    table = read_csv(write(tmp_path, b"a,b\n1\n1,2\n1,2,3\n"), columns=("a",))
    assert [record.surplus for record in table.records] == [-1, 0, 1]
    assert table.records[0].cells == {"a": "1", "b": ""}


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"id\n1\n", "missing text, got id"),
        (b"", "got an empty file"),
        (b"id,text,id\n", "got id more than once"),
        (b"id,text\n1,\xff\n", "expected UTF-8, got byte 0xff"),
        (b"id,text\n1," + b"x" * 200_000 + b"\n", "expected CSV"),
    ],
)
def test_useless_tables_are_errors(tmp_path: Path, content: bytes, message: str) -> None:
    with pytest.raises(DataError, match=message):
        read_csv(write(tmp_path, content), columns=("id", "text"))


def test_a_table_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="expected a readable CSV file"):
        read_csv(tmp_path / "none.csv", columns=("id",))
