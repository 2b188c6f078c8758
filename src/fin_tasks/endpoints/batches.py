"""OpenAI's batch interface: a file of requests is answered within a day, at half the price."""

import json
from collections.abc import Iterator
from typing import Annotated, Any, TypeVar

import httpx2
from pydantic import BaseModel, Field, ValidationError

from fin_tasks.endpoints.chat import MAX_REPLY_BYTES, Chat
from fin_tasks.errors import EndpointError

PRICE_SHARE = 0.5
"""The price of a request in a batch, as a share of the usual price."""
MAX_REQUESTS = 10_000
"""Requests in one batch; OpenAI takes 50,000."""
MAX_REQUEST_BYTES = 100 << 20
"""Size of a file of requests; OpenAI takes 200 MB."""

_MAX_RESULT_BYTES = 512 << 20
_URL = "/v1/chat/completions"
_ENDED = ("completed", "failed", "expired", "cancelled")
_Model = TypeVar("_Model", bound=BaseModel)
_Id = Annotated[str, Field(pattern=r"^[\w-]+$")]  # becomes part of an address


class _Problem(BaseModel):
    message: str = ""


class _Problems(BaseModel):
    data: list[_Problem] = []


class _Counts(BaseModel):
    total: int = 0
    completed: int = 0
    failed: int = 0


class _File(BaseModel):
    id: _Id


class Batch(BaseModel):
    """What the server says about a batch."""

    id: _Id
    status: str
    output_file_id: _Id | None = None
    error_file_id: _Id | None = None
    request_counts: _Counts | None = None
    errors: _Problems | None = None

    @property
    def has_ended(self) -> bool:
        """Whether no further reply will come."""
        return self.status in _ENDED

    @property
    def problem(self) -> str:
        """Why the server refused the batch, if it did."""
        problems = self.errors.data if self.errors else []
        return "; ".join(problem.message for problem in problems)


class _Response(BaseModel):
    status_code: int
    body: dict[str, Any]


class Result(BaseModel):
    """A line of an output or an error file."""

    custom_id: str
    response: _Response | None = None


def request_line(custom_id: str, request: Any) -> bytes:
    """Return a line of a file of requests."""
    line = {"custom_id": custom_id, "method": "POST", "url": _URL, "body": request}
    return json.dumps(line, ensure_ascii=False).encode() + b"\n"


def send_batch(chat: Chat, lines: bytes) -> Batch:
    """Upload a file of requests, and start its batch."""
    form = httpx2.Request(
        "POST",
        chat.base_urls[0],
        data={"purpose": "batch"},
        files={"file": ("requests.jsonl", lines)},
    )
    media_type = form.headers["Content-Type"]
    reply = chat.fetch("files", content=form.read(), media_type=media_type)
    options = {
        "input_file_id": _read(_File, reply).id,
        "endpoint": _URL,
        "completion_window": "24h",
    }
    # A second attempt could start, and cost, a second batch.
    reply = chat.fetch("batches", content=json.dumps(options).encode(), retries=0)
    return _read(Batch, reply)


def read_batch(chat: Chat, batch_id: str) -> Batch:
    """Ask how far a batch is."""
    return _read(Batch, chat.fetch(f"batches/{batch_id}"))


def read_results(chat: Chat, batch: Batch) -> Iterator[Result | None]:
    """Return each line of a batch's output and error files; None if it cannot be read."""
    for file_id in (batch.output_file_id, batch.error_file_id):
        if file_id is None:
            continue
        path = f"files/{file_id}/content"
        content = chat.fetch(path, n_bytes=_MAX_RESULT_BYTES)
        for line in content.splitlines():
            if line.strip():
                yield _result(line)


def _result(line: bytes) -> Result | None:
    if len(line) > MAX_REPLY_BYTES:
        return None
    try:
        return Result.model_validate_json(line)
    except ValidationError:
        return None


def _read(model: type[_Model], reply: bytes) -> _Model:
    try:
        return model.model_validate_json(reply)
    except ValidationError as error:
        expected = f"expected a {model.__name__.strip('_').lower()}"
        problem = f"{expected} of OpenAI's batch interface, got {reply[:200]!r}"
        raise EndpointError(f"{problem}. Judge without --batch.") from error
