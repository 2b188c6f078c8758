"""The functions for notebooks: what docs/python.md shows, and bad input."""

import doctest
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from typer.testing import CliRunner

import fin_tasks
from fin_tasks.cli import app
from fin_tasks.errors import ConfigError, DataError, FinTasksError

PAGE = Path(__file__).parents[1] / "docs" / "python.md"
BOOL = "xfinbench_bool"
POT = "xfinbench_calc_pot"
SAMPLE = {"source": "sample"}
PROGRAM = "```python\ndef solution():\n    return {}\n```"


def replay(*arguments: object) -> dict[str, Any]:
    options = ["--metadata", json.dumps(SAMPLE), "--json"]
    done = CliRunner().invoke(app, ["replay", "task", *map(str, arguments), *options])
    assert done.exit_code == 0, (done.output, done.exception)
    summary: dict[str, Any] = json.loads(done.stdout)
    return summary


def save(file: Path, responses: dict[str, str]) -> Path:
    lines = [
        json.dumps({"id": name, "response": text}) for name, text in responses.items()
    ]
    file.write_text("\n".join(lines))
    return file


@pytest.fixture
def documents() -> Any:
    return fin_tasks.load(BOOL, **SAMPLE)


def test_the_page_shows_what_happens(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    documents = fin_tasks.load("xfinbench_calc", **SAMPLE)
    saved = save(tmp_path / "my-model.jsonl", dict.fromkeys(documents["id"], "41.6"))
    replay("xfinbench_calc", saved, "--out", "results")
    text = PAGE.read_text(encoding="utf-8").replace("\n```\n", "\n\n")
    test = doctest.DocTestParser().get_doctest(text, {}, PAGE.name, str(PAGE), 0)
    assert len(test.examples) > 10
    flags = doctest.NORMALIZE_WHITESPACE
    runner = doctest.DocTestRunner(verbose=False, optionflags=flags)
    report: list[str] = []
    assert runner.run(test, out=report.append).failed == 0, "".join(report)


def test_the_package_offers_its_functions() -> None:
    names = {"load", "read_runs", "score", "tasks", "write_report"}
    assert names <= set(dir(fin_tasks)) & set(fin_tasks.__all__)
    with pytest.raises(AttributeError, match="no attribute 'missing'"):
        _ = fin_tasks.missing  # type: ignore[attr-defined]


def test_responses_by_id_in_order_and_as_a_table_score_alike(documents: Any) -> None:
    in_order = documents["target"]
    by_id = dict(zip(documents["id"], in_order, strict=True))
    table = pd.DataFrame({"id": documents["id"], "response": in_order})
    expected = fin_tasks.score(BOOL, in_order, **SAMPLE)
    assert set(expected["scoring"]) == {"paper", "robust"}
    assert (expected["acc"] == 1.0).all()
    for responses in (by_id, dict(reversed(by_id.items())), table, pd.Series(in_order)):
        pd.testing.assert_frame_equal(
            fin_tasks.score(BOOL, responses, **SAMPLE), expected
        )


def test_a_response_that_the_model_did_not_give_is_unscored(documents: Any) -> None:
    name = documents["id"][0]
    for missing in (None, [None, None], float("nan"), pd.NA):
        table = fin_tasks.score(BOOL, {name: missing}, **SAMPLE).set_index("scoring")
        assert table["unscored"].to_dict() == {"paper": 0.0, "robust": 1.0}
        assert table["doc_id"].tolist() == [name, name], "others are left out"
        assert table["acc"]["paper"] == 0.0
        assert table["reason"]["robust"] == "the model gave no response"
    table = fin_tasks.score(BOOL, {name: ""}, **SAMPLE)
    assert (table["unscored"] == 0.0).all()


def test_several_responses_count_as_their_mean(documents: Any) -> None:
    name, target = documents["id"][0], documents["target"][0]
    for responses in (
        {name: [target, "No idea."]},
        pd.DataFrame({"id": [name, name], "response": [target, "No idea."]}),
    ):
        table = fin_tasks.score(BOOL, responses, **SAMPLE)
        assert (table["acc"] == 0.5).all()
        assert (table["pass@2"] == 1.0).all()


def test_programs_run_in_the_sandbox() -> None:
    documents = fin_tasks.load(POT, **SAMPLE)
    responses = {}
    for document in documents.select(range(2)):
        responses[document["id"]] = PROGRAM.format(document["ground_truth"])
    table = fin_tasks.score(POT, responses, **SAMPLE)
    assert (table["acc"] == 1.0).all()
    assert (table["execution_rate"] == 1.0).all()


@pytest.mark.parametrize(
    ("responses", "message"),
    [
        (["true"], "documents, got 1. Give them by id"),
        ("true", "documents, got 1."),
        ({}, "at least one response, got none"),
        ({"x": "a"}, "the first row has 'x'"),
        ({"x": 5}, "x: expected text as response, got 5"),
        (
            pd.DataFrame({"id": ["a"], "text": [""]}),
            "the question's text) and response (or output, model_response, prediction), got id, text.",
        ),
    ],
)
def test_responses_that_cannot_be_scored(responses: Any, message: str) -> None:
    with pytest.raises(FinTasksError) as caught:
        fin_tasks.score(BOOL, responses, **SAMPLE)
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: fin_tasks.load("xfinbench_boo"), "Did you mean 'xfinbench_bool'?"),
        (lambda: fin_tasks.load("?"), "`fin_tasks.tasks()` names them."),
        (lambda: fin_tasks.load(BOOL, split="tset"), "one of test, validation"),
        (lambda: fin_tasks.load(BOOL, mode="da"), "sets mode, which this task fixes"),
        (lambda: fin_tasks.score("mme_finance_en", []), "`fin-tasks judge`"),
        (lambda: fin_tasks.score(BOOL, {}, reader_key="K"), "reader_model: expected"),
        (lambda: fin_tasks.read_runs("nowhere"), "nowhere: expected a results file"),
        (lambda: fin_tasks.write_report("nowhere", "out"), "nowhere: expected"),
    ],
)
def test_bad_input_is_one_sentence(call: Callable[[], Any], message: str) -> None:
    with pytest.raises(FinTasksError) as caught:
        call()
    assert isinstance(caught.value, ConfigError | DataError)
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


