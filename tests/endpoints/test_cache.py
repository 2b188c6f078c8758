"""The cache of replies: shared by processes, and on a full disk."""

import hashlib
import json
import os
import resource
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import pytest
from chat_client import chat_at, chat_with
from chat_server import completion, serve

from fin_tasks.endpoints.replies import ReplyCache
from fin_tasks.errors import EndpointError
from fin_tasks.settings import Settings

ASK_ALL = """
import sys
from concurrent.futures import ThreadPoolExecutor
from chat_client import chat_at, chat_with
from fin_tasks.settings import Settings

url, n = sys.argv[1], int(sys.argv[2])
settings = Settings.from_environ()
with chat_with("m", [url], settings) as chat, ThreadPoolExecutor(8) as pool:
    def ask(number):
        return chat.ask([{"role": "user", "content": str(number)}]).text
    assert list(pool.map(ask, range(n))) == [str(number) for number in range(n)]
"""


def question(number: int) -> list[dict[str, str]]:
    return [{"role": "user", "content": str(number)}]


def echo(body: dict[str, Any]) -> Any:
    return completion(body["messages"][0]["content"])


def ask_all_in_a_process(settings: Settings, url: str) -> "subprocess.Popen[str]":
    command = [sys.executable, "-c", ASK_ALL, url, "20"]
    environ = {
        **os.environ,
        "FIN_TASKS_CACHE": str(settings.cache_dir),
        "PYTHONPATH": str(Path(__file__).parent),
    }
    return subprocess.Popen(command, env=environ, stdout=subprocess.PIPE, text=True)


def test_processes_share_a_cache(settings: Settings) -> None:
    with serve(echo, pause=0.02) as served:
        processes = [ask_all_in_a_process(settings, served.base_url) for _ in range(2)]
        for process in processes:
            process.communicate(timeout=120)
        assert [process.returncode for process in processes] == [0, 0]
        n_asked = len(served.bodies)
        with chat_with("m", [served.base_url], settings) as model:
            assert all(model.ask(question(number)).cached for number in range(20))
        assert len(served.bodies) == n_asked


def test_a_killed_process_blocks_nobody(settings: Settings) -> None:
    asked = threading.Event()
    killed = threading.Event()

    def slow_until_killed(body: dict[str, Any]) -> Any:
        asked.set()
        killed.wait(60)
        return echo(body)

    with serve(slow_until_killed) as served:
        process = ask_all_in_a_process(settings, served.base_url)
        assert asked.wait(120)
        process.kill()
        process.communicate()
        killed.set()
        with chat_with("m", [served.base_url], settings) as model:
            started = time.monotonic()
            assert model.ask(question(0)).text == "0"
            assert time.monotonic() - started < 30


def test_replies_of_earlier_versions_are_found(settings: Settings) -> None:
    """The key as version 0.3 made it, and the row as it wrote it."""
    url = "http://127.0.0.1:9/v1"
    options = {"max_tokens": 3, "temperature": 0.0}
    request = {"model": "m", "messages": question(7), **options}
    text = json.dumps([[url], request], sort_keys=True)
    key = hashlib.sha256(text.encode()).hexdigest()
    replies = ReplyCache(settings.cache_dir)
    row = '{"text":"4","reason":"stop","prompt_tokens":5,"completion_tokens":1}'
    with closing(replies.database) as database:
        database.execute("INSERT INTO chat_replies VALUES (?, ?)", (key, row))
        database.commit()
    with chat_with("m", [f"{url}/"], settings) as model:
        reply = model.ask(question(7), **options)
        assert (reply.text, reply.cached) == ("4", True)


def test_equal_rows_are_asked_once(settings: Settings) -> None:
    with (
        chat_at(echo, settings, pause=0.3) as (served, model),
        ThreadPoolExecutor(4) as pool,
    ):
        replies = list(pool.map(lambda _: model.ask(question(7)).text, range(4)))
    assert replies == ["7"] * 4
    assert len(served.bodies) == 1


def test_after_a_failure_another_run_may_ask(settings: Settings) -> None:
    answers = [(400, {}, {"error": {"message": "no"}}), completion("7")]
    with serve(lambda _: answers.pop(0)) as served:
        with (
            chat_with("m", [served.base_url], settings) as model,
            pytest.raises(EndpointError, match="400"),
        ):
            model.ask(question(7))
        with chat_with("m", [served.base_url], settings) as model:
            assert model.ask(question(7)).text == "7"


@contextmanager
def full_disk(n_bytes: int) -> Iterator[None]:
    """Let no file of this process grow beyond a size."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (n_bytes, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


def test_a_full_disk_loses_no_reply(
    settings: Settings, caplog: pytest.LogCaptureFixture
) -> None:
    large = "x" * 50_000

    with serve(
        lambda body: completion(large + body["messages"][0]["content"])
    ) as served:
        with chat_with("m", [served.base_url], settings) as model:
            with full_disk(300_000):
                for number in range(20):
                    assert model.ask(question(number)).text.endswith(str(number))
                assert model.ask(question(19)).cached
            assert "replies are in memory only" in caplog.text
            model.ask(question(20))  # there is room again
        with chat_with("m", [served.base_url], settings) as model:
            assert all(model.ask(question(number)).cached for number in range(21))
        assert len(served.bodies) == 21


def test_a_reply_in_the_cache_that_is_none_is_an_error(settings: Settings) -> None:
    replies = ReplyCache(settings.cache_dir)
    with closing(replies.database) as database:
        database.execute("INSERT INTO chat_replies VALUES ('1', '{}')")
        with pytest.raises(EndpointError, match="SQLite"):
            replies.get("1")
