"""Ask a judge about responses: many at a time, again if a reply cannot be read, and never twice for the same."""

import datetime
import logging
import threading
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path
from typing import Any

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from fin_tasks.endpoints.chat import Chat, ChatReply, Usage, check_address
from fin_tasks.errors import ConfigError, EndpointError, FinTasksError, JudgeError
from fin_tasks.judging.item import Item, Judged, Reply, no_response
from fin_tasks.judging.rubric import Rubric
from fin_tasks.settings import Settings

__all__ = ["JudgeModel", "Prices", "check_failures", "judge_from", "judge_items", "judge_model", "read_prices"]

_log = logging.getLogger(__name__)
_OPTIONS = (
    "model",
    "base_url",
    "key",
    "concurrency",
    "requests_per_minute",
    "timeout",
    "max_failed",
    "picture",
    "prices",
)


class Prices(BaseModel):
    """What a million tokens cost, on a date."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    date: datetime.date
    prompt: float = Field(ge=0)
    completion: float = Field(ge=0)
    currency: str = "USD"

    def cost(self, usage: Usage) -> float:
        """Return the cost of the tokens used."""
        return (usage.prompt_tokens * self.prompt + usage.completion_tokens * self.completion) / 1e6


class JudgeModel(BaseModel):
    """A judge: a model, its addresses, and how it is asked; `usage` counts what was asked."""

    model_config = ConfigDict(extra="forbid", frozen=True, protected_namespaces=())

    model: str = Field(min_length=1)
    base_urls: tuple[str, ...] = Field(min_length=1)
    key_variable: str = Field("OPENAI_API_KEY", pattern=r"_KEY$")
    concurrency: int = Field(32, ge=1, le=1024)
    requests_per_minute: int | None = Field(None, ge=1)
    timeout: float = Field(120.0, gt=0, allow_inf_nan=False)  # seconds
    retries: int = Field(5, ge=0)
    max_failed: float = Field(0.2, ge=0, le=1)  # share of responses that the judge may fail on
    picture: bool = True  # whether the judge sees the pictures
    prices: Prices | None = None
    usage: Usage = Field(default_factory=Usage, exclude=True)

    def spent(self) -> dict[str, Any]:
        """Return requests and tokens so far, and their cost if prices are known."""
        cost = (
            {"cost": self.prices.cost(self.usage), "prices": self.prices.model_dump(mode="json")} if self.prices else {}
        )
        return {**vars(self.usage), **cost}

    def facts(self, rubric: Rubric) -> dict[str, Any]:
        """Return what results say about the judge; neither its address nor its key."""
        facts = {"model": self.model, "rubric": rubric.label, "rubric_sha256": rubric.sha256, "image": self.picture}
        return {**facts, "temperatures": list(rubric.temperatures), "max_tokens": rubric.max_tokens}


def judge_from(metadata: Mapping[str, Any], settings: Settings) -> JudgeModel | None:
    """Return the judge that the `judge_` keys of a harness's metadata or the environment name; None without one."""
    given = {key[6:]: value for key, value in metadata.items() if key.startswith("judge_") and value is not None}
    if unknown := sorted(given.keys() - set(_OPTIONS)):
        known = ", ".join(f"judge_{name}" for name in _OPTIONS)
        raise ConfigError(f"metadata: expected {known}, got judge_{unknown[0]}.")
    model = given.pop("model", None) or settings.judge_model
    if not model:
        if given:
            raise ConfigError(f"metadata judge_{next(iter(given))}: expected judge_model beside it, got none.")
        return None
    urls = given.pop("base_url", None) or settings.judge_base_urls
    several = urls.split(",") if isinstance(urls, str) else urls
    if "key" in given:
        given["key_variable"] = given.pop("key")
    return judge_model(model=model, base_urls=[str(url).strip().rstrip("/") for url in several], **given)


def judge_model(**options: Any) -> JudgeModel:
    """Make a judge; raise ConfigError if an option is wrong."""
    try:
        judge = JudgeModel(**options)
    except ValidationError as error:
        first = error.errors()[0]
        name = ".".join(map(str, first["loc"]))
        got = "something else (not shown, as it may be the key)" if name == "key_variable" else repr(first["input"])
        raise ConfigError(f"judge {name}: {first['msg']}, got {got}.") from None
    for url in judge.base_urls:
        check_address(url)
    return judge


def read_prices(path: Path) -> Prices:
    """Read what tokens cost from a YAML or JSON file: date, prompt, completion, currency."""
    try:
        return Prices.model_validate(yaml.safe_load(path.read_text(encoding="utf-8")[:10_000]))
    except (OSError, ValueError, yaml.YAMLError) as error:
        raise ConfigError(
            f"{path}: expected date, prompt and completion (the price of a million tokens), got: {error}"
        ) from error


