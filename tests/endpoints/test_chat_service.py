"""Chat models that are far away: several addresses, limits, cost, pictures, servers that misbehave."""

import email.utils
import itertools
import json
import logging
import socket
import subprocess
import sys
import threading
import time
from collections import Counter
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from chat_server import Answer, Served, completion, serve

from fin_tasks.endpoints import limits as limits_module
from fin_tasks.endpoints.client import Endpoint
from fin_tasks.endpoints.limits import Limits
from fin_tasks.endpoints.old_cache import request_key
from fin_tasks.endpoints.old_chat import Chat, ChatRequest
from fin_tasks.endpoints.pictures import Picture
from fin_tasks.endpoints.spending import Prices
from fin_tasks.errors import ConfigError, EndpointError
from fin_tasks.settings import Settings

KEY = "sk-very-secret"
PNG = b"\x89PNG\r\n\x1a\n"
NOWHERE = "http://127.0.0.1:1/v1"

pytestmark = pytest.mark.usefixtures("no_proxy")


def _settings(tmp_path: Path) -> Settings:
    return Settings.from_environ({"FIN_TASKS_CACHE": str(tmp_path), "OPENAI_API_KEY": KEY})


def _chat(tmp_path: Path, *served: Served | str, retries: int = 0, timeout: float = 5.0, **options: Any) -> Chat:
    endpoints = [
        Endpoint(
            base_url=where if isinstance(where, str) else where.base_url,
            model="judge",
            retries=retries,
            timeout=timeout,
        )
        for where in served
    ]
    return Chat(endpoints, _settings(tmp_path), **options)


def _ask(*texts: str, **fields: Any) -> list[ChatRequest]:
    return [ChatRequest(messages=[{"role": "user", "content": text}], **fields) for text in texts]


def _text(body: dict[str, Any]) -> str:
    return str(body["messages"][-1]["content"])


def _echo(body: dict[str, Any]) -> Answer:
    return completion(f"re: {_text(body)}", usage=(100, 2))


# Keys


def test_a_plain_request_keeps_the_key_it_always_had(tmp_path: Path) -> None:
    (request,) = _ask("a", options={"temperature": 0.0})
    body = {"messages": [{"role": "user", "content": "a"}], "temperature": 0.0}
    assert request.key("judge") == request_key("judge", body)
    assert request.key("judge") == "2da66e6e092d33c31a9852fce88b273f69c5b18031e2a4f5e1030c99b532a90e"


def test_what_it_is_about_counts_and_is_not_sent(tmp_path: Path) -> None:
    with serve(_echo) as served:
        chat = _chat(tmp_path, served)
        for about in ({}, {"rubric": "1"}, {"rubric": "2"}, {"rubric": "1"}):
            chat.ask(_ask("a", about=about))
    assert [body.keys() for body in served.bodies] == [{"model", "messages"}] * 3


# Pictures


def test_pictures_are_sent_as_they_are(tmp_path: Path) -> None:
    (tmp_path / "a.jpg").write_bytes(PNG)
    gone = {"type": "image_url", "image_url": {"url": Picture(tmp_path / "gone.png")}}
    here = {"type": "image_url", "image_url": {"url": Picture(tmp_path / "a.jpg")}}
    requests = [
        ChatRequest(messages=[{"role": "user", "content": [picture, {"type": "text", "text": "What?"}]}])
        for picture in (gone, here, gone)
    ]
    with serve(lambda _: completion("a chart")) as served:
        missing, shown, _ = _chat(tmp_path, served).ask(requests)
    assert shown.text == "a chart"
    assert "gone.png: expected a file that can be read" in str(missing.error)
    (body,) = served.bodies
    assert body["messages"][0]["content"][0]["image_url"] == {"url": "data:image/png;base64,iVBORw0KGgo="}


