"""The real lm-eval against a chat server on loopback: what is sent, and what the scores make of the replies."""

import base64
import io
import json
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from fin_tasks.benchmarks.xfinbench.data import load

REPLY = "<think>Perhaps A? Therefore, my answer is A.</think>Therefore, my answer is true, B, [42]."


class ChatServer(ThreadingHTTPServer):
    """Gives every request the same reply and keeps what was asked."""

    daemon_threads = True

    def __init__(self, reply: str = REPLY) -> None:
        super().__init__(("127.0.0.1", 0), ChatHandler)
        self.reply = reply
        self.asked: list[dict[str, Any]] = []


class ChatHandler(BaseHTTPRequestHandler):
    server: ChatServer

    def do_POST(self) -> None:
        self.server.asked.append(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
        message = {"role": "assistant", "content": self.server.reply}
        body = json.dumps({"choices": [{"index": 0, "message": message, "finish_reason": "stop"}]}).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        pass


@contextmanager
def serving(server: ChatServer) -> Iterator[ChatServer]:
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


@pytest.fixture(scope="module")
def chat_server() -> Iterator[ChatServer]:
    with serving(ChatServer()) as server:
        yield server


@pytest.fixture(scope="module")
def run(chat_server: ChatServer, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The whole group over the sample, text questions first."""
    folder = tmp_path_factory.mktemp("chat")
    lm_eval(chat_server, folder, "xfinbench", '{"source": "sample"}')
    return folder / "out"


def lm_eval(chat_server: ChatServer, folder: Path, tasks: str, metadata: str, *more: str) -> None:
    address = f"http://127.0.0.1:{chat_server.server_port}/v1/chat/completions"
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


def test_every_figure_is_sent_and_only_with_its_question(run: Path, chat_server: ChatServer) -> None:
    with_picture = [asked for asked in chat_server.asked if isinstance(asked["messages"][-1]["content"], list)]
    assert len(with_picture) == len(documents("mcq_visual"))
    figures = {row["prompt"].removeprefix("<image>\n"): row["figure_path"] for row in documents("mcq_visual")}
    for asked in with_picture:
        picture, text = asked["messages"][-1]["content"]
        data = base64.b64decode(picture["image_url"]["url"].split(",", 1)[1])
        with Image.open(io.BytesIO(data)) as sent, Image.open(figures[text["text"]]) as drawn:
            assert sent.convert("RGB").tobytes() == drawn.convert("RGB").tobytes()
    assert not [asked for asked in chat_server.asked if "<image>" in json.dumps(asked)]


def test_role_and_length_are_sent(run: Path, chat_server: ChatServer) -> None:
    assert {asked["messages"][0]["content"].split(".")[0] for asked in chat_server.asked} == {
        "You are an expert in finance"
    }
    assert {asked.get("max_tokens", asked.get("max_completion_tokens")) for asked in chat_server.asked} == {1024}
    assert {asked["temperature"] for asked in chat_server.asked} == {0.0}


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


def test_models_that_insist_on_a_picture_get_a_blank_one(chat_server: ChatServer, tmp_path: Path) -> None:
    before = len(chat_server.asked)
    metadata = '{"source": "sample", "blank_image": true, "style": "da"}'
    lm_eval(chat_server, tmp_path, "xfinbench_bool", metadata, "--limit", "2")
    for asked in chat_server.asked[before:]:
        (message,) = asked["messages"]  # the style has no role
        picture, text = message["content"]
        data = base64.b64decode(picture["image_url"]["url"].split(",", 1)[1])
        with Image.open(io.BytesIO(data)) as sent:
            assert sent.convert("RGB").getcolors() == [(sent.width * sent.height, (255, 255, 255))]
        assert text["text"].startswith("Statement: ")
        assert "Give no reasoning" in text["text"]
    assert len(chat_server.asked) == before + 2
