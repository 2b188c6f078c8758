"""FinanceMath's tasks in the real lm-eval, with a model that reads answers, and `fin-tasks replay` of a recording."""

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from chat_server import Answer, completion, serve
from in_process import parts_of, run, samples
from typer.testing import CliRunner

from fin_tasks.cli import app

TASKS = ("financemath", "financemath_pot")
UNREAD = "either {} or so, hard to say ("


@pytest.fixture(autouse=True)
def _own_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FIN_TASKS_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("OPENAI_API_KEY", "sk-very-secret")


def copy(body: dict[str, Any]) -> Answer:
    """Copy the number of a response, but break over an 8."""
    number = re.search(r"either (\S+) or", body["messages"][1]["content"])
    return completion("what?" if not number or number[1] == "8" else number[1])


def answer(doc: Mapping[str, Any]) -> str:
    if doc["mode"] == "pot" or doc["topic_name"] != "risk":
        return str(doc["target"])
    return UNREAD.format(
        8 if doc["question_id"].endswith("4") else f"{doc['ground_truth']:.12g}"
    )


def test_lm_eval_with_a_model_that_reads_answers() -> None:
    with serve(copy) as served:
        reader = {"reader_model": "reader", "reader_base_url": served.base_url}
        found = run(*TASKS, answer=answer, **reader)
    risk = [
        one
        for one in samples(found, "financemath")
        if one["doc"]["topic_name"] == "risk"
    ]
    failed = [one["doc"]["question_id"] for one in risk if one.get("acc") is None]
    assert len(risk) > len(failed) == 1
    for scoring in ("paper", "robust"):
        for task, unscored in (("financemath", 1 / 25), ("financemath_pot", 0.0)):
            results = found["results"][task]
            assert (
                results[f"acc,{scoring}"],
                results[f"execution_rate,{scoring}"],
            ) == (1.0, 1.0)
            assert results[f"unscored,{scoring}"] == pytest.approx(unscored)
        share = parts_of(found, "financemath")[f"read_by_model,{scoring}"]
        assert share == pytest.approx((len(risk) - 1) / 25)
    assert len(served.bodies) == len(risk)  # once for both scorings
    facts = found["configs"]["financemath"]["metadata"]["provenance"]
    assert (facts["data"]["origin"], facts["rows"]) == ("sample", 25)


@pytest.mark.parametrize("mode", ["cot", "pot"])
def test_replay_writes_the_run_folder_that_a_report_reads(
    tmp_path: Path, mode: str
) -> None:
    right = {"cot": "Therefore, the answer is 7.", "pot": "return 7"}[mode]
    same = {"ground_truth": 7, "topic": "Accounting"}
    rows = [
        {"question_id": f"test-{at}", "output": [text], **same}
        for at, text in enumerate([right, "", "x"])
    ]
    file, out = tmp_path / "m.json", tmp_path / "out"
    file.write_text(json.dumps(rows))
    command = [
        "replay",
        "financemath",
        str(file),
        "--mode",
        mode,
        "--out",
        str(out),
        "--json",
    ]
    done = CliRunner().invoke(app, command)
    assert done.exit_code == 0, done.output
    summary = json.loads(done.stdout)
    counts = (
        summary["acc"],
        summary["no_answer"],
        summary["unscored"],
        summary["model"],
        summary["split"],
    )
    assert counts == (1 / 3, 2, 0, "m", "test")
    rates = {"n": 3, "execution_rate": 1 / 3, "acc": 1 / 3, "robust_acc": 1 / 3}
    rates["robust_execution_rate"] = 1 / 3
    assert summary.items() >= {**rates, "by_topic": {"Accounting": rates}}.items()
    (path,) = out.rglob("samples_financemath*.jsonl")
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    assert [one["answer"] for one in lines if one["filter"] == "paper"] == [
        7.0,
        None,
        None,
    ]
