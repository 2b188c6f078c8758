"""Saved responses as different people write them, scored again."""

import json
import statistics
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from fin_tasks.benchmarks.dynostock.replay import find_files, read_recording
from fin_tasks.cli import app
from fin_tasks.errors import DataError


def row(**changes: Any) -> dict[str, Any]:
    times = {"start_time": "2014-03-24", "end_time": "2017-02-07"}
    return {"ticker": "ORLY", **times, "bias": 0, "gt": 1, "response": "Final prediction: 0.7", **changes}


RIGHT, LED, OTHER, NONE = row(), row(response="0.2"), row(response="0.2", bias=1), row(response="no idea")


def sample(*texts: Any, filter: str = "paper", **changes: Any) -> dict[str, Any]:
    doc = {"id": "a", "bias_type": "recency", "window": 4, "ticker": "ORLY", "truth": 1, "signal": 0, "mode": "text"}
    doc |= {"start": "2014-03-24", "end": "2017-02-07", "arm": "none", "anonymised": True, **changes}
    return {"doc_id": 0, "doc": doc, "resps": [list(texts)], "filter": filter}


def write(path: Path, rows: Any) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    lines = path.suffix == ".jsonl"
    text = "".join(json.dumps(one, ensure_ascii=False) + "\n" for one in rows) if lines else json.dumps(rows)
    path.write_text(text, encoding="utf-8")
    return path


def run(*arguments: Any) -> Any:
    return CliRunner().invoke(app, ["replay", "dynostock", *map(str, arguments)], env={"COLUMNS": "80"})


def summary(*arguments: Any) -> dict[str, Any]:
    return dict(json.loads(run(*arguments, "--json").stdout))


@pytest.mark.parametrize(
    ("place", "bias", "window"),
    [
        *[("recency/gpt-4o/exp_recency_12.json", "recency", 12), ("gpt-4o/exp_authority_8.json", "authority", 8)],
        *[("gpt-4o/recency/mine.json", "recency", None), ("gpt-4o/mine.json", None, None)],
    ],
)
def test_the_path_names_model_bias_and_size(tmp_path: Path, place: str, bias: str | None, window: int | None) -> None:
    path = write(tmp_path / place, [row()])
    path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes())  # a byte order mark
    found = read_recording(path)
    facts = {"model": "gpt-4o", "bias": bias, "window": window, "mode": "image", "arm": "signal", "anonymised": False}
    assert found.facts == facts and found.responses == [["Final prediction: 0.7"]]
    assert [found.docs[0][name] for name in ("ticker", "end", "truth", "signal")] == ["ORLY", "2017-02-07", 1, 0]


@pytest.mark.parametrize("bad", [*map(json.dumps, [row(gt=2), row(gt=None), {"gt": 1}, None, "text"]), '{"ticker": "O'])
def test_a_row_that_cannot_be_used_is_named_and_the_rest_counts(tmp_path: Path, bad: str) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text("\n".join([json.dumps(row()), bad, json.dumps(row())]))
    found = read_recording(path)
    assert (len(found.docs), [number for number, _ in found.problems]) == (2, [2])


@pytest.mark.parametrize(("response", "text"), [(None, ""), (float("nan"), ""), (0.7, "0.7"), ("a\u2028b", "a\u2028b")])
def test_responses_that_are_no_text(tmp_path: Path, response: object, text: str) -> None:
    assert read_recording(write(tmp_path / "a.jsonl", [row(response=response)])).responses == [[text]]


def test_a_cut_last_line_is_named_and_the_rest_counts(tmp_path: Path) -> None:
    path = write(tmp_path / "samples_a_b.jsonl", [sample("0.7"), sample("0.7", id="b"), sample("up é", id="c")])
    content = path.read_bytes()
    path.write_bytes(content[: content.index("é".encode()) + 1])
    done = run(path, "--json")
    assert (done.exit_code, json.loads(done.stdout)["files"][0]["total"]) == (1, 2)
    assert "row 3: expected JSON" in done.stderr


def test_samples_of_lm_eval(tmp_path: Path) -> None:
    path = tmp_path / "org__model" / "samples_dynostock_recency_w4_text_2026-01-01T00-00-00.jsonl"
    rows = [sample("x"), sample("x", filter="robust"), sample("a", None, id="b"), sample(id="c", truth=None)]
    found = read_recording(write(path, rows))
    facts = {"model": "org__model", "bias": "recency", "window": 4, "mode": "text", "arm": "none", "anonymised": True}
    assert found.facts == facts and found.responses == [["x"], ["a", ""], [""]]
    assert [(doc["id"], doc["truth"]) for doc in found.docs] == [("a", 1), ("b", 1), ("c", None)]
    other = {"doc": {"id": 1}, "resps": [["a"]], "filter": "paper"}
    bad = [sample("a"), other, {**other, "doc": None}, {**sample(), "resps": "text"}]
    assert [number for number, _ in read_recording(write(path, bad)).problems] == [2, 3, 4]
    assert read_recording(write(path, [sample("a"), sample("a", id="b", window=8)])).facts["window"] is None


