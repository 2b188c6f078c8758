"""Batches of requests to a chat model."""

import asyncio
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import pytest
from chat_server import Served, completion, serve

from fin_tasks.endpoints.client import Endpoint
from fin_tasks.endpoints.old_cache import Batch
from fin_tasks.endpoints.old_chat import Chat, ChatRequest, Reply
from fin_tasks.errors import EndpointError
from fin_tasks.settings import Settings

KEY = "sk-very-secret"


def _chat(tmp_path: Path, served: Served | str, *, retries: int = 0, model: str = "judge", **options: Any) -> Chat:
    settings = Settings.from_environ({"FIN_TASKS_CACHE": str(tmp_path), "OPENAI_API_KEY": KEY})
    base_url = served if isinstance(served, str) else served.base_url
    return Chat(Endpoint(base_url=base_url, model=model, retries=retries, timeout=5.0), settings, **options)


def _ask(*texts: str, **options: Any) -> list[ChatRequest]:
    return [ChatRequest(messages=[{"role": "user", "content": text}], options=options) for text in texts]


def _echo(body: dict[str, Any]) -> tuple[int, dict[str, str], Any]:
    return completion(f"re: {body['messages'][-1]['content']}")


def test_replies_come_in_order_and_are_kept(tmp_path: Path) -> None:
    texts = [f"question {number}" for number in range(30)]
    done: list[int] = []
    with serve(_echo, pause=0.02) as served:
        replies = _chat(tmp_path, served, concurrency=4).ask(_ask(*texts, temperature=0.0), on_done=done.append)
        assert [reply.text for reply in replies] == [f"re: {text}" for text in texts]
        assert not any(reply.kept for reply in replies)
        assert 2 <= served.most_at_once <= 4
        assert done[0] == 0
        assert done[-1] == 30
        assert done == sorted(done)
        # Another address, the same model: nothing is asked again.
        again = _chat(tmp_path, "http://127.0.0.1:1/v1").ask(_ask(*texts, temperature=0.0), on_done=done.append)
        assert [reply.text for reply in again] == [reply.text for reply in replies]
        assert all(reply.kept for reply in again)
        assert len(served.bodies) == 30
    assert served.bodies[0].keys() == {"model", "messages", "temperature"}
    assert not [path for path in tmp_path.iterdir() if KEY.encode() in path.read_bytes()]


def test_what_makes_another_request(tmp_path: Path) -> None:
    with serve(_echo) as served:
        _chat(tmp_path, served).ask([*_ask("a", temperature=0.0), *_ask("a", temperature=0.5), *_ask("b")])
        _chat(tmp_path, served, model="other").ask(_ask("b"))
        assert len(served.bodies) == 4


def test_equal_requests_are_sent_once(tmp_path: Path) -> None:
    done: list[int] = []
    with serve(_echo) as served:
        replies = _chat(tmp_path, served).ask(_ask("a", "b", "a"), on_done=done.append)
    assert [reply.text for reply in replies] == ["re: a", "re: b", "re: a"]
    assert len(served.bodies) == 2
    assert done[-1] == 3


def test_equal_requests_far_apart_are_sent_once(tmp_path: Path) -> None:
    texts = [str(number % 150) for number in range(400)]
    with serve(_echo) as served:
        _chat(tmp_path, served).ask(_ask("7"))
        done: list[int] = []
        chat = _chat(tmp_path, served)
        replies = chat.ask(_ask(*texts), on_done=done.append)
        assert [reply.text for reply in replies] == [f"re: {text}" for text in texts]
        assert len(served.bodies) == 150
        assert (chat.spent.requests, chat.spent.cached) == (149, 251)
        assert done == sorted(done)
        assert done[-1] == 400
        again: list[int] = []
        assert _chat(tmp_path, served).ask(_ask(*texts), on_done=again.append) == [
            Reply(text=f"re: {text}", kept=True) for text in texts
        ]
        assert len(served.bodies) == 150
    assert again[-1] == 400


def test_the_first_are_asked_before_all_are_named(tmp_path: Path) -> None:
    arrived = threading.Event()

    class Late(ChatRequest):
        def key(self, model: str) -> str:
            assert arrived.wait(60), "nothing is asked until this request has its name"
            return super().key(model)

    def answer(body: dict[str, Any]) -> tuple[int, dict[str, str], Any]:
        arrived.set()
        return _echo(body)

    late = Late(messages=[{"role": "user", "content": "late"}])
    with serve(answer) as served:
        replies = _chat(tmp_path, served).ask([*_ask(*map(str, range(200))), late])
    assert [reply.text for reply in replies] == [f"re: {text}" for text in (*range(200), "late")]


