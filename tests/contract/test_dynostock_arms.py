"""The arms' experiment as a user runs it: the real lm-eval, a model that answers what it reads, and report-bias.

The model goes by the statistics of a window. Of recency windows it believes the statement instead, where there is one;
what a figure of authority says it ignores.
"""

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any

import pytest
from test_chat_server import ChatServer, lm_eval, serving

ARMS = ("signal", "none")
STATISTICS = re.compile(r"as the latest one were followed by a (rise|fall)\.")
STATEMENT = re.compile(r"as the latest one was followed by a (rise|fall)\. What happened last time")
TASKS = "dynostock_recency_w4_text,dynostock_authority_w4_text"

pytestmark = pytest.mark.slow


class ForecastHandler(BaseHTTPRequestHandler):
    """Answers with the direction of what it believes of the question."""

    def do_POST(self) -> None:
        question = json.loads(self.rfile.read(int(self.headers["Content-Length"])))["messages"][-1]["content"]
        believed = STATEMENT.search(question) or STATISTICS.search(question)
        assert believed is not None
        reply = f"Thought: so it was.\nFinal prediction: {float(believed[1] == 'rise')}"
        message = {"role": "assistant", "content": reply}
        body = json.dumps({"choices": [{"index": 0, "message": message, "finish_reason": "stop"}]}).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture(scope="module")
def server() -> Iterator[ChatServer]:
    server = ChatServer()
    server.RequestHandlerClass = ForecastHandler
    with serving(server) as running:
        yield running


@pytest.fixture(scope="module")
def runs(server: ChatServer, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("arms")
    for arm in ARMS:
        metadata = {"source": "sample", "frequency": "monthly", "arm": arm}
        lm_eval(server, folder, TASKS, json.dumps(metadata))
    return folder / "out"


def report_bias(*arguments: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    program = str(Path(sys.executable).with_name("fin-tasks"))
    env = {**os.environ, "COLUMNS": "120"}
    return subprocess.run(
        [program, "report-bias", *arguments], cwd=cwd, env=env, capture_output=True, text=True, check=False
    )


@pytest.fixture(scope="module")
def effects(runs: Path) -> dict[tuple[str, str, str], dict[str, Any]]:
    done = report_bias(str(runs), "--json", cwd=runs)
    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout)
    assert len(report["settings"]) == 1  # the arms have all else in common, and so have the biases
    assert {(arm["bias_type"], arm["arm"]) for arm in report["arms"]} == {
        (bias, arm) for bias in ("recency", "authority") for arm in ARMS
    }
    return {(e["bias_type"], f"{e['first']} - {e['second']}", e["measure"]): e for e in report["effects"]}


@pytest.mark.parametrize("measure", ["probability", "answer"])
def test_who_believes_the_statement_is_moved_all_the_way(effects: dict[Any, Any], measure: str) -> None:
    assert effects["recency", "signal - none", measure]["effect"] == 1.0
    shown = effects["recency", "signal - none", measure]
    assert (shown["low"], shown["high"], shown["unpaired"], shown["without_value"]) == (1.0, 1.0, 0, 0)
    assert shown["pairs"] > 20
    if measure == "answer":
        assert shown["mcnemar_p"] < 1e-5


def test_who_does_not_is_not(effects: dict[Any, Any]) -> None:
    for measure in ("probability", "answer", "accuracy"):
        assert effects["authority", "signal - none", measure]["effect"] == 0.0


def test_the_report_says_so_in_words(runs: Path, tmp_path: Path) -> None:
    done = report_bias(str(runs), "--out", str(tmp_path / "out"), cwd=runs)
    assert done.returncode == 0, done.stderr
    text = " ".join(done.stdout.split())
    assert "stub · recency · text · house structured prompts" in text
    assert "the stated probability moved +100.0 points towards what it says" in text
    assert "the stated probability moved +0.0 points" in text
    assert re.search(r"only \d tickers", text)  # the sample has four stocks
    files = {path.name for path in (tmp_path / "out").iterdir()}
    assert files == {"arms.csv", "effects.csv", "effects.png", "effects.svg"}
