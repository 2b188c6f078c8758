"""What the samples say of the requests beside their text: roles, pictures, models and decoding."""

import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import Any

from fin_tasks.benchmarks.contract import Document
from fin_tasks.benchmarks.task_file import pictures_of

from ..redact import printable
from .items import Row, Rows

_MAX_TEXT = 200  # characters
_NOT_SHOWN = ("until",)  # stop texts of a harness may be many
_DATE = re.compile(r"[-_.:@](latest|\d{4}-\d\d-\d\d|\d{8}|\d{6}|\d{4})$")
_USUAL_ROLES = {"system": "system", "developer": "system", "user": "user"}


def odd_roles(rows: Rows, docs: Mapping[str, Document]) -> list[str]:
    """Return the rows whose messages have other roles than a question to a chat model."""
    details = []
    for row_id, row in rows.items():
        messages = _messages(row)
        if messages is None:
            continue
        roles = [str(message.get("role")) for message in messages]
        n_turns = docs[row_id].get("turn", 1)
        usual = ["user", *["assistant", "user"] * (n_turns - 1)]
        plain = [_USUAL_ROLES.get(role, role) for role in roles]
        if plain not in (usual, ["system", *usual]):
            details.append(f"{row_id}: {', '.join(roles):.80}")
    return details


def odd_pictures(rows: Rows, docs: Mapping[str, Document]) -> list[str]:
    """Return the rows that were sent with another number of pictures than ours."""
    details = []
    for row_id, row in rows.items():
        n_sent = _n_pictures(row)
        expected = len(pictures_of(docs[row_id]))
        if n_sent is not None and n_sent != expected:
            details.append(f"{row_id}: {n_sent} pictures, expected {expected}")
    return details


def other_models(rows: Rows, model: str) -> list[str]:
    """Return the rows for which the samples name another model, as logs of inspect_ai do."""
    details = []
    for row_id, row in rows.items():
        sample = next(iter(row.claims.values()))
        named = sample.line.get("models")
        for name in named if isinstance(named, list) else ():
            if isinstance(name, str) and name and _plain(name) != _plain(model):
                details.append(f"{row_id}: {printable(name):.80}")
    return details


def _plain(model: str) -> str:
    """Return a model's name without provider, signs and date, as services name their models more fully.

    >>> _plain("openai/GPT-4o") == _plain("gpt-4o-2024-08-06")
    True
    >>> _plain("gpt-4"), _plain("gpt-4-0613"), _plain("gpt-4-mini")
    ('gpt4', 'gpt4', 'gpt4mini')
    """
    name = model.rpartition("/")[2].casefold()
    return "".join(filter(str.isalnum, _DATE.sub("", name)))


def decoding_of(rows: Rows) -> str:
    """Say how responses were decoded; empty if the samples do not say it."""
    counts = Counter(filter(None, map(_decoding, rows.values())))
    if not counts:
        return ""
    ((usual, n),) = counts.most_common(1)
    n_others = len(rows) - n
    return f"{usual}; otherwise in {n_others:,} rows" if n_others else usual


def _decoding(row: Row) -> str:
    """Return the options of a row's request, in words."""
    options = _request(row).get("arg_1")
    if not isinstance(options, dict):
        return ""
    texts = []
    for name, value in sorted(options.items()):
        if name not in _NOT_SHOWN:
            texts.append(f"{name} {json.dumps(value)}")
    return ", ".join(texts)[:_MAX_TEXT]


def _request(row: Row) -> Mapping[str, Any]:
    """Return the arguments of the first request for a row; empty if the file has none."""
    sample = next(iter(row.claims.values()))
    requests = sample.line.get("arguments")
    request = requests.get("gen_args_0") if isinstance(requests, dict) else None
    return request if isinstance(request, dict) else {}


def _messages(row: Row) -> list[dict[str, Any]] | None:
    """Return the messages that were sent to a chat model; None if there were none."""
    prompt = _request(row).get("arg_0")
    if isinstance(prompt, list) and len(prompt) == 1:
        prompt = prompt[0]
    if isinstance(prompt, str) and prompt.startswith("[{"):
        with suppress(ValueError, RecursionError):
            prompt = json.loads(prompt)
    if (
        isinstance(prompt, list)
        and prompt
        and all(isinstance(message, dict) for message in prompt)
    ):
        return prompt
    return None


def _n_pictures(row: Row) -> int | None:
    """Return how many pictures were sent; None if the file does not say what was sent."""
    request = _request(row)
    if not request:
        return None
    messages = _messages(row)
    if messages is not None:
        return sum(_is_picture(part) for part in _parts(messages))
    extra = request.get("arg_2")
    visual = extra.get("visual") if isinstance(extra, dict) else []
    return len(visual) if isinstance(visual, list) else 1


def _parts(messages: list[dict[str, Any]]) -> Iterator[Any]:
    for message in messages:
        content = message.get("content")
        yield from content if isinstance(content, list) else [content]


def _is_picture(part: Any) -> bool:
    """Return whether a part of a message is no text: a picture, a sound or a file."""
    return isinstance(part, dict) and part.get("type", "text") != "text"
