"""Pictures in the chat messages that lm-eval sends to an API."""

import base64
import hashlib
import json
import re
from collections.abc import Sequence
from pathlib import Path

from fin_tasks.data.documents import IMAGE_MARK
from fin_tasks.data.pictures import picture_url

from .lm_eval_private import JsonChatStr

Part = dict[str, object]
"""A part of a message: a text or a picture."""

# No text of a message matches, because JSON escapes its quotation marks.
_DATA_URL = re.compile(r'("url": "data:[^"]*);base64,([^"]+)')


def with_pictures(chat: JsonChatStr, files: Sequence[str]) -> JsonChatStr:
    """Put picture files where the messages have marks.

    lm-eval would write the pictures anew as PNG, which is much larger.
    """
    messages = json.loads(chat.prompt)
    remaining = list(files)
    # Examples before the question show no picture, so the last marks count.
    for message in reversed(messages):
        first, *texts = message["content"].split(IMAGE_MARK)
        if not texts:
            continue
        parts = []
        for text in reversed(texts):
            parts.append({"type": "text", "text": text})
            if remaining:
                url = {"url": picture_url(Path(remaining.pop())), "detail": "auto"}
                parts.append({"type": "image_url", "image_url": url})
        parts.append({"type": "text", "text": first})
        message["content"] = [
            part for part in reversed(parts) if part.get("text") != ""
        ]
    return JsonChatStr(json.dumps(messages))


def without_pictures(chat: JsonChatStr) -> JsonChatStr:
    """Put a hash in place of each picture: lm-eval saves every request once per scoring."""
    return JsonChatStr(_DATA_URL.sub(_with_hash, chat.prompt))


def _with_hash(match: re.Match[str]) -> str:
    content = base64.b64decode(match[2])
    return f"{match[1]};sha256,{hashlib.sha256(content).hexdigest()}"
