"""Replies of chat models: how a server's reply is read, and the SQLite table that keeps them.

A stopped run loses no reply, and a second run asks for none.
"""

import hashlib
import json
import logging
import sqlite3
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import BaseModel, Field, NonNegativeInt

from fin_tasks.errors import EndpointError

from .refusals import refusal_text

_TABLE = """
PRAGMA journal_mode=WAL;
PRAGMA synchronous=NORMAL;
CREATE TABLE IF NOT EXISTS chat_replies (key TEXT PRIMARY KEY, reply TEXT);
"""
_TEXT_PARTS = ("text", "output_text")
_log = logging.getLogger(__name__)


class ChatReply(BaseModel, frozen=True):
    """One reply of a chat model."""

    text: str
    """The answer, without reasoning that the server separates from it."""
    reason: str
    """OpenAI's `finish_reason`; `length` if the reply was cut."""
    prompt_tokens: NonNegativeInt = 0
    completion_tokens: NonNegativeInt = 0
    has_reasoning: bool = False
    """Whether the server sent reasoning beside the answer."""
    cached: bool = Field(default=False, exclude=True)


@dataclass
class Usage:
    """Counts of requests, of those that failed, of cached replies, and of tokens."""

    requests: int = 0
    failed: int = 0
    cached: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0


class _Part(BaseModel):
    type: str = ""
    text: str | None = None


class _Message(BaseModel):
    content: str | list[_Part] | None = None
    reasoning_content: object = None
    reasoning: object = None


class _Choice(BaseModel):
    message: _Message
    finish_reason: str | None = None


class _Tokens(BaseModel):
    prompt_tokens: NonNegativeInt | None = None
    completion_tokens: NonNegativeInt | None = None


class _Completion(BaseModel):
    error: object = None
    choices: list[_Choice] | None = None
    usage: _Tokens | None = None


def read_reply(body: bytes, usage: Usage, secret: str) -> ChatReply:
    """Decode a chat completion, count it in `usage`, and hide a secret that it repeats.

    Raises:
        ValueError: The body is anything else.
    """
    completion = _Completion.model_validate_json(body)
    if completion.error:
        raise ValueError(refusal_text({"error": completion.error}))
    if not completion.choices:
        raise ValueError("a completion without choices")
    choice = completion.choices[0]
    message = choice.message
    text = message.content or ""
    if isinstance(text, list):
        texts = [part.text or "" for part in text if part.type in _TEXT_PARTS]
        text = "".join(texts)
    tokens = completion.usage or _Tokens()
    reply = ChatReply(
        text=text.replace(secret, "[key]"),
        reason=(choice.finish_reason or "").replace(secret, "[key]"),
        prompt_tokens=tokens.prompt_tokens or 0,
        completion_tokens=tokens.completion_tokens or 0,
        has_reasoning=bool(message.reasoning_content or message.reasoning),
    )
    usage.requests += 1
    usage.prompt_tokens += reply.prompt_tokens
    usage.completion_tokens += reply.completion_tokens
    return reply


def request_key(base_urls: Sequence[str], request: Mapping[str, Any]) -> str:
    """Return the SHA-256 of a whole request and of the addresses that may answer it.

    The addresses count, because another model may have the same name at another address.
    """
    addresses = sorted(url.rstrip("/") for url in base_urls)
    text = json.dumps([addresses, request], sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()


class ReplyCache:
    """Replies by the key of their request; any number of processes may use the file at the same time.

    A reply that cannot be written, because the disk is full, stays in memory until it can be written.
    """

    def __init__(self, folder: Path) -> None:
        self._path = folder / "chat.sqlite"
        self._unwritten: dict[str, str] = {}
        try:
            folder.mkdir(parents=True, exist_ok=True)
            # The event loop that asks runs in a thread of its own.
            self.database = sqlite3.connect(
                self._path, timeout=60.0, check_same_thread=False
            )
        except (OSError, sqlite3.Error) as error:
            raise self._error(error) from error
        try:
            self.database.executescript(_TABLE)
        except sqlite3.Error as error:
            self.database.close()
            raise self._error(error) from error

    def get(self, key: str) -> ChatReply | None:
        """Return a reply, or None."""
        try:
            query = "SELECT reply FROM chat_replies WHERE key = ?"
            row = self.database.execute(query, (key,)).fetchone()
            text = self._unwritten.get(key) or (row and row[0])
            return ChatReply.model_validate_json(text) if text else None
        except (sqlite3.Error, ValueError) as error:
            raise self._error(error) from error

    def put(self, key: str, reply: ChatReply) -> None:
        """Keep a reply, in place of an older one."""
        self._unwritten[key] = reply.model_dump_json()
        try:
            with self.database:  # commits, or rolls back
                self.database.executemany(
                    "INSERT OR REPLACE INTO chat_replies VALUES (?, ?)",
                    self._unwritten.items(),
                )
            self._unwritten.clear()
        except sqlite3.Error as error:
            _log.error(
                "%d replies are in memory only, as %s cannot be written: %s",
                len(self._unwritten),
                self._path,
                error,
            )

    def _error(self, problem: Exception) -> EndpointError:
        return EndpointError(
            f"replies in {self._path}: expected an SQLite file that can be read and written, got: "
            f"{problem}. Delete a broken file, or name another folder with FIN_TASKS_CACHE."
        )
