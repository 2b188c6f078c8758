"""Ask a judge about many responses at a time, again if a reply cannot be read, and never twice for the same reply."""

import logging
import threading
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import replace
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator
from tqdm import tqdm

from fin_tasks.endpoints.address import check_address
from fin_tasks.endpoints.chat import Chat, Usage
from fin_tasks.endpoints.prices import Prices, read_prices
from fin_tasks.endpoints.reply import ChatReply
from fin_tasks.errors import ConfigError, EndpointError, FinTasksError, JudgeError
from fin_tasks.interrupt import without_interrupts
from fin_tasks.judging.item import Item, Judged, Reply, no_response
from fin_tasks.judging.rubric import Rubric
from fin_tasks.settings import Settings

MAX_FAILED = 0.2
"""Share of a task's responses on which a judge may fail, unless the user sets another."""

_log = logging.getLogger(__name__)


class JudgeModel(BaseModel):
    """A judge: a model, its addresses and options; `usage` counts requests and tokens."""

    model_config = ConfigDict(extra="forbid", frozen=True, protected_namespaces=())

    model: str = Field(min_length=1)
    base_url: tuple[str, ...] = Field(min_length=1)
    key: str = Field("OPENAI_API_KEY", pattern=r"_KEY$")  # name of the variable that holds the key
    concurrency: int = Field(32, ge=1, le=1024)
    requests_per_minute: int | None = Field(None, ge=1)
    timeout: float = Field(120.0, gt=0, allow_inf_nan=False)  # seconds
    retries: int = Field(5, ge=0)
    max_failed: float = Field(MAX_FAILED, ge=0, le=1)
    picture: bool = True  # whether the judge sees the pictures
    prices: Prices | None = None
    usage: Usage = Field(default_factory=Usage, exclude=True)

    @field_validator("prices", mode="before")
    @classmethod
    def _read(cls, file: Any) -> Any:
        return read_prices(Path(str(file))) if file else None

    @field_validator("base_url", mode="before")
    @classmethod
    def _split(cls, urls: Any) -> Any:
        several = urls.split(",") if isinstance(urls, str) else urls
        return [str(url).strip().rstrip("/") for url in several]

    def spent(self) -> dict[str, Any]:
        """Return requests and tokens so far, and their cost if prices are known."""
        used, prices = self.usage, self.prices
        if prices is None:
            return {**vars(used)}
        cost = prices.cost(self.model, used.prompt_tokens, used.completion_tokens)
        return {
            **vars(used),
            "cost": cost,
            "prices": prices.model_dump(mode="json", exclude={"models"}),
        }

    def facts(self, rubric: Rubric) -> dict[str, Any]:
        """Return what results say about the judge, without its addresses and its key."""
        facts = {
            "model": self.model,
            "rubric": rubric.label,
            "rubric_sha256": rubric.sha256,
            "image": self.picture,
        }
        return {**facts, "temperatures": list(rubric.temperatures), "max_tokens": rubric.max_tokens}


def judge_from(metadata: Mapping[str, Any], settings: Settings) -> JudgeModel | None:
    """Return the judge that the `judge_` keys of metadata or the environment name; None if they name no model."""
    options = _options(metadata, "judge_")
    model = options.pop("model", settings.judge_model)
    if model:
        return _model_of(model, options, settings, "judge_")
    if options:
        raise ConfigError(
            "judge: expected a model (judge_model, --model or FIN_TASKS_JUDGE_MODEL), got none."
        )
    return None


def answer_reader_from(metadata: Mapping[str, Any], settings: Settings) -> JudgeModel | None:
    """Return the model that reads answers, which the `reader_` keys of metadata name; None if they name none.

    It sees no pictures. Its default address is that of judges.
    """
    options = _options(metadata, "reader_")
    model = options.pop("model", None)
    if model:
        return _model_of(model, {"picture": False, **options}, settings, "reader_")
    if options:
        raise ConfigError("reader: expected a model (reader_model), got none.")
    return None


def _options(metadata: Mapping[str, Any], prefix: str) -> dict[str, Any]:
    return {
        key.removeprefix(prefix): value
        for key, value in metadata.items()
        if key.startswith(prefix) and value is not None
    }


def _model_of(
    model: Any, options: Mapping[str, Any], settings: Settings, prefix: str
) -> JudgeModel:
    try:
        judge = JudgeModel(**{"model": model, "base_url": settings.judge_base_urls, **options})
    except ValidationError as error:
        first = error.errors()[0]
        name = ".".join(map(str, first["loc"]))
        got = repr(first["input"])
        if name == "key":
            got = "something else (not shown, as it may be the key)"
        raise ConfigError(f"{prefix}{name}: {first['msg']}, got {got}.") from None
    for url in judge.base_url:
        check_address(url)
    return judge


