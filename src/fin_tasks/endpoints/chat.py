"""Ask a chat model at OpenAI-compatible addresses; each reply is kept as it comes."""

import json
import logging
import re
import threading
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import CancelledError, ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

from fin_tasks.errors import EndpointError, WebError
from fin_tasks.settings import Settings
from fin_tasks.web import Limits, Request, Web

from .address import AddressRing, Secrets, check_address, shown_address
from .cache import ReplyCache, request_key
from .reply import ChatReply, read_completion

Messages = Sequence[Mapping[str, Any]]
Fields = Mapping[str, Any]
"""The body of a request."""

MAX_REPLY_BYTES = 4 << 20

_BYTES_PER_SECOND = 100_000
"""A large file that comes at this speed or faster may take longer than the usual limit."""
_PAUSE = 0.2
"""Seconds before looking again for a reply that another run has claimed."""
_REPLACEMENTS = {
    "max_tokens": "max_completion_tokens",
    "temperature": None,  # left out, so that the model's default holds
}
"""What is sent instead of an option that a model refuses."""
_log = logging.getLogger(__name__)


@dataclass
class Usage:
    """Counts of requests, of those that failed, of cached replies, and of tokens."""

    requests: int = 0
    failed: int = 0
    cached: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0


class Chat:
    """A chat model that any number of threads may ask; use it in a `with` statement.

    An error in the statement, such as Ctrl-C, cancels the requests under way.

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
        self.model = model
        self.base_urls = tuple(url.rstrip("/") for url in base_urls)
        self.usage = Usage()
        self._key_variable = key_variable
        key = settings.api_keys.get(key_variable, "")
        self._secrets = Secrets(key, base_urls)
        self._headers = {
            "Authorization": f"Bearer {key or 'none'}",  # ignored by servers without keys
            "Content-Type": "application/json",
        }
        self._limits = Limits(seconds=timeout, n_bytes=MAX_REPLY_BYTES, retries=retries)
        self._ring = AddressRing(self.base_urls)
        self._interval = 60.0 / requests_per_minute if requests_per_minute else 0.0
        self._next_time = 0.0
        self.refused: dict[str, str | None] = {}
        """Options that the model refused, and what is sent instead."""
        self._cache = ReplyCache(settings.cache_dir / "chat.sqlite")
        self._lock = threading.Lock()
        # One thread decodes and stores replies: in 32 threads, large ones would take 32 heaps.
        self._keeper = ThreadPoolExecutor(1, "fin-tasks-replies")
        self._stopped = threading.Event()
        self._web = Web()

    def __enter__(self) -> "Chat":
        self._web.__enter__()
        return self

    def __exit__(self, *error: Any) -> None:
        self._stopped.set()
        try:
            self._web.__exit__(*error)
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
        self._wait(self._pause())
        ask = self._ask_servers if fresh else self._ask_once
        return ask(request, key)

    def kept_reply(self, messages: Messages, **options: Any) -> ChatReply | None:
        """Return the reply to messages from the cache, or None; nothing is counted."""
        _, key = self.request(messages, options)
        return self._cache.get(key)

    def fetch(
        self,
        path: str,
        content: bytes | None = None,
        media_type: str = "application/json",
        *,
        once: bool = False,
        n_bytes: int = 512 << 20,
    ) -> bytes:
        """Return what the first address has at a path; content is posted.

        Args:
            path: The end of the address.
            content: What is posted, if anything.
            media_type: The type of the content.
            once: Whether there is no second attempt, because another one would count twice.
            n_bytes: Limit of the reply.

        Raises:
            EndpointError: There is no reply.
        """
        url = self.base_urls[0]
        request = Request(
            url=f"{url}/{path}",
            headers={**self._headers, "Content-Type": media_type},
            content=content,
        )
        limits = replace(
            self._limits,
            seconds=self._limits.seconds + len(content or b"") / _BYTES_PER_SECOND,
            n_bytes=n_bytes,
            bytes_per_second=_BYTES_PER_SECOND,
            retries=0 if once else self._limits.retries,
        )
        try:
            return self._web.send(request, limits).result()
        except WebError as error:
            raise self.error(url, error) from None  # the cause may show a secret

    def request(self, messages: Messages, options: Fields) -> tuple[Fields, str]:
        """Return the body of a request, and its key in the cache."""
        request = {"model": self.model, "messages": list(messages), **options}
        return request, request_key(self.base_urls, request)

    def _pause(self) -> float:
        """Reserve the next time at which a request may be sent; return the seconds until then."""
        with self._lock:
            now = time.monotonic()
            self._next_time = max(now, self._next_time + self._interval)
            return self._next_time - now

    def _cached(self, key: str) -> ChatReply | None:
        reply = self._cache.get(key)
        if reply is None:
            return None
        with self._lock:
            self.usage.cached += 1
        return reply.model_copy(update={"cached": True})

    def _ask_once(self, request: Fields, key: str) -> ChatReply:
        """Ask, or wait for the reply to another thread or process that asks the same."""
        while not self._cache.claim(key):
            reply = self._cached(key)
            if reply is not None:
                return reply
            self._wait(_PAUSE)
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
                return self._ask_server(
                    url, request, key, replace(self._limits, retries=0)
                )
        try:
            return self._ask_server(last, request, key, self._limits)
        except (WebError, ValueError) as error:
            raise self.error(last, error) from None  # the cause may show a secret

    def _ask_server(
        self, url: str, request: Fields, key: str, limits: Limits
    ) -> ChatReply:
        try:
            # The body may be large, so no variable keeps it.
            job = self._keeper.submit(self.keep, key, self._post(url, request, limits))
            return job.result()
        except (WebError, ValueError):
            self._ring.put_last(url)
            self.count_failure()
            raise

    def keep(self, key: str, body: bytes) -> ChatReply:
        """Decode, store and count a reply; raise ValueError if it is no completion."""
        reply = read_completion(body)
        text = self._secrets.hide_key(reply.text)
        reply = reply.model_copy(update={"text": text})
        self._cache.put(key, reply)
        with self._lock:
            self.usage.requests += 1
            self.usage.prompt_tokens += reply.prompt_tokens
            self.usage.completion_tokens += reply.completion_tokens
        return reply

    def _post(self, url: str, request: Fields, limits: Limits) -> bytes:
        """Send a request, and again without an option that the model refuses."""
        while True:  # ends, because each turn renames or removes an option
            options = self.usable(request)
            post = Request(
                url=f"{url}/chat/completions",
                headers=self._headers,
                content=encoded(options),
            )
            try:
                return self._web.send(post, limits).result()
            except CancelledError:
                raise self._stop_error() from None
            except WebError as error:
                if error.status != 400 or not self.learn(options, str(error)):
                    raise
                self.count_failure()

    def _wait(self, seconds: float) -> None:
        if self._stopped.wait(seconds):
            raise self._stop_error()

    def count_failure(self) -> None:
        """Count a request without a reply."""
        with self._lock:
            self.usage.requests += 1
            self.usage.failed += 1

    def error(self, url: str, error: WebError | ValueError) -> EndpointError:
        """Return the error for an address without a reply that can be used; it shows no secret."""
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

    def usable(self, request: Fields) -> dict[str, Any]:
        """Return a request with the replacements of refused options."""
        options = {}
        for name, value in request.items():
            usable_name = self.refused.get(name, name)
            if usable_name is not None:
                options[usable_name] = value
        return options

    def learn(self, options: Fields, refusal: str) -> bool:
        """Remember which option a server refuses; return whether it refuses one that can be replaced."""
        if not re.search(r"\bunsupported|\bnot support", refusal, re.IGNORECASE):
            return False
        for name, replacement in _REPLACEMENTS.items():
            if name in options and re.search(rf"\b{name}\b", refusal):
                if name not in self.refused:
                    _log.warning(
                        "%s refuses %s: %s is used instead.",
                        self.model,
                        name,
                        replacement or "its default",
                    )
                self.refused[name] = replacement
                return True
        return False


def encoded(request: Fields) -> bytes:
    """Return a request as JSON, with `?` for each surrogate, which UTF-8 cannot encode."""
    return json.dumps(request, ensure_ascii=False).encode("utf-8", "replace")
