"""Check the addresses of models, choose which one is asked next, and hide secrets in texts."""

import itertools
import re
import time
from collections.abc import Sequence
from urllib.parse import urlsplit

from fin_tasks.errors import ConfigError

REST_SECONDS = 30.0
"""How long an address that failed is tried last."""

_ADDRESS = re.compile(
    r"https?://([\w.-]+|\[[\da-f:]+\])(:[1-9]\d{0,4})?(/[^?#\s]*)?", re.IGNORECASE
)
_MAX_PROBLEM = 300  # characters
# In characters. A shorter key is a placeholder, and a shorter part of a path is a word such as `v1`.
_SHORTEST_KEY = 6
_SHORTEST_TOKEN = 12


def check_address(url: str) -> None:
    """Refuse an address that is not HTTP, or whose user, password or query may hold a key."""
    if not _ADDRESS.fullmatch(url):
        raise ConfigError(
            "endpoint: expected an address such as http://127.0.0.1:8000/v1 without user, password, "
            "`?` and `#`, got another one, which may hold a key and is not shown. Put a key into an "
            "environment variable."
        )


def shown_address(url: str) -> str:
    """Return scheme, host and port of an address, whose path may hold a token."""
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}"


class AddressRing:
    """Addresses that are asked in turn."""

    def __init__(self, urls: Sequence[str]) -> None:
        self._urls = tuple(urls)
        self._turn = itertools.count()
        self._rests_until: dict[str, float] = {}

    def in_turn(self) -> list[str]:
        """Return all addresses in the order in which to try them."""
        first = next(self._turn) % len(self._urls)
        urls = self._urls[first:] + self._urls[:first]
        now = time.monotonic()
        return sorted(urls, key=lambda url: self._rests_until.get(url, 0.0) > now)

    def put_last(self, url: str) -> None:
        """Try an address that failed last for a while."""
        self._rests_until[url] = time.monotonic() + REST_SECONDS


class Secrets:
    """What no text may show: a key, and the paths of addresses, which may hold a token."""

    def __init__(self, key: str, urls: Sequence[str]) -> None:
        self._key = key if len(key) >= _SHORTEST_KEY else ""
        self._paths = []
        for url in urls:
            pieces = urlsplit(url).path.split("/")
            self._paths += [piece for piece in pieces if len(piece) >= _SHORTEST_TOKEN]

    def hide_key(self, text: str) -> str:
        """Return the text with `[key]` for the key."""
        return text.replace(self._key, "[key]") if self._key else text

    def shown_problem(self, error: Exception) -> str:
        """Return the message of an error on one line, without the key and without paths of addresses."""
        text = self.hide_key(" ".join(str(error).split()))
        for path in self._paths:
            text = text.replace(path, "[path]")
        return text[:_MAX_PROBLEM]
