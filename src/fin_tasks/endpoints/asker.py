"""Asks one thing of a chat model, as often as it takes, at whichever of its addresses answers."""

import asyncio
import re
from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field, replace
from random import uniform
from typing import TYPE_CHECKING, Any

from fin_tasks.endpoints.addresses import (
    LONGEST_PAUSE,
    Address,
    Addresses,
    backoff,
    may_be_repeated,
    pause_told,
    unreachable,
)
from fin_tasks.endpoints.client import endpoint_error, open_async_client
from fin_tasks.endpoints.limits import Admission, Limits, Window, estimate_tokens
from fin_tasks.endpoints.pictures import Picture, map_leaves
from fin_tasks.endpoints.requests import ChatRequest, Reply
from fin_tasks.endpoints.spending import Spent
from fin_tasks.errors import EndpointError
from fin_tasks.settings import Settings

if TYPE_CHECKING:
    from openai import AsyncOpenAI

__all__ = ["Asker", "Standing", "open_asker"]

_SUBSTITUTES: Mapping[str, str | None] = {"max_tokens": "max_completion_tokens", "temperature": None}
"""Options that some models refuse, and what is sent instead of them."""
_UNSUPPORTED = re.compile(
    r"(?:un|not\s|n['’]t\s)support|unrecogni[sz]ed|unknown|not\s(?:allowed|permitted)", re.IGNORECASE
)
_OWN_FAULTS = frozenset({400, 413, 422})
"""Statuses of a request that is refused for what is in it."""


@dataclass(kw_only=True)
class Standing:
    """What is known of a model from one batch to the next.

    Attributes:
        addresses: Where it is.
        limits: What may be sent in a minute.
        window: What was sent in the last one.
        refused: Options that it does not take.
        spent: What was used so far.
    """

    addresses: Addresses
    limits: Limits
    window: Window
    spent: Spent
    refused: frozenset[str] = frozenset()


@asynccontextmanager
async def open_asker(standing: Standing, settings: Settings) -> AsyncIterator["Asker"]:
    """Open a client per address, and close them all at the end."""
    async with AsyncExitStack() as stack:
        clients = {
            address: await stack.enter_async_context(open_async_client(address.endpoint, settings))
            for address in standing.addresses.all
        }
        yield Asker(standing=standing, settings=settings, clients=clients)


