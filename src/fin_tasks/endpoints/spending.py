"""What asking has used so far: requests, tokens, and money where the price is known."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any

__all__ = ["Prices", "Spent", "prices_of"]

_MILLION = 1_000_000


@dataclass(frozen=True, kw_only=True)
class Prices:
    """What tokens cost, in US dollars per million.

    Attributes:
        prompt: Tokens sent.
        completion: Tokens of replies, hidden reasoning included.
    """

    prompt: float
    completion: float


_NOTED: Mapping[str, Prices] = MappingProxyType(
    {
        "gpt-4-turbo": Prices(prompt=10.0, completion=30.0),
        "gpt-4.1": Prices(prompt=2.0, completion=8.0),
        "gpt-4.1-mini": Prices(prompt=0.4, completion=1.6),
        "gpt-4.1-nano": Prices(prompt=0.1, completion=0.4),
        "gpt-4o": Prices(prompt=2.5, completion=10.0),
        "gpt-4o-2024-05-13": Prices(prompt=5.0, completion=15.0),
        "gpt-4o-mini": Prices(prompt=0.15, completion=0.6),
        "gpt-5": Prices(prompt=1.25, completion=10.0),
        "gpt-5-mini": Prices(prompt=0.25, completion=2.0),
        "gpt-5-nano": Prices(prompt=0.05, completion=0.4),
        "gpt-5.1": Prices(prompt=1.25, completion=10.0),
        "gpt-5.2": Prices(prompt=1.75, completion=14.0),
        "gpt-5.4": Prices(prompt=2.5, completion=15.0),
        "gpt-5.4-mini": Prices(prompt=0.75, completion=4.5),
        "gpt-5.4-nano": Prices(prompt=0.2, completion=1.25),
        "o3": Prices(prompt=2.0, completion=8.0),
        "o4-mini": Prices(prompt=1.1, completion=4.4),
    }
)
"""OpenAI's list prices as LiteLLM 1.109.1 has them in its table, noted on 2026-11-22."""
_SNAPSHOT = re.compile(r"-\d{4}-\d{2}-\d{2}$")


def prices_of(model: str) -> Prices | None:
    """Return the list price of a model of OpenAI's; None for models we know no price of.

    Discounts for batches and repeated beginnings of prompts are not taken off, so what is told is an upper bound.

    Args:
        model: The model's name; the date of a snapshot and `openai/`, as gateways write it, may be part of it.

    Example:
        >>> prices_of("openai/gpt-4o-2024-11-20")
        Prices(prompt=2.5, completion=10.0)
        >>> prices_of("Qwen2.5-VL-72B-Instruct") is None
        True
    """
    name = model.removeprefix("openai/")
    return _NOTED.get(name) or _NOTED.get(_SNAPSHOT.sub("", name))


@dataclass(frozen=True, kw_only=True)
class Spent:
    """What was used.

    Attributes:
        requests: Requests made of an address, further attempts included.
        cached: Requests that needed none: their replies were on the disk, or came to an equal request of the batch.
        prompt_tokens: Tokens sent, as the replies say.
        completion_tokens: Tokens received, as the replies say.
        unmetered: Replies that do not say.
        prices: What tokens cost; None where nobody knows.
    """

    requests: int = 0
    cached: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    unmetered: int = 0
    prices: Prices | None = None

    @property
    def tokens(self) -> int:
        """Tokens sent and received."""
        return self.prompt_tokens + self.completion_tokens

    @property
    def cost(self) -> float | None:
        """US dollars; None where the price is not known, or some reply does not say what it used.

        Example:
            >>> Spent(prompt_tokens=400_000, completion_tokens=1_000, prices=prices_of("gpt-4o")).cost
            1.01
        """
        if self.prices is None or self.unmetered:
            return None
        dollars = self.prompt_tokens * self.prices.prompt + self.completion_tokens * self.prices.completion
        return dollars / _MILLION

    def after(self, usage: Any) -> "Spent":
        """Return the sum with the `usage` of one more reply, or with whatever a server sends in its place."""
        told = usage if isinstance(usage, Mapping) else {}
        prompt, completion = _count(told.get("prompt_tokens")), _count(told.get("completion_tokens"))
        if prompt is None or completion is None:
            return replace(self, unmetered=self.unmetered + 1)
        return replace(
            self,
            prompt_tokens=self.prompt_tokens + prompt,
            completion_tokens=self.completion_tokens + completion,
        )


def _count(value: Any) -> int | None:
    """A number of tokens, unless a server sends something else."""
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None