@pytest.mark.parametrize("content", [b"", b"[]", b"{", b"\xff\xfe", b"[" * 100_000, b'[{"gt": 3}]'])
def test_files_that_cannot_be_used(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "exp_recency_4.json"
    path.write_bytes(content)
    with pytest.raises(DataError, match=r"exp_recency_4\.json: expected"):
        read_recording(path)


def test_folders_are_searched_in_the_order_of_sizes(tmp_path: Path) -> None:
    for window in (12, 4, 8):
        write(tmp_path / "recency" / "m" / f"exp_recency_{window}.json", [row()])
    names = [file.name for file in find_files([tmp_path, tmp_path / "recency"])]
    assert names == ["exp_recency_4.json", "exp_recency_8.json", "exp_recency_12.json"]


def test_counts_of_files_means_in_percent_and_the_run_folder(tmp_path: Path) -> None:
    files = {"recency_4": [RIGHT, LED, OTHER, NONE], "recency_8": [RIGHT, RIGHT, LED], "authority_4": [RIGHT, RIGHT]}
    for name, rows in files.items():
        write(tmp_path / name.split("_")[0] / "m" / f"exp_{name}.json", rows)
    found = summary(tmp_path)
    authority, recency = found["groups"]
    file = next(one for one in found["files"] if one["total"] == 4)
    counts = [file[name] for name in ("correct", "wrong", "wrong_by_bias", "no_answer")]
    assert counts == [1, 3, 1, 1] and (file["accuracy"], file["bias_index"], file["bias_percentage"]) == (
        0.25,
        1 / 3,
        0.25,
    )
    assert file["accuracy_low"] < 0.25 < file["accuracy_high"] and file["bias_index_low"] < 1 / 3
    for group, accuracies, indices in ((recency, [25.0, 200 / 3], [100 / 3, 100.0]), (authority, [100.0], [0.0])):
        assert group["files"] == len(accuracies)
        for name, values in (("accuracy", accuracies), ("bias_index", indices)):
            assert group[f"{name}_mean"] == pytest.approx(statistics.fmean(values))
            assert group[f"{name}_std"] == pytest.approx(statistics.pstdev(values))
    done = run(tmp_path, "--out", tmp_path / "out", "--model", "mine")
    assert "45.8 ± 20.8" in done.stdout
    written = sorted((tmp_path / "out" / "mine").glob("samples_*.jsonl"))
    names = [f"samples_dynostock_{name}" for name in ("authority_w4", "recency_w4", "recency_w8")]
    assert [path.name.split("_20")[0] for path in written] == names
    lines = [json.loads(line) for path in written for line in path.read_text(encoding="utf-8").splitlines()]
    assert [line["acc"] for line in lines if line["filter"] == "paper"] == [1, 1, 1, 0, 0, 0, 1, 1, 0]


def test_responses_count_but_intervals_are_over_documents(tmp_path: Path) -> None:
    rows = [sample(*["0.7"] * 4, id=str(place)) for place in range(10)] + [sample("0.7", truth=None)]
    (file,) = summary(write(tmp_path / "samples_a_1.jsonl", rows))["files"]
    once = [sample("0.7", id=str(place)) for place in range(10)]
    (single,) = summary(write(tmp_path / "samples_b_1.jsonl", once))["files"]
    assert (file["total"], file["unscored"], single["total"]) == (40, 1, 10)
    assert file["accuracy_low"] == single["accuracy_low"]
    unknown = summary(write(tmp_path / "samples_a_1.jsonl", [sample("0.7", truth=None)]))
    assert (unknown["files"][0]["accuracy"], unknown["groups"][0]["accuracy_mean"]) == (None, None)


def test_parsers_problems_and_names_of_others(tmp_path: Path) -> None:
    rows = [row(gt=0, response="Final prediction: 30%, of 2014-01-30"), row(gt=3)]
    path = write(tmp_path / "[red]m[" / "a.json", rows)
    assert [summary(path, "--variant", name)["files"][0]["correct"] for name in ("paper", "robust")] == [0, 1]
    done = run(path, tmp_path / "absent.json")
    assert done.exit_code == 1 and "[red]m[" in done.stdout
    assert "a.json, row 2: field gt: expected 0 or 1" in done.stderr and "2 file(s) or row(s) left out" in done.stderr
