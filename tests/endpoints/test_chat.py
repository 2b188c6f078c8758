"""A chat model behind addresses on the loopback interface."""

import ssl
import time

import httpx2
import pytest
from chat_client import chat_at, chat_with
from chat_server import Answer, completion, serve

from fin_tasks.endpoints.chat import Endpoint
from fin_tasks.errors import ConfigError, EndpointError
from fin_tasks.settings import Settings

KEY = "sk-loopback-0123456789"
QUESTION = [{"role": "user", "content": "What?"}]


def test_a_reply_is_asked_for_once(settings: Settings) -> None:
    options = {"temperature": 0, "max_tokens": 3}
    with serve(lambda _: completion("4", usage=(90, 1))) as served:
        for cached in (False, True):
            with chat_with("m", [served.base_url], settings) as chat:
                reply = chat.ask(QUESTION, **options)
                assert (reply.text, reply.reason) == ("4", "stop")
                assert (reply.prompt_tokens, reply.cached) == (90, cached)
                usage = chat.usage
                assert (usage.requests, usage.cached) == (not cached, cached)
        with chat_with("m", [served.base_url], settings) as chat:
            chat.ask(QUESTION, temperature=0.5, max_tokens=3)
            chat.ask(QUESTION, **options, fresh=True)
            assert chat.usage.requests == 2
    assert served.headers[0]["authorization"] == f"Bearer {KEY}"


def test_another_address_has_its_own_replies(settings: Settings) -> None:
    with (
        serve(lambda _: completion("5")) as stand_in,
        serve(lambda _: completion("2")) as real,
    ):
        for served, text in ((stand_in, "5"), (real, "2")):
            with chat_with("m", [served.base_url], settings) as chat:
                assert chat.ask(QUESTION).text == text


def test_a_redirect_is_not_followed(settings: Settings) -> None:
    with serve(lambda _: completion("5")) as other:
        there = {"Location": f"{other.base_url}/chat/completions"}
        with chat_at(lambda _: (307, there, {}), settings) as (_, chat):
            with pytest.raises(EndpointError, match="307"):
                chat.ask(QUESTION)
            assert not other.bodies


@pytest.mark.parametrize(
    "bad",
    [(503, {}, {}), (401, {}, {}), (200, {}, {"object": "list"}), (200, {}, b"<html>")],
)
def test_other_addresses_take_over(settings: Settings, bad: Answer) -> None:
    with (
        serve(lambda _: bad) as broken,
        serve(lambda _: completion("4")) as works,
        chat_with("m", [broken.base_url, works.base_url], settings) as chat,
    ):
        assert [chat.ask(QUESTION, seed=n).text for n in range(6)] == ["4"] * 6
        assert (chat.usage.requests, chat.usage.failed) == (7, 1)
    assert len(broken.bodies) == 1


def test_addresses_are_asked_in_turn(settings: Settings) -> None:
    with (
        serve(lambda _: completion("4")) as one,
        serve(lambda _: completion("4")) as two,
        chat_with("m", [one.base_url, two.base_url], settings) as chat,
    ):
        for n in range(6):
            chat.ask(QUESTION, seed=n)
    assert (len(one.bodies), len(two.bodies)) == (3, 3)


def test_certificates_are_read_once(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    n_read = 0
    read = httpx2.create_ssl_context

    def count() -> ssl.SSLContext:
        nonlocal n_read
        n_read += 1
        return read()

    monkeypatch.setattr(httpx2, "create_ssl_context", count)
    for _ in range(2):
        with chat_with("m", ["https://a/v1", "https://b/v1"], settings):
            pass
    assert n_read == 1


def test_the_key_is_shown_nowhere(settings: Settings) -> None:
    refused = (401, {}, {"error": {"message": f"wrong key {KEY}"}})
    with (
        chat_at(lambda _: refused, settings) as (_, chat),
        pytest.raises(EndpointError, match="OPENAI_API_KEY") as error,
    ):
        chat.ask(QUESTION)
    echoed = completion(f"your key is {KEY}", KEY)
    with chat_at(lambda _: echoed, settings) as (_, chat):
        reply = chat.ask(QUESTION)
        assert (reply.text, reply.reason) == ("your key is [key]", "[key]")
    shown = str(error.value) + repr(error.value.__cause__)
    assert KEY not in shown
    assert not any(
        KEY.encode() in path.read_bytes() for path in settings.cache_dir.iterdir()
    )


@pytest.mark.parametrize(
    "url",
    [
        *("127.0.0.1:8000/v1", "ftp://host/v1", "http:///v1", "http://[/v1"),
        "http://127.0.0.1:8000/v1?api_key=sk-secret",
        "http://127.0.0.1:8000/v1#sk-secret",
        "http://me:sk-secret@127.0.0.1/v1",
    ],
)
def test_an_address_that_is_none_or_has_a_key_is_refused(url: str) -> None:
    with pytest.raises(ConfigError, match="expected") as error:
        Endpoint(model="m", base_url=(url,))
    assert "sk-secret" not in str(error.value)


def test_a_limit_of_requests_a_minute_holds(settings: Settings) -> None:
    with chat_at(
        lambda _: completion("4"), settings, pause=0.02, requests_per_minute=600
    ) as (_, chat):
        started = time.monotonic()
        for n in range(6):
            chat.ask(QUESTION, top_p=n)
        assert time.monotonic() - started >= 0.5


def test_texts_that_are_no_utf_8_are_sent(settings: Settings) -> None:
    with chat_at(lambda _: completion("4"), settings) as (served, chat):
        chat.ask([{"role": "user", "content": "half \ud800 of a pair"}])
    assert served.bodies[0]["messages"][0]["content"] == "half ? of a pair"


def test_a_broken_cache_is_one_sentence(settings: Settings) -> None:
    (settings.cache_dir / "chat.sqlite").write_bytes(b"no database at all" * 100)
    with (
        pytest.raises(EndpointError, match="SQLite"),
        chat_with("m", ["http://127.0.0.1:1/v1"], settings),
    ):
        pass
