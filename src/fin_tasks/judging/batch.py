"""Judge in batches: requests without a cached reply are sent, and their replies are cached.

OpenAI's batch interface answers a file of requests within a day, at half the price.
"""

import json
import logging
import time
from collections.abc import Awaitable, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeVar

import anyio
from anyio.from_thread import start_blocking_portal
from pydantic import BaseModel, Field, ValidationError

from fin_tasks.endpoints.chat import MAX_REPLY_BYTES, ChatClient, open_chat
from fin_tasks.endpoints.refusals import (
    learn,
    refusal_text,
    says_limit_is_small,
    usable,
)
from fin_tasks.endpoints.replies import ChatReply, read_reply, request_key
from fin_tasks.errors import EndpointError, first_problem
from fin_tasks.settings import Settings

from .batch_state import BatchState, SentBatch
from .item import Facts, Item, Judged, Messages
from .judge import Asker, JudgeModel
from .rubric import Rubric

if TYPE_CHECKING:
    from openai import AsyncOpenAI

PRICE_SHARE = 0.5
"""The price of a request in a batch, as a share of the usual price."""
MAX_REQUESTS = 50_000
"""Requests of a batch; OpenAI takes no more."""
MAX_REQUEST_BYTES = 100 << 20
"""Size of a file of requests; OpenAI takes 200 MB."""
PAUSE = 30.0
"""Seconds before the server is asked again how far the batches are."""
LONGEST_WAIT = 48 * 3600.0
"""Seconds after which `wait` ends; a batch takes a day at most."""

_Id = Annotated[str, Field(pattern=r"^[\w-]+$")]  # becomes part of an address
Step = Literal["submit", "status", "collect", "wait"]
_Kind = TypeVar("_Kind", bound=BaseModel)
_URL: Literal["/v1/chat/completions"] = "/v1/chat/completions"
_ENDED = ("completed", "failed", "expired", "cancelled")
_USUAL: Facts = {"messages": [{"role": "system"}], "max_tokens": 0, "temperature": 0}
"""The options that a refusal in a batch may name."""
_log = logging.getLogger(__name__)


class _File(BaseModel):
    id: _Id


class _Batch(BaseModel):
    """What the server says about a batch."""

    id: _Id
    status: str
    input_file_id: str = ""
    output_file_id: _Id | None = None
    error_file_id: _Id | None = None
    errors: Any = None
    """Why the server refused the batch, if it did."""


class _Batches(BaseModel):
    data: list[_Batch]


class _Result(BaseModel):
    """A line of an output or an error file."""

    custom_id: str
    response: dict[str, Any] | None = None


def judge_by_batch(
    step: Step,
    items: Sequence[Item],
    rubric: Rubric,
    judge: JudgeModel,
    state: BatchState,
    settings: Settings,
) -> tuple[list[Judged] | None, Facts]:
    """Send requests (`submit`), cache replies (`collect`), do both to the end (`wait`), or only look (`status`).

    Return the judged items if no further batch can bring a reply, else None, and what to tell the user.

    Raises:
        EndpointError: The server takes no batch, or does not say how far one is.
    """

    async def take_step() -> tuple[list[Judged] | None, Facts]:
        async with open_chat(judge, settings) as chat:
            batches = BatchJudge(chat, judge, rubric, state)
            await batches.find_lost_batches()
            if step == "status":
                return None, {"batch": await batches.progress()}
            judged = await batches.run(step, items)
            usage = judge.facts(rubric)["usage"]
            return judged, {**batches.facts(), **usage}

    # Ctrl-C ends the loop in its thread.
    with start_blocking_portal() as portal:
        return portal.call(take_step)


