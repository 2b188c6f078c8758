"""What a server may send in place of a chat completion: a failure of that request, never of the run."""

import json
from typing import Any

import pytest
from chat_client import chat_at, chat_with
from chat_server import Answer, completion, serve
from slow_server import BODY, HEADERS, endless

from fin_tasks.errors import EndpointError
from fin_tasks.settings import Settings

QUESTION = [{"role": "user", "content": "What?"}]


def ask(settings: Settings, answer: Any, **options: Any) -> str:
    with chat_at(lambda _: answer, settings, retries=0, **options) as (_, chat):
        return chat.ask(QUESTION).text


def with_choice(choice: Any) -> Answer:
    return 200, {}, {**completion("4")[2], "choices": [choice]}


def with_message(message: Any) -> Answer:
    return with_choice({"index": 0, "message": message, "finish_reason": "stop"})


def with_usage(usage: Any) -> Answer:
    return 200, {}, {**completion("4")[2], "usage": usage}


def raw(body: bytes) -> Answer:
    return 200, {}, body


DEEP = b"[" * 100_000 + b"]" * 100_000
MALFORMED = {
    "nothing": raw(b""),
    "a list": raw(b"[]"),
    "a page": raw(b"<html>busy</html>"),
    "half": raw(json.dumps(completion("4")[2]).encode()[:-20]),
    "two": raw(json.dumps(completion("4")[2]).encode() * 2),
    "no UTF-8": raw(b'{"choices": [{"message": {"content": "\xff"}}]}'),
    "half a pair": raw(b'{"choices": [{"message": {"content": "\\ud800"}}]}'),
    "deep": raw(DEEP),
    "a deep choice": raw(b'{"choices": ' + DEEP + b"}"),
    "an error": (200, {}, {"error": {"message": "busy"}}),
    "no choices": (200, {}, {"object": "list"}),
    "choices null": (200, {}, {"choices": None}),
    "choices empty": (200, {}, {"choices": []}),
    "choice null": with_choice(None),
    "reason a number": with_choice({"message": {"content": "4"}, "finish_reason": 1}),
    "message null": with_message(None),
    "content a number": with_message({"content": 4}),
    "content a list": with_message({"content": ["4"]}),
    "usage text": with_usage("5"),
    "tokens NaN": with_usage({"prompt_tokens": float("nan")}),
    "tokens negative": with_usage({"completion_tokens": -1}),
    "deep tokens": raw(b'{"choices": [{"message": {}}], "usage": ' + DEEP + b"}"),
}


STATUSES = [400, 401, 404, 418, 500, 400]
BODIES = [b"", b"null", DEEP, b"\xff", b"[" * 10, b'{"error": null}']


def test_a_malformed_reply_is_an_endpoint_error(settings: Settings) -> None:
    """And the next request is asked as if nothing had happened."""
    answers: list[Answer] = list(MALFORMED.values())
    answers += [
        (status, {}, body) for status, body in zip(STATUSES, BODIES, strict=True)
    ]
    next_answers: list[Answer] = []
    start = r"^m at http://127\.0\.0\.1:\d+: expected a reply, got"
    with chat_at(lambda _: next_answers.pop(), settings, retries=0) as (_, chat):
        for number, answer in enumerate(answers):
            status = "" if answer[0] == 200 else f" {answer[0]}"
            next_answers += [completion("4"), answer]
            with pytest.raises(EndpointError, match=start + status):
                chat.ask(QUESTION, seed=number)
            assert chat.ask(QUESTION, seed=number).text == "4"


@pytest.mark.parametrize(
    ("answer", "text"),
    [
        (completion(None), ""),
        (with_message({}), ""),
        (with_choice({"message": {"content": "4"}}), "4"),
        (with_usage(None), "4"),
        (with_usage({"prompt_tokens": None}), "4"),
        (
            with_usage({"prompt_tokens": 5.0, "completion_tokens": 1, "cost": "low"}),
            "4",
        ),
    ],
)
def test_unusual_completions_are_read(
    settings: Settings, answer: Answer, text: str
) -> None:
    assert ask(settings, answer) == text


def test_a_large_reply_is_refused(settings: Settings) -> None:
    assert ask(settings, completion("4" * 4_000_000)) == "4" * 4_000_000
    with pytest.raises(EndpointError, match="more than 4,194,304 bytes"):
        ask(settings, completion("5" * 5_000_000))


@pytest.mark.parametrize("beginning", [HEADERS, BODY])
def test_a_trickling_server_is_left_in_time(
    settings: Settings, beginning: bytes
) -> None:
    """The time holds for all tries together: without it, the server would never be left."""
    with (
        endless(beginning) as url,
        chat_with("m", [url], settings, timeout=0.3, retries=5) as chat,
        pytest.raises(EndpointError, match=r"more than 0\.3 seconds"),
    ):
        chat.ask(QUESTION)


def test_the_path_of_an_address_is_not_shown(settings: Settings) -> None:
    name = "0123456789abcdef"
    refusal = (404, {}, {"error": {"message": f"no route /v1/{name}/chat/completions"}})
    with serve(lambda _: refusal) as served:
        for url in (f"{served.base_url}/{name}", f"http://127.0.0.1:9/{name}/v1"):
            with (
                chat_with("m", [url], settings, retries=0) as chat,
                pytest.raises(
                    EndpointError, match=r"m at http://127\.0\.0\.1:\d+: "
                ) as error,
            ):
                chat.ask(QUESTION)
            assert name not in str(error.value) + repr(error.value.__cause__)
