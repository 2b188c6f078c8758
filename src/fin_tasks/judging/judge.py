"""Ask a judge about many responses, again if a reply cannot be read."""

import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from pydantic import BaseModel, Field, ValidationError, field_validator

from fin_tasks.endpoints.address import check_address
from fin_tasks.endpoints.chat import Chat, Usage
from fin_tasks.endpoints.prices import Prices, read_prices
from fin_tasks.endpoints.reply import ChatReply
from fin_tasks.endpoints.threads import map_in_threads
from fin_tasks.errors import (
    ConfigError,
    EndpointError,
    FinTasksError,
    JudgeError,
    first_problem,
)
from fin_tasks.settings import Settings

from .item import Facts, Item, Judged, Messages, missing_reason
from .rubric import Rubric

MAX_FAILED = 0.2
"""Share of a task's responses on which a judge may fail, unless the user sets another."""

_MIN_FAILED_IN_A_ROW = 8
"""At least so many requests in a row must fail before a judge is asked no more."""
_REASONING_MARKS = ("<think", "<|channel")
_log = logging.getLogger(__name__)
Options = Mapping[str, Any]
"""Metadata of a task."""
Ask = Callable[..., ChatReply]
"""Takes messages, and `max_tokens`, `temperature` and `fresh` by name."""


class JudgeModel(BaseModel, extra="forbid", frozen=True, protected_namespaces=()):
    """A judge: a model, its addresses and options."""

    model: str = Field(min_length=1)
    base_url: tuple[str, ...] = Field(min_length=1)
    key: str = Field("OPENAI_API_KEY", pattern=r"_KEY$")
    """Name of the environment variable with the key."""
    concurrency: int = Field(32, ge=1, le=1024)
    requests_per_minute: int | None = Field(None, ge=1)
    timeout: float = Field(120.0, gt=0, allow_inf_nan=False)
    """Seconds of one request."""
    retries: int = Field(5, ge=0)
    """Further attempts at a request."""
    max_failed: float = Field(MAX_FAILED, ge=0, le=1)
    """Share of a task's responses on which the judge may fail."""
    picture: bool = True
    """Whether the judge sees the pictures."""
    prices: Prices | None = None
    usage: Usage = Field(default_factory=Usage, exclude=True)
    """Requests and tokens so far."""

    @field_validator("prices", mode="before")
    @classmethod
    def _read_prices(cls, file: object) -> Prices | None:
        return read_prices(Path(str(file))) if file else None

    @field_validator("base_url", mode="before")
    @classmethod
    def _split_addresses(cls, urls: object) -> list[str]:
        listed = urls if isinstance(urls, list | tuple) else str(urls).split(",")
        addresses = [str(url).strip() for url in listed]
        for address in addresses:
            check_address(address)
        return addresses

    def chat(self, settings: Settings) -> Chat:
        """Return a client that counts into `usage`."""
        limits = self.model_dump(include={"requests_per_minute", "timeout", "retries"})
        chat = Chat(
            self.model, self.base_url, settings, key_variable=self.key, **limits
        )
        chat.usage = self.usage
        return chat

    def spent(self) -> Facts:
        """Return requests and tokens so far, and their cost if prices are known."""
        usage = self.usage
        counts = asdict(usage)
        if self.prices is None:
            return counts
        cost = self.prices.cost(
            self.model, usage.prompt_tokens, usage.completion_tokens
        )
        prices = self.prices.model_dump(mode="json", exclude={"models"})
        return {**counts, "cost": cost, "prices": prices}

    def facts(self, rubric: Rubric) -> Facts:
        """Return what results say about the judge, without its addresses and its key."""
        return {"model": self.model, "image": self.picture, **rubric.facts()}

    def outcome(self, rubric: Rubric, judged: Sequence[Judged]) -> Facts:
        """Return `facts` and what was spent."""
        return {**self.facts(rubric), "usage": self.spent()}


def judge_from(metadata: Options, settings: Settings) -> JudgeModel | None:
    """Return the judge that the `judge_` keys of metadata or the environment name.

    None if they name no model.
    """
    named = metadata.get("judge_model") or settings.judge_model
    return _model_from("judge_", {**metadata, "judge_model": named}, settings)


def answer_reader_from(metadata: Options, settings: Settings) -> JudgeModel | None:
    """Return the model that reads answers, which the `reader_` keys of metadata name.

    None if they name none. It sees no pictures, and its default address is that of judges.
    """
    return _model_from("reader_", metadata, settings, picture=False)


def _model_from(
    prefix: str, metadata: Options, settings: Settings, **usual: Any
) -> JudgeModel | None:
    options = {}
    for key, value in metadata.items():
        if key.startswith(prefix) and value is not None:
            options[key.removeprefix(prefix)] = value
    if not options:
        return None
    if not options.get("model"):
        raise ConfigError(
            f"{prefix}model: expected the name of a model (for a judge also by --model or "
            "FIN_TASKS_JUDGE_MODEL), got none."
        )
    options.setdefault("base_url", settings.judge_base_urls)
    try:
        return JudgeModel(**usual, **options)
    except ValidationError as error:
        # The value is not shown, as it may be a key.
        raise ConfigError(f"{prefix}{first_problem(error)}.") from None