@dataclass
class BatchJudge:
    """Judges items by the replies in the cache, and lets batches fill the cache."""

    chat: ChatClient
    judge: JudgeModel
    rubric: Rubric
    state: BatchState
    n_changed: int = 0
    """Items that changed since requests were sent."""
    _may_send: bool = False
    _missing_keys: set[str] = field(default_factory=set)
    """Requests without a reply."""
    _queue: dict[str, bytes] = field(default_factory=dict)
    """The lines of the next batch, by the key of their requests."""
    _n_replies: int = 0

    @property
    def _openai(self) -> "AsyncOpenAI":
        return self.chat.servers[0].client

    async def run(self, step: Step, items: Sequence[Item]) -> list[Judged] | None:
        """Take a step; return the judged items if no further batch can bring a reply, else None."""
        self._may_send = step != "collect"
        self._note_changes(items)
        can_go_on = step == "collect" and await self._collect()
        judged = await self._judge(items)
        if step == "submit":
            return None
        end = time.monotonic() + LONGEST_WAIT
        while step == "wait" and await self._wait(end):
            judged = await self._judge(items)
        is_open = self._keys_under_way() or (self._missing_keys and can_go_on)
        return None if is_open else judged

    def facts(self) -> Facts:
        """Return counts of batches, requests, changed items and problems."""
        return {
            "batches": len(self.state.batches),
            "under_way": len(self._keys_under_way()),
            "lacking": len(self._missing_keys),
            "changed": self.n_changed,
            **self.state.problems,
        }

    async def progress(self) -> list[Facts]:
        """Ask the server how far each batch is."""
        batches = []
        for record in self.state.batches:
            batch = await self._call(self._openai.batches.retrieve(record.id), _Batch)
            batches.append(batch.model_dump())
        return batches

    async def find_lost_batches(self) -> None:
        """Ask for the names of batches whose command ended before the server had said them."""
        if all(record.id for record in self.state.batches):
            return
        listing = await self._call(self._openai.batches.list(limit=100), _Batches)
        ids = {batch.input_file_id: batch.id for batch in listing.data}
        for record in self.state.batches:
            record.id = record.id or ids.get(record.file_id, "")
        self.state.batches = [record for record in self.state.batches if record.id]

    def _note_changes(self, items: Sequence[Item]) -> None:
        """Warn of items that changed since requests were sent; if the step sends, keep the new ones."""
        hashes = {sha256(repr(item).encode()).hexdigest() for item in items}
        sent_hashes = self.state.items or hashes
        self.n_changed = max(len(hashes - sent_hashes), len(sent_hashes - hashes))
        if self.n_changed:
            text = "%d of %d rows of the file are not as they were when requests were sent."
            _log.warning(text, self.n_changed, len(items))
        if self._may_send:
            self.state.items = hashes

    async def _judge(self, items: Sequence[Item]) -> list[Judged]:
        """Judge by the replies in the cache; if the step sends, send the requests that lack one."""
        self._missing_keys = set()
        asker = Asker(self._ask, self.rubric, self.judge.picture)
        judged = []
        for item in items:
            judged.append(await asker.judge(item))
            n_bytes = sum(map(len, self._queue.values()))
            if n_bytes > MAX_REQUEST_BYTES or len(self._queue) == MAX_REQUESTS:
                await self._send_queue()
        await self._send_queue()
        return judged

    async def _ask(
        self, messages: Messages, *, fresh: bool, **options: Any
    ) -> ChatReply:
        """Return the reply in the cache; without one, queue the request and raise EndpointError."""
        request = {"model": self.judge.model, "messages": list(messages), **options}
        key = request_key(self.judge.base_url, request)
        reply = self.chat.cache.get(key)
        if reply is not None:
            return reply.model_copy(update={"cached": not fresh})
        is_new = key not in self._missing_keys | self._keys_under_way()
        self._missing_keys.add(key)
        if self._may_send and is_new:
            body = usable(request, self.judge.refused)
            line = {"custom_id": key, "method": "POST", "url": _URL, "body": body}
            text = json.dumps(line, ensure_ascii=False)
            # Half of a surrogate pair cannot be sent.
            self._queue[key] = text.encode("utf-8", "replace") + b"\n"
        raise EndpointError("no batch has brought the reply")

    async def _send_queue(self) -> None:
        if not self._queue:
            return
        lines = b"".join(self._queue.values())
        custom_ids = set(self._queue)
        self._queue.clear()
        upload = self._openai.with_options(max_retries=1).files.create(
            file=("requests.jsonl", lines), purpose="batch"
        )
        file: _File = await self._call(upload, _File)
        record = SentBatch(
            file_id=file.id, custom_ids=custom_ids, refused=dict(self.judge.refused)
        )
        self.state.batches.append(record)
        self.state.save(self.chat.secret)
        # A second attempt might start, and cost, a second batch.
        start = self._openai.with_options(max_retries=0).batches.create(
            input_file_id=record.file_id, endpoint=_URL, completion_window="24h"
        )
        record.id = (await self._call(start, _Batch)).id
        self.state.save(self.chat.secret)

    def _keys_under_way(self) -> set[str]:
        batches = [batch for batch in self.state.batches if not batch.has_ended]
        return set().union(*(batch.custom_ids for batch in batches))

    async def _wait(self, end: float) -> bool:
        """Collect until no batch is under way, and return whether judging can go on.

        Waiting stops at `end`, a time of the monotonic clock.
        """
        can_go_on = await self._collect()
        while self._keys_under_way():
            if time.monotonic() > end:
                _log.warning("The batches have not ended. Collect their replies later.")
                return False
            await anyio.sleep(PAUSE)
            can_go_on |= await self._collect()
        return can_go_on

    async def _collect(self) -> bool:
        """Cache the replies of batches that have ended, and return whether judging can go on.

        It can if there were replies, or if the model refused an option, which is then left out.
        """
        n_replies = self._n_replies
        known = dict(self.judge.refused)
        for record in self.state.batches:
            if record.has_ended:
                continue
            batch = await self._call(self._openai.batches.retrieve(record.id), _Batch)
            record.has_ended = batch.status in _ENDED
            if record.has_ended:
                await self._keep_results(record, batch)
                self.state.save(self.chat.secret)
        return self._n_replies > n_replies or self.judge.refused != known

    async def _keep_results(self, record: SentBatch, batch: _Batch) -> None:
        """Put replies into the cache, count failures and problems, and learn refused options."""
        problems = self.state.problems
        missing = set(record.custom_ids)
        for file_id in filter(None, (batch.output_file_id, batch.error_file_id)):
            content = self._openai.files.content(file_id)
            lines = (await self._call(content, None)).content.splitlines()
            for line in lines:
                result = _read_result(line)
                if result is None:
                    problems["unreadable"] += 1
                elif result.custom_id not in record.custom_ids:
                    problems["unknown"] += 1
                elif result.custom_id not in missing:
                    problems["repeated"] += 1
                else:
                    missing.remove(result.custom_id)
                    self._keep_result(result, record)
        problems["missing"] += len(missing)
        if batch.status != "completed" or any(problems.values()):
            text = "Batch %s is %s: %s. Problems of all batches: %s."
            _log.warning(text, batch.id, batch.status, batch.errors, problems)

    def _keep_result(self, result: _Result, record: SentBatch) -> None:
        body = result.response and result.response.get("body")
        try:
            content = json.dumps(body).encode()
            reply = read_reply(content, self.judge.usage, self.chat.secret)
        except ValueError:
            self.chat.count_failure()
            text = refusal_text(body)
            if not says_limit_is_small(text):
                learn(self.judge.refused, usable(_USUAL, record.refused), text)
                return
            reply = ChatReply(text="", reason="length")
        self.chat.cache.put(result.custom_id, reply)
        self._n_replies += 1

    async def _call(self, request: Awaitable[Any], kind: type[_Kind] | None) -> Any:
        """Return what the server answers to a request of the batch interface."""
        import openai

        try:
            answer = await request
            return answer if kind is None else kind.model_validate(answer.model_dump())
        except openai.OpenAIError as error:
            raise self.chat.failure(self.chat.servers[0], error) from None
        except ValidationError as error:
            problem = f"another answer of its batch interface: {first_problem(error)}"
            raise self.chat.failure(self.chat.servers[0], ValueError(problem)) from None


def _read_result(line: bytes) -> _Result | None:
    """Read a line of a file of results; None if it is too long or cannot be read."""
    if len(line) > MAX_REPLY_BYTES:
        return None
    try:
        return _Result.model_validate_json(line)
    except ValidationError:
        return None
