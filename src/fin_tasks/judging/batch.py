"""Judge in batches: what the cache lacks is sent, and replies go into the cache.

The state of the batches is a file, so that the command can end in between.
"""

import json
import logging
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from pydantic import BaseModel, Field, ValidationError

from fin_tasks.endpoints.batches import (
    MAX_REQUEST_BYTES,
    MAX_REQUESTS,
    Batch,
    Result,
    read_batch,
    read_results,
    request_line,
    send_batch,
)
from fin_tasks.endpoints.chat import Chat, Usage
from fin_tasks.endpoints.reply import ChatReply
from fin_tasks.errors import ConfigError, EndpointError, first_problem
from fin_tasks.judging.item import Facts, Item, Judged, Messages
from fin_tasks.judging.judge import Asker, JudgeModel
from fin_tasks.judging.rubric import Rubric

_FIRST_PAUSE = 0.05  # seconds between two looks at batches under way
_LONGEST_PAUSE = 60.0
_LONGEST_WAIT = 48 * 3600.0  # a batch takes a day at most
_PROBLEMS = {
    "failed": "requests in batches failed; the next submit sends them again",
    "missing": "requests have no line in the results; the next submit sends them again",
    "repeated": "lines of results repeat another one; the first one counts",
    "unknown": "lines of results name no request of their batch, and are left out",
    "unreadable": "lines of results cannot be read, and are left out",
}
_log = logging.getLogger(__name__)


class SentBatch(BaseModel):
    """A batch that was sent, and the keys of its requests."""

    id: str
    custom_ids: list[str]
    has_ended: bool = False


class BatchState(BaseModel):
    """What `batch.json` holds."""

    file: str
    file_sha256: str
    judge: Facts
    batches: list[SentBatch] = []
    refused: dict[str, str | None] = {}
    """Options that the model refused, and what is sent instead."""
    problems: dict[str, int] = dict.fromkeys(_PROBLEMS, 0)
    usage: Usage = Field(default_factory=Usage)


def read_state(path: Path, new: BatchState) -> BatchState:
    """Read the state of batches; return a new one if there is none.

    Raises:
        ConfigError: The file belongs to another judgment, or cannot be read.
    """
    if not path.exists():
        return new
    try:
        state = BatchState.model_validate_json(path.read_bytes())
    except ValidationError as error:
        problem = first_problem(error)
        raise ConfigError(f"{path}: expected batches, got: {problem}.") from error
    if (state.file, state.judge) != (new.file, new.judge):
        raise ConfigError(
            f"{path}: expected batches of {new.file} and this judge and rubric, "
            f"got those of {state.file}. Name another folder with --out."
        )
    if state.file_sha256 != new.file_sha256:
        text = "%s has changed since its batch was sent: only rows that are the same use it."
        _log.warning(text, new.file)
        state.file_sha256 = new.file_sha256
    return state


