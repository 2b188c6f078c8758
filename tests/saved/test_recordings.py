"""Files of the authors with questions, truths and responses, and the summary of their scores."""

import json
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from typer.testing import CliRunner

from fin_tasks.benchmarks.scored_task import SCORINGS, score_task
from fin_tasks.benchmarks.task_file import TaskFile
from fin_tasks.cli import app
from fin_tasks.errors import ConfigError, DataError
from fin_tasks.sandbox import Outcome, Status
from fin_tasks.saved.recordings import Recording, read_financemath, read_xfinbench
from fin_tasks.saved.run_folder import SavedRun
from fin_tasks.saved.summary import summary_of

FAILED = Outcome(status=Status.exception)
RIGHT, WRONG = "Therefore, my answer is [6].", "<think>6</think>" + "no " * 60_000
ROWS = [("a", "6", RIGHT, "NM; TR"), ("b", "6.0", WRONG, "NM")]
KEYS = ("id", "ground_truth", "model_response", "fin_capability")
OBJECTS: list[dict[str, Any]] = [dict(zip(KEYS, row, strict=True)) for row in ROWS]
SAMPLES = [
    {
        "filter": name,
        "doc": {**one, "task": "calcu", "has_table": False},
        "resps": [[one["model_response"]]],
    }
    for name in ("paper", "robust")
    for one in OBJECTS
]


def write(path: Path, *rows: object) -> Path:
    path.write_text("\n".join(map(json.dumps, rows)), "utf-8")
    return path


def write_questions(folder: Path, *lines: str) -> None:
    """Write a file of XFinBench's questions."""
    header = (
        "id,task,question,choice,ground_truth,figure,fin_capability,gold_fin_term_id"
    )
    (folder / "test_set.csv").write_text("\n".join([header, *lines]))


def saved(folder: Path, *rows: dict[str, Any]) -> Path:
    """Write rows over a right calculation."""
    lines = [{"id": f"q{at}", **OBJECTS[0], **row} for at, row in enumerate(rows)]
    return write(folder / "model.jsonl", *lines)


@pytest.fixture(autouse=True)
def _no_downloads(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FIN_TASKS_OFFLINE", "1")


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("r.csv", "\ufeff" + pd.DataFrame(OBJECTS).to_csv(index=False)),
        ("r.json", json.dumps(OBJECTS)),
        ("r.jsonl", "\n\n".join(map(json.dumps, OBJECTS))),
        ("samples_xfinbench_calc_2026.jsonl", "\n".join(map(json.dumps, SAMPLES))),
    ],
)
def test_formats_and_summary(name: str, text: str, tmp_path: Path) -> None:
    (tmp_path / name).write_text(text, encoding="utf-8")
    recording = read_xfinbench(tmp_path / name, task="calc")
    assert recording.responses == [[RIGHT], [WRONG]]
    expected: dict[str, Any] = {"id": "a", "task": "calcu", "subset": "calc"}
    expected["capabilities"] = ["NM", "TR"]
    assert recording.docs[0].items() >= expected.items()
    command = ["replay", "xfinbench", "--task", "calc", str(tmp_path / name), "--json"]
    summary = json.loads(CliRunner().invoke(app, command).stdout)
    assert (summary["task"], summary["n"], summary["n_all"]) == ("xfinbench_calc", 2, 2)
    assert summary["unscored"] == 0
    expected = {"acc": 0.5, "acc_err": 0.5, "no_answer": 0.5, "acc_TR": 1.0}
    expected |= {"acc_err_NM": 0.5, "acc_em": 0.5, "unscored": 0.0}
    part = summary["by_capability"]["TR"]
    assert part["n"] == 1
    for scoring in SCORINGS:
        assert summary[scoring].items() >= expected.items()
        assert part[scoring].items() >= {"acc_em": 1.0, "acc_err": 1.0}.items()


