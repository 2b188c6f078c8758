"""Ask a judge about many responses, again if a reply cannot be read; the step of scoring that does so."""

import logging
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from anyio.from_thread import start_blocking_portal
from pydantic import Field, ValidationError

from fin_tasks.endpoints.chat import Endpoint, ask_all, open_chat
from fin_tasks.endpoints.prices import Prices, read_prices
from fin_tasks.endpoints.replies import ChatReply
from fin_tasks.errors import ConfigError, FinTasksError, JudgeError, first_problem
from fin_tasks.sandbox import Ran
from fin_tasks.settings import Settings

from .item import Facts, Item, Judged, Messages, missing_reason
from .rubric import Rubric

MAX_FAILED = 0.2
"""Share of a task's responses on which a judge may fail, unless the user sets another."""

_REASONING_MARKS = ("<think", "<|channel")
_log = logging.getLogger(__name__)
Options = Mapping[str, Any]
"""Metadata of a task."""
Document = Mapping[str, Any]
Response = str | Ran
JudgedResponse = Judged | Ran
Ask = Callable[..., Awaitable[ChatReply]]
"""Takes messages, and `max_tokens`, `temperature` and `fresh` by name."""


class JudgeModel(Endpoint, frozen=True):
    """A judge: a model at its addresses, and how it judges."""

    concurrency: int = Field(default=32, ge=1, le=1024)
    max_failed: float = Field(default=MAX_FAILED, ge=0, le=1)
    """Share of a task's responses on which the judge may fail."""
    picture: bool = True
    """Whether the judge sees the pictures."""
    prices: Prices | None = None

    def facts(self, rubric: Rubric) -> Facts:
        """Return what results say about the judge: who it is, what was spent, and what its server refused."""
        usage: Facts = asdict(self.usage)
        if self.prices is not None:
            n_prompt, n_completion = usage["prompt_tokens"], usage["completion_tokens"]
            usage["cost"] = self.prices.cost(self.model, n_prompt, n_completion)
            usage["prices"] = self.prices.model_dump(mode="json", exclude={"models"})
        facts: Facts = {"model": self.model, "image": self.picture, **rubric.facts()}
        facts["usage"] = usage
        if self.refused:
            facts["refused_options"] = self.refused
        return facts


def judge_from(
    metadata: Options, settings: Settings, prefix: str = "judge_", **usual: Any
) -> JudgeModel | None:
    """Return the judge that the `judge_` keys of metadata or the environment name; None if they name no model."""
    options = dict(usual)
    for key, value in metadata.items():
        if key.startswith(prefix) and value is not None:
            options[key.removeprefix(prefix)] = value
    if prefix == "judge_" and settings.judge_model and not options.get("model"):
        options["model"] = settings.judge_model
    if options.keys() <= usual.keys():
        return None
    unknown = options.keys() - JudgeModel.model_fields.keys()
    if unknown:
        raise ConfigError(
            f"{prefix}{min(unknown)}: expected one of {', '.join(JudgeModel.model_fields)}, each after "
            f"{prefix}, got another name."
        )
    if not options.get("model"):
        raise ConfigError(
            f"{prefix}model: expected the name of a model (for a judge also by --model or "
            "FIN_TASKS_JUDGE_MODEL), got none."
        )
    urls = options.get("base_url", settings.judge_base_urls)
    listed = urls if isinstance(urls, list | tuple) else str(urls).split(",")
    options["base_url"] = [str(url).strip().rstrip("/") for url in listed]
    file = options.get("prices")
    options["prices"] = read_prices(Path(str(file))) if file else None
    try:
        return JudgeModel(**options)
    except ValidationError as error:
        # The value is not shown, as it may be a key.
        raise ConfigError(f"{prefix}{first_problem(error)}.") from None


def answer_reader_from(metadata: Options, settings: Settings) -> JudgeModel | None:
    """Return the model that reads answers, which the `reader_` keys of metadata name.

    None if they name none. It sees no pictures, and its default address is that of judges.
    """
    return judge_from(metadata, settings, "reader_", picture=False)


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
    settings = settings or Settings.from_environ()
    # Ctrl-C ends the loop in its thread, and with it all requests.
    with start_blocking_portal() as portal:
        return portal.call(_judge_all, items, rubric, judge, settings)


async def _judge_all(
    items: Sequence[Item], rubric: Rubric, judge: JudgeModel, settings: Settings
) -> list[Judged]:
    async with open_chat(judge, settings) as chat:
        asker = Asker(chat.ask, rubric, judge.picture)
        return await ask_all(
            asker.judge, items, title="Judging", concurrency=judge.concurrency
        )


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
        where = f"{n_failed} of {n_asked} responses, expected at most {max_failed:.0%}"
        if n_failed == n_asked:
            where = f"all {n_asked} responses"
        raise JudgeError(
            f"the judge failed on {where}, by the rubric {rubric.name}. First: {first}. Replies are "
            "kept: run again to ask only for failed responses."
        )


