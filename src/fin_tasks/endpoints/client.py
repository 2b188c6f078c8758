"""The one place that makes a client for an OpenAI-compatible address.

A hosted service, vLLM, llama.cpp, LM Studio and Ollama all speak this protocol. The client that blocks repeats attempts
by itself; the one for `asyncio` does not, as `asker` spreads them over several addresses. Keys come from the
environment, go to the address they are meant for and nowhere else.
"""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import import_module
from ssl import SSLContext
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from fin_tasks.errors import ConfigError, EndpointError
from fin_tasks.settings import Settings

if TYPE_CHECKING:
    from openai import AsyncOpenAI, DefaultAsyncHttpxClient, OpenAI

__all__ = [
    "Endpoint",
    "HugeReplyError",
    "NoCompletionError",
    "endpoint_error",
    "open_async_client",
    "open_client",
    "trusted_certificates",
    "without_key",
]

_NO_KEY = "none"
"""What is sent where no key is set: servers on one's own machine ask for none, but the library insists on one."""
_SHOWN = 300
"""Characters of a server's own words that an error repeats."""
_SHORTEST_KEY = 6
"""Characters of a key that is looked for in a model's reply. What is shorter is a stand-in such as `EMPTY`, or `x`, and
blotting it out would change what the model said."""
_MOST_BYTES = 10_000_000
"""Of a reply's body. The longest replies of chat models have some hundred thousand; what sends more is none."""
_CONNECTING = 10.0
"""Seconds a connection may take to be made; the rest of an attempt's time is the model's."""


class HugeReplyError(ValueError):
    """A server sends more than any reply of a chat model has."""


class NoCompletionError(ValueError):
    """A server says that all is well, and sends something else than a chat completion; holds what it sent."""


@dataclass(frozen=True, kw_only=True)
class Endpoint:
    """A model behind an address.

    Attributes:
        base_url: The address up to and with its version, `http://127.0.0.1:8000/v1`.
        model: The model's name there.
        key_variable: The environment variable that holds the key; its name ends in `_KEY`. Unset means no key.
        timeout: Seconds one attempt may take, from beginning to end.
        retries: Further attempts after a failed connection, a timeout, or status 408, 409, 429 or 5xx.

    Raises:
        ConfigError: A value no request could be made with, or a password inside the address.
    """

    base_url: str
    model: str
    key_variable: str = "OPENAI_API_KEY"
    timeout: float = 120.0
    retries: int = 5

    def __post_init__(self) -> None:
        parts = urlsplit(self.base_url)
        if parts.username or parts.password:
            raise ConfigError(
                f"endpoint {parts.hostname}: expected an address without a user or password in it. "
                f"Put the key into the environment variable {self.key_variable}."
            )
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise ConfigError(f"endpoint: expected an address such as http://127.0.0.1:8000/v1, got {self.base_url!r}.")
        if not self.model.strip():
            raise ConfigError(f"endpoint {self.base_url}: expected the name of a model, got {self.model!r}.")
        if not self.key_variable.endswith("_KEY"):
            raise ConfigError(
                f"endpoint {self.base_url}: expected an environment variable whose name ends in _KEY, got "
                f"{self.key_variable!r}."
            )
        if not self.timeout > 0 or self.retries < 0:
            raise ConfigError(
                f"endpoint {self.base_url}: expected a timeout above 0 s and 0 retries or more, got "
                f"{self.timeout!r} and {self.retries!r}."
            )

    def __str__(self) -> str:
        return f"{self.model} at {self.base_url}"


def open_client(endpoint: Endpoint, settings: Settings) -> "OpenAI":
    """Return a client that blocks; close it, or use it in a `with` statement. Nothing is sent yet."""
    from openai import OpenAI

    return OpenAI(**_options(endpoint, settings))


def trusted_certificates() -> SSLContext:
    """Return what the library's own clients trust. To read it takes as long as to open the client: share it."""
    from openai import DefaultAsyncHttpxClient

    library = import_module(DefaultAsyncHttpxClient.__mro__[1].__module__)  # httpx or httpx2, by version
    certificates: SSLContext = library.create_ssl_context()
    return certificates


def open_async_client(endpoint: Endpoint, settings: Settings, certificates: SSLContext) -> "AsyncOpenAI":
    """Return a client for `asyncio`; use it in an `async with` statement. Nothing is sent yet.

    It makes one attempt, and stops reading a reply after ten million bytes, with a `HugeReplyError` or an error whose
    cause is one.

    Args:
        endpoint: The model and where it is.
        settings: The environment, for the key.
        certificates: Whom it trusts.
    """
    from openai import AsyncOpenAI, Timeout

    options = {
        **_options(endpoint, settings),
        "max_retries": 0,
        "timeout": Timeout(endpoint.timeout, connect=min(endpoint.timeout, _CONNECTING)),
    }
    return AsyncOpenAI(**options, http_client=_wary_client(certificates))


