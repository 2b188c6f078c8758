"""Asks one thing of a chat model, as often as it takes, at whichever of its addresses answers."""

import asyncio
import itertools
import math
import re
from collections.abc import AsyncIterator, Iterator, Mapping
from concurrent.futures import Executor, ThreadPoolExecutor
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
    misdirected,
    pause_told,
    repetitions,
    unreachable,
)
from fin_tasks.endpoints.client import (
    HugeReplyError,
    NoCompletionError,
    endpoint_error,
    open_async_client,
    trusted_certificates,
    without_key,
)
from fin_tasks.endpoints.limits import Admission, Limits, Window, estimate_tokens
from fin_tasks.endpoints.pictures import packed
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
_CONNECTIONS = 4
"""Of a client, as a rule."""
_LOOK_AGAIN = 0.5
"""Seconds after which a request that waits for room looks again: replies say what was used in truth, and make some."""


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
async def open_asker(standing: Standing, settings: Settings, *, slots: int) -> AsyncIterator["Asker"]:
    """Open the clients, and close them all at the end; `slots` requests may be under way at a time.

    Each address has several, asked in turn. A client goes through all of its connections whenever a request begins or
    ends, and with 32 of them that is a sixth of all that asking costs.
    """
    certificates = trusted_certificates()
    async with AsyncExitStack() as stack:
        clients: dict[Address, Iterator[AsyncOpenAI]] = {}
        for address in standing.addresses.all:
            opened = [
                await stack.enter_async_context(open_async_client(address.endpoint, settings, certificates))
                for _ in range(math.ceil(slots / _CONNECTIONS))
            ]
            clients[address] = itertools.cycle(opened)
        yield Asker(
            standing=standing,
            settings=settings,
            clients=clients,
            slots=asyncio.Semaphore(slots),
            packer=stack.enter_context(ThreadPoolExecutor(max_workers=1)),
        )


@dataclass
class _Tries:
    """How a request has fared: attempts made, those that count as failures, who did not know us, the last error."""

    made: int = 0
    failures: int = 0
    refusing: list[Address] = field(default_factory=list)
    said: str = ""


