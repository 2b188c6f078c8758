"""Asks a chat model many things at once: a judge that reads responses, or one that looks at charts.

Requests run side by side up to a limit, spread over all addresses of the model. Each reply is kept on disk as it comes
(see `cache`), so a run that was killed goes on where it stopped. What fails, fails for its own item; the batch raises
only where no item got a reply.
"""

import asyncio
import functools
from collections.abc import AsyncIterator, Callable, Coroutine, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar
from uuid import uuid4

from fin_tasks.endpoints.addresses import Addresses
from fin_tasks.endpoints.asker import Asker, Standing, open_asker
from fin_tasks.endpoints.client import Endpoint
from fin_tasks.endpoints.limits import Limits, Window
from fin_tasks.endpoints.old_cache import Batch, ReplyCache
from fin_tasks.endpoints.requests import ChatRequest, Reply
from fin_tasks.endpoints.spending import Prices, Spent, prices_of
from fin_tasks.endpoints.tally import Named, Tally
from fin_tasks.errors import EndpointError
from fin_tasks.settings import Settings

__all__ = ["Chat", "ChatRequest", "NoReplyError", "Reply"]

T = TypeVar("T")

_HOPELESS = 8
"""So many failures in a row, or as many as there are requests at the same time, and the rest of a batch is not sent:
the server is down, or says no to all."""
_AHEAD = 4
"""One request is made ready ahead for so many under way."""
_OWN_FAULT = 1 / 8
"""What a failure counts that may be the request's own: content a service refuses to look at, a prompt too long."""
_PIECE = 64
"""Requests that are made known at a time, or as many as may be under way."""
_SIGN_OF_LIFE = 1.0
"""Seconds between signs of life to other processes."""
_POLL = 0.2
"""Seconds between looks for a reply that another process is getting."""


class NoReplyError(EndpointError):
    """No request of a batch got a reply with text in it.

    Attributes:
        replies: Why not, one per request.
    """

    def __init__(self, message: str, replies: Sequence[Reply]) -> None:
        super().__init__(message)
        self.replies = tuple(replies)


class Chat:
    """A chat model that is asked in batches.

    Several addresses are asked in turn. One that does not connect, does not know our key or the model, or serves
    something else, is left out for half a minute, and what was meant for it goes to the others. A failed connection, a
    timeout, and status 408, 409, 429 or 5xx are repeated as often as the first endpoint's `retries` say, after a pause
    that grows and varies; what is no chat completion, twice at most. Where `Retry-After` tells how long, nobody asks
    that address before; one that wants to be left alone for more than two minutes is not waited for: its items fail,
    and the next run goes on with them.

    An endpoint that refuses `temperature`, or `max_tokens` as newer models of OpenAI do, with a status 400 or 422 that
    names the option and calls it unsupported, is asked again without the one, or with `max_completion_tokens`, and so
    is everything that is asked of it afterwards. Replies are kept under the request as it was meant.

    Args:
        endpoint: The model and where it is; several addresses of one model share the work.
        settings: The environment: keys, and the folder for replies.
        concurrency: Requests under way at the same time, at all addresses together.
        cache: Where replies are kept; `chat.sqlite` in the cache folder where None.
        limits: What may be sent in a minute, from this process; as much as goes where None.
        prices: What tokens cost; the list price where None, and nothing is said of cost where there is none.

    Raises:
        ConfigError: Several models, or no address at all.
        EndpointError: Replies cannot be kept.
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
        limits = limits or Limits()
        addresses = Addresses(self.endpoints)
        self.endpoint = self.endpoints[0]
        spent = Spent(prices=prices or prices_of(self.endpoint.model))
        self._standing = Standing(addresses=addresses, limits=limits, window=Window(limits), spent=spent)
        self._settings = settings
        self._concurrency = max(1, concurrency)
        self._cache = cache if cache is not None else ReplyCache(settings.cache_dir / "chat.sqlite")

    @property
    def spent(self) -> Spent:
        """What was used since this object was made; grows while a batch runs."""
        return self._standing.spent

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
            NoReplyError: There are requests, and none of them got a reply with text in it.
            EndpointError: Replies cannot be kept.
        """
        tally = Tally(accept=accept, on_done=on_done)
        size = max(_PIECE, self._concurrency)
        pieces = iter([requests[at : at + size] for at in range(0, len(requests), size)] or [[]])
        for piece in pieces:
            missing = tally.add(self._named(piece))
            if missing:  # the others are made known while these are asked
                run = _Run(model=self.endpoint.model, slots=self._concurrency, cache=self._cache, tally=tally)
                later = (functools.partial(self._named, piece) for piece in pieces)
                _complete(run.ask_all(missing, later, self._standing, self._settings))
        self._standing.spent = replace(self.spent, cached=self.spent.cached + tally.spared())
        replies = tally.in_order()
        if replies and all(reply.text is None for reply in replies):
            raise NoReplyError(f"{replies[0].error} None of {len(replies)} requests got a reply.", replies)
        return replies

    def _named(self, requests: Sequence[ChatRequest]) -> Named:
        """Name requests and look what is on the disk.

        Their pictures are read for it, so it takes a while. Where one cannot be read, its own request fails.

        Raises:
            EndpointError: Replies kept cannot be read.
        """
        keys, unreadable = [], {}
        for request in requests:
            try:
                keys.append(request.key(self.endpoint.model))
            except EndpointError as error:
                keys.append(f"unreadable {uuid4()}")
                unreadable[keys[-1]] = str(error)
        kept = self._cache.get_all(dict.fromkeys(key for key in keys if key not in unreadable))
        return Named(requests=requests, keys=keys, kept=kept, unreadable=unreadable)


