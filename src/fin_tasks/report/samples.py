"""The lines of a samples file: a document, the responses to it, and their scores under one scoring.

lm-eval writes them, and logs of inspect_ai are read as the same lines.
"""

import json
import re
from collections.abc import Iterator
from contextlib import suppress
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import orjson
from pydantic import BaseModel, Field, ValidationError

from fin_tasks.errors import DataError, first_problem

from . import Json, inspect_logs
from .redact import printable

_MAX_LINE = 16 * 2**20  # bytes
_MAX_VALUES = 1000  # of a list of responses or readings
_NO_TEXT = {  # values in a chat's messages that are no text for the model
    "role": ("system", "developer", "user", "assistant"),
    "type": ("text", "image_url"),
    "detail": ("auto", "low", "high"),
}
_PICTURE = re.compile(r"data:image/[\w.+-]+;(sha256|base64),[\w+/=]*")


class _Fields(BaseModel):
    scoring: str = Field(alias="filter")
    doc: Json
    metrics: list[str] = Field(min_length=1)


class Sample(NamedTuple):
    """A line of a samples file."""

    where: str
    """The file and the line, for messages."""
    id: str
    """The id of the document."""
    scoring: str
    doc: Json
    metrics: Json
    """Values by name, without standard errors."""
    line: Json
    """All that the line holds."""

    @property
    def responses(self) -> list[Any]:
        """What the model wrote, usually a text for each response."""
        return flat(self.line.get("resps"))

    @property
    def readings(self) -> list[Json]:
        """What was read in each response; empty if it cannot be known."""
        return [_reading(item) for item in flat(self.line.get("filtered_resps"))]

    @property
    def prompt(self) -> str | None:
        """All texts that were sent, a chat's messages joined; None if the file has no prompts."""
        sent = self.line.get("arguments")
        if sent is None:
            return None
        with suppress(KeyError, TypeError):
            sent = sent["gen_args_0"]["arg_0"]
        return "\n".join(_texts(sent))


def read_samples(path: Path | None) -> Iterator[Sample]:
    """Yield the lines of a samples file, nothing if there is none; DataError if it cannot be read."""
    if not path:
        return
    lines = inspect_logs.samples_of(path) if path.suffix == ".eval" else _lines(path)
    for where, line in lines:
        yield sample_of(where, line)


def sample_of(where: str, line: Json) -> Sample:
    """Check the types of a line; raise DataError if they are not those of a samples file."""
    try:
        fields = _Fields.model_validate(line)
        metrics = {name: line[name] for name in _without_errors(*fields.metrics)}
    except ValidationError as error:
        raise DataError(f"{where}, {first_problem(error)}.") from error
    except KeyError as error:
        raise DataError(
            f"{where}: expected a value of {error!s:.80}, found none."
        ) from error
    doc = fields.doc
    identity = doc.get("id", doc.get("question_id", line.get("doc_id")))
    return Sample(
        where, printable(str(identity)), printable(fields.scoring), doc, metrics, line
    )


@lru_cache
def _without_errors(*metrics: str) -> tuple[str, ...]:
    """Return the names of metrics that are no standard errors; all lines of a file have the same."""
    return tuple(name for name in metrics if not name.endswith("_stderr"))


def _lines(path: Path) -> Iterator[tuple[str, Any]]:
    with path.open("rb", buffering=2**20) as file:
        # A longer line is cut, so that it is no JSON.
        lines = iter(lambda: file.readline(_MAX_LINE), b"")
        for number, content in enumerate(lines, 1):
            if content.strip():
                where = f"{path}, line {number}"
                yield where, _decode(where, content)


def _decode(where: str, content: bytes | str) -> Any:
    try:
        return orjson.loads(content)
    except orjson.JSONDecodeError:
        return _decode_loosely(where, content)


def _decode_loosely(where: str, content: bytes | str) -> Any:
    """Decode NaN, which lm-eval writes, and unpaired surrogates, too."""
    try:
        return json.loads(content)
    except (ValueError, RecursionError) as error:
        raise DataError(
            f"{where}: expected JSON, got {content[:40]!r} ({error}). Was the file cut?"
        ) from error


def flat(value: Any) -> list[Any]:
    """Return the first thousand values in a list of lists."""
    values = []
    for item in value if isinstance(value, list) else [value]:
        values += item if isinstance(item, list) else [item]
    return values[:_MAX_VALUES]


def _reading(value: Any) -> Json:
    """Return a reading from an object or from its JSON text; empty if it is neither."""
    if isinstance(value, str) and value.startswith("{"):
        with suppress(DataError):
            value = _decode("", value)
    return value if isinstance(value, dict) else {}


def _texts(value: Any, name: str = "") -> Iterator[str]:
    """Yield all texts for the model in what was sent, without roles and pictures."""
    if isinstance(value, str) and value.startswith("[{"):  # a chat's messages as JSON
        with suppress(ValueError):
            value = json.loads(value)
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from _texts(inner, key)
    elif isinstance(value, list):
        for inner in value:
            yield from _texts(inner, name)
    elif value not in _NO_TEXT.get(name, ()) and not _PICTURE.fullmatch(str(value)):
        yield str(value)