@dataclass
class Asker:
    """Asks one judge about items; any number of tasks of one event loop may use it."""

    ask_judge: Ask
    """Returns the reply to messages; raises EndpointError without a reply."""
    rubric: Rubric
    sees_pictures: bool = True
    _max_tokens: int = 0

    async def judge(self, item: Item) -> Judged:
        """Ask until a reply can be read, at most as often as the rubric says; nothing raises."""
        if missing_reason(item.response):
            return Judged(item.response, rubric=self.rubric)
        if not self.sees_pictures:
            item = replace(item, picture=None)
        judged = await self._ask_until_readable(item, fresh=False)
        if judged.error and judged.replies and judged.is_cached:
            # All replies are from an earlier run, and none can be read: ask for new ones.
            asked_again = await self._ask_until_readable(item, fresh=True)
            return asked_again if asked_again.replies else judged
        return judged

    async def _ask_until_readable(self, item: Item, *, fresh: bool) -> Judged:
        """Ask at each temperature of the rubric until a reply can be read, without the cache if `fresh`."""
        replies: list[str] = []
        is_cached = True
        problem = ""
        try:
            messages = self.rubric.messages(item)
            for temperature in self.rubric.temperatures:
                reply = await self._ask(messages, temperature=temperature, fresh=fresh)
                replies.append(reply.text)
                is_cached &= reply.cached
                if self.rubric.accepts(reply.text):
                    problem = ""
                    break
                problem = _why_unreadable(reply)
        except (FinTasksError, OSError) as error:
            problem = str(error)
        return Judged(
            item.response, tuple(replies), problem, self.rubric, is_cached=is_cached
        )

    async def _ask(self, messages: Messages, **options: Any) -> ChatReply:
        """Ask once with few tokens, and once more with many if the judge used the few up by reasoning."""
        limit = self._max_tokens or self.rubric.max_tokens
        large_limit = self.rubric.reasoning_max_tokens
        reply = await self.ask_judge(messages, max_tokens=limit, **options)
        text = reply.text.lstrip()
        is_reasoning = not text or text.startswith(_REASONING_MARKS)
        if is_reasoning and reply.reason == "length" and limit < large_limit:
            if self._max_tokens < large_limit:
                self._max_tokens = large_limit
                _log.warning(
                    "the judge reasons: %d tokens were used up before its reply. "
                    "It now gets up to %d.",
                    limit,
                    large_limit,
                )
            reply = await self.ask_judge(messages, max_tokens=large_limit, **options)
        return reply


def _why_unreadable(reply: ChatReply) -> str:
    """Return why a judge's last reply cannot be read, as far as the server says it."""
    if reply.text.strip():
        return "none of the judge's replies could be read"
    if reply.reason == "length":
        return (
            "the judge used up its tokens by reasoning, and came to no reply. Turn its "
            "reasoning off, or raise the rubric's reasoning_max_tokens"
        )
    if reply.has_reasoning:
        return (
            "the server sent the judge's reasoning without a reply: its reasoning parser took "
            "the reply. Start the server without this parser, or turn the judge's reasoning off"
        )
    return "the judge's reply was empty"


@dataclass
class JudgeStep:
    """Asks the judge about each response for which `item` makes an item; without a judge, asks nothing.

    Both scorings of a task share one step, and the judge is asked once.
    """

    item: Callable[[Document, str], Item | None]
    rubric: Rubric
    judge: JudgeModel | None = None
    facts: Facts = field(default_factory=dict)
    """What results say about the judge, once it was asked."""
    _items: Sequence[Item] = ()
    _judged: Sequence[Judged] = ()

    def judge_responses(
        self, docs: Sequence[Document], responses: Sequence[Sequence[Response]]
    ) -> list[list[JudgedResponse]]:
        """Return each document's responses with the judge's replies.

        A response whose program ran stays as it is. If the judge failed too often, the log says so; what it
        failed on is unscored, and nothing raises.
        """
        rows: list[list[JudgedResponse]] = []
        slots = []
        items = []
        for doc, doc_responses in zip(docs, responses, strict=True):
            row: list[JudgedResponse] = []
            for response in doc_responses:
                if isinstance(response, Ran) and response.outcomes:
                    row.append(response)
                    continue
                text = response if isinstance(response, str) else response.response
                item = self.item(doc, text)
                if item is not None:
                    items.append(item)
                    slots.append((row, len(row)))
                row.append(Judged(text))
            rows.append(row)
        for (row, index), judged in zip(slots, self.judge_once(items), strict=True):
            # The item may hold only a part of the response; the whole one stays.
            row[index] = replace(judged, response=row[index].response)
        return rows

    def judge_once(self, items: Sequence[Item]) -> Sequence[Judged]:
        """Return the items with the judge's replies; the same items again are not asked again."""
        if self.judge is None:
            return [Judged(item.response) for item in items]
        if self._items != items:
            self._items = items
            try:
                self._judged = judge_items(items, self.rubric, self.judge)
                check_failures(self._judged, self.rubric, self.judge.max_failed)
            except JudgeError as error:
                _log.error(
                    "%s Saved samples need no model: use `fin-tasks judge`.", error
                )
            except (FinTasksError, OSError) as error:
                text = "all responses that were to be judged stay unscored: %s"
                _log.error(text, error)
                self._judged = [Judged(item.response, (), str(error)) for item in items]
        self.facts.update(self.judge.facts(self.rubric))
        return self._judged
