"""Judge in batches: requests without a cached reply are sent, and their replies are cached.

A file keeps the state of the batches, so that the command can end before they do.
"""

import json
import logging
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import Any

from pydantic import BaseModel

from fin_tasks.data.files import write_file
from fin_tasks.endpoints.batches import (
    MAX_REQUEST_BYTES,
    MAX_REQUESTS,
    Batch,
    find_batch,
    read_batch,
    read_results,
    request_line,
    start_batch,
    upload,
)
from fin_tasks.endpoints.chat import Chat, Usage
from fin_tasks.endpoints.reply import ChatReply
from fin_tasks.errors import ConfigError, EndpointError

from .item import Facts, Item, Judged, Messages
from .judge import Asker, JudgeModel
from .rubric import Rubric

PAUSE = 30.0
"""Seconds before the server is asked again how far the batches are."""
LONGEST_WAIT = 48 * 3600.0
"""Seconds after which `wait` ends; a batch takes a day at most."""

_log = logging.getLogger(__name__)


class SentBatch(BaseModel):
    """A batch that was sent, and the keys of its requests."""

    file_id: str
    custom_ids: set[str]
    id: str = ""
    """The server's name for the batch; empty until the server has said it."""
    has_ended: bool = False


class BatchState(BaseModel):
    """What `batch.json` holds."""

    judge: Facts
    items: set[str] = set()
    """Hashes of the items that were judged when requests were last sent."""
    batches: list[SentBatch] = []
    refused: dict[str, str | None] = {}
    """Options that the model refused, and what is sent instead."""
    problems: dict[str, int] = dict.fromkeys(
        ("missing", "repeated", "unknown", "unreadable"), 0
    )
    """Results with a problem, by its kind."""
    usage: Usage = Usage()


def read_state(path: Path, judge: Facts) -> BatchState:
    """Read the state of batches; return a new one if there is none.

    Raises:
        ConfigError: The batches are of another judge or rubric, or cannot be read.
    """
    if not path.exists():
        return BatchState(judge=judge)
    try:
        state = BatchState.model_validate_json(path.read_bytes())
        if state.judge != judge:
            raise ValueError("those of another judge or rubric")
    except ValueError as error:
        expected = f"{path}: expected batches of this judge and rubric"
        raise ConfigError(f"{expected}, got {error}. Name another --out.") from error
    return state