@dataclass(kw_only=True)
class Asker:
    """Asks requests of one model; made by `open_asker`, for one event loop."""

    standing: Standing
    settings: Settings = field(repr=False)
    clients: Mapping[Address, "AsyncOpenAI"] = field(repr=False)
    _turnstile: asyncio.Lock = field(init=False, default_factory=asyncio.Lock, repr=False)

    async def ask(self, request: ChatRequest) -> Reply:
        """Ask until there is a reply, or a reason to give up."""
        failures, said = 0, ""
        address: Address | None = None
        while True:
            options = self._options(request)
            try:
                admission = await self._admitted(request)
                address = await self._address(avoid=address)
            except EndpointError as error:
                return Reply(error=f"{said} {error}".strip())
            try:
                return await self._attempt(address, request, options, admission)
            except EndpointError as error:  # its picture
                return Reply(error=str(error), own_fault=True)
            except _failures() as error:
                said = str(endpoint_error(address.endpoint, error, self.settings))
                if refused := _refused_option(error, options):
                    self.standing.refused |= {refused}
                    continue
                if not may_be_repeated(error):
                    return Reply(error=said, own_fault=getattr(error, "status_code", None) in _OWN_FAULTS)
                if unreachable(error) and self.standing.addresses.set_aside(address):
                    continue  # at another one
                failures += 1
                if failures > self.standing.addresses.all[0].endpoint.retries:
                    return Reply(error=said)
                await self._rest(address, error, failures)

    async def _attempt(
        self, address: Address, request: ChatRequest, options: Mapping[str, Any], admission: Admission | None
    ) -> Reply:
        """Send a request once. What it holds of pictures is gone when this returns or raises."""
        endpoint, standing = address.endpoint, self.standing
        messages: Any = await asyncio.to_thread(map_leaves, request.messages, _sendable)
        standing.spent = replace(standing.spent, requests=standing.spent.requests + 1)
        # posted as it is: the library's method for chats takes longer to look at a message than to send its picture
        body = {"model": endpoint.model, "messages": messages, **options}
        sending = self.clients[address].post("/chat/completions", body=body, cast_to=object)
        # the library's own limit is for each part of a reply, and a server may send one byte at a time
        completion: Any = await asyncio.wait_for(sending, endpoint.timeout)
        usage = completion.get("usage") if isinstance(completion, dict) else None
        before, standing.spent = standing.spent.tokens, standing.spent.after(usage)
        if admission is not None and standing.spent.tokens > before:
            admission.tokens = standing.spent.tokens - before
        try:
            choice = completion["choices"][0]
            text, ended = choice["message"]["content"], choice.get("finish_reason")
        except (AttributeError, IndexError, KeyError, TypeError):
            return Reply(error=f"{endpoint}: expected a chat completion, got {str(completion)[:200]!r}.")
        if not isinstance(text, str) or not text:
            got = repr(text)[:80] if text else "none"
            return Reply(
                error=f"{endpoint}: expected text, got {got} (finish_reason {ended!r:.40}). Allow more tokens.",
                wordless=True,
            )
        return Reply(text=_sendable(text))

    async def _admitted(self, request: ChatRequest) -> Admission | None:
        """Wait until the limits allow the request, first come, first served."""
        limits = self.standing.limits
        if limits.requests_per_minute is None and limits.tokens_per_minute is None:
            return None
        tokens = 0 if limits.tokens_per_minute is None else estimate_tokens(request.body())
        async with self._turnstile:
            while (seconds := self.standing.window.delay(tokens)) > 0:
                await asyncio.sleep(seconds)
            return self.standing.window.admit(tokens)

    async def _address(self, *, avoid: Address | None) -> Address:
        """Wait for an address that may be asked, another one than where it has just failed if there is one.

        Raises:
            EndpointError: All of them want to be left alone for long.
        """
        while True:
            address, seconds = self.standing.addresses.next(avoid=avoid)
            if seconds <= 0:
                return address
            if seconds > LONGEST_PAUSE:
                raise EndpointError(
                    f"{address.endpoint}: it asks to be left alone for {seconds:,.0f} s, and a run waits "
                    f"{LONGEST_PAUSE:.0f} s at most. Run again then; replies so far are kept."
                )
            await asyncio.sleep(seconds + uniform(0.0, min(1.0, seconds / 10)))  # noqa: S311

    async def _rest(self, address: Address, error: Exception, failures: int) -> None:
        """Wait as the server says, and keep all others from it that long; else for a time of our own."""
        response = getattr(error, "response", None)
        told = None if response is None else pause_told(response.headers)
        if told is not None:
            self.standing.addresses.pause(address, told)
        else:
            await asyncio.sleep(backoff(failures))

    def _options(self, request: ChatRequest) -> dict[str, Any]:
        """What is sent beside the messages, after what the model has refused so far."""
        options = dict(request.options)
        for name in sorted(self.standing.refused & options.keys()):
            value, substitute = options.pop(name), _SUBSTITUTES[name]
            if substitute is not None:
                options.setdefault(substitute, value)
        return options


def _failures() -> tuple[type[Exception], ...]:
    from openai import OpenAIError

    # what garbage makes the library raise depends on the garbage
    return (OpenAIError, asyncio.TimeoutError, ValueError, TypeError, AttributeError, RecursionError)


def _sendable(leaf: Any) -> Any:
    """Pictures as data addresses, and texts without halves of characters, which are no UTF-8."""
    if isinstance(leaf, Picture):
        return leaf.data_address()
    return leaf.encode("utf-8", "replace").decode() if isinstance(leaf, str) else leaf


def _refused_option(error: Exception, options: Mapping[str, Any]) -> str | None:
    """The option that was sent and is not supported, if that is what the refusal says and something can be done."""
    from openai import APIStatusError

    if not isinstance(error, APIStatusError) or error.status_code not in (400, 422):
        return None
    if not _UNSUPPORTED.search(str(error)):
        return None
    named = [name for name in _SUBSTITUTES if name in options and re.search(rf"\b{name}\b", str(error))]
    named.sort(key=lambda name: getattr(error, "param", None) != name)
    return named[0] if named else None
