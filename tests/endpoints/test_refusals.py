"""Servers that refuse an option, in their own words: it is left out, renamed or moved once."""

from typing import Any

import pytest
from chat_client import chat_at
from chat_server import Answer, completion

from fin_tasks.endpoints.refusals import says_limit_is_small
from fin_tasks.errors import EndpointError
from fin_tasks.settings import Settings

MESSAGES = [
    {"role": "system", "content": "You judge."},
    {"role": "user", "content": "What?"},
]
OPTIONS = {"temperature": 0.0, "max_tokens": 3, "top_p": 0.9}


def extra(*names: str) -> Answer:
    """FastAPI's words, with the whole request."""
    detail = [
        {
            "type": "extra_forbidden",
            "loc": ["body", name],
            "msg": "Extra inputs are not permitted",
            "input": {"temperature": 0, "system": "role"},
        }
        for name in names
    ]
    return 422, {}, {"detail": detail}


def said(message: str, status: int = 400, **fields: Any) -> Answer:
    return status, {}, {"error": {"message": message, **fields}}


def is_moved(body: dict[str, Any]) -> bool:
    moved = [{"role": "user", "content": "You judge.\n\nWhat?"}]
    return bool(body["messages"] == moved)


NO_TEMPERATURE = [
    said("Unsupported value: 'temperature' does not support 0 with this model."),
    said("invalid temperature: only 1 is allowed for this model"),
    said("temperature must be 1 when thinking is enabled"),
    said("Unsupported value.", param="temperature"),
    said("`temperature` is deprecated for this model.", 422),
    extra("temperature"),
    (400, {}, b"temperature is not supported"),
]
NO_SYSTEM = [
    said("System role not supported"),
    said("Developer instruction is not enabled for models/gemma-3"),
    said("Conversation roles must alternate user/assistant/user/assistant/..."),
    said("Input should be 'user' or 'assistant'", 422),
]
NO_LIMIT = [
    said(
        "Unsupported parameter: 'max_tokens' is not supported with this model. Use "
        "'max_completion_tokens' instead.",
        param="max_tokens",
    ),
    extra("max_tokens"),
]
CASES = [
    *[("temperature", answer, lambda body: "temperature" not in body) for answer in NO_TEMPERATURE],
    *[("system message", answer, is_moved) for answer in NO_SYSTEM],
    *[("max_tokens", answer, lambda body: body.get("max_completion_tokens") == 3) for answer in NO_LIMIT],
    ("top_p", extra("top_p"), lambda body: "top_p" not in body),
]  # fmt: skip


@pytest.mark.parametrize(("option", "refusal", "is_usable"), CASES)
def test_an_option_is_changed_once(
    settings: Settings, option: str, refusal: Answer, is_usable: Any
) -> None:
    with chat_at(
        lambda body: completion("4") if is_usable(body) else refusal, settings
    ) as (served, chat):
        for seed in range(3):
            assert chat.ask(MESSAGES, seed=seed, **OPTIONS).text == "4"
        assert len(served.bodies) == chat.usage.requests == 4
        assert list(chat.client.endpoint.refused) == [option]


def test_several_options_are_refused_one_after_the_other(settings: Settings) -> None:
    def strict(body: dict[str, Any]) -> Answer:
        known = {"model", "messages"}
        unknown = [name for name in body if name not in known]
        return extra(*unknown) if unknown else completion("4")

    with chat_at(strict, settings) as (served, chat):
        assert chat.ask(MESSAGES, **OPTIONS).text == "4"
        assert chat.client.endpoint.refused == {
            "temperature": "left out",
            "top_p": "left out",
            "max_tokens": "left out",
        }
        assert len(served.bodies) == 1 + 2 + 2  # max_tokens has two names


def test_only_high_temperatures_are_left_out(settings: Settings) -> None:
    def answer(body: dict[str, Any]) -> Answer:
        if body.get("temperature", 0) > 1:
            return said("temperature: range: 0..1")
        return completion("4")

    with chat_at(answer, settings) as (served, chat):
        for temperature in (1.5, 2.0, 0.5):
            chat.ask(MESSAGES, temperature=temperature)
        assert chat.client.endpoint.refused == {"temperature above 1": "left out"}
        temperatures = [body.get("temperature") for body in served.bodies]
        assert temperatures == [1.5, None, None, 0.5]


@pytest.mark.parametrize(
    ("text", "is_small"),
    [
        (
            "Could not finish the message because max_tokens or model output limit was reached. "
            "Please try again with higher max_tokens.",
            True,
        ),
        (
            "Invalid 'max_output_tokens': integer below minimum value. Expected a value >= 16, but got 3 "
            "instead.",
            True,
        ),
        ("max_tokens must be at least 16", True),
        ("'max_tokens' is too large: 4096. The maximum context length is 4096", False),
        ("Unsupported parameter: 'max_tokens'", False),
        ("temperature must be at least 1", False),
    ],
)
def test_limits_that_are_too_small(text: str, is_small: bool) -> None:
    assert says_limit_is_small(text) == is_small


def test_other_refusals_are_failures(settings: Settings) -> None:
    refused = said("'max_tokens' is too large: 3. The maximum context length is 2")
    with chat_at(lambda _: refused, settings) as (served, chat):
        with pytest.raises(EndpointError, match="context length"):
            chat.ask(MESSAGES, **OPTIONS)
        assert len(served.bodies) == 1
        assert chat.client.endpoint.refused == {}
