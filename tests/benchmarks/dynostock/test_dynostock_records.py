"""Recorded responses as strangers write them."""

import json
from pathlib import Path
from typing import Any

import pytest

from fin_tasks.benchmarks.dynostock import records
from fin_tasks.benchmarks.dynostock.records import Condition, find_files, read_recording
from fin_tasks.errors import DataError


def row(**changes: Any) -> dict[str, Any]:
    times = {"start_time": "2014-03-24", "end_time": "2017-02-07"}
    return {"ticker": "ORLY", **times, "bias": 0, "gt": 1, "response": "Final prediction: 0.7", **changes}


def sample(**changes: Any) -> dict[str, Any]:
    doc = {
        "id": "recency-w04-ORLY-2017-02-07",
        "bias_type": "recency",
        "window": 4,
        "ticker": "ORLY",
        "truth": 1,
        "signal": 0,
    }
    doc |= {"start": "2014-03-24", "end": "2017-02-07", "arm": "none", "anonymised": True, "mode": "text"}
    return {"doc_id": 0, "doc": doc, "resps": [["Final prediction: 0.7"]], "filter": "paper", **changes}


def write(path: Path, rows: Any) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(rows), encoding="utf-8")
    return path


def write_lines(path: Path, rows: list[Any]) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(one, ensure_ascii=False) + "\n" for one in rows), encoding="utf-8")
    return path


def test_the_authors_file(tmp_path: Path) -> None:
    recording = read_recording(write(tmp_path / "recency" / "gpt-4o" / "exp_recency_12.json", [row()]))
    assert recording.condition == Condition(model="gpt-4o", bias="recency")
    assert (recording.window, recording.defects) == (12, ())
    (record,) = recording.records
    assert (record.ticker, record.start, record.end) == ("ORLY", "2014-03-24", "2017-02-07")
    assert (record.truth, record.signal, record.response) == (1, 0, "Final prediction: 0.7")


@pytest.mark.parametrize(
    ("place", "model", "bias", "window"),
    [
        ("authority/gpt-4o/exp_authority_8.json", "gpt-4o", "authority", 8),
        ("gpt-4o/authority/exp_authority_8.json", "gpt-4o", "authority", 8),
        ("gpt-4o/exp_authority_8.json", "gpt-4o", "authority", 8),
        ("recency/gpt-4o/mine.json", "gpt-4o", "recency", None),
        ("gpt-4o/recency/mine.json", "gpt-4o", "recency", None),
        ("gpt-4o/mine.json", "gpt-4o", None, None),
    ],
)
def test_the_model_is_the_folder_that_is_no_bias(
    tmp_path: Path, place: str, model: str, bias: str | None, window: int | None
) -> None:
    recording = read_recording(write(tmp_path / place, [row()]))
    assert (recording.condition, recording.window) == (Condition(model=model, bias=bias), window)


@pytest.mark.parametrize("cut", [10, 1, 40])
def test_a_cut_last_line_is_named_and_the_rest_counts(tmp_path: Path, cut: int) -> None:
    path = write_lines(tmp_path / "samples_a_b.jsonl", [sample(), sample(), sample(resps=[["up é"]])])
    path.write_bytes(path.read_bytes()[: -cut - 1])
    recording = read_recording(path)
    assert len(recording.records) == 2
    (defect,) = recording.defects
    assert (defect.row_id, defect.detail[:19]) == ("3", "expected JSON, got ")


def test_a_file_cut_within_a_character(tmp_path: Path) -> None:
    path = write_lines(tmp_path / "samples_a_b.jsonl", [sample(), sample(resps=[["up é"]])])
    content = path.read_bytes()
    path.write_bytes(content[: content.index("é".encode()) + 1])
    recording = read_recording(path)
    assert (len(recording.records), [defect.row_id for defect in recording.defects]) == (1, ["2"])


