"""Ctrl-C while requests are under way, and how much memory many of them take."""

import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

import pytest
from chat_server import completion, serve
from slow_server import HEADERS, endless

from fin_tasks.settings import Settings

pytestmark = pytest.mark.slow

BEGINNING = """
import sys
from fin_tasks.settings import Settings
url, settings = sys.argv[1], Settings.from_environ()
"""
LOOPS = {
    "embeddings": """
from fin_tasks.retrieval.dense import embed_texts
embed_texts(["text"] * 1000, "endpoint:m", settings.model_copy(update={"embeddings": url}))
""",
    "judge": """
from fin_tasks.judging.item import Item
from fin_tasks.judging.judge import JudgeModel, judge_items
from fin_tasks.judging.rubric import load_rubric
items = [Item(question=str(i), answer="1", response="1", category="OCR") for i in range(100)]
judge = JudgeModel(model="m", base_url=(url,))
judge_items(items, load_rubric("mme_finance_en"), judge, settings=settings)
""",
}
LARGE = """
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from chat_client import chat_with
from fin_tasks.endpoints import outages
from fin_tasks.errors import EndpointError
outages.LONGEST_PAUSE = 0.0
with chat_with("m", [url], settings, retries=0) as chat, ThreadPoolExecutor(32) as pool:
    def ask(item):
        try:
            return len(chat.ask([{"role": "user", "content": str(item)}]).text)
        except EndpointError as error:
            return str(error)
    outcomes = list(pool.map(ask, range(40)))
print(outcomes[-1])
(line,) = [line for line in Path("/proc/self/status").open() if line.startswith("VmHWM")]
print(int(line.split()[1]) / 1024)
"""


@contextmanager
def running(code: str, url: str, cache: Path) -> Iterator["subprocess.Popen[str]"]:
    command = [sys.executable, "-c", BEGINNING + code, url]
    environ = {
        **os.environ,
        "FIN_TASKS_CACHE": str(cache),
        "PYTHONPATH": str(Path(__file__).parent),
    }
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with subprocess.Popen(command, env=environ, text=True, **pipes) as process:
        try:
            yield process
        finally:
            process.kill()


@pytest.mark.parametrize(
    ("loop", "handler"),
    [
        ("embeddings", "signal.default_int_handler"),
        ("judge", "lambda *_: sys.exit(130)"),
    ],
)
def test_ctrl_c_ends_requests_without_noise(
    settings: Settings, loop: str, handler: str
) -> None:
    code = f"import signal\nsignal.signal(signal.SIGINT, {handler})\ntry:\n"
    code += "".join(f"    {line}\n" for line in LOOPS[loop].splitlines())
    code += "except (KeyboardInterrupt, SystemExit):\n    print('stopped')"
    asked = threading.Event()
    with (
        endless(HEADERS, asked=asked) as url,
        running(code, url, settings.cache_dir) as process,
    ):
        assert asked.wait(60)
        process.send_signal(signal.SIGINT)
        # The server would go on for ever.
        output, errors = process.communicate(timeout=30)
    assert output == "stopped\n"
    assert "Traceback" not in errors and "Exception ignored" not in errors


def flood() -> AbstractContextManager[str]:
    return endless(b"HTTP/1.1 200 OK\r\n\r\n", chunk=b'"' * 100_000, pause=0.0)


@contextmanager
def large() -> Iterator[str]:
    body = json.dumps(completion("4" * 4_000_000)[2]).encode()
    with serve(lambda _: (200, {}, body), pause=0.2) as served:
        yield served.base_url


@pytest.mark.skipif(
    not Path("/proc/self/status").exists(), reason="Linux tells the memory"
)
@pytest.mark.parametrize(
    ("server", "outcome"), [(flood, "more than 4,194,304 bytes"), (large, "4000000")]
)
def test_large_replies_fit_in_memory(
    settings: Settings, server: Callable[[], AbstractContextManager[str]], outcome: str
) -> None:
    with server() as url, running(LARGE, url, settings.cache_dir) as process:
        last, megabytes = process.communicate(timeout=60)[0].splitlines()
    assert outcome in last
    assert (
        float(megabytes) < 400
    )  # of which 32 replies have 128 or more, and the imports 100
