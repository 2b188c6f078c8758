"""The arms' experiment as a user runs it: the real lm-eval, a model that answers what it reads, and report-bias.

The model goes by the statistics of a window, not quite sure of them. Of recency windows it believes what is said about
single events: without any doubt that the latest one repeats itself, a little less that another one does. What somebody
says, known or not, it ignores.
"""

import csv
import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler
from pathlib import Path

import pytest
from test_chat_server import ChatServer, serving

from fin_tasks.benchmarks.dynostock.window import frame_of
from fin_tasks.benchmarks.dynostock.window_set import sample_set, write_set
from fin_tasks.benchmarks.dynostock.windows import Found
from fin_tasks.settings import Settings

ARMS = ("signal", "none", "aligned", "flipped")
BELIEFS = (  # the first that a question holds is what the model goes by, and how sure it is
    (re.compile(r"as the latest one was followed by a (rise|fall)\. What happened last time"), 1.0),
    (re.compile(r"The report of [-\d]+, whose .*? was followed by a (rise|fall)\."), 0.8),
    (re.compile(r"as the latest one (?:were|was) followed by a (rise|fall)\."), 0.6),
)
TASKS = "dynostock_recency_w4_text,dynostock_authority_w4_text"
ALL_ARMS = """
import sys
from fin_tasks.adapters.lm_eval_cli import run
for arm in {arms}:
    run([text.replace("ARM", arm) for text in sys.argv[1:]])
"""  # in one process, as starting lm-eval takes longer than the run itself

pytestmark = pytest.mark.slow


class ForecastHandler(BaseHTTPRequestHandler):
    """Answers with the direction of what it believes of the question."""

    def do_POST(self) -> None:
        question = json.loads(self.rfile.read(int(self.headers["Content-Length"])))["messages"][-1]["content"]
        found = ((pattern.search(question), sure) for pattern, sure in BELIEFS)
        up = next(sure if match[1] == "rise" else 1 - sure for match, sure in found if match)
        reply = f"Thought: so it was.\nFinal prediction: {up:.1f}"
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


def run(*command: str, cwd: Path) -> str:
    env = {**os.environ, "COLUMNS": "120"}
    done = subprocess.run(command, cwd=cwd, env=env, capture_output=True, text=True, check=False, timeout=300)
    assert done.returncode == 0, done.stderr
    return done.stdout


@dataclass(frozen=True)
class Report:
    """What report-bias printed, and its files by name."""

    text: str
    folder: Path

    def rows(self, name: str) -> list[dict[str, str]]:
        return list(csv.DictReader((self.folder / name).read_text().splitlines()))


@pytest.fixture(scope="module")
def report(server: ChatServer, tmp_path_factory: pytest.TempPathFactory) -> Report:
    folder = tmp_path_factory.mktemp("arms")
    address = f"http://127.0.0.1:{server.server_port}/v1/chat/completions"
    sample = sample_set(Settings.from_environ())
    few = [window for bias in ("recency", "authority") for window in sample.select(bias, 4)[::4]]
    write_set(folder / "windows", Found(frame_of(few), ()), sample.market, parameters={"every": 4})
    metadata = json.dumps({"windows_dir": "windows", "frequency": "monthly", "arm": "ARM"})
    run(
        *(sys.executable, "-c", ALL_ARMS.format(arms=ARMS), "--model", "local-chat-completions"),
        *("--model_args", f"model=stub,base_url={address},num_concurrent=4,tokenized_requests=False"),
        *("--tasks", TASKS, "--metadata", metadata, "--apply_chat_template", "--output_path", "out", "--log_samples"),
        cwd=folder,
    )
    program = str(Path(sys.executable).with_name("fin-tasks"))
    text = run(program, "report-bias", "out", "--out", "report", cwd=folder)
    return Report(" ".join(text.split()), folder / "report")


def test_every_arm_of_both_biases_is_there_and_all_else_the_same(report: Report) -> None:
    arms = report.rows("arms.csv")
    assert {(arm["bias_type"], arm["arm"]) for arm in arms} == {
        (bias, arm) for bias in ("recency", "authority") for arm in ARMS
    }
    assert len({arm["setting"] for arm in arms}) == 1


@pytest.mark.parametrize(
    ("contrast", "probability", "answer"),
    [  # of the movement that the signal names: 1.0 in the arm signal, 0.4 in none, 0.2 in aligned, 0.0 in flipped
        ("signal none", 0.6, 1.0),
        ("flipped none", -0.4, 0.0),
        ("aligned none", -0.2, 0.0),
        ("signal flipped", 1.0, 1.0),
    ],
)
def test_who_believes_statements_is_moved_as_far_as_that(
    report: Report, contrast: str, probability: float, answer: float
) -> None:
    found = {
        row["measure"]: row
        for row in report.rows("effects.csv")
        if row["bias_type"] == "recency" and f"{row['first']} {row['second']}" == contrast
    }
    for measure, effect in (("probability", probability), ("answer", answer)):
        row = found[measure]
        assert [float(row[name]) for name in ("effect", "low", "high")] == pytest.approx([effect] * 3)
        assert (row["unpaired"], row["without_value"]) == ("0", "0")
    pairs = int(found["answer"]["pairs"])
    assert pairs >= 6
    assert float(found["answer"]["mcnemar_p"]) == (pytest.approx(2 * 0.5**pairs) if answer else 1.0)


def test_who_does_not_is_not(report: Report) -> None:
    effects = [float(row["effect"]) for row in report.rows("effects.csv") if row["bias_type"] == "authority"]
    assert effects == [0.0] * 12  # four contrasts, three measures


def test_the_report_says_so_in_words(report: Report) -> None:
    assert "stub · recency · text · house structured prompts" in report.text
    assert "the stated probability moved +60.0 points towards what it says" in report.text
    assert "the stated probability moved +0.0 points" in report.text
    assert "recency, text: only 3 tickers" in report.text  # the sample's stocks with earnings
    names = {path.name for path in report.folder.iterdir()}
    assert names == {"arms.csv", "effects.csv", "effects.png", "effects.svg"}