@dataclass
class BatchJudge:
    """Judges items by the replies in the cache, and lets batches fill the cache."""

    chat: Chat
    judge: JudgeModel
    rubric: Rubric
    path: Path
    """The file that keeps the state."""
    state: BatchState
    n_changed: int = 0
    """Items that changed since requests were sent."""
    _may_send: bool = False
    _missing_keys: set[str] = field(default_factory=set)
    """Requests without a reply."""
    _open_keys: set[str] = field(default_factory=set)
    """Requests in batches that have not ended."""
    _queue: dict[str, bytes] = field(default_factory=dict)
    """The lines of the next batch, by the key of their requests."""
    _n_queued_bytes: int = 0
    _n_replies: int = 0

    def __post_init__(self) -> None:
        self.chat.refused = self.state.refused
        # The last command may have ended before the server told the id of its batch.
        for record in self.state.batches:
            record.id = record.id or find_batch(self.chat, record.file_id)
        self.state.batches = [record for record in self.state.batches if record.id]

    def run(self, step: str, items: Sequence[Item]) -> list[Judged] | None:
        """Send requests (`submit`), cache replies (`collect`), or do both to the end (`wait`).

        Return the judged items if no further batch can bring a reply, else None.
        """
        self._may_send = step != "collect"
        self._note_changes(items)
        can_go_on = step == "collect" and self._collect()
        judged = self._judge(items)
        if step == "submit":
            return None
        end = time.monotonic() + LONGEST_WAIT
        while step == "wait" and self._wait(end):
            judged = self._judge(items)
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

    def progress(self) -> list[Facts]:
        """Ask the server how far each batch is."""
        batches = self.state.batches
        return [read_batch(self.chat, batch.id).model_dump() for batch in batches]

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

    def _judge(self, items: Sequence[Item]) -> list[Judged]:
        """Judge by the replies in the cache; if the step sends, send the requests that lack one."""
        self._missing_keys = set()
        self._open_keys = self._keys_under_way()
        most_failed = len(items) + 1
        asker = Asker(self._ask, self.rubric, self.judge.picture, most_failed)
        judged = list(map(asker.judge, items))
        self._send_queue()
        return judged

    def _ask(self, messages: Messages, *, fresh: bool, **options: Any) -> ChatReply:
        """Return the reply in the cache; without one, queue the request and raise EndpointError."""
        reply = self.chat.kept_reply(messages, **options)
        if reply is not None:
            return reply
        request, key = self.chat.request(messages, options)
        is_new = key not in self._missing_keys and key not in self._open_keys
        self._missing_keys.add(key)
        if self._may_send and is_new:
            line = request_line(key, self.chat.usable(request))
            n_bytes = self._n_queued_bytes + len(line)
            if n_bytes > MAX_REQUEST_BYTES or len(self._queue) == MAX_REQUESTS:
                self._send_queue()
            self._queue[key] = line
            self._n_queued_bytes += len(line)
        raise EndpointError("no batch has brought the reply")

    def _send_queue(self) -> None:
        if not self._queue:
            return
        file_id = upload(self.chat, b"".join(self._queue.values()))
        record = SentBatch(file_id=file_id, custom_ids=set(self._queue))
        self.state.batches.append(record)
        self._save()
        record.id = start_batch(self.chat, file_id).id
        self._save()
        self._queue.clear()
        self._n_queued_bytes = 0

    def _keys_under_way(self) -> set[str]:
        batches = [batch for batch in self.state.batches if not batch.has_ended]
        return set().union(*(batch.custom_ids for batch in batches))

    def _wait(self, end: float) -> bool:
        """Collect until no batch is under way, and return whether judging can go on.

        Waiting stops at `end`, a time of the monotonic clock.
        """
        can_go_on = self._collect()
        while self._keys_under_way():
            if time.monotonic() > end:
                _log.warning("The batches have not ended. Collect their replies later.")
                return False
            time.sleep(PAUSE)
            can_go_on |= self._collect()
        return can_go_on

    def _collect(self) -> bool:
        """Cache the replies of batches that have ended, and return whether judging can go on.

        It can if there were replies, or if the model refused an option, which is then left out.
        """
        n_replies = self._n_replies
        n_refused = len(self.state.refused)
        for record in self.state.batches:
            if not record.has_ended:
                batch = read_batch(self.chat, record.id)
                record.has_ended = batch.has_ended
                if batch.has_ended:
                    self._keep_results(record, batch)
                    self._save()
        return self._n_replies > n_replies or len(self.state.refused) > n_refused

    def _keep_results(self, record: SentBatch, batch: Batch) -> None:
        """Put replies into the cache, count failures and problems, and learn refused options."""
        problems = self.state.problems
        missing = set(record.custom_ids)
        for result in read_results(self.chat, batch):
            if result is None:
                problems["unreadable"] += 1
            elif result.custom_id not in record.custom_ids:
                problems["unknown"] += 1
            elif result.custom_id not in missing:
                problems["repeated"] += 1
            else:
                missing.remove(result.custom_id)
                body = json.dumps(result.body)
                try:
                    self.chat.keep(result.custom_id, body.encode())
                    self._n_replies += 1
                except ValueError:
                    self.chat.count_failure()
                    options = self.chat.usable({"max_tokens": 0, "temperature": 0})
                    self.chat.learn(options, body)
        problems["missing"] += len(missing)
        if batch.status != "completed" or any(problems.values()):
            text = "Batch %s is %s: %s. Problems of all batches: %s."
            _log.warning(text, batch.id, batch.status, batch.errors, problems)

    def _save(self) -> None:
        write_file(self.path, self.state.model_dump_json().encode())