def judge_items(
    items: Sequence[Item],
    rubric: Rubric,
    judge: JudgeModel,
    *,
    settings: Settings | None = None,
) -> list[Judged]:
    """Ask the judge about each item until a reply can be read, at most as often as the rubric says.

    A failed item has the reason in `Judged.error`; no exception is raised. Replies are kept on disk, so that another
    call asks only for failed items. Missing responses are not judged. A terminal shows progress.
    """
    judged: list[Judged] = [Judged(item.response) for item in items]
    waiting = [at for at, item in enumerate(items) if not no_response(item.response)]
    settings = settings or Settings.from_environ()
    limits = judge.model_dump(include={"requests_per_minute", "timeout", "retries"})
    chat = Chat(judge.model, judge.base_url, settings, key_variable=judge.key, **limits)
    chat.usage = judge.usage
    with chat, ThreadPoolExecutor(judge.concurrency, "fin-tasks-judge") as pool:
        work = _Work(chat, rubric, judge)
        try:
            with without_interrupts():  # the pool forgets a thread that is interrupted at its start
                jobs = {pool.submit(work.judge, items[at]): at for at in waiting}
            for job in tqdm(
                as_completed(jobs), "Judging", len(jobs), unit="response", disable=None
            ):
                judged[jobs[job]] = job.result()
        except (KeyboardInterrupt, SystemExit):  # Ctrl-C
            chat.stop()
            raise
        finally:
            pool.shutdown(
                wait=True, cancel_futures=True
            )  # after Ctrl-C, no waiting request is sent
    return [replace(row, rubric=rubric) for row in judged]


def check_failures(judged: Sequence[Judged], rubric: Rubric, max_failed: float) -> None:
    """Raise JudgeError if the judge failed on all responses of a task, or on more than this share of them.

    It failed on a response if a request stayed without a reply. Missing responses do not count, cached replies do.
    Replies that cannot be read are no failures, because `paper` has a rule for them; many of them are logged.
    """
    asked = [one for one in judged if one.error or one.replies]
    tries = len(rubric.temperatures)
    failed = [one for one in asked if one.error and len(one.replies) < tries]
    unread = [one for one in asked if one.error and len(one.replies) >= tries]
    n_asked, n_failed, n_unread = len(asked), len(failed), len(unread)
    if n_unread > max_failed * n_asked:
        unscored = "the judge's replies to %d of %d responses cannot be read: `robust` leaves them unscored."
        _log.error(unscored, n_unread, n_asked)
    if n_failed and (n_failed == n_asked or n_failed > max_failed * n_asked):
        first = failed[0].error.rstrip(".")
        raise JudgeError(
            f"the judge failed on {n_failed} of {n_asked} responses, expected at most {max_failed:.0%}. "
            f"First: {first}. Replies are kept: run again to ask only for failed responses."
        )


class _Work:
    """The state that the threads of `judge_items` share."""

    def __init__(self, chat: Chat, rubric: Rubric, judge: JudgeModel) -> None:
        self.chat, self.rubric, self.judge_model = chat, rubric, judge
        self.reasons = (
            False  # whether the judge reasons before it replies, and so needs more tokens
        )
        self.lock = threading.Lock()
        self.failed_in_a_row = 0
        self.last_error = ""

    def judge(self, item: Item) -> Judged:
        if not self.judge_model.picture:
            item = replace(item, picture=None)
        try:
            judged = self._tries(item, fresh=False)
            every = len(judged.replies) == len(self.rubric.temperatures)
            if (
                judged.error and every and all(one.cached for one in judged.replies)
            ):  # it failed in an earlier run
                again = self._tries(item, fresh=True)
                return again if again.replies else judged
            return judged
        except (FinTasksError, OSError) as error:
            return Judged(item.response, (), str(error))

    def _tries(self, item: Item, *, fresh: bool) -> Judged:
        replies: list[Reply] = []
        messages = self.rubric.messages(item)
        for temperature in self.rubric.temperatures:
            try:
                found = self._ask(messages, temperature, fresh)
            except EndpointError as error:
                return Judged(item.response, tuple(replies), str(error))
            replies.append(Reply(text=found.text, temperature=temperature, cached=found.cached))
            if self.rubric.accepts(found.text):
                return Judged(item.response, tuple(replies))
        return Judged(
            item.response,
            tuple(replies),
            f"none of {len(replies)} replies of the judge could be read",
        )

    def _ask(self, messages: list[dict[str, Any]], temperature: float, fresh: bool) -> ChatReply:
        if self.failed_in_a_row >= max(8, self.judge_model.concurrency):
            raise EndpointError(f"not asked, as the judge fails every time: {self.last_error}")
        options: dict[str, Any] = {"temperature": temperature, "fresh": fresh}
        usual, large = self.rubric.max_tokens, self.rubric.reasoning_max_tokens
        limit = large if self.reasons else usual
        try:
            reply = self.chat.ask(messages, max_tokens=limit, **options)
            reasons = not reply.text.strip() or reply.text.lstrip().startswith(
                ("<think", "<|channel")
            )
            if reasons and reply.reason == "length" and limit < large:
                with self.lock:
                    if not self.reasons:
                        told = "the judge %s reasons: it used up %d tokens before its reply, and now gets up to %d."
                        _log.warning(told, self.judge_model.model, usual, large)
                    self.reasons = True
                reply = self.chat.ask(messages, max_tokens=large, **options)
        except EndpointError as error:
            with self.lock:
                self.failed_in_a_row, self.last_error = self.failed_in_a_row + 1, str(error)
            raise
        if not reply.cached:
            self.failed_in_a_row = 0
        return reply
