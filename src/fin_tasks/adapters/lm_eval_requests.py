"""Requests of a task: pictures in chat messages, and the tokens of prompts and responses."""

import base64
import hashlib
import json
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from lm_eval.models.api_models import JsonChatStr, create_image_prompt

from fin_tasks.endpoints.chat import picture_url
from fin_tasks.errors import EndpointError

_MARK = "<image>\n"

__all__ = ["usage_of", "with_pictures", "without_pictures"]


def with_pictures(chat: JsonChatStr, files: Sequence[str], draw: Callable[[], Sequence[Any]]) -> JsonChatStr:
    """Put pictures where the messages have `<image>` marks: the files' own bytes, or what `draw` returns as PNG.

    lm-eval would write a photograph anew as PNG, ten times as large.
    """
    messages = json.loads(chat.prompt)
    try:
        urls = [picture_url(Path(file)) for file in files]
    except EndpointError:  # a format that no model takes
        urls = []
    pictures = [{"type": "image_url", "image_url": {"url": url, "detail": "auto"}} for url in urls]
    pictures = pictures or create_image_prompt(list(draw()), [{"role": "user", "content": ""}])[0]["content"][:-1]
    marks = sum(message["content"].count(_MARK) for message in messages)
    messages[-1]["content"] = _MARK * (len(pictures) - marks) + messages[-1]["content"]
    left: Iterator[dict[str, Any]] = iter(
        [{}] * (marks - len(pictures)) + pictures
    )  # examples before the question show no picture
    for message in messages:
        texts = message["content"].split(_MARK)
        if len(texts) > 1:
            parts = [part for text in texts[:-1] for part in ({"type": "text", "text": text}, next(left))]
            message["content"] = [
                part for part in [*parts, {"type": "text", "text": texts[-1]}] if part.get("text", part)
            ]
    return JsonChatStr(json.dumps(messages))


def without_pictures(arguments: Any) -> Any:
    """Put a hash in place of each picture: lm-eval writes every request into the samples file once per filter."""
    if not isinstance(arguments, tuple) or not isinstance(arguments[0], JsonChatStr):
        return arguments
    messages = json.loads(arguments[0].prompt)
    for message in messages:
        for part in message["content"] if isinstance(message.get("content"), list) else ():
            kind, _, data = part.get("image_url", {}).get("url", "").partition(";base64,")
            if data:
                part["image_url"]["url"] = f"{kind};sha256,{hashlib.sha256(base64.b64decode(data)).hexdigest()}"
    return (JsonChatStr(json.dumps(messages)), *arguments[1:])


def usage_of(requests: Sequence[Any], lm: Any) -> dict[str, Any]:
    """Count `prompt_tokens` and `response_tokens`, pictures left out.

    `estimated` is true if the model has no tokenizer: the counts are then characters divided by four.
    """
    prompts = [getattr(request.args[0], "prompt", request.args[0]) for request in requests for _ in request.resps]
    responses = [text for request in requests for text in request.resps]
    texts = [[text for text in several if isinstance(text, str)] for several in (prompts, responses)]
    # The instance's own: as a property of the class a tokenizer may be downloaded.
    encode = getattr(getattr(lm, "__dict__", {}).get("tokenizer"), "encode", None)
    try:
        counts = [sum(len(encode(text)) for text in several) for several in texts] if encode else None
    except Exception:  # noqa: BLE001 - a tokenizer of any model class; a count is not worth a run
        counts = None
    found = counts or [sum(map(len, several)) // 4 for several in texts]
    return {"prompt_tokens": found[0], "response_tokens": found[1], "estimated": counts is None}
