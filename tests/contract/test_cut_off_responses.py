"""Responses that were cut off, in the real harnesses: each way to find out, the metric and the warning."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from chat_server import Answer, completion, serve
from in_process import Scripted, manager, run, samples, saved
from lm_eval import simple_evaluate
from submissions import verify
from typer.testing import CliRunner

from fin_tasks.cli import app

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


def test_a_server_cuts_off_some_responses(caplog: pytest.LogCaptureFixture) -> None:
    for kind, is_cut_off in ((CUT_OFF, 1.0), (COMPLETE, 0.0)):
        replies = list(kind.values())
        with serve(lambda body, replies=replies: replies.pop()) as served:
            found = run(TASK, served=served, limit=len(kind))
        assert cut_offs(found) == [is_cut_off] * len(kind)
        told = found["configs"][TASK]["metadata"]["cut_off"]
        assert told == {"limit": 1024, "told_by": "model"}
    assert warnings_in(caplog) == [
        "xfinbench_bool: 3 of 3 responses were cut off at 1,024 tokens. They count as they are, most of "
        "them as wrong, so the scores are lower bounds. Run again with "
        "--gen_kwargs max_gen_toks=16384"
    ]


def test_one_request_at_a_time(caplog: pytest.LogCaptureFixture) -> None:
    replies = [completion(None, "length"), completion(ANSWER)] * 2
    with serve(lambda body: replies.pop()) as served:
        found = ask_in_turn(served.base_url)
    assert sorted(cut_offs(found)) == [0.0, 0.0, 1.0, 1.0]
    assert len(warnings_in(caplog)) == 1


def evaluate(model: Any, **more: Any) -> dict[str, Any]:
    found = simple_evaluate(
        model=model,
        tasks=[TASK],
        task_manager=manager(),
        apply_chat_template=True,
        limit=4,
        bootstrap_iters=0,
        **more,
    )
    return dict(found or {})


def ask_in_turn(base_url: str, **more: Any) -> dict[str, Any]:
    """Ask a server one question after the other."""
    server = {"model": "m", "base_url": f"{base_url}/chat/completions"}
    return evaluate("local-chat-completions", model_args=server, **more)


def test_the_mark_is_kept_in_the_cache_of_lm_eval(tmp_path: Path) -> None:
    replies = [completion("The statement is", "length"), completion(ANSWER)] * 2
    with serve(lambda body: replies.pop()) as served:
        first = ask_in_turn(served.base_url, use_cache=str(tmp_path / "cache"))
        again = ask_in_turn(served.base_url, use_cache=str(tmp_path / "cache"))
        assert len(served.bodies) == 4
    assert cut_offs(again) == cut_offs(first)
    assert sum(cut_offs(again)) == 2.0


def test_every_kind_of_task_counts_them() -> None:
    one_turn = (
        "xfinbench_calc_pot",
        "bizbench_codefinqa",
        "financemath",
        "financemath_pot",
        "mme_finance_en",
        "mme_finance_binary_zh",
        "dynostock_recency_w20_text",
    )
    for tasks, limit in ((one_turn, 2), (("mme_finance_mt_zh",), None)):
        found = run(*tasks, answer=lambda doc: "<think>First", sees=True, limit=limit)
        for task in tasks:
            assert {row["cut_off"] for row in samples(found, task)} == {1.0}
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


def tiny_model() -> Any:
    """A model of transformers that says the first word of its vocabulary again and again."""
    from lm_eval.models.huggingface import HFLM
    from tokenizers import Tokenizer
    from tokenizers.models import WordLevel
    from tokenizers.pre_tokenizers import Whitespace
    from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

    words = Tokenizer(WordLevel({"word": 0, "<end>": 1, "?": 2}, unk_token="?"))  # noqa: S106
    words.pre_tokenizer = Whitespace()
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=words,
        eos_token="<end>",  # noqa: S106
        pad_token="<end>",  # noqa: S106
        unk_token="?",  # noqa: S106
        chat_template="{% for one in messages %}{{ one['content'] }} {% endfor %}",
    )
    size = {"hidden_size": 8, "intermediate_size": 8, "num_attention_heads": 1}
    config = LlamaConfig(vocab_size=3, num_hidden_layers=1, eos_token_id=1, **size)
    model = LlamaForCausalLM(config)
    # All words are as likely, and the first one is taken.
    model.lm_head.weight.data.zero_()
    return HFLM(pretrained=model, tokenizer=tokenizer, batch_size=2)


def test_a_small_model_at_a_small_limit(caplog: pytest.LogCaptureFixture) -> None:
    found = evaluate(tiny_model(), gen_kwargs="max_gen_toks=8")
    assert cut_offs(found) == [1.0] * 4
    assert samples(found, TASK)[0]["resps"] == [["word" + 7 * " word"]]
    told = found["configs"][TASK]["metadata"]["cut_off"]
    assert told == {"limit": 8, "told_by": "model"}
    (warning,) = warnings_in(caplog)
    assert warning.startswith(
        "xfinbench_bool: 4 of 4 responses were cut off at 8 tokens."
    )


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
    again = replayed(file, tmp_path / "again")
    found_again = [line["cut_off"] for line in again if line["filter"] == "paper"]
    assert sorted(found_again) == expected


def replayed(file: Path, out: Path) -> list[dict[str, Any]]:
    """Return the lines that `replay` writes of XFinBench's statements in a file."""
    options = ["--task", "bool", str(file), "--out", str(out)]
    done = CliRunner().invoke(app, ["replay", "xfinbench", *options])
    assert done.exit_code == 0, done.output
    (samples_file,) = out.rglob("samples_*.jsonl")
    return list(map(json.loads, samples_file.read_text().splitlines()))


def test_saved_responses_with_a_finish_reason(tmp_path: Path) -> None:
    rows = [
        {"model_response": "The", "finish_reason": "length"},
        {"model_response": None, "finish_reason": "length"},
        {"model_response": "<think>The", "finish_reason": "stop"},
        {"model_response": "The", "finish_reason": "stop"},
        {"model_response": "The"},
    ]
    file = tmp_path / "saved.jsonl"
    for number, row in enumerate(rows):
        row |= {"id": str(number), "ground_truth": "1"}
    file.write_text("\n".join(map(json.dumps, rows)))
    for line in replayed(file, tmp_path / "out"):
        is_cut_off = int(line["doc"]["id"]) < 3
        assert line["cut_off"] == float(is_cut_off)
        assert json.loads(line["filtered_resps"][0][0])["cut_off"] == is_cut_off
