"""Ask a chat model at OpenAI-compatible addresses by the `openai` package; each reply is kept as it comes."""

import asyncio
import itertools
import json
import logging
import re
import time
from collections import defaultdict
from collections.abc import (
    AsyncIterator,
    Awaitable,
    Callable,
    Iterable,
    Iterator,
    Mapping,
    Sequence,
)
from contextlib import AsyncExitStack, asynccontextmanager, closing, suppress
from dataclasses import dataclass, field
from functools import cache, partial
from operator import call
from typing import TYPE_CHECKING, Any, TypeVar
from urllib.parse import urlsplit

import anyio
from pydantic import BaseModel, Field, field_validator
from tqdm import tqdm

from fin_tasks.errors import ConfigError, EndpointError
from fin_tasks.settings import Settings

from .outages import ForbiddenError, Outage
from .refusals import Refused, Request, learn, refusal_text, says_limit_is_small, usable
from .replies import ChatReply, ReplyCache, Usage, read_reply, request_key

if TYPE_CHECKING:
    import openai

Messages = Sequence[Mapping[str, Any]]
"""A chat in OpenAI's form."""

MAX_REPLY_BYTES = 4 << 20

_RETRY_PAUSE = 0.5  # seconds
_CONNECT_SECONDS = 10.0
_REST_SECONDS = 30.0
"""How long an address that failed is tried last."""
_REFUSED = (400, 422)
_FORBIDDEN = (401, 403, 404)
"""Statuses that do not change while a run waits."""
_MAX_PROBLEM = 300  # characters
# In characters. A shorter key is a placeholder, and a shorter part of a path is a word such as `v1`.
_SHORTEST_KEY = 6
_SHORTEST_TOKEN = 12
_NOWHERE = "\0"
"""A text that stands nowhere."""
_ADDRESS = re.compile(
    r"https?://(?:[\w.-]+|\[[\da-f:]+\])(?::[1-9]\d{0,4})?(?:/[^?#\s]*)?"
    r"(?:\?api-version=[\w.-]+)?",
    re.IGNORECASE,
)
"""The version is that of an address of Azure."""
_Item = TypeVar("_Item")
_Result = TypeVar("_Result")

_once = cache(call)
"""Calls a function only once per process. To read the certificates takes longer than a reply."""

# Their line for each request names the whole address, which may hold a token.
for _name in ("httpx", "httpx2"):
    logging.getLogger(_name).setLevel(logging.WARNING)


class Endpoint(BaseModel, extra="forbid", frozen=True, protected_namespaces=()):
    """A model at OpenAI-compatible addresses, and how it is asked.

    Requests go to the addresses in turn. If an address fails, the others are tried at once, and the last one several
    times.
    """

    model: str
    base_url: tuple[str, ...] = Field(min_length=1)
    """Addresses, as a rule ending in /v1."""
    key: str = "OPENAI_API_KEY"
    """Name of the environment variable with the key."""
    requests_per_minute: int | None = Field(default=None, ge=1)
    timeout: float = Field(default=120.0, gt=0, allow_inf_nan=False)
    """Seconds of one attempt at a request."""
    retries: int = Field(default=5, ge=0)
    """Further attempts at the last address."""
    usage: Usage = Field(default_factory=Usage, exclude=True)
    """Requests and tokens so far."""
    refused: Refused = Field(default_factory=dict, exclude=True)
    """Options that a server refused, and what is done instead; this then holds for all servers."""

    @field_validator("key")
    @classmethod
    def check_key(cls, name: str) -> str:
        """Refuse a name that is not in the settings; it is not shown, as it may be the key itself."""
        if not name.endswith("_KEY"):
            raise ValueError(
                "expected the name of an environment variable that ends in _KEY, got another text"
            )
        return name

    @field_validator("base_url")
    @classmethod
    def check_addresses(cls, urls: tuple[str, ...]) -> tuple[str, ...]:
        """Refuse an address that is not HTTP, or whose user, password or query may hold a key."""
        if not all(map(_ADDRESS.fullmatch, urls)):
            raise ConfigError(
                "endpoint: expected an address such as http://127.0.0.1:8000/v1 without user, password, "
                "`?` and `#`, got another one, which may hold a key and is not shown. Put a key into an "
                "environment variable."
            )
        return urls


@dataclass
class Server:
    """An address, and the client for the server behind it."""

    url: str
    client: "openai.AsyncOpenAI"
    rests_until: float = 0.0
    """Until this time of the monotonic clock, the server is tried last, as it failed."""


