"""Ask a chat model at OpenAI-compatible addresses; each reply is kept as it comes."""

import json
import threading
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import CancelledError, Future, ThreadPoolExecutor, wait
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from typing import Any

from fin_tasks.endpoints.address import (
    AddressRing,
    Secrets,
    check_address,
    request_headers,
    shown_address,
)
from fin_tasks.endpoints.cache import ReplyCache, request_key
from fin_tasks.endpoints.messages import encodable
from fin_tasks.endpoints.options import Options
from fin_tasks.endpoints.reply import ChatReply, read_completion
from fin_tasks.errors import ConfigError, EndpointError, WebError
from fin_tasks.settings import Settings
from fin_tasks.web import Limits, Request, Web

Messages = Sequence[Mapping[str, Any]]
Fields = Mapping[str, Any]
"""The body of a request."""

MAX_REPLY_BYTES = 4 << 20
RENEW_SECONDS = 2.0
"""A claim is renewed after each of these intervals."""
GRACE_SECONDS = 5.0
"""Time for replies that are on their way when a run is stopped."""

_BYTES_PER_SECOND = 100_000  # a large file that is faster may take longer
_FIRST_PAUSE = (
    0.05  # seconds, before looking again for a reply that another run has claimed
)
_LONGEST_PAUSE = 1.0


@dataclass
class Usage:
    """Counts of requests, of failed ones, of cached replies, and of tokens of the requests."""

    requests: int = 0
    failed: int = 0
    cached: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0