@dataclass(kw_only=True)
class _Run:
    """A batch under way.

    Attributes:
        model: The model's name, kept beside each reply.
        slots: Requests at the same time.
        cache: Where replies are kept.
        tally: What became of the requests.
        streak: Failures since the last reply.
        told: The first of them.
    """

    model: str
    slots: int
    cache: ReplyCache
    tally: Tally
    streak: float = 0.0
    told: str | None = None
    lasting: bool = False
    """Whether that one will be so again."""
    _limit: asyncio.Semaphore = field(init=False)

    async def ask_all(
        self,
        missing: Mapping[str, ChatRequest],
        later: Iterable[Callable[[], Named]],
        standing: Standing,
        settings: Settings,
    ) -> None:
        """Ask what is missing, and what turns out to be missing of the requests that are named later.

        They are named in a thread, some at a time, while others are under way: to read all pictures first would keep
        the model waiting.
        """
        # some more than may be under way are made ready, so that no slot waits for its request to be packed
        self._limit = asyncio.Semaphore(self.slots + max(1, self.slots // _AHEAD))
        with self.cache.batch() as batch:
            async with _living(batch), open_asker(standing, settings, slots=self.slots) as asker:
                tasks = [asyncio.create_task(self._settle(key, missing[key], batch, asker)) for key in missing]
                try:
                    for named in later:
                        missing = self.tally.add(await asyncio.to_thread(named))
                        tasks += [asyncio.create_task(self._settle(key, missing[key], batch, asker)) for key in missing]
                        await asyncio.gather(*[task for task in tasks if task.done()])  # raises what ends the batch
                    await asyncio.gather(*tasks)
                finally:  # nothing goes on behind a batch that ended early
                    for task in tasks:
                        task.cancel()
                    await asyncio.gather(*tasks, return_exceptions=True)

    async def _settle(self, key: str, request: ChatRequest, batch: Batch, asker: Asker) -> None:
        while True:
            async with self._limit:
                claim = batch.claim(key, lambda text: self.tally.usable(key, text))
                if claim.reply is not None:
                    self.tally.settle(key, Reply(text=claim.reply, kept=True))
                    return
                if claim.granted:
                    reply = await self._ask(request, asker)
                    keep = reply.text is not None and self.tally.usable(key, reply.text)
                    batch.settle(key, model=self.model, reply=reply.text if keep else None)
                    self.tally.settle(key, reply)
                    return
            await asyncio.sleep(_POLL)  # another process is asking; meanwhile the slot is somebody else's

    async def _ask(self, request: ChatRequest, asker: Asker) -> Reply:
        if self.streak >= max(_HOPELESS, self.slots):
            told = f"Not asked, as nothing asked before got a reply. {self.told}"
            return Reply(error=told, lasting=self.lasting)
        reply = await asker.ask(request)
        if reply.text is not None:
            self.streak, self.told, self.lasting = 0.0, None, False
        else:
            self.streak += _OWN_FAULT if reply.own_fault else 1.0
            if self.told is None:
                self.told, self.lasting = reply.error, reply.lasting
        return reply


@asynccontextmanager
async def _living(batch: Batch) -> AsyncIterator[None]:
    """Show other processes that this one is alive, so that they wait for its replies."""

    async def show() -> None:
        while True:
            await asyncio.sleep(_SIGN_OF_LIFE)
            batch.show_life()

    shown = asyncio.create_task(show())
    try:
        yield
    finally:
        shown.cancel()
        with suppress(asyncio.CancelledError):
            await shown


def _complete(work: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine to its end, also where a loop is running already, as in a notebook."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(work)
    with ThreadPoolExecutor(max_workers=1) as pool:
        return pool.submit(asyncio.run, work).result()
