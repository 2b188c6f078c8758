"""OpenAI's batch interface: a file of requests is answered within a day, at half the price."""

from collections.abc import Iterator
from contextlib import suppress
from typing import Annotated, Any, TypeVar

import httpx2
from pydantic import BaseModel, Field, ValidationError

from fin_tasks.errors import EndpointError

from .chat import MAX_REPLY_BYTES, Chat, encoded

PRICE_SHARE = 0.5
"""The price of a request in a batch, as a share of the usual price."""
MAX_REQUESTS = 50_000
"""Requests of a batch; OpenAI takes no more."""
MAX_REQUEST_BYTES = 100 << 20
"""Size of a file of requests; OpenAI takes 200 MB."""

_URL = "/v1/chat/completions"
_ENDED = ("completed", "failed", "expired", "cancelled")
_Model = TypeVar("_Model", bound=BaseModel)
_Id = Annotated[str, Field(pattern=r"^[\w-]+$")]  # becomes part of an address


class _File(BaseModel):
    id: _Id


class Batch(BaseModel):
    """What the server says about a batch."""

    id: _Id
    status: str
    input_file_id: str = ""
    output_file_id: _Id | None = None
    error_file_id: _Id | None = None
    errors: Any = None
    """Why the server refused the batch, if it did."""

    @property
    def has_ended(self) -> bool:
        """Whether no further reply will come."""
        return self.status in _ENDED


class _Batches(BaseModel):
    data: list[Batch]


class Result(BaseModel):
    """A line of an output or an error file."""

    custom_id: str
    response: dict[str, Any] | None = None

    @property
    def body(self) -> Any:
        """The body of the response; None without a response."""
        return self.response and self.response.get("body")


def request_line(custom_id: str, request: Any) -> bytes:
    """Return a line of a file of requests."""
    line = {"custom_id": custom_id, "method": "POST", "url": _URL, "body": request}
    return encoded(line) + b"\n"


def upload(chat: Chat, lines: bytes) -> str:
    """Upload a file of requests, and return its id."""
    form = httpx2.Request(
        "POST",
        chat.base_urls[0],
        data={"purpose": "batch"},
        files={"file": ("requests.jsonl", lines)},
    )
    reply = chat.fetch("files", form.read(), form.headers["Content-Type"], once=True)
    return _read(_File, reply).id


def start_batch(chat: Chat, file_id: str) -> Batch:
    """Start the batch of an uploaded file."""
    options = {"input_file_id": file_id, "endpoint": _URL, "completion_window": "24h"}
    return _read(Batch, chat.fetch("batches", encoded(options), once=True))


def find_batch(chat: Chat, file_id: str) -> str:
    """Return the id of the batch of an uploaded file; empty if it was not started lately."""
    batches = _read(_Batches, chat.fetch("batches?limit=100")).data
    return next((batch.id for batch in batches if batch.input_file_id == file_id), "")


def read_batch(chat: Chat, batch_id: str) -> Batch:
    """Ask how far a batch is."""
    return _read(Batch, chat.fetch(f"batches/{batch_id}"))


def read_results(chat: Chat, batch: Batch) -> Iterator[Result | None]:
    """Return each line of a batch's output and error files; None if it is too long or cannot be read."""
    for file_id in (batch.output_file_id, batch.error_file_id):
        if file_id is None:
            continue
        for line in chat.fetch(f"files/{file_id}/content").splitlines():
            result = None
            if len(line) <= MAX_REPLY_BYTES:
                with suppress(ValidationError):
                    result = Result.model_validate_json(line)
            yield result


def _read(model: type[_Model], reply: bytes) -> _Model:
    try:
        return model.model_validate_json(reply)
    except ValidationError as error:
        raise EndpointError(
            f"expected a {model.__name__.strip('_').lower()} of OpenAI's batch interface, "
            f"got {reply[:200]!r}. Judge without --batch."
        ) from error