def test_programs_and_what_the_data_folder_adds(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_questions(tmp_path, 'a,calcu,"\\begin{tabular}",,0,,SP,')
    row = {"id": "a", "ground_truth": 0, "model_response": None}
    file = write(tmp_path / "r.jsonl", row)
    recording = read_xfinbench(file, task="calc", mode="pot", data_dir=tmp_path)
    (doc,) = recording.docs
    expected = {"capabilities": ["SP"], "has_table": True, "ground_truth": "0"}
    assert doc.items() >= expected.items()
    assert recording.responses == [[""]]
    monkeypatch.setattr(
        "fin_tasks.benchmarks.scored_task.run_programs",
        lambda programs: [FAILED] * len(programs),
    )
    scored = score_task(TaskFile("xfinbench_calc_pot"), [doc], [["", ""]])
    summary = summary_of([SavedRun(scored, {}, {})])
    expected = {"acc": 1.0, "acc_err": 0.0, "no_answer": 0.0, "exception": 1.0}
    assert summary["paper"].items() >= expected.items()
    assert summary["paper"]["execution_rate"] == 0.0
    assert summary["robust"]["execution_rate"] == 0.0
    expected = {"n": 1, "execution_rate": 0.0, "robust_execution_rate": 0.0}
    assert summary.items() >= expected.items()
    assert summary["outcomes"] == {"exception": 2}


def test_a_broken_file_is_one_sentence(tmp_path: Path) -> None:
    row = {"id": 1, "ground_truth": 1, "model_response": "", "task": "mcq"}
    write(tmp_path / "r.jsonl", row)
    table = ",".join(KEYS) + "\na,6,Therefore, my answer is [6].,NM\n"
    (tmp_path / "r.csv").write_text(table)
    for name, message in (
        ("r.jsonl", "got 0 of 0 rows with others, and 1 of other tasks"),
        ("r.csv", "line 2: expected as many cells"),
    ):
        with pytest.raises(DataError, match=message):
            read_xfinbench(tmp_path / name, task="calc")
    with pytest.raises(ConfigError, match="expected mode cot or da"):
        read_xfinbench(tmp_path / "r.jsonl", task="bool", mode="pot")


def test_the_command_scores_programs_as_the_authors_do(tmp_path: Path) -> None:
    body = "```python\ndef solution():\n    return {}\n```"
    programs: list[tuple[str, float, float | None]] = [
        ("def solution():\n    return 4\n```\nIt returns 4.", 4, 4.0),
        ("```\ndef solution():\n    return 4\n```", 0, 0.0),
        ("    return 4", 4, 0.0),
        (body.format("np.sqrt(16)"), 4, 4.0),
        (body.format('"5"'), 5, 5.0),
        (body.format('"the result is [12.5]"'), 12.5, 12.5),
        (body.format('"[3]"'), 3, 3.0),
        (body.format("[3]"), 3, None),
        (body.format("1 / 0"), 7, 0.0),
    ]
    rows = [
        {"id": f"q{number}", "ground_truth": truth, "model_response": response}
        for number, (response, truth, _) in enumerate(programs)
    ]
    file = write(tmp_path / "model.jsonl", *rows)
    out = tmp_path / "out"
    command = ["replay", "xfinbench", str(file), "--task", "calc", "--mode", "pot"]
    done = CliRunner().invoke(app, [*command, "--out", str(out), "--json"])
    assert done.exit_code == 0, done.output
    assert json.loads(done.stdout)["paper"]["acc"] == 6 / 9
    (samples,) = out.rglob("samples_xfinbench_calc_pot_*.jsonl")
    lines = [json.loads(line) for line in samples.read_text().splitlines()]
    answers = [line["answer"] for line in lines if line["filter"] == "paper"]
    assert answers == [answer for _, _, answer in programs]
    assert all({"resps", "reason"} <= line.keys() for line in lines)


def n_responses(recording: Recording) -> int:
    return sum(map(len, recording.responses))


def test_responses_to_other_questions_are_refused(tmp_path: Path) -> None:
    answers = ("true", "False", "true")
    verdicts = [
        {"ground_truth": at % 2, "model_response": f"Therefore, my answer is {answer}."}
        for at, answer in enumerate(answers)
    ]
    file = saved(tmp_path, *verdicts)
    with pytest.raises(
        DataError, match=r"of calc questions a number, .*, got 3 of 3 rows"
    ):
        read_xfinbench(file, task="calc")
    assert n_responses(read_xfinbench(file, task="bool")) == 3
    with pytest.raises(DataError, match="of mcq questions a letter, got 3 of 3 rows"):
        read_xfinbench(file, task="mcq")
    ones = [{"ground_truth": at % 2} for at in range(3)]  # with a number as answer
    assert n_responses(read_xfinbench(saved(tmp_path, *ones), task="calc")) == 3
    half = [{"ground_truth": "two words"}, {}]
    assert n_responses(read_xfinbench(saved(tmp_path, *half), task="calc")) == 2


def test_rows_of_other_tasks_are_counted(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    file = saved(tmp_path, {"task": "calcu"}, {"task": "bool"}, {"task": "mcq"})
    assert n_responses(read_xfinbench(file, task="calc")) == 1
    (record,) = caplog.records
    assert "2 of 3 rows are of other tasks" in record.getMessage()


def test_the_data_folder_knows_questions_of_another_task(tmp_path: Path) -> None:
    write_questions(tmp_path, "a,bool,Is it?,,1,,SP,")
    row = {name: OBJECTS[0][name] for name in ("ground_truth", "model_response")}
    file = write(tmp_path / "r.jsonl", {"id": "a", **row})
    with pytest.raises(DataError, match="got 1 of 1 rows with others"):
        read_xfinbench(file, task="calc", data_dir=tmp_path)


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ({"ground_truth": 10**400}, "a number, .*, got 1 of 1 rows"),
        ({"ground_truth": {"a": 1}}, "ground_truth: Input should be a.*, got {'a': 1}"),
        (
            {"capabilities": [["TU"]]},
            r"capabilities.0: Input should be a.*, got \['TU'\]",
        ),
        ({"choices": [{"a": 1}]}, "choice.*0: Input should be a.*"),
        ({"has_table": "perhaps"}, "has_table: "),
        ({"id": []}, r"row 1: expected a text as id, got \[\]"),
        ({"task": ["calcu"]}, "task: Input should be a.*"),
    ],
)
def test_a_hostile_row_is_one_sentence(
    tmp_path: Path, row: dict[str, Any], message: str
) -> None:
    with pytest.raises(DataError, match=message) as caught:
        read_xfinbench(saved(tmp_path, row), task="calc")
    assert "\n" not in str(caught.value)