class BatchJudge:
    """Judges items with the replies that batches brought."""

    def __init__(
        self,
        chat: Chat,
        judge: JudgeModel,
        rubric: Rubric,
        path: Path,
        state: BatchState,
    ) -> None:
        self.state = state
        self._chat = chat
        self._judge = judge
        self._rubric = rubric
        self._path = path
        self._sends = False
        self._lacking: set[str] = set()
        self._sent: set[str] = set()
        self._queue: dict[str, bytes] = {}
        self._n_bytes = 0
        chat.options.refused.update(state.refused)

    def run(self, step: str, items: Sequence[Item]) -> list[Judged] | None:
        """Take a step; return the judged items once batches can bring nothing more."""
        if step == "submit":
            self._send(items)
            return None
        if step == "collect":
            has_news = self._collect()
            judged = self._judge_kept(items)
            return None if self._under_way() or (self._lacking and has_news) else judged
        has_news = True
        while has_news:
            self._send(items)
            has_news = self._wait()
        return self._judge_kept(items)

    def facts(self) -> Facts:
        """Return counts of requests."""
        return {
            "batches": len(self.state.batches),
            "under_way": len(self._under_way()),
            "lacking": len(self._lacking),
            **self.state.problems,
        }

    def progress(self) -> list[Facts]:
        """Ask the server how far each batch is."""
        rows = []
        for record in self.state.batches:
            batch = read_batch(self._chat, record.id)
            rows.append(batch.model_dump(include={"id", "status", "request_counts"}))
        return rows

    def _send(self, items: Sequence[Item]) -> None:
        self._sends = True
        self._judge_kept(items)
        self._send_queue()
        self._sends = False

    def _judge_kept(self, items: Sequence[Item]) -> list[Judged]:
        self._lacking = set()
        self._sent = self._under_way()
        asker = Asker(
            self._ask,
            self._rubric,
            self._judge.model,
            most_failed=len(items) + 1,
        )
        return [asker.judge(item, picture=self._judge.picture) for item in items]

    def _ask(self, messages: Messages, *, fresh: bool, **options: Any) -> ChatReply:
        reply = self._chat.kept_reply(messages, **options)
        if reply is not None:
            return reply
        request, key = self._chat.request(messages, options)
        is_new = key not in self._lacking and key not in self._sent
        self._lacking.add(key)
        if self._sends and is_new:
            line = request_line(key, self._chat.options.usable(request))
            n_bytes = self._n_bytes + len(line)
            if n_bytes > MAX_REQUEST_BYTES or len(self._queue) == MAX_REQUESTS:
                self._send_queue()
            self._queue[key] = line
            self._n_bytes += len(line)
        raise EndpointError("no batch has brought the reply")

    def _send_queue(self) -> None:
        if self._queue:
            batch = send_batch(self._chat, b"".join(self._queue.values()))
            record = SentBatch(id=batch.id, custom_ids=list(self._queue))
            self.state.batches.append(record)
            self._queue.clear()
            self._n_bytes = 0
            self._save()

    def _under_way(self) -> set[str]:
        keys: set[str] = set()
        for record in self.state.batches:
            if not record.has_ended:
                keys.update(record.custom_ids)
        return keys

    def _wait(self) -> bool:
        """Collect until no batch is under way; return whether that brought anything."""
        pause = _FIRST_PAUSE
        end = time.monotonic() + _LONGEST_WAIT
        has_news = self._collect()
        while self._under_way():
            if time.monotonic() > end:
                raise EndpointError(
                    "batches: expected an end within 48 hours. Collect later."
                )
            time.sleep(pause)
            pause = min(2 * pause, _LONGEST_PAUSE)
            has_news = self._collect() or has_news
        return has_news

    def _collect(self) -> bool:
        """Keep the replies of batches that have ended; return whether there were any."""
        has_news = False
        for record in self.state.batches:
            if record.has_ended:
                continue
            batch = read_batch(self._chat, record.id)
            if batch.has_ended:
                has_news = self._keep_results(record, batch) or has_news
                record.has_ended = True
                self._save()
        return has_news

    def _keep_results(self, record: SentBatch, batch: Batch) -> bool:
        problems = dict.fromkeys(_PROBLEMS, 0)
        missing = set(record.custom_ids)
        expected = frozenset(missing)
        has_news = False
        for result in read_results(self._chat, batch):
            if result is None:
                problems["unreadable"] += 1
            elif result.custom_id not in expected:
                problems["unknown"] += 1
            elif result.custom_id not in missing:
                problems["repeated"] += 1
            else:
                missing.remove(result.custom_id)
                is_kept = self._keep(result)
                problems["failed"] += not is_kept
                has_news = has_news or is_kept
        problems["missing"] = len(missing)
        has_news = has_news or self._chat.options.refused != self.state.refused
        self.state.refused = dict(self._chat.options.refused)
        if batch.status != "completed":
            _log.warning("batch %s is %s: %s", batch.id, batch.status, batch.problem)
        for name, n in problems.items():
            self.state.problems[name] += n
            if n:
                _log.warning("batch %s: %d %s.", batch.id, n, _PROBLEMS[name])
        return has_news

    def _keep(self, result: Result) -> bool:
        """Put a reply into the cache; return whether it is one."""
        usage = self.state.usage
        usage.requests += 1
        response = result.response
        body = json.dumps(response.body if response else None)
        try:
            if response is None or response.status_code != 200:
                raise ValueError(body)
            reply = self._chat.keep(result.custom_id, body.encode())
        except ValueError:
            usage.failed += 1
            options = {"max_tokens": 0, "temperature": 0}
            self._chat.options.learn(self._chat.options.usable(options), body)
            return False
        usage.prompt_tokens += reply.prompt_tokens
        usage.completion_tokens += reply.completion_tokens
        return True

    def _save(self) -> None:
        self._path.parent.mkdir(parents=True, exist_ok=True)
        part = self._path.with_suffix(".part")
        part.write_text(self.state.model_dump_json(), "utf-8")
        part.replace(self._path)