@dataclass
class ChatClient:
    """A chat model that any number of tasks of one event loop may ask; `open_chat` makes it."""

    endpoint: Endpoint
    servers: Sequence[Server]
    cache: ReplyCache
    secret: str
    """The key, or a text that stands nowhere."""
    outage: Outage = field(default_factory=Outage)
    _turns: Iterator[int] = field(default_factory=itertools.count)
    _next_time: float = 0.0
    _locks: dict[str, anyio.Lock] = field(
        default_factory=lambda: defaultdict(partial(anyio.Lock, fast_acquire=True))
    )

    async def ask(
        self, messages: Messages, *, fresh: bool = False, **options: Any
    ) -> ChatReply:
        """Return the reply to messages, from the cache unless `fresh`.

        Raises:
            EndpointError: No server gives a reply that can be used.
        """
        request = {"model": self.endpoint.model, "messages": list(messages), **options}
        key = request_key(self.endpoint.base_url, request)
        async with self._locks[key]:  # an equal request waits for the reply to this one
            reply = None if fresh else self.cache.get(key)
            if reply is not None:
                self.endpoint.usage.cached += 1
                return reply.model_copy(update={"cached": True})
            async with self.outage.gate():
                reply = await self._ask_servers(request)
            self.cache.put(key, reply)
            return reply

    async def _ask_servers(self, request: Request) -> ChatReply:
        """Ask the servers in turn: the others at once if one fails, and the last one several times."""
        now = time.monotonic()
        limit = self.endpoint.requests_per_minute
        interval = 60.0 / limit if limit else 0.0
        self._next_time = max(now, self._next_time + interval)
        if self._next_time > now:
            await anyio.sleep(self._next_time - now)
        first = next(self._turns) % len(self.servers)
        servers = [*self.servers[first:], *self.servers[:first]]
        servers.sort(key=lambda server: server.rests_until > now)
        *others, last = servers
        for server in others:
            with suppress(EndpointError):
                return await self._ask_server(server, request, 0)
        return await self._ask_server(last, request, self.endpoint.retries)

    async def _ask_server(
        self, server: Server, request: Request, retries: int
    ) -> ChatReply:
        """Ask a server, again if what it sends is no reply, and in another way if it refuses an option."""
        import openai

        refused = self.endpoint.refused
        n_unusable = 0
        while True:
            options = usable(request, refused) if refused else request
            try:
                body = await self._fetch(server, options, retries)
                return read_reply(body, self.endpoint.usage, self.secret)
            except UnicodeEncodeError:  # UTF-8 has no halves of surrogate pairs
                text = json.dumps(request, ensure_ascii=False)
                request = json.loads(text.encode("utf-8", "replace"))
                continue
            except (openai.OpenAIError, ValueError) as error:
                problem = error
            self.count_failure()
            if getattr(problem, "status_code", None) in _REFUSED:
                text = refusal_text(getattr(problem, "body", None))
                if says_limit_is_small(text):
                    return ChatReply(text="", reason="length")
                if learn(refused, options, text):
                    continue
            if isinstance(problem, ValueError) and n_unusable < retries:
                await anyio.sleep(_RETRY_PAUSE * 2**n_unusable)
                n_unusable += 1
                continue
            server.rests_until = time.monotonic() + _REST_SECONDS
            raise self.failure(server, problem)

    async def _fetch(self, server: Server, options: Request, retries: int) -> bytes:
        """Return the body of a server's reply; the `openai` package sends the request again if that may help."""
        import openai

        client = server.client
        if retries != self.endpoint.retries:
            client = client.with_options(max_retries=retries)
        seconds = self.endpoint.timeout
        # In `extra_body`, messages are sent as they are; elsewhere, `openai` would look through each part of them.
        reply = client.chat.completions.with_streaming_response.create(
            model=self.endpoint.model, messages=[], extra_body=options
        )
        body = bytearray()
        async with AsyncExitStack() as stack:
            try:
                # `openai` limits each read, so it would wait forever for headers that trickle in.
                with anyio.fail_after((retries + 1) * seconds):
                    response = await stack.enter_async_context(reply)
                with anyio.fail_after(seconds):
                    async for chunk in response.iter_bytes():
                        body += chunk
                        if len(body) > MAX_REPLY_BYTES:
                            break
            except (openai.OpenAIError, UnicodeEncodeError):
                raise
            except TimeoutError as error:
                self.count_failure()
                raise self.failure(server, error) from None
            except Exception as error:  # of httpx or httpx2, as `openai` has it
                raise ValueError(f"{type(error).__name__}: {error}") from error
        if len(body) > MAX_REPLY_BYTES:
            self.count_failure()
            problem = ValueError(f"it has more than {MAX_REPLY_BYTES:,} bytes")
            raise self.failure(server, problem)
        return bytes(body)

    def count_failure(self) -> None:
        """Count a request without a reply."""
        self.endpoint.usage.requests += 1
        self.endpoint.usage.failed += 1

    def failure(self, server: Server, error: Exception) -> EndpointError:
        """Return the error for a server without a reply that can be used; it shows no secret."""
        import openai

        parts = urlsplit(server.url)
        status = 0
        problem = str(error)
        if isinstance(error, openai.APIStatusError):
            status = error.status_code
            problem = f"{status}: {refusal_text(error.body)}"
        elif isinstance(error, openai.APITimeoutError | TimeoutError):
            problem = f"it took more than {self.endpoint.timeout:g} seconds"
        elif isinstance(error, openai.APIConnectionError):
            cause = error.__cause__ or error
            problem = f"{type(cause).__name__}: {cause}"
        problem = " ".join(problem.split()).replace(self.secret, "[key]")
        for piece in parts.path.split("/"):
            if len(piece) >= _SHORTEST_TOKEN:
                problem = problem.replace(piece, "[path]")
        remedy = "Check that the server runs and serves this model."
        if status == 401:
            remedy = f"Set {self.endpoint.key} to a key that the server knows."
        if status == 404:
            remedy = "Addresses end in /v1 as a rule."
        kind = ForbiddenError if status in _FORBIDDEN else EndpointError
        return kind(
            f"{self.endpoint.model} at {parts.scheme}://{parts.netloc}: expected a reply, got "
            f"{problem[:_MAX_PROBLEM]}. {remedy}"
        )


