"""Options of chat requests that a server refuses, whatever its words, and what is sent instead.

A refusal is learned once, and then holds for all requests to that server.
"""

import json
import logging
import re
from collections.abc import Mapping
from typing import Any

Request = Mapping[str, Any]
"""The body of a chat request."""
Refused = dict[str, str]
"""What a server refused, and what is done instead, in words for results."""

LEFT_OUT = "left out"
OTHER_NAME = "max_completion_tokens"
MOVED = "moved into the user's message"
_LIMIT = "max_tokens"
_SYSTEM = "system message"
_HOT = "temperature above 1"
_SHOWN_CHARACTERS = 2000
_SHOWN_PARTS = 10
_TELLING = ("message", "param", "loc", "msg", "detail")
"""The parts of an error that say what is refused."""
_log = logging.getLogger(__name__)

_NAMES_LIMIT = re.compile(
    r"\bmax_(?:completion_|output_|new_)?tokens\b|\btoken limit\b"
)
_IS_SMALL = re.compile(
    r"\breached\b|\bminimum\b|\bat least\b|\bbelow\b|\bgreater than\b|>="
    r"|\btoo (?:small|low)\b|\bhigher\b"
)
_IS_LARGE = re.compile(r"\bcontext\b|\btoo (?:large|long|high|many)\b|\bexceed")
_NAMES_SYSTEM = re.compile(
    r"\bsystem['\"`]? (?:role|messages?|prompts?|instructions?)\b|\brole\b.{0,80}\bsystem\b"
    r"|\bdeveloper instruction|\broles must alternate\b|'user' or 'assistant'",
    re.DOTALL,
)


def refusal_text(body: object) -> str:
    """Return what the body of an error says, without the request that some servers repeat in it."""
    content = body
    if isinstance(content, Mapping):
        content = content.get("error") or content.get("detail") or content
    if isinstance(content, list):
        return "; ".join(map(refusal_text, content[:_SHOWN_PARTS]))
    if isinstance(content, Mapping):
        parts = [str(content[name]) for name in _TELLING if content.get(name)]
        content = " ".join(parts) or json.dumps(content)
    return " ".join(str(content or "").split())[:_SHOWN_CHARACTERS]


def says_limit_is_small(text: str) -> bool:
    """Return whether a refusal says that the limit of tokens is too small, or was used up by reasoning."""
    text = text.lower()
    is_about_limit = _NAMES_LIMIT.search(text) and not _IS_LARGE.search(text)
    return bool(is_about_limit and _IS_SMALL.search(text))


def learn(refused: Refused, request: Request, text: str) -> bool:
    """Note what a refusal names; return whether the request can be sent in another way.

    Args:
        refused: What the server refused before; new entries are added.
        request: What was sent.
        text: What `refusal_text` returned.
    """
    text = text.lower()
    known = dict(refused)
    is_named = True
    if "temperature" in request and "temperature" in text:
        option = _HOT if request["temperature"] > 1 else "temperature"
        refused[option] = LEFT_OUT
    elif "top_p" in request and re.search(r"\btop_?p\b", text):
        refused["top_p"] = LEFT_OUT
    elif request["messages"][0]["role"] == "system" and _NAMES_SYSTEM.search(text):
        refused[_SYSTEM] = MOVED
    elif not _NAMES_LIMIT.search(text) or _IS_LARGE.search(text):
        is_named = False
    elif _LIMIT in request:
        refused.setdefault(_LIMIT, OTHER_NAME)
    elif OTHER_NAME in request:
        refused[_LIMIT] = LEFT_OUT
    else:
        is_named = False
    if refused != known:
        new = {
            name: change
            for name, change in refused.items()
            if known.get(name) != change
        }
        _log.warning("the server refuses an option, which is changed: %s", new)
    return is_named


def usable(request: Request, refused: Refused) -> dict[str, Any]:
    """Return a request without what the server refused."""
    options = dict(request)
    if _SYSTEM in refused:
        options["messages"] = _without_system(request["messages"])
    is_hot = _HOT in refused and options.get("temperature", 0) > 1
    if is_hot or "temperature" in refused:
        options.pop("temperature", None)
    if "top_p" in refused:
        options.pop("top_p", None)
    if _LIMIT in refused and _LIMIT in options:
        limit = options.pop(_LIMIT)
        if refused[_LIMIT] == OTHER_NAME:
            options[OTHER_NAME] = limit
    return options


def _without_system(messages: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Put the system message before the text of the user's message."""
    if messages[0]["role"] != "system":
        return messages
    system, user, *others = messages
    content = user["content"]
    if isinstance(content, str):
        content = f"{system['content']}\n\n{content}"
    else:
        content = [{"type": "text", "text": system["content"]}, *content]
    return [{**user, "content": content}, *others]