_PEAK = """
import resource, sys
from pathlib import Path
from fin_tasks.endpoints.old_chat import Chat, ChatRequest
from fin_tasks.endpoints.client import Endpoint
from fin_tasks.endpoints.pictures import Picture
from fin_tasks.settings import Settings
def peak(): return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
def ask(n):
    paths = [Path(sys.argv[2], f"{at}.png") for at in n]
    chat.ask([ChatRequest(messages=[{"role": "user", "content": [{"url": Picture(path)}]}]) for path in paths])
settings = Settings.from_environ({"FIN_TASKS_CACHE": sys.argv[2]})
chat = Chat(Endpoint(base_url=sys.argv[1], model="judge"), settings, concurrency=4)
ask(range(8))
before = peak()
ask(range(100))
print(peak() - before)
"""


def test_only_pictures_under_way_are_in_memory(tmp_path: Path) -> None:
    for number in range(100):
        (tmp_path / f"{number}.png").write_bytes(PNG + bytes([number]) * 1_000_000)
    with serve(lambda _: completion("5")) as served:
        command = [sys.executable, "-c", _PEAK, served.base_url, str(tmp_path)]
        run = subprocess.run(command, capture_output=True, text=True, check=True)
        assert len(served.bodies) == 100
        served.bodies.clear()
    assert float(run.stdout) < 40  # MB; all of them, packed, are 133


# Several addresses


def test_addresses_share_the_work(tmp_path: Path) -> None:
    with serve(_echo) as one, serve(_echo) as other:
        replies = _chat(tmp_path, one, other).ask(_ask(*map(str, range(20))))
    assert [reply.text for reply in replies] == [f"re: {number}" for number in range(20)]
    assert [len(one.bodies), len(other.bodies)] == [10, 10]


def test_the_others_stand_in_for_one_that_is_gone(tmp_path: Path) -> None:
    with serve(_echo) as served:
        started = time.monotonic()
        replies = _chat(tmp_path, NOWHERE, served, NOWHERE).ask(_ask(*map(str, range(30))))
        assert all(reply.text for reply in replies)
        assert len(served.bodies) == 30
    assert time.monotonic() - started < 30


def test_all_addresses_gone(tmp_path: Path) -> None:
    with pytest.raises(EndpointError, match=r"no connection.*None of 3 requests"):
        _chat(tmp_path, NOWHERE, NOWHERE).ask(_ask("a", "b", "c"))


def test_an_attempt_that_failed_is_repeated_elsewhere(tmp_path: Path) -> None:
    with serve(lambda _: (500, {}, {})) as broken, serve(_echo) as served:
        replies = _chat(tmp_path, broken, served, retries=1).ask(_ask("a", "b"))
    assert [reply.text for reply in replies] == ["re: a", "re: b"]


_WRONG = {
    "401": (401, {}, {"error": {"message": "who?"}}),
    "403": (403, {}, {"error": {"message": "not you"}}),
    "404": (404, {}, {"error": {"message": "no such model"}}),
    "page": (200, {"Content-Type": "text/html"}, b"<html>login</html>"),
    "page called JSON": (200, {}, b"<html>login</html>"),
    "other JSON": (200, {}, {"hello": 1}),
}


@pytest.mark.parametrize("wrong", _WRONG.values(), ids=_WRONG)
def test_the_others_stand_in_for_one_that_serves_something_else(tmp_path: Path, wrong: Answer) -> None:
    with serve(lambda _: wrong) as other, serve(_echo) as served:
        replies = _chat(tmp_path, other, served, concurrency=2).ask(_ask(*map(str, range(12))))
        assert len(other.bodies) <= 2  # those that were under way
    assert [reply.text for reply in replies] == [f"re: {number}" for number in range(12)]


def test_a_request_that_all_addresses_refuse_is_the_one_at_fault(tmp_path: Path) -> None:
    def answer(body: dict[str, Any]) -> Answer:
        return (403, {}, {"error": {"message": "moderation"}}) if _text(body) == "bad" else _echo(body)

    with serve(answer) as one, serve(answer) as other:
        bad, *good = _chat(tmp_path, one, other, concurrency=1).ask(_ask("bad", *map(str, range(8))))
        assert [len(one.bodies), len(other.bodies)] == [5, 5]
    assert "moderation" in str(bad.error)
    assert all(reply.text for reply in good)


