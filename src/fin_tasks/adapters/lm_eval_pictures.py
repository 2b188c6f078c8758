"""Pictures in chat messages for APIs: put in before the model is asked, replaced by their hash afterwards."""

import base64
import hashlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from lm_eval.models.api_models import JsonChatStr, create_image_prompt

from fin_tasks.endpoints.pictures import Picture
from fin_tasks.errors import EndpointError

__all__ = ["with_picture", "without_pictures"]

_IMAGE_MARK = "<image>\n"


def with_picture(chat: JsonChatStr, file: str | None, draw: Callable[[], Any]) -> JsonChatStr:
    """Put a document's picture into its last message.

    Args:
        chat: The messages, the last one with the mark of lm-eval's own multimodal models.
        file: The picture, sent byte for byte: lm-eval would write a photograph anew as PNG, ten times as large.
        draw: Returns the pictures if there is no file, or one that chat models do not take as it is.
    """
    messages = json.loads(chat.prompt)
    text = messages[-1]["content"].replace(_IMAGE_MARK, "", 1)
    messages[-1]["content"] = text
    address = None
    if file:
        try:
            address = Picture(Path(file)).data_address()
        except EndpointError:
            address = None
    if address is None:
        messages = create_image_prompt(draw(), messages)
    else:
        image = {"type": "image_url", "image_url": {"url": address, "detail": "auto"}}
        messages[-1]["content"] = [image, {"type": "text", "text": text}]
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
