"""Asks a chat model many things at once: a judge that reads responses, or one that looks at charts.

Requests run side by side up to a limit. Each reply is kept on disk as it comes (see `cache`), so a run that was killed
goes on where it stopped. What fails, fails for its own item; the batch raises only where no item got a reply.
"""

import asyncio
import re
from collections import Counter
from collections.abc import Callable, Coroutine, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeVar

from fin_tasks.endpoints.cache import ReplyCache, request_key
from fin_tasks.endpoints.client import Endpoint, endpoint_error, open_async_client
from fin_tasks.endpoints.limits import Limits
from fin_tasks.endpoints.spending import Prices, Spent, prices_of
from fin_tasks.errors import EndpointError
from fin_tasks.settings import Settings

if TYPE_CHECKING:
    from openai import APIStatusError, AsyncOpenAI

__all__ = ["Chat", "ChatRequest", "Reply"]

T = TypeVar("T")

_SUBSTITUTES: Mapping[str, str | None] = {"max_tokens": "max_completion_tokens", "temperature": None}
"""Options that some models refuse, and what is sent instead of them."""
_UNSUPPORTED = re.compile(
    r"(?:un|not\s|n['’]t\s)support|unrecogni[sz]ed|unknown|not\s(?:allowed|permitted)", re.IGNORECASE
)
_HOPELESS = 8
"""So many failures before any success, and the rest of a batch is not sent: the server is down, or says no to all."""


@dataclass(frozen=True, kw_only=True)
class ChatRequest:
    """One thing to ask.

    Attributes:
        messages: In OpenAI's form, JSON-compatible; pictures as data addresses inside `content`.
        options: What else is sent: `temperature`, `max_tokens`, `seed`, ... Another temperature is another request.
        about: What else makes a reply another one, JSON-compatible, and is not sent: a rubric's hash, a judge's name.
    """

    messages: Sequence[Mapping[str, Any]]
    options: Mapping[str, Any] = field(default_factory=dict)
    about: Mapping[str, Any] = field(default_factory=dict)

    def body(self) -> dict[str, Any]:
        """Return all that is sent, the model's name aside."""
        return {"messages": list(self.messages), **self.options}


@dataclass(frozen=True, kw_only=True)
class Reply:
    """What came back: a text, or why there is none.

    Attributes:
        text: The reply; None where there is none.
        error: Why not; None where there is one.
        kept: It was on the disk, and nothing was asked.
    """

    text: str | None = None
    error: str | None = None
    kept: bool = False