@dataclass(kw_only=True)
class Asker:
    """Asks requests of one model; made by `open_asker`, for one event loop."""

    standing: Standing
    settings: Settings = field(repr=False)
    clients: Mapping[Address, Iterator["AsyncOpenAI"]] = field(repr=False)
    slots: asyncio.Semaphore = field(repr=False)
    packer: Executor = field(repr=False)
    """One thread: it packs hundreds of megabytes a second. Several fight over memory and the interpreter, and use twice
    the processor time."""
    _turnstile: asyncio.Lock = field(init=False, default_factory=asyncio.Lock, repr=False)

    async def ask(self, request: ChatRequest) -> Reply:
        """Ask until there is a reply, or a reason to give up."""
        tries = _Tries()
        address: Address | None = None
        while True:
            options = self._options(request)
            try:
                body = await self._body(request, options)
            except EndpointError as error:  # its picture
                return Reply(error=str(error), own_fault=True, lasting=True)
            async with self.slots:
                if options != self._options(request):  # what was refused while this one waited
                    continue
                try:
                    address, admission = await self._let_out(request, avoid=address)
                except EndpointError as error:
                    return Reply(error=f"{tries.said} {error}".strip())
                tries.made += 1
                try:
                    return await self._attempt(address, body, admission)
                except _failures() as error:
                    failure = error
            tries.said = str(endpoint_error(address.endpoint, failure, self.settings, attempts=tries.made))
            if refused := _refused_option(failure, options):
                self.standing.refused |= {refused}
                continue
            if self._elsewhere(address, failure, tries):
                continue
            if (given_up := self._given_up(failure, tries)) is not None:
                return given_up
            await self._rest(address, failure, tries.failures)

    def _elsewhere(self, address: Address, error: Exception, tries: "_Tries") -> bool:
        """Set aside an address that is the trouble itself; return whether the same may be asked at another one."""
        addresses = self.standing.addresses
        if unreachable(error):
            return addresses.set_aside(address)
        if not misdirected(error):
            return False
        if address not in tries.refusing:
            tries.refusing.append(address)
            if addresses.set_aside(address):
                return True
        for one in tries.refusing:  # all of them say so: it may be this very request that is wrong
            addresses.take_back(one)
        return False

    def _given_up(self, error: Exception, tries: "_Tries") -> Reply | None:
        """Count a failure, and return what to say where there is no sense in another attempt."""
        if not may_be_repeated(error):
            own_fault = getattr(error, "status_code", None) in _OWN_FAULTS
            return Reply(error=tries.said, own_fault=own_fault, lasting=True)
        tries.failures += 1
        if tries.failures > repetitions(error, self.standing.addresses.all[0].endpoint):
            return Reply(error=tries.said, lasting=isinstance(error, NoCompletionError))
        return None

    async def _attempt(self, address: Address, body: bytes, admission: Admission | None) -> Reply:
        """Send a request once."""
        standing = self.standing
        standing.spent = replace(standing.spent, requests=standing.spent.requests + 1)
        # posted as it is: the library's method for chats takes longer to look at a message than to send its picture
        sending = next(self.clients[address]).post("/chat/completions", content=body, cast_to=object)
        # the library's own limit is for each part of a reply, and a server may send one byte at a time
        try:
            completion: Any = await asyncio.wait_for(sending, address.endpoint.timeout)
        except HugeReplyError:
            raise
        except (ValueError, TypeError, AttributeError, RecursionError) as error:
            # what garbage makes the library raise depends on the garbage
            raise NoCompletionError(f"{type(error).__name__} ({error})") from error
        usage = completion.get("usage") if isinstance(completion, dict) else None
        before, standing.spent = standing.spent.tokens, standing.spent.after(usage)
        if admission is not None and standing.spent.tokens > before:
            admission.tokens = standing.spent.tokens - before
        return self._read(completion, address)

    def _read(self, completion: Any, address: Address) -> Reply:
        """Take the text out of a reply, without the key, which some servers repeat.

        Raises:
            NoCompletionError: It is no reply of a chat model.
        """
        try:
            choice = completion["choices"][0]
            text, ended = choice["message"]["content"], choice.get("finish_reason")
        except (AttributeError, IndexError, KeyError, TypeError):
            raise NoCompletionError(repr(completion)) from None
        if not isinstance(text, str) or not text:
            got = repr(without_key(repr(text), address.endpoint, self.settings))[:80] if text else "none"
            ended = without_key(repr(ended), address.endpoint, self.settings)[:40]
            told = f"{address.endpoint}: expected text, got {got} (finish_reason {ended}). Allow more tokens."
            return Reply(error=told, wordless=True)
        whole = text.encode("utf-8", "replace").decode()  # halves of characters are no UTF-8, and cannot be kept
        return Reply(text=without_key(whole, address.endpoint, self.settings))

    async def _body(self, request: ChatRequest, options: Mapping[str, Any]) -> bytes:
        """Pack a request; what it holds of pictures is in memory from here until it is answered.

        Raises:
            EndpointError: It cannot be packed.
        """
        model = self.standing.addresses.all[0].endpoint.model
        try:
            sent = {"model": model, "messages": request.messages, **options}
            return await asyncio.get_running_loop().run_in_executor(self.packer, packed, sent)
        except (TypeError, ValueError, RecursionError) as error:
            raise EndpointError(f"request to {model}: expected what JSON can hold, got {error}.") from error

    async def _let_out(self, request: ChatRequest, *, avoid: Address | None) -> tuple[Address, Admission | None]:
        """Wait for an address that may be asked, and until the limits allow it, first come, first served.

        What waits is ready to be sent, so that it is sent when it is counted.

        Raises:
            EndpointError: All addresses want to be left alone for long.
        """
        limits, window = self.standing.limits, self.standing.window
        if limits.requests_per_minute is None and limits.tokens_per_minute is None:
            return await self._address(avoid=avoid), None
        tokens = 0 if limits.tokens_per_minute is None else estimate_tokens(request.body())
        async with self._turnstile:
            while True:
                while (seconds := window.delay(tokens)) > 0:
                    await asyncio.sleep(min(seconds, _LOOK_AGAIN))
                address = await self._address(avoid=avoid)
                if window.delay(tokens) <= 0:  # still, after what it waited for the address
                    return address, window.admit(tokens)

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

    return (OpenAIError, asyncio.TimeoutError, HugeReplyError, NoCompletionError)


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
