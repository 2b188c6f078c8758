"""Responses that were cut off, in the real harnesses: each way to find out, the metric and the warning."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from chat_server import Answer, completion, serve
from in_process import Scripted, run, samples, saved
from lm_eval import simple_evaluate
from lm_eval.tasks import TaskManager
from submissions import verify
from typer.testing import CliRunner

from fin_tasks.cli import app
from fin_tasks.demo import find_model
from fin_tasks.report import leaderboard, read
from fin_tasks.resources import task_yaml_dir

pytestmark = pytest.mark.slow

TASK = "xfinbench_bool"
SCORINGS = ("paper", "robust")
ANSWER = "Therefore, my answer is [True]."


def with_reasoning(content: str | None, reason: str) -> Answer:
    status, headers, body = completion(content, reason)
    body["choices"][0]["message"]["reasoning_content"] = "First, the statement"
    return status, headers, body


CUT_OFF = {
    "the limit in an answer": completion("The statement is", "length"),
    "the limit in reasoning that the server keeps back": with_reasoning(None, "length"),
    "reasoning that never ends": completion("<think>First, the statement", "stop"),
}
COMPLETE = {
    "an answer": completion(ANSWER),
    "reasoning without an answer": with_reasoning("", "stop"),
    "an answer after reasoning": with_reasoning(ANSWER, "stop"),
    "reasoning in the text": completion(f"<think>First</think>{ANSWER}"),
    "a filter": completion(None, "content_filter"),
}


@pytest.fixture(autouse=True)
def _alone(no_proxy: None, own_cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-made-up")


def cut_offs(found: Mapping[str, Any], task: str = TASK) -> list[float]:
    """Return the metric of each row, the same under both scorings and as the reading says."""
    paper, robust = (
        [row["cut_off"] for row in samples(found, task, v)] for v in SCORINGS
    )
    assert paper == robust
    for row in samples(found, task):
        flags = [json.loads(reading)["cut_off"] for reading in row["filtered_resps"][0]]
        assert row["cut_off"] == sum(flags) / len(flags)
    for scoring in SCORINGS:
        mean = found["results"][task][f"cut_off,{scoring}"]
        assert mean == pytest.approx(sum(paper) / len(paper))
    return paper


def warnings_in(caplog: pytest.LogCaptureFixture) -> list[str]:
    texts = [
        record.getMessage()
        for record in caplog.records
        if record.name.startswith("fin_tasks")
    ]
    return [text for text in texts if "cut off" in text]


@pytest.mark.parametrize("name", [*CUT_OFF, *COMPLETE])
def test_a_server_cuts_off_every_response(
    name: str, caplog: pytest.LogCaptureFixture
) -> None:
    reply = {**CUT_OFF, **COMPLETE}[name]
    with serve(lambda body: reply) as served:
        found = run(TASK, served=served, limit=4)
    assert cut_offs(found) == [float(name in CUT_OFF)] * 4
    told = found["configs"][TASK]["metadata"]["cut_off"]
    assert told == {"limit": 1024, "told_by": "model"}
    expected = (
        "xfinbench_bool: 4 of 4 responses were cut off at 1,024 tokens. They count as they are, most of "
        "them as wrong, so the scores are lower bounds. Run again with "
        "--gen_kwargs max_gen_toks=16384"
    )
    assert warnings_in(caplog) == ([expected] if name in CUT_OFF else [])


def test_one_request_at_a_time(caplog: pytest.LogCaptureFixture) -> None:
    replies = [completion(None, "length"), completion(ANSWER)] * 2
    with serve(lambda body: replies.pop()) as served:
        found = evaluate(served.base_url)
    assert sorted(cut_offs(found)) == [0.0, 0.0, 1.0, 1.0]
    assert len(warnings_in(caplog)) == 1


def evaluate(base_url: str, **more: Any) -> dict[str, Any]:
    """Ask a server one question after the other."""
    manager = TaskManager(
        metadata={"source": "sample"},
        include_path=task_yaml_dir(),
        include_defaults=False,
    )
    found = simple_evaluate(
        model="local-chat-completions",
        model_args={"model": "m", "base_url": f"{base_url}/chat/completions"},
        tasks=[TASK],
        task_manager=manager,
        apply_chat_template=True,
        limit=4,
        bootstrap_iters=0,
        **more,
    )
    return dict(found or {})


def test_the_mark_is_kept_in_the_cache_of_lm_eval(tmp_path: Path) -> None:
    replies = [completion("The statement is", "length"), completion(ANSWER)] * 2
    with serve(lambda body: replies.pop()) as served:
        first = evaluate(served.base_url, use_cache=str(tmp_path / "cache"))
        again = evaluate(served.base_url, use_cache=str(tmp_path / "cache"))
        assert len(served.bodies) == 4
    assert cut_offs(again) == cut_offs(first)
    assert sum(cut_offs(again)) == 2.0


@pytest.mark.parametrize(
    "task",
    [
        "xfinbench_calc_pot",
        "bizbench_codefinqa",
        "financemath",
        "financemath_pot",
        "mme_finance_en",
        "mme_finance_binary_zh",
        "mme_finance_mt_zh",
        "dynostock_recency_w4_text",
    ],
)
def test_every_kind_of_task_counts_them(task: str) -> None:
    answer = lambda doc: "<think>First" if str(doc.get("id")) else ""  # noqa: E731
    found = run(
        task, answer=answer, sees=True, limit=None if task.endswith("mt_zh") else 2
    )
    rows = samples(found, task)
    assert {row["cut_off"] for row in rows} == {1.0}
    assert found["results"][task]["cut_off,robust"] == 1.0
    assert found["configs"][task]["metadata"]["cut_off"]["told_by"] == "text"


def test_a_model_that_tells_nothing_is_counted_by_its_tokens() -> None:
    lengths = [1, 1015, 900, 1024]

    class WithTokenizer(Scripted):
        def __init__(self) -> None:
            super().__init__(lambda doc: "word " * lengths.pop(), sees=False)
            self.tokenizer = self

        def encode(self, text: str) -> list[str]:
            return text.split()

    found = run(TASK, model=WithTokenizer(), limit=4)
    assert cut_offs(found) == [1.0, 0.0, 1.0, 0.0]
    assert found["configs"][TASK]["metadata"]["cut_off"]["told_by"] == "tokens"


def test_predictions_without_scores_keep_the_metric(
    caplog: pytest.LogCaptureFixture,
) -> None:
    with serve(lambda body: completion("The", "length")) as served:
        found = run(TASK, served=served, limit=2, predict_only=True)
    assert [row["cut_off"] for row in found["samples"][TASK]] == [1.0, 1.0]
    assert len(warnings_in(caplog)) == 1


def test_a_small_model_at_a_small_limit(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    model = find_model()
    monkeypatch.chdir(model.parents[1])
    manager = TaskManager(
        metadata={"source": "sample"},
        include_path=task_yaml_dir(),
        include_defaults=False,
    )
    found = simple_evaluate(
        model="hf",
        model_args=f"pretrained={model.parent.name},gguf_file={model.name},dtype=float32",
        device="cpu",
        batch_size=2,
        tasks=[TASK],
        task_manager=manager,
        apply_chat_template=True,
        gen_kwargs="max_gen_toks=8",
        limit=2,
        bootstrap_iters=0,
    )
    assert found is not None
    assert cut_offs(found) == [1.0, 1.0]
    told = found["configs"][TASK]["metadata"]["cut_off"]
    assert told == {"limit": 8, "told_by": "model"}
    (warning,) = warnings_in(caplog)
    assert warning.startswith(
        "xfinbench_bool: 2 of 2 responses were cut off at 8 tokens."
    )


def test_a_thinking_model_at_64_tokens(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    thought = "<think>First I have to see what the statement says. It says that"
    with serve(lambda body: completion(thought, "length")) as served:
        found = evaluate(served.base_url, gen_kwargs="max_gen_toks=64")
        assert {body["max_tokens"] for body in served.bodies} == {64}
    assert cut_offs(found) == [1.0] * 4
    (warning,) = warnings_in(caplog)
    assert "4 of 4 responses were cut off at 64 tokens" in warning
    report = read([saved(found, tmp_path)])
    board = leaderboard.board(report, papers=False).model_dump()
    headlines = [one for one in board["entries"] if one["metric"] == "acc"]
    assert len(headlines) == 2
    for entry in headlines:
        assert (entry["value"], entry["cut_off"]["upper"]) == (0.0, 1.0)
        assert entry["cut_off"]["finished"] is None
        assert entry["remarks"] == [
            "lower bound: 100.0 % of the responses were cut off; 100.0 % if they were all right"
        ]


def test_a_cut_off_run_is_verified_and_replayed(tmp_path: Path) -> None:
    replies = [completion("The statement is", "length"), completion(ANSWER)] * 2
    with serve(lambda body: replies.pop()) as served:
        found = run(TASK, served=served, limit=4)
    expected = sorted(cut_offs(found))
    folder = saved(found, tmp_path / "run")
    status, worst, output = verify(folder, "--source", "sample", "--rows", "4")
    assert (status, worst["scores"], worst["totals"]) == (0, "verified", "verified"), (
        output
    )
    (file,) = folder.rglob("samples_*.jsonl")
    command = [
        "replay",
        "xfinbench",
        "--task",
        "bool",
        str(file),
        "--out",
        str(tmp_path / "again"),
    ]
    done = CliRunner().invoke(app, command)
    assert done.exit_code == 0, done.output
    (again,) = (tmp_path / "again").rglob("samples_*.jsonl")
    lines = map(json.loads, again.read_text().splitlines())
    assert (
        sorted(line["cut_off"] for line in lines if line["filter"] == "paper")
        == expected
    )


@pytest.mark.parametrize(
    ("row", "is_cut_off"),
    [
        ({"model_response": "The", "finish_reason": "length"}, True),
        ({"model_response": None, "finish_reason": "length"}, True),
        ({"model_response": "<think>The", "finish_reason": "stop"}, True),
        ({"model_response": "The", "finish_reason": "stop"}, False),
        ({"model_response": "The"}, False),
    ],
)
def test_saved_responses_with_a_finish_reason(
    row: dict[str, Any], is_cut_off: bool, tmp_path: Path
) -> None:
    (tmp_path / "saved.jsonl").write_text(
        json.dumps({"id": "1", "ground_truth": "1", **row})
    )
    command = ["replay", "xfinbench", "--task", "bool", str(tmp_path / "saved.jsonl")]
    done = CliRunner().invoke(app, [*command, "--out", str(tmp_path / "out")])
    assert done.exit_code == 0, done.output
    (file,) = (tmp_path / "out").rglob("samples_*.jsonl")
    for line in map(json.loads, file.read_text().splitlines()):
        assert line["cut_off"] == float(is_cut_off)
        assert json.loads(line["filtered_resps"][0][0])["cut_off"] == is_cut_off
