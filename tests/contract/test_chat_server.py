"""The real lm-eval against a chat server on loopback: what is sent, and what the scores make of the replies."""

import base64
import io
import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from chat_server import Served, completion, serve
from PIL import Image

from fin_tasks.benchmarks.xfinbench.data import load

REPLY = "<think>Perhaps A? Therefore, my answer is A.</think>Therefore, my answer is true, B, [42]."


@pytest.fixture(scope="module")
def chat_server() -> Iterator[Served]:
    with serve(lambda _: completion(REPLY)) as server:
        yield server


@pytest.fixture(scope="module")
def run(chat_server: Served, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The whole group over the sample, text questions first."""
    folder = tmp_path_factory.mktemp("chat")
    lm_eval(chat_server, folder, "xfinbench", '{"source": "sample"}')
    return folder / "out"


def lm_eval(chat_server: Served, folder: Path, tasks: str, metadata: str, *more: str) -> None:
    address = f"{chat_server.base_url}/chat/completions"
    done = subprocess.run(
        [
            *(str(Path(sys.executable).with_name("fin-tasks")), "lm-eval", "--model", "local-chat-completions"),
            *("--model_args", f"model=stub,base_url={address},num_concurrent=4,tokenized_requests=False"),
            *("--tasks", tasks, "--metadata", metadata, "--apply_chat_template"),
            *("--output_path", "out", "--log_samples", *more),
        ],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr


def documents(subset: str) -> list[dict[str, Any]]:
    (rows,) = load(subset=subset, source="sample").values()
    return list(rows)


def test_every_figure_is_sent_and_only_with_its_question(run: Path, chat_server: Served) -> None:
    with_picture = [asked for asked in chat_server.bodies if isinstance(asked["messages"][-1]["content"], list)]
    assert len(with_picture) == len(documents("mcq_visual"))
    figures = {row["prompt"].removeprefix("<image>\n"): row["figure_path"] for row in documents("mcq_visual")}
    for asked in with_picture:
        picture, text = asked["messages"][-1]["content"]
        data = base64.b64decode(picture["image_url"]["url"].split(",", 1)[1])
        with Image.open(io.BytesIO(data)) as sent, Image.open(figures[text["text"]]) as drawn:
            assert sent.convert("RGB").tobytes() == drawn.convert("RGB").tobytes()
    assert not [asked for asked in chat_server.bodies if "<image>" in json.dumps(asked)]


def test_role_and_length_are_sent(run: Path, chat_server: Served) -> None:
    assert {asked["messages"][0]["content"].split(".")[0] for asked in chat_server.bodies} == {
        "You are an expert in finance"
    }
    assert {asked.get("max_tokens", asked.get("max_completion_tokens")) for asked in chat_server.bodies} == {1024}
    assert {asked["temperature"] for asked in chat_server.bodies} == {0.0}


def test_scores_are_those_of_the_reply(run: Path) -> None:
    (path,) = run.rglob("results_*.json")
    results = json.loads(path.read_text())["results"]
    true = [row["ground_truth"] == "1.0" for row in documents("bool")]
    b = [row["ground_truth"] == "B" for row in documents("mcq")]
    b_visual = [row["ground_truth"] == "B" for row in documents("mcq_visual")]
    calc = [False for _ in documents("calc")]
    for task, right in (("bool", true), ("mcq", b), ("mcq_visual", b_visual), ("calc", calc)):
        assert results[f"xfinbench_{task}"]["acc,paper"] == pytest.approx(sum(right) / len(right))
        assert results[f"xfinbench_{task}"]["no_answer,paper"] == 0.0
    every = [*true, *b, *b_visual, *calc]
    assert results["xfinbench"]["acc,paper"] == pytest.approx(sum(every) / len(every))
    assert results["xfinbench"]["acc_stderr,paper"] > 0
    names = [row["capabilities"] for row in documents("bool")]
    tr = [hit for hit, named in zip(true, names, strict=True) if "TR" in named]
    assert results["xfinbench_bool"]["acc_TR,robust"] == pytest.approx(sum(tr) / len(tr))


def test_samples_hold_scores_as_json_for_models_that_see_too(run: Path) -> None:
    (path,) = run.rglob("samples_xfinbench_mcq_visual_*.jsonl")
    for line in path.read_text().splitlines():
        scored = json.loads(json.loads(line)["filtered_resps"][0][0])
        assert scored["answer"] == "B"


def test_models_that_insist_on_a_picture_get_a_blank_one(chat_server: Served, tmp_path: Path) -> None:
    before = len(chat_server.bodies)
    metadata = '{"source": "sample", "blank_image": true, "style": "da"}'
    lm_eval(chat_server, tmp_path, "xfinbench_bool", metadata, "--limit", "2")
    for asked in chat_server.bodies[before:]:
        (message,) = asked["messages"]  # the style has no role
        picture, text = message["content"]
        data = base64.b64decode(picture["image_url"]["url"].split(",", 1)[1])
        with Image.open(io.BytesIO(data)) as sent:
            assert sent.convert("RGB").getcolors() == [(sent.width * sent.height, (255, 255, 255))]
        assert text["text"].startswith("Statement: ")
        assert "Give no reasoning" in text["text"]
    assert len(chat_server.bodies) == before + 2