def _wary_client(certificates: SSLContext) -> "DefaultAsyncHttpxClient":
    """A client of the library's that does not read on and on."""
    from openai import DefaultAsyncHttpxClient

    class WaryClient(DefaultAsyncHttpxClient):
        # The library builds on httpx or httpx2, by version: classes are taken from the objects that come.
        async def send(self, request: Any, *, stream: bool = False, **options: Any) -> Any:
            response = await super().send(request, stream=True, **options)
            if stream:
                return response
            body = bytearray()
            try:
                if _known_to_be_short(response.headers):
                    await response.aread()
                    return response
                async for part in response.aiter_bytes():
                    body += part
                    if len(body) > _MOST_BYTES:
                        raise HugeReplyError(f"a body of more than {_MOST_BYTES:,} bytes")
            finally:
                await response.aclose()
            unpacked = {"content-encoding", "content-length", "transfer-encoding"}
            headers = [(name, value) for name, value in response.headers.multi_items() if name not in unpacked]
            return type(response)(
                response.status_code,
                headers=headers,
                content=bytes(body),
                request=response.request,
                extensions=response.extensions,
                history=response.history,
            )

    return WaryClient(verify=certificates)


def _known_to_be_short(headers: Mapping[str, str]) -> bool:
    """Whether a reply cannot be longer than we read: it says how long it is, and is not packed."""
    told = headers.get("content-length", "")
    return told.isdecimal() and int(told[:20]) <= _MOST_BYTES and "content-encoding" not in headers


def endpoint_error(
    endpoint: Endpoint, error: Exception, settings: Settings, *, attempts: int | None = None
) -> EndpointError:
    """Say in our words what the client library reports, without the key.

    Args:
        endpoint: What was asked.
        error: What the library raised, an `openai.OpenAIError` as a rule.
        settings: The environment, to know the key by.
        attempts: How often it was asked; as often as the endpoint allows where None.

    Returns:
        The error to raise, or to note for one item.
    """
    import openai

    key = settings.api_keys.get(endpoint.key_variable)
    said = _without(str(error), key)
    attempts = endpoint.retries + 1 if attempts is None else attempts
    times = f"{attempts} attempt{'s' if attempts != 1 else ''}"
    match error:
        case HugeReplyError() | openai.APIConnectionError(__cause__=HugeReplyError()):
            told = f"expected a reply of a chat model, got more than {_MOST_BYTES:,} bytes. Is the address right?"
        case openai.APITimeoutError() | asyncio.TimeoutError():
            told = f"expected a reply within {endpoint.timeout:g} s, got none in {times}. Allow more time."
        case openai.APIConnectionError():
            cause = _without(str(error.__cause__ or error), key)
            told = (
                f"expected a server that answers, got no connection ({cause}). Does it run, and is the address right?"
            )
        case openai.AuthenticationError() | openai.PermissionDeniedError():
            state = "is refused" if key else "is not set"
            told = f"expected access, got status {error.status_code} ({said}). {endpoint.key_variable} {state}."
        case openai.NotFoundError():
            told = f"expected this model at this address, got status 404 ({said}). Addresses end in /v1 as a rule."
        case openai.RateLimitError():
            told = f"expected to be served, got status 429 in {times} ({said}). Ask for less at once."
        case openai.APIStatusError():
            told = f"expected a reply, got status {error.status_code} ({said}). See what the server logs."
        case NoCompletionError():
            told = f"expected a chat completion, got {said}. Is the address right, and does it end in /v1?"
        case _:
            told = f"expected a reply, got {type(error).__name__} ({said}). Does the server speak OpenAI's protocol?"
    return EndpointError(f"{endpoint}: {told}")


def _options(endpoint: Endpoint, settings: Settings) -> dict[str, Any]:
    return {
        "base_url": endpoint.base_url,
        "api_key": settings.api_keys.get(endpoint.key_variable) or _NO_KEY,
        "timeout": endpoint.timeout,
        "max_retries": endpoint.retries,
    }


def without_key(text: str, endpoint: Endpoint, settings: Settings) -> str:
    """Blot out the key in what a model is said to have replied: some servers repeat it, and replies are kept."""
    key = settings.api_keys.get(endpoint.key_variable)
    return text.replace(key, "[key]") if key and len(key) >= _SHORTEST_KEY else text


def _without(text: str, key: str | None) -> str:
    """Blot out the key, which some servers repeat when they refuse it."""
    return " ".join((text.replace(key, "[key]") if key else text).split())[:_SHOWN]
