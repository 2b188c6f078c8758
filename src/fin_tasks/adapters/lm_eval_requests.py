"""Requests of a task: pictures in chat messages, and the tokens of prompts and responses."""

import base64
import hashlib
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from lm_eval.models.api_models import JsonChatStr, create_image_prompt

from fin_tasks.endpoints.chat import picture_url
from fin_tasks.errors import EndpointError

_MARK = "<image>\n"

__all__ = ["usage_of", "with_pictures", "without_pictures"]


def with_pictures(chat: JsonChatStr, pictures: Sequence[Any], files: Sequence[str]) -> JsonChatStr:
    """Put pictures where the messages have `<image>` marks: the files' own bytes if there are any, else PNG.

    lm-eval would write a photograph anew as PNG, ten times as large.
    """
    messages = json.loads(chat.prompt)
    try:
        urls = [picture_url(Path(file)) for file in files]
    except EndpointError:  # a format that no model takes
        urls = []
    left: list[Any] = [{"type": "image_url", "image_url": {"url": url, "detail": "auto"}} for url in urls]
    left = left or create_image_prompt(list(pictures), [{"role": "user", "content": ""}])[0]["content"][:-1]
    marks = sum(message["content"].count(_MARK) for message in messages)
    messages[-1]["content"] = _MARK * (len(left) - marks) + messages[-1]["content"]
    for message in reversed(messages):  # from the end, as examples before the question show no picture
        *texts, last = message["content"].split(_MARK)
        if texts:
            parts = [{"type": "text", "text": last}]
            for text in reversed(texts):
                parts = [{"type": "text", "text": text}, *([left.pop()] if left else []), *parts]
            message["content"] = [part for part in parts if part.get("text", part)]
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
    texts = (prompts, [text or "" for request in requests for text in request.resps])
    # The instance's own: as a property of the class a tokenizer may be downloaded.
    encode: Any = getattr(getattr(lm, "__dict__", {}).get("tokenizer"), "encode", None)
    try:
        counts, estimated = [sum(len(encode(text)) for text in several) for several in texts], False
    except Exception:  # noqa: BLE001 - no tokenizer, or one of any kind; a count is not worth a run
        counts, estimated = [sum(map(len, several)) // 4 for several in texts], True
    return {"prompt_tokens": counts[0], "response_tokens": counts[1], "estimated": estimated}
