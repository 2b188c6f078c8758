"""Reading recordings, and saying what is wrong with a file."""

import json
import math
from pathlib import Path

import pytest

from fin_tasks.benchmarks.financemath.records import Record, read_records
from fin_tasks.errors import DataError

ROW = {
    "question_id": "validation-0",
    "output": ["def solution():\n    return 2"],
    "ground_truth": 2.5,
    "python_solution": "def solution():\n    return 2.5001",
    "topic": "Accounting",
    "result": {"acc": 1},
}
ROWS = [ROW, {**ROW, "question_id": "validation-1"}]


def _read(tmp_path: Path, *rows: object) -> list[Record]:
    path = tmp_path / "model.json"
    path.write_text(json.dumps(rows), encoding="utf-8")
    return read_records(path)


def test_every_field_is_read(tmp_path: Path) -> None:
    assert _read(tmp_path, ROW) == [
        Record(
            question_id="validation-0",
            output="def solution():\n    return 2",
            ground_truth=2.5,
            python_solution="def solution():\n    return 2.5001",
            topic="Accounting",
        )
    ]


@pytest.mark.parametrize("mark", ["", "\ufeff"])
@pytest.mark.parametrize("end", ["\n", "\r\n", "\n\n"])
def test_json_lines_give_the_same(tmp_path: Path, mark: str, end: str) -> None:
    lines = tmp_path / "model.jsonl"
    lines.write_bytes((mark + end.join(json.dumps(row) for row in ROWS) + end).encode())
    assert read_records(lines) == _read(tmp_path, *ROWS)


def test_a_list_may_start_with_a_byte_order_mark(tmp_path: Path) -> None:
    path = tmp_path / "marked.json"
    path.write_bytes(("\ufeff" + json.dumps(ROWS)).encode())
    assert read_records(path) == _read(tmp_path, *ROWS)


def test_only_newlines_end_json_lines(tmp_path: Path) -> None:
    output = "# one\u2028two\x85three\n"
    lines = tmp_path / "model.jsonl"
    lines.write_text(json.dumps({**ROW, "output": output}, ensure_ascii=False) + "\n", encoding="utf-8")
    assert [record.output for record in read_records(lines)] == [output]


@pytest.mark.parametrize(
    ("output", "text"), [("x", "x"), (["x", "y"], "x"), ([], ""), ([None], ""), (None, ""), ([" "], " ")]
)
def test_ways_to_give_an_output(tmp_path: Path, output: object, text: str) -> None:
    assert _read(tmp_path, {**ROW, "output": output})[0].output == text


def test_numbers_as_ids_and_text_as_truth(tmp_path: Path) -> None:
    (record,) = _read(tmp_path, {**ROW, "question_id": 7, "ground_truth": " -8184.5 "})
    assert (record.question_id, record.ground_truth) == (7, -8184.5)
    assert isinstance(record.question_id, int)


def test_what_a_row_may_lack(tmp_path: Path) -> None:
    (record,) = _read(tmp_path, {name: ROW[name] for name in ("question_id", "output", "ground_truth")})
    assert record.python_solution is None
    assert record.topic is None


@pytest.mark.parametrize(
    "row",
    [
        {"\x1b[31mred\x07": 1},
        {**ROW, "question_id": ["\x1b[31m"]},
        {**ROW, "output": [["\x1b[31m"]]},
        {**ROW, "ground_truth": "\x1b[31m"},
        {**ROW, "python_solution": ["\x1b[31m"]},
        ["\x1b[31m"],
    ],
)
def test_messages_hold_no_terminal_escapes(tmp_path: Path, row: object) -> None:
    path = tmp_path / "\x1b[31mmodel.json"
    path.write_text(json.dumps([row]), encoding="utf-8")
    with pytest.raises(DataError) as caught:
        read_records(path)
    assert str(caught.value).isprintable()
    assert str(caught.value).count("\\x1b[31m") >= 2


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "expected at least one row"),
        ("[]", "expected at least one row"),
        ("[1", "expected JSON, got"),
        ('{"a": 1}\n{', "line 2: expected JSON"),
        ("[" * 100_000, "expected JSON"),
        ("[1]", "row 1: expected an object, got 1"),
        ('{"a": [1]}', "row 1, field question_id: expected it to be there, found only ['a']"),
        (
            json.dumps([ROW, {"question_id": "1"}]),
            "row 2, field output: expected it to be there, found only ['question",
        ),
        (json.dumps([{**ROW, "output": [3]}]), "row 1, field output: expected a text or a list that starts with one"),
        (json.dumps([{**ROW, "output": 3}]), "one, got 3"),
        (json.dumps([{**ROW, "output": {"a": 1}}]), "one, got {'a': 1}"),
        (json.dumps([{**ROW, "ground_truth": "two"}]), "field ground_truth: expected a finite number, got 'two'"),
        (json.dumps([{**ROW, "ground_truth": "1e400"}]), "field ground_truth: expected a finite number, got '1e400'"),
        (json.dumps([{**ROW, "ground_truth": "nan"}]), "field ground_truth: expected a finite number, got 'nan'"),
        (json.dumps([{**ROW, "ground_truth": None}]), "field ground_truth: expected a finite number, got None"),
        (json.dumps([{**ROW, "ground_truth": True}]), "field ground_truth: expected a finite number, got True"),
        (json.dumps([{**ROW, "ground_truth": math.nan}]), "field ground_truth: expected a finite number, got nan"),
        (json.dumps([{**ROW, "ground_truth": 10**400}]), "field ground_truth: expected a finite number"),
        (json.dumps([{**ROW, "question_id": 7.5}]), "question_id: expected a text or a whole number, got 7.5"),
        (json.dumps([{**ROW, "question_id": True}]), "question_id: expected a text or a whole number, got True"),
        (json.dumps([{**ROW, "question_id": "\ud800"}]), "question_id: expected valid Unicode, got '\\ud800'"),
        (json.dumps([{**ROW, "python_solution": 7}]), "field python_solution: expected a text or nothing, got 7"),
        (json.dumps([{**ROW, "topic": 7}]), "field topic: expected a text or nothing, got 7"),
    ],
)
def test_malformed_files(tmp_path: Path, content: str, message: str) -> None:
    path = tmp_path / "model.json"
    path.write_text(content, encoding="utf-8")
    with pytest.raises(DataError) as caught:
        read_records(path)
    assert message in str(caught.value)
    assert str(path) in str(caught.value)


def test_missing_and_undecodable_files(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="expected a readable JSON file"):
        read_records(tmp_path / "nothing.json")
    (tmp_path / "bytes.json").write_bytes(b"\xff\xfe\xff")
    with pytest.raises(DataError, match="UTF-8"):
        read_records(tmp_path / "bytes.json")