def test_requests_that_come_late_may_fail(tmp_path: Path) -> None:
    class Broken(ChatRequest):
        def key(self, model: str) -> str:
            raise EndpointError("picture a.png: gone")

    class Disk(ChatRequest):
        def key(self, model: str) -> str:
            raise OSError("disk")

    message = [{"role": "user", "content": "late"}]
    with serve(_echo) as served:
        chat = _chat(tmp_path, served)
        *good, late, last = chat.ask([*_ask(*map(str, range(200))), *[Broken(messages=message)] * 2])
        assert all(reply.text for reply in good)
        assert late == last == Reply(error="picture a.png: gone")
        with pytest.raises(OSError, match="disk"):
            chat.ask([*_ask("new"), *_ask(*map(str, range(200))), Disk(messages=message)])
        assert chat.ask(_ask("new"))[0].text == "re: new"


def test_replies_that_cannot_be_kept_end_the_batch_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    full = threading.Event()
    named: list[str] = []

    def settle(*_: Any, **__: Any) -> None:
        full.set()
        raise EndpointError("the disk is full")

    class Late(ChatRequest):
        def key(self, model: str) -> str:
            assert full.wait(60), "the first reply is not waited for"
            named.append(str(self.messages[0]["content"]))
            return super().key(model)

    monkeypatch.setattr(Batch, "settle", settle)
    late = [Late(messages=[{"role": "user", "content": f"late {number}"}]) for number in range(1_000)]
    with serve(_echo) as served, pytest.raises(EndpointError, match="the disk is full"):
        _chat(tmp_path, served, concurrency=1).ask([*_ask(*map(str, range(64))), *late])
    assert len(named) == 64  # of one more piece: nothing is named or paid for after it


def test_nothing_to_ask(tmp_path: Path) -> None:
    assert _chat(tmp_path, "http://127.0.0.1:1/v1").ask([]) == []


def test_a_refused_request_is_its_own_matter(tmp_path: Path) -> None:
    def answer(body: dict[str, Any]) -> tuple[int, dict[str, str], Any]:
        text = body["messages"][-1]["content"]
        return (400, {}, {"error": {"message": "too long"}}) if text == "bad" else _echo(body)

    with serve(answer) as served:
        chat = _chat(tmp_path, served)
        good, bad = chat.ask(_ask("good", "bad"))
        assert (good.text, good.error) == ("re: good", None)
        assert bad.text is None
        assert "status 400" in str(bad.error)
        chat.ask(_ask("good", "bad"))
    assert [body["messages"][0]["content"] for body in served.bodies].count("bad") == 2  # failures are not kept


@pytest.mark.parametrize(
    "reply",
    [
        completion(None),
        completion("", "length"),
        (200, {}, {"id": "1", "object": "chat.completion", "choices": []}),
        (200, {}, b"{ no json"),
        (200, {"Content-Type": "text/html"}, b"<html>login</html>"),
    ],
)
def test_replies_without_text(tmp_path: Path, reply: Any) -> None:
    with serve(lambda _: reply) as served, pytest.raises(EndpointError, match="None of 2 requests"):
        _chat(tmp_path, served).ask(_ask("a", "b"))


def test_a_busy_server_is_asked_again_when_it_says(tmp_path: Path) -> None:
    waits: list[float] = []

    def answer(body: dict[str, Any]) -> tuple[int, dict[str, str], Any]:
        waits.append(time.monotonic())
        return (429, {"Retry-After": "1"}, {"error": {"message": "busy"}}) if len(waits) == 1 else _echo(body)

    with serve(answer) as served:
        (reply,) = _chat(tmp_path, served, retries=2).ask(_ask("a"))
    assert reply.text == "re: a"
    assert waits[1] - waits[0] >= 0.9


def test_a_hopeless_batch_is_given_up(tmp_path: Path) -> None:
    with serve(lambda _: (401, {}, {"error": {"message": "who?"}})) as served:
        with pytest.raises(EndpointError, match=r"OPENAI_API_KEY is refused.*None of 200 requests"):
            _chat(tmp_path, served, concurrency=2).ask(_ask(*map(str, range(200))))
        assert len(served.bodies) < 20


def test_kept_replies_outlive_a_server_that_is_gone(tmp_path: Path) -> None:
    with serve(_echo) as served:
        _chat(tmp_path, served).ask(_ask("a"))
    kept, missing = _chat(tmp_path, "http://127.0.0.1:1/v1").ask(_ask("a", "b"))
    assert (kept.text, kept.kept, missing.text) == ("re: a", True, None)
    assert "no connection" in str(missing.error)


