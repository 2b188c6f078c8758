"""A model that reads answers, on a scripted server: in lm-eval, in `fin-tasks replay` and in inspect_ai."""

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from chat_server import Answer, Served, completion, serve
from in_process import parts_of, run, samples
from typer.testing import CliRunner

from fin_tasks import report
from fin_tasks.cli import app

pytestmark = pytest.mark.slow

TASKS = ("xfinbench_bool", "xfinbench_mcq", "xfinbench_mcq_visual", "xfinbench_calc")
UNREAD = "Let us see. Between {} and 3.14159, hard to say ("


@pytest.fixture(autouse=True)
def _own_environment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, no_proxy: None
) -> None:
    monkeypatch.setenv("FIN_TASKS_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("OPENAI_API_KEY", "sk-made-up")


def truth_of(doc: Mapping[str, Any]) -> str:
    if doc.get("task") == "bool":
        return "true" if float(doc["ground_truth"]) else "false"
    return str(doc.get("letter") or doc["ground_truth"])


def unread(doc: Mapping[str, Any]) -> str:
    """Answer so that no rule finds an answer."""
    return UNREAD.format(truth_of(doc))


def copy(body: Mapping[str, Any]) -> Answer:
    """Copy the answer of `unread`."""
    shown = re.search(r"Between (.+) and 3\.14159", body["messages"][1]["content"])
    return completion(shown[1] if shown else "NONE", usage=(50, 2))


def keys(served: Served) -> dict[str, str]:
    return {"reader_model": "reader", "reader_base_url": served.base_url}


def readings_of(sample: Mapping[str, Any]) -> list[Any]:
    return [json.loads(reading) for reading in sample["filtered_resps"][0]]


def test_lm_eval() -> None:
    plain = run(*TASKS, answer=unread, sees=True)
    with serve(copy) as served:
        found = run(*TASKS, answer=unread, sees=True, **keys(served))
    asked = 0
    for task in TASKS:
        results = {**found["results"][task], **parts_of(found, task)}
        without = {**plain["results"][task], **parts_of(plain, task)}
        rows = samples(found, task, "robust")
        asked += len(rows)
        assert (without["acc,robust"], without["read_by_model,robust"]) == (0.0, 0.0)
        assert results["read_by_model,robust"] == 1.0
        assert results["acc,robust"] > 0.9
        for metric in ("acc", "no_answer", "unscored", "read_by_model"):
            assert results[f"{metric},paper"] == without[f"{metric},paper"]
        assert {reading["by"] for row in rows for reading in readings_of(row)} == {
            "model"
        }
        facts = found["configs"][task]["metadata"]["judge"]
        assert (facts["model"], facts["rubric"]) == ("reader", "final_answer@1")
        assert "judge" not in plain["configs"][task]["metadata"]
    assert len(served.bodies) == asked
    assert facts["usage"]["prompt_tokens"] > 0


def test_bizbench() -> None:
    tasks = ("bizbench_finknow", "bizbench_formulaeval", "bizbench_tatqa_e")
    with serve(copy) as served:
        found = run(*tasks, answer=unread, **keys(served))
    for task in ("bizbench_finknow", "bizbench_tatqa_e"):
        assert found["results"][task]["acc,robust"] == 1.0
        assert parts_of(found, task)["read_by_model,robust"] == 1.0
    by_kind = {
        row["doc"]["kind"]: readings_of(row)[0]["by"]
        for row in samples(found, "bizbench_formulaeval", "robust")
    }
    assert by_kind == {"code": "rules", "choice": "model"}


def test_a_response_of_which_the_server_says_that_it_was_cut_off_is_not_shown() -> None:
    unfinished = completion("One could call it true, and one could", "length")
    with serve(lambda _: unfinished) as asked, serve(copy) as served:
        found = run("xfinbench_bool", served=asked, limit=3, **keys(served))
    assert not served.bodies
    results = found["results"]["xfinbench_bool"]
    assert results["cut_off,robust"] == 1.0
    assert parts_of(found, "xfinbench_bool")["read_by_model,robust"] == 0.0


def test_a_model_that_is_down_is_unscored_and_never_wrong(
    caplog: pytest.LogCaptureFixture,
) -> None:
    read = "Therefore, my answer is true."

    def answer(doc: Mapping[str, Any]) -> str:
        return read if doc["id"].endswith("0") else unread(doc)

    with serve(lambda _: (400, {}, {"error": {"message": "gone"}})) as served:
        found = run("xfinbench_bool", answer=answer, **keys(served))
    rows = samples(found, "xfinbench_bool", "robust")
    lost = [row for row in rows if row["resps"][0][0] != read]
    assert 0 < len(lost) < len(rows)
    assert all("acc" not in row and row["unscored"] == 1.0 for row in lost)
    assert all(row["unscored"] == 0.0 for row in rows if row not in lost)
    assert "gone" in readings_of(lost[0])[0]["reason"]
    results = found["results"]["xfinbench_bool"]
    assert results["unscored,robust"] == pytest.approx(len(lost) / len(rows))
    assert results["unscored,paper"] == 0.0
    assert "the judge failed on" in caplog.text


@pytest.mark.parametrize(
    ("command", "row"),
    [
        (
            ["xfinbench", "--task", "calc"],
            {"id": "a", "model_response": UNREAD.format("12.5")},
        ),
        (
            ["financemath", "--mode", "cot"],
            {"question_id": "a", "output": UNREAD.format("12.5")},
        ),
    ],
)
def test_replay(
    tmp_path: Path,
    command: list[str],
    row: dict[str, Any],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("FIN_TASKS_OFFLINE", "1")
    file = tmp_path / "model.jsonl"
    out = tmp_path / "out"
    file.write_text(
        json.dumps({**row, "ground_truth": 12.5, "topic": "Risk Management"})
    )

    def replay(*options: str) -> dict[str, Any]:
        asked = ["replay", *command, str(file), "--json", "--out", str(out), *options]
        done = CliRunner().invoke(app, asked)
        assert done.exit_code == 0, done.output
        summary: dict[str, Any] = json.loads(done.stdout)
        return summary

    without = replay()
    assert "reader" not in without
    with serve(copy) as served:
        reader = {"reader_model": "reader", "reader_base_url": served.base_url}
        found = replay("--metadata", json.dumps(reader))
    assert (found["reader"], found["robust"]["read_by_model"]) == ("reader", 1.0)
    runs, rows, problems = report.read([out])
    assert not problems
    judged = {task.judge.get("model", ""): task for one in runs for task in one.tasks}
    assert judged.keys() == {"", "reader"}
    assert judged[""].settings != judged["reader"].settings
    robust = rows[rows.scoring == "robust"].groupby("read_by_model")["acc"].mean()
    assert robust.to_dict() == {0.0: 0.0, 1.0: 1.0}


def test_replay_needs_the_name_of_the_model(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FIN_TASKS_OFFLINE", "1")
    file = tmp_path / "model.jsonl"
    file.write_text('{"id": "a", "ground_truth": 1, "model_response": ""}')
    command = [
        "replay",
        "xfinbench",
        "--task",
        "calc",
        str(file),
        "--metadata",
        '{"reader_key": "MY_KEY"}',
    ]
    done = CliRunner().invoke(app, command)
    assert done.exit_code == 1 and "reader_model" in str(done.exception)