def test_one_model_only(tmp_path: Path) -> None:
    endpoints = [Endpoint(base_url=NOWHERE, model=model) for model in ("a", "b")]
    with pytest.raises(ConfigError, match="one model"):
        Chat(endpoints, _settings(tmp_path))


# Pauses and limits


@pytest.mark.parametrize("form", ["seconds", "date"])
def test_all_requests_wait_as_the_server_says(tmp_path: Path, form: str) -> None:
    asked: list[float] = []

    def answer(body: dict[str, Any]) -> Answer:
        asked.append(time.monotonic())
        if len(asked) > 1:
            return _echo(body)
        until = email.utils.formatdate(time.time() + 2, usegmt=True)  # whole seconds: one to two from now
        return 429, {"Retry-After": "1" if form == "seconds" else until}, {"error": {"message": "slow down"}}

    with serve(answer) as served:
        replies = _chat(tmp_path, served, retries=1, concurrency=1).ask(_ask("a", "b", "c"))
    assert [reply.text for reply in replies] == ["re: a", "re: b", "re: c"]
    assert 0.8 <= asked[1] - asked[0] < 60


def test_a_server_that_wants_to_be_left_alone_for_long(tmp_path: Path) -> None:
    def answer(body: dict[str, Any]) -> Answer:
        if _text(body) == "0":
            return _echo(body)
        return 429, {"Retry-After": "3600"}, {"error": {"message": "no more today"}}

    with serve(answer) as served:
        replies = _chat(tmp_path, served, retries=5, concurrency=1).ask(_ask(*map(str, range(50))))
        assert len(served.bodies) == 2  # the rest would be told the same
    assert replies[0].text == "re: 0"
    assert "no more today" in str(replies[1].error)
    assert "3,600 s" in str(replies[1].error)
    assert "Run again then; replies so far are kept" in str(replies[1].error)


@pytest.mark.parametrize(("status", "header", "sent"), [(429, "false", 1), (400, "true", 3), (503, None, 3)])
def test_a_server_may_say_whether_to_ask_again(
    tmp_path: Path, status: int, header: str | None, sent: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("fin_tasks.endpoints.asker.backoff", lambda _: 0.0)
    headers = {"X-Should-Retry": header} if header else {}
    with serve(lambda _: (status, headers, {"error": {"message": "no"}})) as served:
        with pytest.raises(EndpointError, match=f"status {status}"):
            _chat(tmp_path, served, retries=2).ask(_ask("a"))
        assert len(served.bodies) == sent


def test_limits_hold(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits_module, "_MINUTE", 1.5)
    asked: list[float] = []

    def answer(body: dict[str, Any]) -> Answer:
        asked.append(time.monotonic())
        return _echo(body)

    with serve(answer) as served:
        _chat(tmp_path, served, limits=Limits(requests_per_minute=2)).ask(_ask(*map(str, range(6))))
    assert asked[-1] - asked[0] >= 2.0


def test_what_replies_used_makes_room_or_takes_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits_module, "_MINUTE", 60.0)
    requests = _ask("a", "b", "c", options={"max_tokens": 400})  # estimated at more than the limit leaves
    with serve(_echo) as served:
        started = time.monotonic()
        _chat(tmp_path, served, limits=Limits(tokens_per_minute=700), concurrency=1).ask(requests)
        quick = time.monotonic() - started
        started = time.monotonic()
        _chat(tmp_path / "2", served, limits=Limits(tokens_per_minute=700), concurrency=3).ask(requests)
        slow = time.monotonic() - started
    assert quick < 30  # none waited for the minute to end
    assert 0.4 <= slow < 30  # sent together, the second looked again when the first was done


def test_room_that_replies_make_is_used_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits_module, "_MINUTE", 60.0)
    requests = _ask(*"abcdef", options={"max_tokens": 300})  # of which the replies use 102 in truth
    with serve(_echo, pause=0.1) as served:
        started = time.monotonic()
        _chat(tmp_path, served, limits=Limits(tokens_per_minute=1_000)).ask(requests)
    assert time.monotonic() - started < 30