def test_one_object_over_several_lines_gets_told_what_is_expected(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    path.write_text(json.dumps(row(), indent=2), encoding="utf-8")
    with pytest.raises(DataError, match="expected a JSON list or JSON lines, got one object over several lines"):
        read_recording(path)


@pytest.mark.parametrize(
    ("value", "side"),
    [(0, 0), (1, 1), (True, 1), (False, 0), ("0", 0), (" 1 ", 1), (1.0, 1), ("1.0", 1), ("0.0", 0), ("True", 1)],
)
def test_movements_as_people_write_them(tmp_path: Path, value: object, side: int) -> None:
    (record,) = read_recording(write(tmp_path / "a.json", [row(gt=value, bias=value)])).records
    assert (record.truth, record.signal) == (side, side)


@pytest.mark.parametrize("value", [2, -1, 0.5, "up", "", None, [1], {"a": 1}, float("nan"), 10**30])
def test_a_row_without_a_movement_is_named_and_the_rest_counts(tmp_path: Path, value: object) -> None:
    recording = read_recording(write(tmp_path / "a.json", [row(), row(gt=value), row()]))
    assert len(recording.records) == 2
    (defect,) = recording.defects
    assert (defect.kind, defect.row_id) == ("unusable-row", "2")
    assert "field gt: expected 0 or 1, got" in defect.detail


def test_a_missing_field_and_a_row_that_is_none(tmp_path: Path) -> None:
    short = {"ticker": "A", "gt": 1}
    recording = read_recording(write(tmp_path / "a.json", [row(), short, None, "text"]))
    assert [defect.row_id for defect in recording.defects] == ["2", "3", "4"]
    assert "field bias: expected 0 or 1, got none" in recording.defects[0].detail
    assert "expected an object, got None" in recording.defects[1].detail


@pytest.mark.parametrize(
    ("response", "text"), [(None, ""), (float("nan"), ""), (0.7, "0.7"), ("", ""), ("a\u2028b", "a\u2028b")]
)
def test_responses_as_they_come(tmp_path: Path, response: object, text: str) -> None:
    path = tmp_path / "a.jsonl"
    (record,) = read_recording(write_lines(path, [row(response=response)])).records
    assert record.response == text
    absent = {name: value for name, value in row().items() if name != "response"}
    assert read_recording(write(path, [absent])).records[0].response == ""
    assert read_recording(write(path, [row(), row(response=["a"])])).defects[0].row_id == "2"


def test_a_byte_order_mark(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    path.write_bytes(b"\xef\xbb\xbf" + json.dumps([row()]).encode())
    assert len(read_recording(path).records) == 1


def test_samples_of_lm_eval(tmp_path: Path) -> None:
    path = tmp_path / "org__model" / "samples_dynostock_recency_w4_text_2026-01-01T00-00-00.jsonl"
    rows = [sample(), sample(filter="robust"), sample(resps=[["a", None]]), sample(resps=[[]])]
    recording = read_recording(write_lines(path, rows))
    condition = Condition(model="org__model", bias="recency", mode="text", arm="none", anonymised=True)
    assert (recording.condition, recording.window) == (condition, 4)
    assert [record.response for record in recording.records] == ["Final prediction: 0.7", "a", "", ""]
    assert recording.records[0].id == "recency-w04-ORLY-2017-02-07"
    write(path.with_name("results_2026-01-01T00-00-00.json"), {"model_name": "org/model"})
    assert read_recording(path).condition.model == "org/model"
    path.with_name("results_2026-01-01T00-00-00.json").write_text("[1]", encoding="utf-8")
    assert read_recording(path).condition.model == "org__model"


def test_samples_whose_truth_is_not_known_and_of_two_windows(tmp_path: Path) -> None:
    open_end = sample()
    open_end["doc"] |= {"truth": None, "signal": None, "window": 8}
    recording = read_recording(write_lines(tmp_path / "samples_a_b.jsonl", [sample(), open_end]))
    assert (recording.records[1].truth, recording.records[1].signal) == (None, None)
    assert recording.window is None


def test_samples_that_cannot_be_used(tmp_path: Path) -> None:
    rows = [sample(), sample(doc={"id": 1}), sample(doc=None), sample(resps="text"), sample(resps=[["a", ["b"]]])]
    recording = read_recording(write_lines(tmp_path / "samples_a_b.jsonl", rows))
    assert [defect.row_id for defect in recording.defects] == ["2", "3", "4", "5"]
    assert len(recording.records) == 1
    assert "Is it of DynoStock?" in recording.defects[0].detail


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "found no usable one among 0"),
        (b"[]", "found no usable one among 0"),
        (b"{", "Row 1: expected JSON"),
        (b"\xff\xfe", "expected UTF-8, got byte 0xff"),
        (b"[" * 100_000, "expected JSON"),
        (b'[{"gt": 3}]', "Row 1: field gt: expected 0 or 1, got 3"),
        (b"[" + b"1" * 5000 + b"]", "expected"),
    ],
)
def test_files_that_cannot_be_used(tmp_path: Path, content: bytes, message: str) -> None:
    path = tmp_path / "exp_recency_4.json"
    path.write_bytes(content)
    with pytest.raises(DataError) as error:
        read_recording(path)
    assert message in str(error.value)
    assert str(path) in str(error.value)


def test_a_missing_and_an_oversized_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(DataError, match="No such file"):
        read_recording(tmp_path / "absent.json")
    monkeypatch.setattr(records, "_LARGEST_FILE", 10)
    with pytest.raises(DataError, match="expected at most"):
        read_recording(write(tmp_path / "a.json", [row()]))


def test_folders_are_searched_in_the_order_people_count(tmp_path: Path) -> None:
    for window in (12, 4, 8):
        write(tmp_path / "recency" / "m" / f"exp_recency_{window}.json", [row()])
    write_lines(tmp_path / "run" / "samples_x_1.jsonl", [sample()])
    (tmp_path / "recency" / "m" / "exp_recency_4.txt").touch()
    names = [file.name for file in find_files([tmp_path])]
    assert names == ["exp_recency_4.json", "exp_recency_8.json", "exp_recency_12.json", "samples_x_1.jsonl"]
    one = tmp_path / "recency" / "m" / "exp_recency_4.json"
    assert find_files([one, one.parent, one]) == find_files([one.parent])
    (tmp_path / "empty").mkdir()
    with pytest.raises(DataError, match="found none"):
        find_files([tmp_path / "empty"])
