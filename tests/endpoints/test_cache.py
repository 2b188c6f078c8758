"""The cache of replies: shared by processes, read-only, and on a full disk."""

import os
import resource
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from chat_server import Served, completion, serve

from fin_tasks.endpoints import cache
from fin_tasks.endpoints.cache import ReplyCache, request_key
from fin_tasks.endpoints.chat import Chat
from fin_tasks.endpoints.reply import ChatReply
from fin_tasks.errors import EndpointError
from fin_tasks.settings import Settings

ASK_ALL = """
import sys
from concurrent.futures import ThreadPoolExecutor
from fin_tasks.endpoints.chat import Chat
from fin_tasks.settings import Settings

url, n = sys.argv[1], int(sys.argv[2])
with Chat("m", [url], Settings.from_environ()) as chat, ThreadPoolExecutor(8) as pool:
    def ask(number):
        return chat.ask([{"role": "user", "content": str(number)}]).text
    texts = list(pool.map(ask, range(n)))
    assert texts == [str(number) for number in range(n)]
    print(chat.usage.requests, chat.usage.cached)
"""


def question(number: int) -> list[dict[str, str]]:
    return [{"role": "user", "content": str(number)}]


def echo(body: dict[str, Any]) -> Any:
    return completion(body["messages"][0]["content"])


def test_three_processes_ask_each_row_once(settings: Settings) -> None:
    with serve(echo, pause=0.05) as served:
        command = [sys.executable, "-c", ASK_ALL, served.base_url, "60"]
        environ = {**os.environ, "FIN_TASKS_CACHE": str(settings.cache_dir)}
        processes = [
            subprocess.Popen(command, env=environ, stdout=subprocess.PIPE, text=True)
            for _ in range(3)
        ]
        counts = [process.communicate(timeout=60)[0].split() for process in processes]
        assert [process.returncode for process in processes] == [0, 0, 0]
    assert len(served.bodies) == 60
    assert sum(int(requests) for requests, _ in counts) == 60
    assert sum(int(cached) for _, cached in counts) == 120


def test_equal_rows_are_asked_once(settings: Settings) -> None:
    with (
        serve(echo, pause=0.5) as served,
        Chat("m", [served.base_url], settings) as model,
        ThreadPoolExecutor(4) as pool,
    ):
        replies = list(pool.map(lambda _: model.ask(question(7)).text, range(4)))
    assert replies == ["7"] * 4
    assert len(served.bodies) == 1


def test_a_claim_of_a_killed_run_ends(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    with serve(echo) as served, Chat("m", [served.base_url], settings) as model:
        key = request_key([served.base_url], {"model": "m", "messages": question(7)})
        killed = ReplyCache(settings.cache_dir / "chat.sqlite")
        monkeypatch.setattr(cache, "CLAIM_SECONDS", 0.5)
        assert killed.claim(key)
        assert not killed.claim(key)
        started = time.monotonic()
        assert model.ask(question(7)).text == "7"
        assert 0.3 < time.monotonic() - started < 5
        killed.close()


def test_after_a_failure_another_run_may_ask(settings: Settings) -> None:
    answers = [(400, {}, {"error": {"message": "no"}}), completion("7")]
    with serve(lambda _: answers.pop(0)) as served:
        with (
            Chat("m", [served.base_url], settings) as model,
            pytest.raises(EndpointError, match="400"),
        ):
            model.ask(question(7))
        with Chat("m", [served.base_url], settings) as model:
            assert model.ask(question(7)).text == "7"


@contextmanager
def unprivileged(folder: Path) -> Iterator[None]:
    """Take the right to write to a folder away; root has all rights, so it becomes nobody."""
    is_root = os.geteuid() == 0
    paths = [folder, *folder.iterdir()]
    for path in paths:
        path.chmod(0o555)
    for parent in folder.parents:
        if is_root and parent.owner() == "root" and parent.is_relative_to("/tmp/"):  # noqa: S108
            parent.chmod(parent.stat().st_mode | 0o055)
    if is_root:
        os.seteuid(65534)
    try:
        yield
    finally:
        if is_root:
            os.seteuid(0)
        for path in paths:
            path.chmod(0o755)


def test_a_read_only_cache_gives_what_it_has(settings: Settings) -> None:
    with serve(echo) as served:
        with Chat("m", [served.base_url], settings) as model:
            model.ask(question(7))
        with (
            unprivileged(settings.cache_dir),
            Chat("m", [served.base_url], settings) as model,
        ):
            assert model.ask(question(7)).cached
            with pytest.raises(
                EndpointError, match="it is read-only, and has no reply to this"
            ):
                model.ask(question(8))
        assert len(served.bodies) == 1


@contextmanager
def full_disk(n_bytes: int) -> Iterator[None]:
    """Let no file of this process grow beyond a size."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (n_bytes, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


def ask_until_the_disk_is_full(model: Chat, served: Served) -> int:
    """Return how many questions were answered before asking was refused."""
    for number in range(100):
        try:
            assert model.ask(question(number)).text.endswith(str(number))
        except EndpointError as error:
            assert "Make room" in str(error) and "kept in memory until" in str(error)
            assert len(served.bodies) == number
            return number
    raise AssertionError("the disk is not full")


def test_a_full_disk_loses_no_reply(settings: Settings) -> None:
    large = "x" * 50_000

    with serve(
        lambda body: completion(large + body["messages"][0]["content"])
    ) as served:
        with Chat("m", [served.base_url], settings) as model:
            with full_disk(300_000):
                n_answered = ask_until_the_disk_is_full(model, served)
            assert n_answered > 0
            assert model.ask(question(1000)).text.endswith("1000"), (
                "there is room again"
            )
        with Chat("m", [served.base_url], settings) as model:
            for number in range(n_answered):
                assert model.ask(question(number)).cached
        assert len(served.bodies) == n_answered + 1


def test_replies_that_are_lost_are_counted(
    settings: Settings, caplog: pytest.LogCaptureFixture
) -> None:
    replies = ReplyCache(settings.cache_dir / "chat.sqlite")
    with full_disk(50_000):
        for number in range(3):
            replies.put(str(number), ChatReply(text="x" * 100_000, reason="stop"))
        replies.close()
    assert "3 replies are lost" in caplog.text


def test_a_reply_in_the_cache_that_is_none_is_an_error(settings: Settings) -> None:
    replies = ReplyCache(settings.cache_dir / "chat.sqlite")
    replies._database.execute("INSERT INTO chat_replies VALUES ('1', '{}')")
    with pytest.raises(EndpointError, match="SQLite"):
        replies.get("1")
    replies.close()


def test_threads_write_at_the_same_time(settings: Settings) -> None:
    caches = [ReplyCache(settings.cache_dir / "chat.sqlite") for _ in range(2)]
    reply = ChatReply(text="4", reason="stop")

    def put(replies: ReplyCache) -> None:
        for number in range(50):
            replies.put(f"{id(replies)} {number}", reply)

    threads = [threading.Thread(target=put, args=(replies,)) for replies in caches]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert caches[0].get(f"{id(caches[1])} 49") == reply
    for replies in caches:
        replies.close()