def test_replay_of_any_task_writes_a_run_that_is_read(
    documents: Any, tmp_path: Path
) -> None:
    wrong = dict.fromkeys(documents["id"], "I cannot say.")
    responses = wrong | {documents["id"][0]: documents["target"][0]}
    summary = replay(
        BOOL, save(tmp_path / "m.jsonl", responses), "--out", tmp_path / "runs"
    )
    expected = fin_tasks.score(BOOL, responses, **SAMPLE)
    n = documents.num_rows
    told = [summary[name] for name in ("task", "model", "n", "n_all")]
    assert told == [BOOL, "m", n, n]
    assert summary["robust"]["acc"] == pytest.approx(1 / n)
    runs, rows, problems = fin_tasks.read_runs(tmp_path / "runs")
    assert not problems
    assert [(run.model, run.harness) for run in runs] == [("m", "replay")]
    for column in ("doc_id", "scoring", "answer", "acc", "no_answer"):
        assert rows[column].astype(object).equals(expected[column].astype(object))
    verified = CliRunner().invoke(
        app, ["verify", str(tmp_path / "runs"), "--source", "sample", "--json"]
    )
    (task,) = json.loads(verified.stdout)["tasks"]
    open_items = {
        item["name"] for item in task["items"] if item["status"] != "verified"
    }
    assert open_items == {"prompts"}  # saved responses do not say what was sent


def test_replay_reads_csv_and_samples_of_lm_eval(
    documents: Any, tmp_path: Path
) -> None:
    file = tmp_path / "a.csv"
    name, target = documents["id"][0], documents["target"][0]
    rows = {"id": [name, name], "response": [target, "No idea."]}
    pd.DataFrame(rows).to_csv(file, index=False)
    summary = replay(BOOL, file, "--out", tmp_path / "runs", "--model", "org/m")
    assert (summary["n"], summary["n_all"]) == (1, documents.num_rows)
    assert summary["robust"]["acc"] == 0.5
    (samples,) = (tmp_path / "runs" / "org__m").glob("samples_*.jsonl")
    again = replay(BOOL, samples)
    assert (again["model"], again["n"]) == ("org/m", 1)
    assert again["robust"] == summary["robust"]


@pytest.mark.parametrize("response", ["Let us see.", "", None])
def test_replay_knows_what_was_cut_off(
    documents: Any, tmp_path: Path, response: str | None
) -> None:
    row = {"id": documents["id"][0], "response": response, "finish_reason": "length"}
    (tmp_path / "r.jsonl").write_text(json.dumps(row))
    summary = replay(BOOL, tmp_path / "r.jsonl", "--out", tmp_path / "runs")
    assert summary["robust"]["cut_off"] == 1.0
    (samples,) = tmp_path.glob("runs/r/samples_*.jsonl")
    assert replay(BOOL, samples)["robust"]["cut_off"] == 1.0


def test_replay_refuses_what_it_cannot_score(tmp_path: Path) -> None:
    (tmp_path / "r.jsonl").write_text('{"id": "a", "response": "b"}')
    options = ["--metadata", json.dumps(SAMPLE)]
    file = str(tmp_path / "r.jsonl")
    done = CliRunner().invoke(app, ["replay", "task", BOOL, file, *options])
    assert isinstance(done.exception, DataError)
    assert "the first row has 'a'" in str(done.exception)