def test_what_waits_for_a_server_is_counted_when_it_goes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Counted before its pause, a request would leave in a minute that is full already."""
    monkeypatch.setattr(limits_module, "_MINUTE", 1.0)
    monkeypatch.setattr(limits_module, "_SLACK", 1.0)  # for requests that take their time to arrive
    asked: list[float] = []

    def answer(body: dict[str, Any]) -> Answer:
        asked.append(time.monotonic())
        return (429, {"Retry-After": "2"}, {"error": {"message": "busy"}}) if len(asked) == 1 else _echo(body)

    with serve(answer) as served:
        limits = Limits(requests_per_minute=1)
        replies = _chat(tmp_path, served, limits=limits, retries=1, concurrency=4).ask(_ask("a", "b", "c"))
    assert all(reply.text for reply in replies)
    assert min(later - earlier for earlier, later in itertools.pairwise(asked)) >= 1.0


# Cost


def test_what_it_took_is_counted(tmp_path: Path) -> None:
    prices = Prices(prompt=10.0, completion=100.0)
    with serve(_echo) as served:
        chat = _chat(tmp_path, served, prices=prices)
        so_far: list[float | None] = []
        chat.ask(_ask("a", "b", "a"), on_done=lambda _: so_far.append(chat.spent.cost))
        assert (chat.spent.requests, chat.spent.cached) == (2, 1)
        assert (chat.spent.prompt_tokens, chat.spent.completion_tokens) == (200, 4)
        assert chat.spent.cost == pytest.approx(200 * 10e-6 + 4 * 100e-6)
        assert so_far == sorted(so_far)  # type: ignore[type-var]
        assert so_far[0] == 0.0
        again = _chat(tmp_path, served, prices=prices)
        again.ask(_ask("a", "b", "a"))
    assert (again.spent.requests, again.spent.cached, again.spent.cost) == (0, 3, 0.0)
    assert _chat(tmp_path, served).spent.cost is None  # nobody knows what "judge" costs


# Servers that misbehave


@pytest.mark.parametrize(
    "reply",
    [
        (200, {}, None),
        (200, {}, [1, 2]),
        (200, {}, "text"),
        (200, {}, {"choices": 5}),
        (200, {}, {"choices": [None]}),
        (200, {}, {"choices": [{"message": []}]}),
        (200, {}, {"choices": [{"message": {"content": 5}}], "usage": "much"}),
        (200, {}, b"[" * 100_000),
        (200, {}, b"\xff\xfe\x00"),
        (200, {"Content-Encoding": "gzip"}, b"not packed"),
        (500, {}, b"x" * 10_000_001),
    ],
    ids=lambda reply: str(reply)[:40],
)
def test_garbage_fails_its_own_item(tmp_path: Path, reply: Answer) -> None:
    with serve(lambda body: reply if _text(body) == "bad" else _echo(body)) as served:
        bad, good = _chat(tmp_path, served).ask(_ask("bad", "good"))
    assert good.text == "re: good"
    assert bad.text is None
    assert len(str(bad.error)) < 700


def test_an_odd_reply_may_be_the_only_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("fin_tasks.endpoints.asker.backoff", lambda _: 0.0)
    odd: list[Any] = [{"error": {"message": "overloaded"}}, b"<html>", None]

    def answer(body: dict[str, Any]) -> Answer:
        return (200, {}, odd.pop()) if odd and _text(body) == "a" else _echo(body)

    with serve(answer) as served:
        first, _ = _chat(tmp_path, served, retries=5).ask(_ask("a", "b"))
        assert [_text(body) for body in served.bodies].count("a") == 3
        assert "expected a chat completion, got" in str(first.error)
        assert first.lasting
        odd += [None, None]
        assert _chat(tmp_path, served, retries=5).ask(_ask("a"))[0].text == "re: a"


@pytest.mark.parametrize(("retries", "told"), [(0, "in 1 attempt ("), (2, "in 3 attempts (")])
def test_attempts_are_those_that_were_made(
    tmp_path: Path, retries: int, told: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("fin_tasks.endpoints.asker.backoff", lambda _: 0.0)
    with serve(lambda _: (429, {}, {"error": {"message": "busy"}})) as served:
        with pytest.raises(EndpointError) as raised:
            _chat(tmp_path, served, retries=retries).ask(_ask("a"))
        assert told in str(raised.value)
    long = (429, {"Retry-After": "9999"}, {"error": {"message": "busy"}})
    with serve(lambda _: long) as served, pytest.raises(EndpointError, match=r"in 1 attempt \("):
        _chat(tmp_path, served, retries=5).ask(_ask("a"))


@pytest.mark.parametrize("too_long", [False, True])
def test_a_reply_is_not_read_without_end(tmp_path: Path, too_long: bool) -> None:
    whole = json.dumps(completion("5")[2]).encode()
    padded = whole + b" " * (10_000_000 - len(whole) + too_long)
    with serve(lambda body: (200, {}, padded) if _text(body) == "long" else _echo(body)) as served:
        reply, _ = _chat(tmp_path, served, retries=3).ask(_ask("long", "short"))
        assert len(served.bodies) == 2  # as long the next time
    assert reply.text == (None if too_long else "5")
    assert ("more than 10,000,000 bytes" in str(reply.error)) == too_long


def test_a_reply_in_halves_of_characters_can_be_kept(tmp_path: Path) -> None:
    with serve(lambda _: completion("5 \ud83d")) as served:
        chat = _chat(tmp_path, served)
        assert [reply.text for reply in chat.ask(_ask("a \udc00")) * 2] == ["5 ?", "5 ?"]
    assert _text(served.bodies[0]) == "a ?"


def test_refused_items_do_not_stop_the_others(tmp_path: Path) -> None:
    def answer(body: dict[str, Any]) -> Answer:
        return (400, {}, {"error": {"message": "content policy"}}) if int(_text(body)) < 20 else _echo(body)

    with serve(answer) as served:
        replies = _chat(tmp_path, served, concurrency=2).ask(_ask(*map(str, range(30))))
    assert [reply.text is None for reply in replies] == [True] * 20 + [False] * 10


def test_a_server_that_dies_half_way_is_not_asked_on_and_on(tmp_path: Path) -> None:
    def answer(body: dict[str, Any]) -> Answer:
        return _echo(body) if int(_text(body)) < 20 else (500, {}, {"error": {"message": "out of memory"}})

    with serve(answer) as served:
        replies = _chat(tmp_path, served, concurrency=2).ask(_ask(*map(str, range(200))))
        assert len(served.bodies) < 40
    assert sum(reply.text is not None for reply in replies) == 20
    assert "out of memory" in str(replies[-1].error)


def test_an_attempt_has_its_time_from_beginning_to_end(tmp_path: Path) -> None:
    """A byte now and then keeps every single read short."""

    def drip(listening: socket.socket) -> None:
        connection, _ = listening.accept()
        with connection, suppress(OSError):
            connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 9000\r\n\r\n")
            while True:
                connection.sendall(b" ")
                time.sleep(0.1)

    with socket.create_server(("127.0.0.1", 0)) as listening:
        thread = threading.Thread(target=drip, args=(listening,), daemon=True)
        thread.start()
        chat = _chat(tmp_path, f"http://127.0.0.1:{listening.getsockname()[1]}/v1", timeout=0.5)
        started = time.monotonic()
        with pytest.raises(EndpointError, match=r"within 0\.5 s"):
            chat.ask(_ask("a"))
        assert time.monotonic() - started < 30
        thread.join(5)
        assert not thread.is_alive()  # the connection was closed


def test_the_key_is_nowhere(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    def answer(body: dict[str, Any]) -> Answer:
        return (401, {}, {"error": {"message": f"{KEY} is wrong"}}) if _text(body) == "b" else _echo(body)

    with caplog.at_level(logging.DEBUG), serve(answer) as served:
        chat = _chat(tmp_path, served)
        replies = chat.ask(_ask("a", "b"))
    assert KEY not in caplog.text + repr(replies) + repr(vars(chat))
    assert served.headers[0]["authorization"] == f"Bearer {KEY}"
    assert not [path for path in tmp_path.rglob("*") if path.is_file() and KEY.encode() in path.read_bytes()]


_TELLING: dict[str, Any] = {
    "text": completion(f"Invalid {KEY}"),
    "parts": completion([{"text": KEY}]),  # type: ignore[arg-type]
    "finish reason": completion("", finish_reason=KEY),
    "error object": (200, {}, {"error": {"message": f"Invalid key Bearer {KEY}"}}),
    "cut in the middle": (200, {}, {"error": "x" * 180 + KEY}),
    "page": (200, {"Content-Type": "text/html"}, f"<html>{KEY}".encode()),
    "no JSON": (200, {}, f"{{{KEY}".encode()),
}


@pytest.mark.parametrize("reply", _TELLING.values(), ids=_TELLING)
def test_a_key_that_a_server_repeats_goes_nowhere(
    tmp_path: Path, reply: Answer, caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
) -> None:
    with caplog.at_level(logging.DEBUG), serve(lambda body: reply if _text(body) == "a" else _echo(body)) as served:
        replies = _chat(tmp_path, served).ask(_ask("a", "b"))
    said = repr(replies) + caplog.text + "".join(capfd.readouterr())
    assert "sk-very" not in said
    assert not [path for path in tmp_path.rglob("*") if path.is_file() and b"sk-very" in path.read_bytes()]


def test_a_stand_in_for_a_key_leaves_replies_alone(tmp_path: Path) -> None:
    settings = Settings.from_environ({"FIN_TASKS_CACHE": str(tmp_path), "OPENAI_API_KEY": "4"})
    with serve(lambda _: completion("4")) as served:
        assert Chat(Endpoint(base_url=served.base_url, model="judge"), settings).ask(_ask("a"))[0].text == "4"


# Several processes

_ASKS = """
import sys
from pathlib import Path
from fin_tasks.endpoints.old_chat import Chat, ChatRequest
from fin_tasks.endpoints.client import Endpoint
from fin_tasks.settings import Settings
settings = Settings.from_environ({"FIN_TASKS_CACHE": sys.argv[2]})
chat = Chat(Endpoint(base_url=sys.argv[1], model="judge"), settings, concurrency=8)
replies = chat.ask([ChatRequest(messages=[{"role": "user", "content": str(n)}]) for n in range(120)])
assert [reply.text for reply in replies] == [f"re: {n}" for n in range(120)], replies
print(chat.spent.requests, chat.spent.cached)
"""


def _start(served: Served, tmp_path: Path) -> "subprocess.Popen[str]":
    command = [sys.executable, "-c", _ASKS, served.base_url, str(tmp_path)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)


def test_processes_share_the_work_and_ask_nothing_twice(tmp_path: Path) -> None:
    with serve(_echo, pause=0.05) as served:
        processes = [_start(served, tmp_path) for _ in range(2)]
        told = [tuple(map(int, process.communicate(timeout=180)[0].split())) for process in processes]
    assert [process.returncode for process in processes] == [0, 0]
    assert sum(requests for requests, _ in told) == len(served.bodies) == 120
    assert [sum(each) for each in told] == [120, 120]


def test_a_killed_run_is_taken_over(tmp_path: Path) -> None:
    killed = threading.Event()

    def answer(body: dict[str, Any]) -> Answer:
        if len(served.bodies) > 40:
            killed.wait(60)
        return _echo(body)

    with serve(answer) as served:
        process = _start(served, tmp_path)
        deadline = time.monotonic() + 60
        while len(served.bodies) <= 40 and time.monotonic() < deadline:
            time.sleep(0.005)
        process.kill()
        process.communicate()
        killed.set()
        assert 40 < len(served.bodies) <= 48
        # what the killed run was getting is free after some seconds
        assert _start(served, tmp_path).communicate(timeout=120)[0]
    times = Counter(map(_text, served.bodies))
    assert set(times) == {str(number) for number in range(120)}
    assert max(times.values()) <= 2
    assert sum(times.values()) <= 120 + 8  # no more than was under way