def test_inside_a_running_loop(tmp_path: Path) -> None:
    async def notebook() -> str | None:
        return _chat(tmp_path, served).ask(_ask("a"))[0].text

    with serve(_echo) as served:
        assert asyncio.run(notebook()) == "re: a"


_KILLED = """
import sys
import threading
from pathlib import Path
from fin_tasks.endpoints.old_cache import Batch
from fin_tasks.endpoints.old_chat import Chat, ChatRequest, Reply
from fin_tasks.endpoints.client import Endpoint
from fin_tasks.settings import Settings
settings = Settings.from_environ({"FIN_TASKS_CACHE": sys.argv[2]})
chat = Chat(Endpoint(base_url=sys.argv[1], model="judge"), settings, concurrency=1)
chat.ask([ChatRequest(messages=[{"role": "user", "content": str(n)}]) for n in range(40)])
"""


def test_a_killed_run_goes_on_where_it_stopped(tmp_path: Path) -> None:
    killed = threading.Event()

    def answer(body: dict[str, Any]) -> tuple[int, dict[str, str], Any]:
        if len(served.bodies) > 8:
            killed.wait(60)
        return _echo(body)

    with serve(answer) as served:
        process = subprocess.Popen([sys.executable, "-c", _KILLED, served.base_url, str(tmp_path)])
        deadline = time.monotonic() + 60
        while len(served.bodies) <= 8 and time.monotonic() < deadline:
            time.sleep(0.01)
        process.kill()
        process.wait()
        killed.set()
        sent = len(served.bodies)
        assert sent == 9
        replies = _chat(tmp_path, served).ask(_ask(*map(str, range(40))))
        assert [reply.text for reply in replies] == [f"re: {number}" for number in range(40)]
        # At most the one reply that was on its way is asked for twice.
        assert sum(reply.kept for reply in replies) >= sent - 1
        assert len(served.bodies) <= 41


def test_replies_that_cannot_be_used_are_not_kept(tmp_path: Path) -> None:
    told: list[tuple[int, str]] = []

    def accept(at: int, text: str) -> bool:
        told.append((at, text))
        return "bad" not in text

    with serve(_echo) as served:
        chat = _chat(tmp_path, served)
        chat.ask(_ask("bad"))  # kept, as nobody minds
        for _ in range(2):
            replies = chat.ask(_ask("good", "bad", "good"), accept=accept)
            assert [reply.text for reply in replies] == ["re: good", "re: bad", "re: good"]
        assert [body["messages"][0]["content"] for body in served.bodies].count("bad") == 3
        assert [body["messages"][0]["content"] for body in served.bodies].count("good") == 1
    assert {(0, "re: good"), (1, "re: bad")} == set(told)


@pytest.mark.parametrize("status", [400, 422])
def test_options_that_a_model_refuses(tmp_path: Path, status: int) -> None:
    """As newer models of OpenAI do: one option has another name, the other one cannot be set."""

    def answer(body: dict[str, Any]) -> tuple[int, dict[str, str], Any]:
        for name in ("max_tokens", "temperature"):
            if name in body:
                told = f"Unsupported parameter: '{name}' is not supported with this model."
                return status, {}, {"error": {"message": told, "param": name, "code": "unsupported_parameter"}}
        return _echo(body)

    requests = _ask("a", "b", "c", temperature=0.0, max_tokens=9)
    with serve(answer) as served:
        replies = _chat(tmp_path, served, concurrency=1).ask(requests)
        assert [reply.text for reply in replies] == ["re: a", "re: b", "re: c"]
        assert served.bodies[-1].keys() == {"model", "messages", "max_completion_tokens"}
        assert served.bodies[-1]["max_completion_tokens"] == 9
        assert len(served.bodies) == 5  # learnt with the first
    assert all(reply.kept for reply in _chat(tmp_path, "http://127.0.0.1:1/v1").ask(requests))


@pytest.mark.parametrize(
    ("status", "told"),
    [(400, "max_tokens is too large: 9"), (400, "this model is not supported"), (500, "max_tokens is not supported")],
)
def test_other_refusals_are_final(tmp_path: Path, status: int, told: str) -> None:
    with serve(lambda _: (status, {}, {"error": {"message": told}})) as served:
        with pytest.raises(EndpointError, match=f"status {status}"):
            _chat(tmp_path, served).ask(_ask("a", temperature=0.0, max_tokens=9))
        assert len(served.bodies) == 1