def judge_items(
    items: Sequence[Item],
    rubric: Rubric,
    judge: JudgeModel,
    *,
    settings: Settings | None = None,
) -> list[Judged]:
    """Ask the judge about each item until a reply can be read, at most as often as the rubric says.

    A failed item has the reason in `Judged.error`; no exception is raised. Replies are kept on
    disk, so that another call asks only for failed items. Missing responses are not judged.
    """
    with judge.chat(settings or Settings.from_environ()) as chat:
        n_threads = judge.concurrency
        most_failed = max(_MIN_FAILED_IN_A_ROW, n_threads)
        asker = Asker(chat.ask, rubric, judge.picture, most_failed)
        return map_in_threads(asker.judge, items, n_threads=n_threads, title="Judging")


def check_failures(judged: Sequence[Judged], rubric: Rubric, max_failed: float) -> None:
    """Raise JudgeError if the judge failed on all responses, or on a larger share of them than `max_failed`.

    It failed on a response if a request stayed without a reply. Missing responses do not count;
    responses with a cached reply do. Replies that cannot be read are no failures, because `paper`
    has a rule for them. If there are many of them, the log says so.
    """
    n_asked = sum(row.was_asked for row in judged)
    unscored = [row for row in judged if row.error]
    failed = [row for row in unscored if len(row.replies) < len(rubric.temperatures)]
    n_failed = len(failed)
    n_unread = len(unscored) - n_failed
    if n_unread > max_failed * n_asked:
        _log.error(
            "the judge's replies to %d of %d responses cannot be read: `robust` leaves them unscored.",
            n_unread,
            n_asked,
        )
    if failed and (n_failed == n_asked or n_failed > max_failed * n_asked):
        first = failed[0].error.rstrip(".")
        raise JudgeError(
            f"the judge failed on {n_failed} of {n_asked} responses, expected at most {max_failed:.0%}. "
            f"First: {first}. Replies are kept: run again to ask only for failed responses."
        )


@dataclass
class Asker:
    """Asks one judge about items; any number of threads may use it."""

    ask_judge: Ask
    """Returns the reply to messages; raises EndpointError without a reply."""
    rubric: Rubric
    sees_pictures: bool = True
    most_failed: int = _MIN_FAILED_IN_A_ROW
    """After so many failed requests in a row, the judge is asked no more."""
    _max_tokens: int = 0
    _n_failed_in_a_row: int = 0
    _last_error: str = ""

    def judge(self, item: Item) -> Judged:
        """Ask until a reply can be read, at most as often as the rubric says; nothing raises."""
        if missing_reason(item.response):
            return Judged(item.response, rubric=self.rubric)
        if not self.sees_pictures:
            item = replace(item, picture=None)
        judged = self._ask_until_readable(item, fresh=False)
        if judged.error and judged.replies and judged.is_cached:
            # All replies are from an earlier run, and none can be read: ask for new ones.
            asked_again = self._ask_until_readable(item, fresh=True)
            return asked_again if asked_again.replies else judged
        return judged

    def _ask_until_readable(self, item: Item, *, fresh: bool) -> Judged:
        """Ask at each temperature of the rubric until a reply can be read, without the cache if `fresh`."""
        replies = []
        is_cached = True
        problem = "none of the judge's replies could be read"
        try:
            messages = self.rubric.messages(item)
            for temperature in self.rubric.temperatures:
                reply = self._ask(messages, temperature=temperature, fresh=fresh)
                replies.append(reply.text)
                is_cached &= reply.cached
                if self.rubric.accepts(reply.text):
                    problem = ""
                    break
        except (FinTasksError, OSError) as error:
            problem = str(error)
        return Judged(
            item.response,
            tuple(replies),
            problem,
            self.rubric,
            is_cached=is_cached,
        )

    def _ask(self, messages: Messages, **options: Any) -> ChatReply:
        """Ask once with few tokens, and once more with many if the judge used the few up by reasoning."""
        if self._n_failed_in_a_row >= self.most_failed:
            raise EndpointError(
                f"not asked, as the judge fails every time: {self._last_error}"
            )
        limit = self._max_tokens or self.rubric.max_tokens
        large_limit = self.rubric.reasoning_max_tokens
        ask = partial(self.ask_judge, messages, **options)
        try:
            reply = ask(max_tokens=limit)
            text = reply.text.lstrip()
            is_reasoning = not text or text.startswith(_REASONING_MARKS)
            if is_reasoning and reply.reason == "length" and limit < large_limit:
                self._max_tokens = large_limit
                _log.warning(
                    "the judge reasons: %d tokens were used up before its reply. It now gets up to %d.",
                    limit,
                    large_limit,
                )
                reply = ask(max_tokens=large_limit)
        except EndpointError as error:
            self._n_failed_in_a_row += 1
            self._last_error = str(error)
            raise
        if not reply.cached:
            self._n_failed_in_a_row = 0
        return reply