def replayed(file: Path, out: Path) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return what the command prints, and the provenance in the file it writes."""
    command = ["replay", "xfinbench", str(file), "--task", "calc"]
    done = CliRunner().invoke(app, [*command, "--out", str(out), "--json"])
    assert done.exit_code == 0, done.output
    (results,) = out.rglob("results_*.json")
    config = json.loads(results.read_text())["configs"]["xfinbench_calc"]
    return json.loads(done.stdout), config["metadata"]["provenance"]


@pytest.mark.parametrize(
    ("ids", "split", "source"),
    [
        (("test_1", "test_2"), "test", "unknown"),
        (("vali_1", "vali_2"), "validation", "unknown"),
        (("sample_1",), "sample", "sample"),
        (("test_1", "vali_2"), "unknown", "unknown"),
        (("a", "b"), "unknown", "unknown"),
    ],
)
def test_ids_name_the_split(
    tmp_path: Path, ids: tuple[str, ...], split: str, source: str
) -> None:
    file = saved(tmp_path, *({"id": name} for name in ids))
    shown, facts = replayed(file, tmp_path / "out")
    expected = {"split": split, "source": source}.items()
    assert shown.items() >= expected and facts.items() >= expected


def test_samples_keep_the_split_and_source_of_their_run(tmp_path: Path) -> None:
    stamp = "2026-03-01T10-00-00.123456"
    file = write(tmp_path / f"samples_xfinbench_calc_{stamp}.jsonl", *SAMPLES)
    provenance = {"split": "own", "data": {"origin": "data_dir", "revision": "1"}}
    configs = {"xfinbench_calc": {"metadata": {"provenance": provenance}}}
    results = write(tmp_path / f"results_{stamp}.json", {"configs": configs})
    for place in ("first", "again"):
        _, facts = replayed(file, tmp_path / place)
        assert (facts["split"], facts["source"]) == ("own", "data_dir")
        (file,) = (tmp_path / place).rglob("samples_*.jsonl")
    results.write_text("no JSON")
    (file,) = tmp_path.glob("samples_*.jsonl")
    assert replayed(file, tmp_path / "without")[1]["split"] == "unknown"


def test_a_recorded_truth_has_the_form_of_the_benchmark(tmp_path: Path) -> None:
    program = "```python\ndef solution():\n    return 1076683.6\n```"
    row = {"id": "sample_20", "model_response": program}
    rows = [{**row, "ground_truth": truth} for truth in (1076684.0, "1076684.00")]
    same = read_xfinbench(saved(tmp_path, *rows), task="calc", mode="pot")
    assert [doc["ground_truth"] for doc in same.docs] == ["1076684"]
    assert same.responses == [[program, program]]
    other = saved(tmp_path, {**row, "ground_truth": 1076680.0})
    (doc,) = read_xfinbench(other, task="calc", mode="pot").docs
    assert doc["ground_truth"] == "1076680.0"  # another number is another truth


FINANCEMATH_ROW = {
    "question_id": "validation-0",
    "topic": "Accounting",
    "python_solution": "def solution():\n    return 1 / 3",
    "ground_truth": 0.333,
}


def test_recordings_of_financemath(tmp_path: Path) -> None:
    rows = [
        {**FINANCEMATH_ROW, "output": ["is 5\u2028", "x"]},
        {"question_id": 7, "output": [], "ground_truth": "-8.5"},
    ]
    first = read_financemath(write(tmp_path / "m.jsonl", *rows), mode="cot")
    assert [(doc["id"], doc["ground_truth"]) for doc in first.docs] == [
        ("validation-0", 0.333),
        ("7", -8.5),
    ]
    assert first.responses == [["is 5\u2028"], [""]]  # the authors score the first
    assert (first.task, first.docs[0]["mode"]) == ("financemath", "cot")
    samples = [
        {"doc": FINANCEMATH_ROW, "resps": [["is 5", "x"]], "filter": name}
        for name in ("paper", "robust")
    ]
    file = write(tmp_path / "s.jsonl", *samples)
    assert read_financemath(file, mode="cot").responses == [["is 5", "x"]]


def test_a_recorded_question_has_its_exact_truth(tmp_path: Path) -> None:
    truths = (0.938, 0.9380000000000001, 0.94)  # some recordings write the second
    rows = [
        {"question_id": "validation-24", "output": "", "ground_truth": truth}
        for truth in truths
    ]
    found = read_financemath(write(tmp_path / "m.jsonl", *rows), mode="cot")
    exact = [doc["exact_truth"] for doc in found.docs]
    assert exact == pytest.approx([0.93767847706, 0.93767847706, 0.94])


def test_financemath_under_the_names_of_other_benchmarks(tmp_path: Path) -> None:
    row = {"id": "q", "ground_truth": 5, "model_response": "It is 5."}
    found = read_financemath(write(tmp_path / "o.jsonl", row), mode="pot")
    (doc,) = found.docs
    assert (doc["id"], doc["ground_truth"]) == ("q", 5.0)
    assert (found.task, found.responses) == ("financemath_pot", [["It is 5."]])


@pytest.mark.parametrize(
    ("row", "message"),
    [
        (
            {"ground_truth": 10**400},
            "row 1, ground_truth: Input should be a .* number, got 1000",
        ),
        (
            {"python_solution": 5},
            "python_solution: Input should be a valid string, got 5",
        ),
        ({"tables": [5]}, r"tables.0: Input should be a valid string, got 5"),
    ],
)
def test_a_hostile_row_of_financemath_is_one_sentence(
    tmp_path: Path, row: dict[str, Any], message: str
) -> None:
    file = write(tmp_path / "m.jsonl", {**FINANCEMATH_ROW, "output": "is 5", **row})
    with pytest.raises(DataError, match=message) as caught:
        read_financemath(file, mode="cot")
    assert "\n" not in str(caught.value) and len(str(caught.value)) < 400