@asynccontextmanager
async def open_chat(
    endpoint: Endpoint, settings: Settings
) -> AsyncIterator[ChatClient]:
    """Make a client for a chat model; `settings` have the keys and the folder of the cache.

    Redirects are not followed, so that no other host gets the request.
    """
    import httpx2
    import openai

    key = settings.api_keys.get(endpoint.key, "")
    servers = []
    cache = ReplyCache(settings.cache_dir)
    with closing(cache.database):
        async with AsyncExitStack() as stack:
            for url in endpoint.base_url:
                address, _, query = url.partition("?")
                options: Any = {
                    "api_key": key or "none",  # ignored by servers without keys
                    "base_url": address,
                    "max_retries": endpoint.retries,
                }
                make_client: type[openai.AsyncOpenAI] = openai.AsyncOpenAI
                if query:
                    options["api_version"] = query.removeprefix("api-version=")
                    make_client = openai.AsyncAzureOpenAI
                timeout = openai.Timeout(endpoint.timeout, connect=_CONNECT_SECONDS)
                try:
                    certificates = _once(httpx2.create_ssl_context)
                    options["http_client"] = openai.DefaultAsyncHttpxClient(
                        timeout=timeout, follow_redirects=False, verify=certificates
                    )
                except Exception as error:  # several kinds, one of them an ImportError
                    raise EndpointError(
                        f"{endpoint.model}: expected a proxy that can be used in the variables "
                        f"HTTP_PROXY, HTTPS_PROXY, ALL_PROXY and NO_PROXY, got {error} Unset them, "
                        "or name another proxy."
                    ) from error
                client = await stack.enter_async_context(make_client(**options))
                servers.append(Server(url, client))
            secret = key if len(key) >= _SHORTEST_KEY else _NOWHERE
            yield ChatClient(endpoint, servers, cache, secret)


async def ask_all(
    function: Callable[[_Item], Awaitable[_Result]],
    items: Iterable[_Item],
    *,
    title: str,
    concurrency: int = 16,
) -> list[_Result]:
    """Return the result of a function, which asks models, for each item; after an error nothing goes on."""
    # Without `fast_acquire`, all items would be worded before the first request leaves.
    slots = anyio.Semaphore(concurrency, fast_acquire=True)
    with tqdm(desc=title, disable=None) as bar:

        async def ask(item: _Item) -> _Result:
            async with slots:
                result = await function(item)
            bar.update()
            return result

        tasks = [asyncio.ensure_future(ask(item)) for item in items]
        bar.reset(len(tasks))
        try:
            return await asyncio.gather(*tasks)
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
