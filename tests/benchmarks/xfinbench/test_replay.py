"""Saved responses, scored again."""

import csv
import json
from pathlib import Path
from typing import Any

import pytest

from fin_tasks.benchmarks.xfinbench.replay import replay
from fin_tasks.benchmarks.xfinbench.responses import read_responses
from fin_tasks.errors import ConfigError, DataError

ROWS = [
    {"id": "a", "ground_truth": "1.0", "model_response": "Therefore, my answer is true."},
    {"id": "b", "ground_truth": "0", "model_response": "Therefore, my answer is incorrect."},
    {"id": "c", "ground_truth": "0.0", "model_response": "I cannot tell."},
]


@pytest.fixture(autouse=True)
def _no_data_folder(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("FIN_TASKS_DATA", raising=False)


def write_csv(path: Path, rows: list[dict[str, str]], encoding: str = "utf-8") -> Path:
    with path.open("w", encoding=encoding, newline="") as file:
        writer = csv.DictWriter(file, fieldnames=list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    return path


def sample(row: dict[str, str], name: str, **doc: Any) -> str:
    documents = {"id": row["id"], "ground_truth": row["ground_truth"], **doc}
    return json.dumps({"doc": documents, "filter": name, "resps": [[row["model_response"]]], "filtered_resps": []})


def test_csv_json_jsonl_and_samples_give_the_same_scores(tmp_path: Path) -> None:
    files = [write_csv(tmp_path / "r.csv", ROWS), write_csv(tmp_path / "bom.csv", ROWS, "utf-8-sig")]
    for name, text in {
        "r.jsonl": "\n".join(json.dumps(row) for row in ROWS),
        "r.json": json.dumps(ROWS),
        "samples.jsonl": "\n".join(sample(row, name) for name in ("paper", "robust") for row in ROWS) + "\n",
    }.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
        files.append(tmp_path / name)
    results = [replay(file, task="bool") for file in files]
    assert all(result.summary() == results[0].summary() for result in results)
    assert all(result.items() == results[0].items() for result in results)
    assert results[0].summary() == {
        "n": 3,
        "paper": {"acc": pytest.approx(1 / 3), "no_answer": pytest.approx(1 / 3)},
        "robust": {"acc": pytest.approx(2 / 3), "no_answer": pytest.approx(1 / 3)},
        "unscored": 0,
        "by_capability": {},
    }
    assert results[0].items()[1] == {
        "id": "b",
        "paper_answer": 1,
        "paper_correct": False,
        "robust_answer": 0,
        "robust_correct": True,
    }


def test_calculation_has_both_tolerances_and_counts_what_it_cannot_score(tmp_path: Path) -> None:
    rows = [
        {"id": "a", "ground_truth": "\u20136.0", "model_response": "Therefore, my answer is [-6.0]"},
        {"id": "b", "ground_truth": "0.0766", "model_response": "Therefore, my answer is [7.66%]"},
        {"id": "c", "ground_truth": "56.14, -85.77", "model_response": "Therefore, my answer is [56.14]"},
    ]
    result = replay(write_csv(tmp_path / "r.csv", rows), task="calc")
    summary = result.summary()
    assert summary["unscored"] == 1
    assert summary["paper"] == {"acc_em": pytest.approx(1 / 3), "acc_err": pytest.approx(2 / 3), "no_answer": 0.0}
    assert summary["robust"]["acc_em"] == 1.0
    assert [item["paper_correct_err"] for item in result.items()] == [True, True, False]
    assert [item["robust_correct"] for item in result.items()] == [True, True, None]
    assert result.items()[1]["robust_answer"] == pytest.approx(0.0766)
    assert json.loads(json.dumps(result.items())) == result.items()


def test_capabilities_come_from_the_samples(tmp_path: Path) -> None:
    named = {"a": ["TU"], "b": ["TU", "NM"], "c": ["TU", "NM"]}
    lines = [sample(row, "paper", capabilities=named[row["id"]]) for row in ROWS]
    (tmp_path / "s.jsonl").write_text("\n".join(lines))
    by_capability = replay(tmp_path / "s.jsonl", task="bool").summary()["by_capability"]
    assert {code: group["n"] for code, group in by_capability.items()} == {"TU": 3, "NM": 2}
    assert by_capability["NM"]["robust"]["acc"] == 0.5


def test_capabilities_and_choices_come_from_a_data_folder_by_id(tmp_path: Path) -> None:
    folder = tmp_path / "xfinbench"
    folder.mkdir()
    header = "id,task,question,choice,ground_truth,figure,fin_capability,gold_fin_term_id\n"
    (folder / "validation_set.csv").write_text(header + 'm1,mcq,Which?,"A. bonds\nB. stocks",B,,SP; NM,\n')
    row = {"id": "m1", "ground_truth": "B", "model_response": "Therefore, my answer is stocks."}
    responses = write_csv(tmp_path / "r.csv", [row])
    summary = replay(responses, task="mcq", data_dir=tmp_path).summary()
    assert set(summary["by_capability"]) == {"SP", "NM"}
    assert summary["robust"]["acc"] == 1.0
    # without the choices' texts it cannot be told
    assert replay(responses, task="mcq").summary()["robust"]["acc"] == 0.0


def test_upstreams_own_columns_are_used(tmp_path: Path) -> None:
    row = {"id": "m", "task": "mcq", "ground_truth": "B", "choice": "A. bonds\nB. stocks", "fin_capability": "SP: NM"}
    other = {**row, "id": "b", "task": "bool", "ground_truth": "1"}
    rows = [{**r, "model_response": "Therefore, my answer is stocks."} for r in (row, other)]
    result = replay(write_csv(tmp_path / "r.csv", rows), task="mcq")
    assert [item["id"] for item in result.items()] == ["m"]
    assert result.summary()["robust"]["acc"] == 1.0
    assert set(result.summary()["by_capability"]) == {"SP", "NM"}
    with pytest.raises(DataError, match=r"expected responses to calcu questions, found only \['bool', 'mcq'\]"):
        replay(tmp_path / "r.csv", task="calc")


def test_a_data_folder_of_something_else_does_not_stop_a_complete_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    responses = write_csv(tmp_path / "r.csv", ROWS)
    monkeypatch.setenv("FIN_TASKS_DATA", str(tmp_path))
    assert replay(responses, task="bool").summary()["n"] == 3
    assert "FIN_TASKS_DATA holds no XFinBench" in caplog.text
    with pytest.raises(DataError, match="validation_set"):
        replay(responses, task="bool", data_dir=tmp_path)


def test_a_lost_response_counts_and_ids_keep_their_type(tmp_path: Path) -> None:
    lines = [json.dumps({"doc": {"id": 7, "ground_truth": True}, "filter": "paper", "resps": r}) for r in ([], [[]])]
    (tmp_path / "s.jsonl").write_text("\n".join(lines))
    result = replay(tmp_path / "s.jsonl", task="bool")
    assert result.summary()["paper"] == {"acc": 0.0, "no_answer": 1.0}
    assert [item["id"] for item in result.items()] == [7, 7]


def test_programs_a_tier_cannot_run_are_left_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("pydantic_monty")
    monkeypatch.setenv("FIN_TASKS_SANDBOX", "monty")
    programs = ("return 6", "import numpy\n    return numpy.float64(6)")
    rows = [
        {"id": str(n), "ground_truth": "6", "model_response": f"def solution():\n    {program}"}
        for n, program in enumerate(programs)
    ]
    summary = replay(write_csv(tmp_path / "r.csv", rows), task="calc", mode="pot").summary()
    assert summary["outcomes"] == {"ok": 1, "unsupported": 1}
    assert (summary["execution_rate"], summary["paper"]["acc_em"], summary["unscored"]) == (1.0, 1.0, 1)
    assert summary["sandbox"] == "monty"


def test_programs_are_run(tmp_path: Path) -> None:
    rows = [
        {"id": "a", "ground_truth": "6", "model_response": "```python\ndef solution():\n    return 2 * 3\n```"},
        {"id": "b", "ground_truth": "6", "model_response": "```python\ndef solution():\n    return 1 / 0\n```"},
        {"id": "c", "ground_truth": "6", "model_response": "Six."},
    ]
    done: list[int] = []
    result = replay(write_csv(tmp_path / "r.csv", rows), task="calc", mode="pot", on_done=done.append)
    summary = result.summary()
    assert done[-1] == 3
    assert summary["execution_rate"] == pytest.approx(1 / 3)
    assert summary["outcomes"] == {"ok": 1, "exception": 1, "no_code": 1}
    assert summary["paper"]["acc_em"] == pytest.approx(1 / 3)
    assert [item["status"] for item in result.items()] == ["ok", "exception", "no_code"]


def test_line_separators_inside_a_response_do_not_split_a_row(tmp_path: Path) -> None:
    text = "one\u2028two\x0cthree\x85four\n\nTherefore, my answer is true."
    path = write_csv(tmp_path / "r.csv", [{"id": "a", "ground_truth": "1", "model_response": text}])
    assert read_responses(path)[0].text == text
    row = {"id": "a", "ground_truth": 1.0, "model_response": text}
    (tmp_path / "r.jsonl").write_text(json.dumps(row, ensure_ascii=False), encoding="utf-8")
    assert read_responses(tmp_path / "r.jsonl")[0].text == text


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("r.csv", "id,truth\n1,2\n", r"expected the columns id, ground_truth, model_response, found \['id', 'truth'\]"),
        ("r.csv", "id,ground_truth,model_response\n", "expected at least one response, found none"),
        ("r.csv", "id,ground_truth,model_response\n1,1,Therefore, it is true.\n", "line 2: expected 3 cells, got 4"),
        ("r.jsonl", '{"id": 1}\n', "missing: ground_truth, model_response"),
        ("r.jsonl", '{"id": 1\n', "line 1: expected JSON"),
        ("r.jsonl", "[[1]]", "row 1: expected an object, got list"),
        ("s.jsonl", '{"resps": [["x"]], "doc": {"id": 1}}', "expected `doc` with id and ground_truth"),
        ("s.jsonl", '{"resps": "x", "doc": {"id": 1, "ground_truth": 1}}', "expected `resps` to be a list of lists"),
        ("r.jsonl", "[" * 100_000, "expected JSON"),
    ],
)
def test_bad_files_are_named(tmp_path: Path, name: str, text: str, message: str) -> None:
    (tmp_path / name).write_text(text)
    with pytest.raises(DataError, match=message):
        replay(tmp_path / name, task="bool")


def test_bad_options_and_a_missing_file(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="No such file"):
        replay(tmp_path / "none.csv", task="bool")
    with pytest.raises(ConfigError, match="expected --task calc, got 'bool'"):
        replay(tmp_path / "none.csv", task="bool", mode="pot")
    with pytest.raises(ConfigError, match="expected cot, da or pot, got 'sc'"):
        replay(tmp_path / "none.csv", task="bool", mode="sc")