class Chat:
    """A chat model that any number of threads may ask; use it in a `with` statement.

    Requests go to the addresses in turn. If an address fails, the others are tried at once, and the
    last one several times. Redirects are not followed, so that no other host gets the request.

    Args:
        model: Name of the model.
        base_urls: Addresses, as a rule ending in /v1.
        settings: Keys and the folder of the cache.
        key_variable: Name of the variable that holds the key.
        requests_per_minute: Limit of requests, None for no limit.
        timeout: Seconds of one attempt, from the connection to the last byte of the reply.
        retries: Further attempts at the last address.
    """

    def __init__(
        self,
        model: str,
        base_urls: Sequence[str],
        settings: Settings,
        *,
        key_variable: str = "OPENAI_API_KEY",
        requests_per_minute: int | None = None,
        timeout: float = 120.0,
        retries: int = 5,
    ) -> None:
        for url in base_urls:
            check_address(url)
        if not base_urls or not key_variable.endswith("_KEY"):
            # The variable's name is not shown, as it may be the key itself.
            raise ConfigError(
                "endpoint: expected an address, and the name of a variable that ends in _KEY."
            )
        self.model = model
        self.base_urls = tuple(base_urls)
        self.usage = Usage()
        self._key_variable = key_variable
        key = settings.api_keys.get(key_variable, "")
        self._secrets = Secrets(key, base_urls)
        self._headers = request_headers(key)
        self._timeout = timeout
        self._retries = retries
        self._ring = AddressRing(base_urls)
        self._pace = _Pace(requests_per_minute)
        self.options = Options(model)
        self._cache = ReplyCache(settings.cache_dir / "chat.sqlite")
        self._lock = threading.Lock()
        # One thread decodes and stores replies: in 32 threads, large ones would take 32 heaps.
        self._keeper = ThreadPoolExecutor(1, "fin-tasks-replies")
        self._stopped = threading.Event()
        self._under_way: set[Future[bytes]] = set()
        self._stack = ExitStack()

    def __enter__(self) -> "Chat":
        self._web = self._stack.enter_context(Web())
        return self

    def __exit__(self, *error: Any) -> None:
        try:
            self._stack.__exit__(*error)
        finally:
            self._keeper.shutdown()
            self._cache.close()

    def ask(
        self, messages: Messages, *, fresh: bool = False, **options: Any
    ) -> ChatReply:
        """Return the reply to messages in OpenAI's form, from the cache unless `fresh`.

        Raises:
            EndpointError: No address gives a reply that can be used, or it could not be kept.
        """
        request, key = self.request(messages, options)
        reply = None if fresh else self._cached(key)
        if reply is not None:
            return reply
        self._cache.check_writable()
        if self._stopped.wait(self._pace.pause()):
            raise self._stop_error()
        return (
            self._ask_servers(request, key) if fresh else self._ask_once(request, key)
        )

    def kept_reply(self, messages: Messages, **options: Any) -> ChatReply | None:
        """Return the reply to messages from the cache, or None; nothing is counted."""
        _, key = self.request(messages, options)
        return self._cache.get(key)

    def fetch(
        self,
        path: str,
        *,
        content: bytes | None = None,
        media_type: str = "application/json",
        n_bytes: int = MAX_REPLY_BYTES,
        retries: int | None = None,
    ) -> bytes:
        """Return what the first address has at a path; content is posted.

        Raises:
            EndpointError: There is no reply.
        """
        url = self.base_urls[0].rstrip("/")
        request = Request(
            url=f"{url}/{path}",
            headers={**self._headers, "Content-Type": media_type},
            content=content,
        )
        limits = Limits(
            seconds=self._timeout + len(content or b"") / _BYTES_PER_SECOND,
            n_bytes=n_bytes,
            bytes_per_second=_BYTES_PER_SECOND,
            retries=self._retries if retries is None else retries,
        )
        try:
            return self._web.send(request, limits).result()
        except WebError as error:
            raise self._error(url, error) from None  # the cause may show a secret

    def stop(self) -> None:
        """Send no more requests, wait a little for those under way, and end them."""
        with self._lock:
            self._stopped.set()
            under_way = set(self._under_way)
        try:
            wait(under_way, timeout=GRACE_SECONDS)
        finally:
            for future in under_way:
                future.cancel()

    def request(
        self,
        messages: Messages,
        options: Fields,
    ) -> tuple[Fields, str]:
        """Return the body of a request, and its key in the cache."""
        request = encodable(
            {"model": self.model, "messages": list(messages), **options}
        )
        return request, request_key(self.base_urls, request)

    def _cached(self, key: str) -> ChatReply | None:
        reply = self._cache.get(key)
        if reply is None:
            return None
        with self._lock:
            self.usage.cached += 1
        return reply.model_copy(update={"cached": True})

    def _ask_once(self, request: Fields, key: str) -> ChatReply:
        """Ask, or wait for the reply to another thread or process that asks the same."""
        pause = _FIRST_PAUSE
        while not self._cache.claim(key):
            reply = self._cached(key)
            if reply is not None:
                return reply
            if self._stopped.wait(pause):
                raise self._stop_error()
            pause = min(2 * pause, _LONGEST_PAUSE)
        try:
            return self._ask_servers(request, key)
        except BaseException:
            with suppress(EndpointError):  # the claim ends by itself
                self._cache.release(key)
            raise

    def _ask_servers(self, request: Fields, key: str) -> ChatReply:
        """Ask the addresses until one gives a reply."""
        *others, last = self._ring.in_turn()
        for url in others:
            with suppress(WebError, ValueError):
                return self._ask_server(url, request, key, retries=0)
        try:
            return self._ask_server(last, request, key, retries=self._retries)
        except (WebError, ValueError) as error:
            raise self._error(last, error) from None  # the cause may show a secret

    def _ask_server(
        self, url: str, request: Fields, key: str, *, retries: int
    ) -> ChatReply:
        try:
            body = self._post(url, request, key, retries)
            job = self._keeper.submit(self.keep, key, body)
            del body  # it may be large
            reply = job.result()
        except (WebError, ValueError):
            self._ring.put_last(url)
            self._count_failure()
            raise
        with self._lock:
            self.usage.requests += 1
            self.usage.prompt_tokens += reply.prompt_tokens
            self.usage.completion_tokens += reply.completion_tokens
        return reply

    def keep(self, key: str, body: bytes) -> ChatReply:
        """Decode and store a reply; raise ValueError if it is no completion."""
        reply = read_completion(body)
        text = self._secrets.hide_key(reply.text)
        reply = reply.model_copy(update={"text": text})
        self._cache.put(key, reply)
        return reply

    def _post(self, url: str, request: Fields, key: str, retries: int) -> bytes:
        """Send a request, and again without an option that the model refuses."""
        limits = Limits(seconds=self._timeout, n_bytes=MAX_REPLY_BYTES, retries=retries)
        while True:  # ends, because each turn renames or removes an option
            options = self.options.usable(request)
            post = Request(
                url=f"{url.rstrip('/')}/chat/completions",
                headers=self._headers,
                content=json.dumps(options, ensure_ascii=False).encode(),
            )
            try:
                return self._send(post, limits, key)
            except WebError as error:
                if error.status != 400 or not self.options.learn(options, str(error)):
                    raise
                self._count_failure()

    def _send(self, post: Request, limits: Limits, key: str) -> bytes:
        """Wait for a reply, and renew the claim meanwhile."""
        with self._lock:
            if self._stopped.is_set():
                raise self._stop_error()
            future = self._web.send(post, limits)
            self._under_way.add(future)
        try:
            while not wait([future], timeout=RENEW_SECONDS).done:
                with suppress(EndpointError):  # the reply is worth more than the claim
                    self._cache.renew(key)
            return future.result()
        except CancelledError:
            raise self._stop_error() from None
        finally:
            with self._lock:
                self._under_way.discard(future)

    def _count_failure(self) -> None:
        with self._lock:
            self.usage.requests += 1
            self.usage.failed += 1

    def _error(self, url: str, error: WebError | ValueError) -> EndpointError:
        problem = self._secrets.shown_problem(error)
        status = error.status if isinstance(error, WebError) else None
        remedy = "Check that the server runs and serves this model."
        if status == 401:
            remedy = f"Set {self._key_variable} to a key that the server knows."
        if status == 404:
            remedy = "Addresses end in /v1 as a rule."
        return EndpointError(
            f"{self.model} at {shown_address(url)}: expected a reply, got {problem}. {remedy}"
        )

    def _stop_error(self) -> EndpointError:
        return EndpointError(
            f"{self.model}: expected a reply, but the run was stopped."
        )


class _Pace:
    """Spreads requests over time."""

    def __init__(self, requests_per_minute: int | None) -> None:
        self._interval = 60.0 / requests_per_minute if requests_per_minute else 0.0
        self._next = 0.0
        self._lock = threading.Lock()

    def pause(self) -> float:
        """Return the seconds to wait before the next request."""
        if not self._interval:
            return 0.0
        with self._lock:
            now = time.monotonic()
            self._next = max(now, self._next + self._interval)
            return self._next - now