class Chat:
    """A chat model that is asked in batches.

    An endpoint that refuses `temperature`, or `max_tokens` as newer models of OpenAI do, with a status 400 or 422 that
    names the option and calls it unsupported, is asked again without the one, or with `max_completion_tokens`, and so
    is everything that is asked of it afterwards. Replies are kept under the request as it was meant.

    Args:
        endpoint: The model and where it is.
        settings: The environment: keys, and the folder for replies.
        concurrency: Requests under way at the same time.
        cache: Where replies are kept; `chat.sqlite` in the cache folder where None.
    """

    def __init__(
        self,
        endpoint: Endpoint | Sequence[Endpoint],
        settings: Settings,
        *,
        concurrency: int = 8,
        cache: ReplyCache | None = None,
        limits: Limits | None = None,
        prices: Prices | None = None,
    ) -> None:
        self.endpoints = (endpoint,) if isinstance(endpoint, Endpoint) else tuple(endpoint)
        self.endpoint = self.endpoints[0]
        self.spent = Spent(prices=prices or prices_of(self.endpoint.model))
        self._settings = settings
        self._refused: frozenset[str] = frozenset()
        self._concurrency = max(1, concurrency)
        self._cache = cache if cache is not None else ReplyCache(settings.cache_dir / "chat.sqlite")

    def ask(
        self,
        requests: Sequence[ChatRequest],
        *,
        accept: Callable[[int, str], bool] | None = None,
        on_done: Callable[[int], None] | None = None,
    ) -> list[Reply]:
        """Ask everything that was not asked before; equal requests are sent once.

        Args:
            requests: What to ask.
            accept: Told a request's place and its reply, says whether the reply can be used. One that cannot is
                returned but not kept, and one kept earlier is asked for again. All are kept where None.
            on_done: Called as replies come, with how many requests are settled so far.

        Returns:
            One reply per request, in order.

        Raises:
            EndpointError: There are requests, and none of them got a reply; or replies cannot be kept.
        """
        keys = [request_key(self.endpoint.model, request.body()) for request in requests]
        places = {key: at for at, key in reversed(list(enumerate(keys)))}

        def usable(key: str, text: str) -> bool:
            return accept is None or accept(places[key], text)

        kept = self._cache.get_all(places)
        self._cache.forget([key for key, text in kept.items() if not usable(key, text)])
        replies = {key: Reply(text=text, kept=True) for key, text in kept.items() if usable(key, text)}
        missing = {key: request for key, request in zip(keys, requests, strict=True) if key not in replies}
        times = Counter(keys)  # one reply may settle several requests
        done = sum(times[key] for key in replies)

        def advance(key: str | None = None) -> None:
            nonlocal done
            done += times[key] if key is not None else 0
            if on_done is not None:
                on_done(done)

        advance()
        if missing:
            _run(self._ask_all(missing, replies, usable, advance))
        if keys and all(replies[key].text is None for key in keys):
            raise EndpointError(f"{replies[keys[0]].error} None of {len(keys)} requests got a reply.")
        return [replies[key] for key in keys]

    async def _ask_all(
        self,
        missing: Mapping[str, ChatRequest],
        replies: dict[str, Reply],
        usable: Callable[[str, str], bool],
        advance: Callable[[str], None],
    ) -> None:
        limit = asyncio.Semaphore(self._concurrency)
        failures: list[str] = []
        successes = 0

        async def settle(key: str, request: ChatRequest) -> None:
            nonlocal successes
            async with limit:
                if len(failures) >= _HOPELESS and not successes:
                    reply = Reply(error=f"Not asked, as nothing asked before got a reply. {failures[0]}")
                else:
                    reply = await self._ask(client, request)
                if reply.text is not None:
                    successes += 1
                    if usable(key, reply.text):
                        self._cache.put(key, model=self.endpoint.model, reply=reply.text)
                elif reply.error is not None:
                    failures.append(reply.error)
                replies[key] = reply
                advance(key)

        async with open_async_client(self.endpoint, self._settings) as client:
            await asyncio.gather(*(settle(key, request) for key, request in missing.items()))

    async def _ask(self, client: "AsyncOpenAI", request: ChatRequest) -> Reply:
        from openai import APIStatusError, OpenAIError

        body = self._adapted(request)
        try:
            completion = await client.chat.completions.create(model=self.endpoint.model, **body)
        except APIStatusError as error:
            refused = _refused_option(error, body)
            if refused is None:
                return Reply(error=str(endpoint_error(self.endpoint, error, self._settings)))
            self._refused |= {refused}
            return await self._ask(client, request)
        except (OpenAIError, ValueError) as error:  # ValueError: a body that is no JSON
            return Reply(error=str(endpoint_error(self.endpoint, error, self._settings)))
        try:
            choice = completion.choices[0]
            text, ended = choice.message.content, choice.finish_reason
        except (AttributeError, IndexError, TypeError):
            return Reply(error=f"{self.endpoint}: expected a chat completion, got {str(completion)[:200]!r}.")
        if not text:
            return Reply(
                error=f"{self.endpoint}: expected text, got none (finish_reason {ended!r}). Allow more tokens."
            )
        return Reply(text=text)

    def _adapted(self, request: ChatRequest) -> dict[str, Any]:
        """What is sent to this endpoint, after what it has refused so far."""
        body = request.body()
        for name in sorted(self._refused & body.keys()):
            value, substitute = body.pop(name), _SUBSTITUTES[name]
            if substitute is not None:
                body.setdefault(substitute, value)
        return body


def _refused_option(error: "APIStatusError", body: Mapping[str, Any]) -> str | None:
    """The option that was sent and is not supported, if that is what the refusal says and something can be done."""
    if error.status_code not in (400, 422) or not _UNSUPPORTED.search(str(error)):
        return None
    named = [name for name in _SUBSTITUTES if name in body and re.search(rf"\b{name}\b", str(error))]
    named.sort(key=lambda name: getattr(error, "param", None) != name)
    return named[0] if named else None


def _run(work: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine to its end, also where a loop is running already, as in a notebook."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(work)
    with ThreadPoolExecutor(max_workers=1) as pool:
        return pool.submit(asyncio.run, work).result()