def judge_items(
    items: Sequence[Item],
    rubric: Rubric,
    judge: JudgeModel,
    *,
    settings: Settings | None = None,
    on_done: Callable[[int], object] | None = None,
) -> list[Judged]:
    """Ask the judge about each item until a reply can be read, at most as often as the rubric says.

    An item that fails says so in `Judged.error`; nothing raises for it. Replies are kept on disk, so that another call
    asks only for what failed. A response that is none is not judged. `on_done` gets the number of items done.
    """
    judged: list[Judged] = [Judged(item.response) for item in items]
    waiting = [at for at, item in enumerate(items) if not no_response(item.response)]
    done = len(items) - len(waiting)
    settings = settings or Settings.from_environ()
    chat = Chat(
        judge.model,
        judge.base_urls,
        settings,
        **judge.model_dump(include={"key_variable", "concurrency", "requests_per_minute", "timeout", "retries"}),
    )
    with chat, ThreadPoolExecutor(judge.concurrency, "fin-tasks-judge") as pool:
        work = _Work(chat, rubric, judge)
        jobs = {pool.submit(work.judge, items[at]): at for at in waiting}
        try:
            for job in as_completed(jobs):
                judged[jobs[job]] = job.result()
                done += 1
                if on_done is not None:
                    on_done(done)
        finally:
            pool.shutdown(wait=True, cancel_futures=True)  # after Ctrl-C, what waits is not asked
            for name, value in vars(chat.usage).items():
                setattr(judge.usage, name, getattr(judge.usage, name) + value)
    return judged


def check_failures(judged: Sequence[Judged], rubric: Rubric, max_failed: float) -> None:
    """Raise JudgeError if the judge did not reply to more than this share of the responses, or to none.

    Replies that cannot be read are no failure: `paper` has a rule for them. Many of them are a warning.
    """
    asked = [one for one in judged if one.replies or one.error]
    failed = [one for one in asked if one.error and len(one.replies) < rubric.tries]
    unread = sum(bool(one.error) for one in asked) - len(failed)
    if unread > max_failed * len(asked):
        _log.error(
            "the judge's replies to %d of %d responses cannot be read: `robust` leaves them unscored.",
            unread,
            len(asked),
        )
    if failed and (len(failed) == len(asked) or len(failed) > max_failed * len(asked)):
        raise JudgeError(
            f"the judge failed on {len(failed)} of {len(asked)} responses, expected at most {max_failed:.0%}. First: "
            f"{failed[0].error.rstrip('.')}. Replies are kept: run again to ask only for what failed."
        )


class _Work:
    """What the threads of one judging share."""

    def __init__(self, chat: Chat, rubric: Rubric, judge: JudgeModel) -> None:
        self.chat, self.rubric, self.judge_model = chat, rubric, judge
        self.reasons = False  # whether the judge needs more tokens, because it thinks before it replies
        self.lock = threading.Lock()
        self.failed_in_a_row = 0
        self.last_error = ""

    def judge(self, item: Item) -> Judged:
        if not self.judge_model.picture:
            item = Item(**{**vars(item), "picture": None})
        try:
            judged = self._tries(item, fresh=False)
            if judged.error and all(reply.cached for reply in judged.replies) and judged.replies:
                judged = self._tries(item, fresh=True)  # it failed in an earlier run: ask again
        except (FinTasksError, OSError) as error:
            return Judged(item.response, (), str(error))
        return judged

    def _tries(self, item: Item, *, fresh: bool) -> Judged:
        replies: list[Reply] = []
        messages = self.rubric.messages(item)
        for temperature in self.rubric.temperatures:
            try:
                found = self._ask(messages, temperature, fresh)
            except EndpointError as error:
                return Judged(item.response, tuple(replies), str(error))
            tokens = {"prompt_tokens": found.prompt_tokens, "completion_tokens": found.completion_tokens}
            replies.append(Reply(text=found.text, temperature=temperature, cached=found.cached, **tokens))
            if self.rubric.accepts(found.text):
                return Judged(item.response, tuple(replies))
        return Judged(item.response, tuple(replies), f"none of {len(replies)} replies of the judge could be read")

    def _ask(self, messages: list[dict[str, Any]], temperature: float, fresh: bool) -> ChatReply:
        with self.lock:
            if self.failed_in_a_row >= max(8, self.judge_model.concurrency):
                raise EndpointError(f"not asked, as the judge fails every time: {self.last_error}")
        options: dict[str, Any] = {"temperature": temperature, "fresh": fresh}
        roomy = self.reasons
        limit = self.rubric.reasoning_max_tokens if roomy else self.rubric.max_tokens
        try:
            reply = self.chat.ask(messages, max_tokens=limit, **options)
            thinks = not reply.text.strip() or reply.text.lstrip().startswith(("<think", "<|channel"))
            if not roomy and reply.reason == "length" and thinks and limit < self.rubric.reasoning_max_tokens:
                self._say_that_it_reasons()
                reply = self.chat.ask(messages, max_tokens=self.rubric.reasoning_max_tokens, **options)
        except EndpointError as error:
            with self.lock:
                self.failed_in_a_row += 1
                self.last_error = str(error)
            raise
        if not reply.cached:
            with self.lock:
                self.failed_in_a_row = 0
        return reply

    def _say_that_it_reasons(self) -> None:
        with self.lock:
            if not self.reasons:
                self.reasons = True
                _log.warning(
                    "the judge %s used up %d tokens before its reply; it now gets up to %d, as reasoning judges need.",
                    *(self.judge_model.model, self.rubric.max_tokens, self.rubric.reasoning_max_tokens),
                )
