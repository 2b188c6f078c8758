"""Ask a chat model at one or several OpenAI-compatible addresses; each reply is kept on disk as it comes."""

import base64
import itertools
import json
import logging
import re
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from fin_tasks.endpoints.cache import ReplyCache, request_key
from fin_tasks.errors import ConfigError, EndpointError
from fin_tasks.settings import Settings

_PAUSE = 30.0  # for so many seconds an address that failed is tried last
_REFUSED = {
    "max_tokens": "max_completion_tokens",
    "temperature": "",
}  # replaces an option that a model refuses
_MAGIC = {
    b"\x89PNG": "image/png",
    b"\xff\xd8\xff": "image/jpeg",
    b"GIF8": "image/gif",
    b"RIFF": "image/webp",
}
_log = logging.getLogger(__name__)


@dataclass(frozen=True, kw_only=True)
class ChatReply:
    """One reply; `reason` is OpenAI's finish_reason, `length` if the reply was cut."""

    text: str
    reason: str
    prompt_tokens: int = 0
    completion_tokens: int = 0
    cached: bool = False


@dataclass
class Usage:
    """Counts of requests sent, requests that failed, replies from the cache, and tokens of the requests sent."""

    requests: int = 0
    failed: int = 0
    cached: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0


class Chat:
    """A chat model that any number of threads may ask; use it in a `with` statement.

    Requests go to the addresses in turn. If an address fails, the others are tried at once, and the SDK retries the
    last one. Redirects are not followed, so that no other host gets the request.
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
        import openai

        for url in base_urls:
            check_address(url)
        if not base_urls or not key_variable.endswith(
            "_KEY"
        ):  # the value may be the key itself: not shown
            raise ConfigError(
                "endpoint: expected an address, and the name of a variable that ends in _KEY."
            )
        self.model, self.base_urls, self.usage = model, tuple(base_urls), Usage()
        self._key, self._variable = settings.api_keys.get(key_variable) or "", key_variable
        secure = any(
            url.startswith("https") for url in base_urls
        )  # reading certificates takes a tenth of a second
        self._http = openai.DefaultHttpxClient(
            verify=secure,
            follow_redirects=False,
            timeout=openai.Timeout(timeout, connect=min(timeout, 10.0)),
        )
        self._clients = [
            openai.OpenAI(
                base_url=url,
                api_key=self._key or "none",
                timeout=timeout,
                max_retries=retries,
                http_client=self._http,
            )
            for url in base_urls
        ]
        self._hasty = [client.with_options(max_retries=0) for client in self._clients]
        self._cache = ReplyCache(settings.cache_dir / "chat.sqlite")
        self._lock, self._turn = threading.Lock(), itertools.count()
        self._resting: dict[int, float] = {}
        self._renamed: dict[
            str, str
        ] = {}  # options that this model refused; "" leaves the option out
        self._interval, self._next = 60.0 / requests_per_minute if requests_per_minute else 0.0, 0.0

    def __enter__(self) -> "Chat":
        return self

    def __exit__(self, *_: object) -> None:
        self._http.close()
        self._cache.close()

    def ask(
        self, messages: Sequence[Mapping[str, Any]], *, fresh: bool = False, **options: Any
    ) -> ChatReply:
        """Return the reply to messages in OpenAI's form, from the cache unless `fresh`; raise EndpointError."""
        request = {"model": self.model, "messages": _clean(messages), **options}
        key = request_key(self.base_urls, request)
        if not fresh and (kept := self._cache.get(key)):
            with self._lock:
                self.usage.cached += 1
            return ChatReply(**kept, cached=True)
        self._wait()
        reply = self._try_all(request)
        self._cache.put(
            key, {name: value for name, value in vars(reply).items() if name != "cached"}
        )
        return reply

    def _try_all(self, request: dict[str, Any]) -> ChatReply:
        import openai

        first, now = next(self._turn), time.monotonic()
        order = [(first + i) % len(self._clients) for i in range(len(self._clients))]
        order.sort(key=lambda at: self._resting.get(at, 0.0) > now)
        for at in order:
            last = at == order[-1]
            client = self._clients[at] if last else self._hasty[at]
            try:
                return self._read(self._post(client, request))
            except (openai.OpenAIError, ValueError) as error:
                self._resting[at] = time.monotonic() + _PAUSE
                self._count_failure()
                if last:
                    raise self._error(self.base_urls[at], error) from None
        raise AssertionError

    def _post(self, client: Any, request: dict[str, Any]) -> Any:
        """Send a request. Options that the model refuses are renamed or left out, in this and all later requests."""
        import openai
        from openai.types.chat import ChatCompletion

        while True:  # ends, because each turn renames or removes an option
            body = {self._renamed.get(name, name): value for name, value in request.items()}
            body.pop("", None)
            try:
                # `create` would check every field of the request, which takes longer than to send it
                return client.post("/chat/completions", body=body, cast_to=ChatCompletion)
            except openai.BadRequestError as error:
                said = str(error)
                unsupported = re.search(r"\bunsupported|\bnot support", said, re.IGNORECASE)
                name = next(
                    (name for name in _REFUSED if name in body and re.search(rf"\b{name}\b", said)),
                    None,
                )
                if not unsupported or name is None:
                    raise
                self._count_failure()
                with self._lock:
                    if name not in self._renamed:
                        self._renamed[name] = _REFUSED[name]
                        instead = _REFUSED[name] or "the model's default"
                        _log.warning(
                            "%s refuses the option %s: %s is used instead.",
                            self.model,
                            name,
                            instead,
                        )

    def _count_failure(self) -> None:
        with self._lock:
            self.usage.requests += 1
            self.usage.failed += 1

    def _read(self, completion: Any) -> ChatReply:
        choices = getattr(completion, "choices", None)
        if not choices:
            raise ValueError(f"no chat completion: {str(completion)[:200]}")
        usage = getattr(completion, "usage", None)
        told = [getattr(usage, name, None) or 0 for name in ("prompt_tokens", "completion_tokens")]
        with self._lock:
            self.usage.requests += 1
            self.usage.prompt_tokens += told[0]
            self.usage.completion_tokens += told[1]
        text, reason = str(choices[0].message.content or ""), str(choices[0].finish_reason or "")
        return ChatReply(
            text=self._hide(text), reason=reason, prompt_tokens=told[0], completion_tokens=told[1]
        )

    def _wait(self) -> None:
        if not self._interval:
            return
        with self._lock:
            now = time.monotonic()
            self._next = max(now, self._next + self._interval)
            pause = self._next - now
        time.sleep(pause)

    def _error(self, url: str, error: Exception) -> EndpointError:
        said = self._hide(" ".join(str(error.__cause__ or error).split()))[:300]
        advice = {
            401: f"Set {self._variable} to a key that the server knows.",
            404: "Addresses end in /v1 as a rule.",
        }
        remedy = advice.get(
            getattr(error, "status_code", 0), "Check that the server runs and serves this model."
        )
        return EndpointError(
            f"{self.model} at {url}: expected a reply, got {type(error).__name__} ({said}). {remedy}"
        )

    def _hide(self, text: str) -> str:
        return (
            text.replace(self._key, "[key]") if len(self._key) >= 6 else text
        )  # shorter ones are placeholders


