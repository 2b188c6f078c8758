"""Text files as strangers write them: what they take in memory is counted, not only their bytes."""

import json
from pathlib import Path

import pytest

from fin_tasks.data import text_file
from fin_tasks.data.tables import read_json, read_table
from fin_tasks.data.text_file import read_text_file
from fin_tasks.errors import DataError

RARE = "\N{CHART WITH UPWARDS TREND}"
"""For its sake Python holds a text in four bytes a character."""
LONG = "x" * 10_000


@pytest.fixture(autouse=True)
def one_mb(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(text_file, "ROWS_MB", 1)


def test_one_rare_character_costs_its_line_only(tmp_path: Path) -> None:
    file = tmp_path / "a.txt"
    file.write_text(f"{RARE}\n" + f"{LONG}\n" * 60, "utf-8")
    read = read_text_file(file)
    assert sum(map(len, read.lines())) == len(file.read_text("utf-8"))
    with pytest.raises(DataError, match="1 MB in memory"):
        _ = read.text
    file.write_text(f"{RARE}{LONG}\n" * 60, "utf-8")
    with pytest.raises(DataError, match="2 MB in memory"):
        list(read_text_file(file).lines())


@pytest.mark.parametrize("codec", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le"])
def test_lines_are_those_of_the_text(codec: str, tmp_path: Path) -> None:
    text = f"a,b\u2028c\r\nd\re{RARE}\n\n"
    file = tmp_path / "a.txt"
    file.write_bytes(text.encode(codec))
    read = read_text_file(file)
    assert read.text == text
    assert [*read.lines()] == ["a,b\u2028c\r\n", f"d\re{RARE}\n", "\n"]
    assert [*read.lines(newline="")] == ["a,b\u2028c\r\n", "d\r", f"e{RARE}\n", "\n"]


def test_large_tables_and_json_lines_are_read_line_by_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("fin_tasks.data.tables._USUAL_BYTES", 1000)
    rows = [{"id": "a", "text": RARE}, *[{"id": "b", "text": LONG}] * 60]
    lines = tmp_path / "a.jsonl"
    lines.write_text("\n".join(map(json.dumps, rows)).replace("\\ud83d\\udcc8", RARE))
    assert read_json(lines) == rows
    table = tmp_path / "a.csv"
    cells = "\n".join(f'{row["id"]};"{row["text"]}"' for row in rows)
    table.write_text(f"sep=;\nid;text\n{cells}", "utf-8")
    assert [record.cells for record in read_table(table)] == rows
    assert read_table(table)[0].line == 3
