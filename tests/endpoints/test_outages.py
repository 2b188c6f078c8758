"""Models that are down for a while, replies that are none, and proxies that cannot be used."""

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from chat_client import chat_at, chat_with
from chat_server import Answer, completion, serve

from fin_tasks.endpoints import chat as chat_module
from fin_tasks.endpoints import outages
from fin_tasks.errors import EndpointError
from fin_tasks.settings import Settings

QUESTION = [{"role": "user", "content": "What?"}]
BUSY: Answer = (200, {}, {"error": {"message": "busy", "code": 502}})


@pytest.fixture(autouse=True)
def _short_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(outages, "FIRST_PAUSE", 0.01)
    monkeypatch.setattr(outages, "LONGEST_PAUSE", 0.05)
    monkeypatch.setattr(chat_module, "_RETRY_PAUSE", 0.01)


def test_a_reply_that_is_none_is_asked_for_again(settings: Settings) -> None:
    answers = [BUSY, (200, {}, {"choices": []}), completion("4"), BUSY, BUSY, BUSY]
    with chat_at(lambda _: answers.pop(0), settings, retries=2) as (_, chat):
        assert chat.ask(QUESTION).text == "4"
        assert (chat.usage.requests, chat.usage.failed) == (3, 2)
        with pytest.raises(EndpointError, match="expected a reply, got busy"):
            chat.ask(QUESTION, seed=1)
        assert not answers


def test_thinking_parts_are_left_out(settings: Settings) -> None:
    thoughts = {"type": "thinking", "thinking": [{"type": "text", "text": "Hm, 3?"}]}
    texts = [{"type": "text", "text": text} for text in ("4", ".5")]
    status, headers, body = completion("")
    body["choices"][0]["message"]["content"] = [thoughts, *texts]
    with chat_at(lambda _: (status, headers, body), settings) as (_, chat):
        assert chat.ask(QUESTION).text == "4.5"


def test_a_model_that_comes_back_is_asked_again(
    settings: Settings, caplog: pytest.LogCaptureFixture
) -> None:
    n_bad = 12
    n_asked = 0

    def answer(_: dict[str, Any]) -> Answer:
        nonlocal n_asked
        n_asked += 1
        return (400, {}, {}) if n_asked <= n_bad else completion("4")

    with (
        chat_at(answer, settings, retries=0) as (served, chat),
        ThreadPoolExecutor(4) as pool,
    ):
        said = list(pool.map(lambda n: _attempt(chat, n), range(40)))
    assert said.count("4") == 40 - n_bad
    assert len(served.bodies) == 40
    assert caplog.text.count("failed in a row") == 1


def test_one_request_finds_out_whether_the_model_is_back(settings: Settings) -> None:
    is_down = True

    def answer(_: dict[str, Any]) -> Answer:
        return (400, {}, {}) if is_down else completion("4")

    with (
        chat_at(answer, settings, pause=0.05, retries=0) as (served, chat),
        ThreadPoolExecutor(8) as pool,
    ):
        for number in range(outages.MOST_FAILED):
            with pytest.raises(EndpointError):
                chat.ask(QUESTION, seed=number)
        served.most_at_once = 0
        list(pool.map(lambda n: _attempt(chat, n), range(100, 108)))
        assert served.most_at_once == 1
        is_down = False
        assert list(pool.map(lambda n: _attempt(chat, n), range(8))) == ["4"] * 8
        assert served.most_at_once > 1


def _attempt(chat: Any, number: int) -> str:
    try:
        text: str = chat.ask(QUESTION, seed=number).text
    except EndpointError as error:
        return str(error)
    return text


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("ALL_PROXY", "socks5://127.0.0.1:9"),
        ("HTTP_PROXY", "ftp://127.0.0.1:9"),
        ("HTTP_PROXY", "http://[bad"),
        ("HTTP_PROXY", "http://127.0.0.1:9"),
    ],
)
def test_a_proxy_that_cannot_be_used_is_one_sentence(
    settings: Settings, monkeypatch: pytest.MonkeyPatch, name: str, value: str
) -> None:
    for other in ("NO_PROXY", "no_proxy"):
        monkeypatch.delenv(other, raising=False)
    monkeypatch.setenv(name, value)
    with (
        pytest.raises(EndpointError, match="expected"),
        chat_with("m", ["http://127.0.0.2:9/v1"], settings, retries=0) as chat,
    ):
        chat.ask(QUESTION)


def test_an_address_of_azure_has_its_version(settings: Settings) -> None:
    with serve(lambda _: completion("4")) as served:
        address = f"{served.base_url}/openai/deployments/m?api-version=2024-10-21"
        with chat_with("m", [address], settings) as chat:
            assert chat.ask(QUESTION).text == "4"
    assert served.headers[0]["api-key"].startswith("sk-")
    assert served.paths == [
        "/v1/openai/deployments/m/chat/completions?api-version=2024-10-21"
    ]


@pytest.mark.parametrize("status", [401, 403, 404])
def test_nobody_waits_for_what_does_not_pass(settings: Settings, status: int) -> None:
    refused: Answer = (status, {}, {"error": {"message": "no"}})
    with chat_at(lambda _: refused, settings, retries=0) as (_, chat):
        for seed in range(outages.MOST_FAILED):
            with pytest.raises(EndpointError, match=str(status)):
                chat.ask(QUESTION, seed=seed)
        assert chat.client.outage.pause == 0
        assert chat.client.outage.gave_up > 0