def check_address(url: str) -> None:
    """Refuse an address that is not HTTP, or that has a user, a password or a query, which may hold a key."""
    parts = urlsplit(url)
    if parts.username or parts.password or parts.query or parts.fragment:
        raise ConfigError(
            f"endpoint {parts.hostname}: expected an address without user, password, `?` and `#`, got one of these. "
            "Put the key into an environment variable."
        )
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise ConfigError(
            f"endpoint: expected an address such as http://127.0.0.1:8000/v1, got {url!r}."
        )


def picture_url(path: Path) -> str:
    """Return a picture file as a `data:` URL; raise EndpointError unless it is PNG, JPEG, GIF or WebP."""
    try:
        data = path.read_bytes()
    except (OSError, ValueError) as error:
        raise EndpointError(
            f"picture {path}: expected a file that can be read, got {error}."
        ) from error
    kind = next((kind for magic, kind in _MAGIC.items() if data.startswith(magic)), None)
    if kind is None:
        raise EndpointError(
            f"picture {path}: expected PNG, JPEG, GIF or WebP, got {data[:8]!r}. Convert the file."
        )
    return f"data:{kind};base64,{base64.b64encode(data).decode()}"


def _clean(messages: Sequence[Mapping[str, Any]]) -> Any:
    """Replace halves of surrogate pairs, which UTF-8 cannot hold."""
    return json.loads(json.dumps(list(messages), ensure_ascii=False).encode("utf-8", "replace"))
