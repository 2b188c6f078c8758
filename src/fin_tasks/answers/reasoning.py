"""Separate the reasoning of a reasoning model from its reply, so that only the reply is read."""

from typing import NamedTuple

from .phrases import Phrases

_SIGNS = Phrases("reasoning")

_REPLY_STARTS = "<|START_RESPONSE|>"
"""Command models write this before the reply."""
_BARE_FINAL = "assistantfinal"
"""gpt-oss writes this before the reply, if the tokenizer leaves out the tokens of its channels."""


class _Parts(NamedTuple):
    """The reply in a response, and whether the response ends before the reasoning does."""

    reply: str
    is_open: bool


def strip_reasoning(text: str) -> str:
    """Return the reply without the reasoning; empty if the model never stopped thinking."""
    return _split(text).reply


def is_reasoning_open(text: str) -> bool:
    """Return whether a response ends before its reasoning does, so that no reply follows it."""
    return _split(text).is_open


def _split(text: str) -> _Parts:
    if "<|channel|>" in text:
        return _split_channels(text)
    if text.startswith("analysis") and _BARE_FINAL in text:
        return _Parts(text.rpartition(_BARE_FINAL)[2], is_open=False)
    if _SIGNS.only_analysis.match(text):
        return _Parts("", is_open=True)
    if _REPLY_STARTS in text:
        reply = text.rpartition(_REPLY_STARTS)[2]
        return _Parts(reply.partition("<|END_RESPONSE|>")[0], is_open=False)
    return _split_tags(text)


def _split_channels(text: str) -> _Parts:
    finals = list(_SIGNS.final_channel.finditer(text))
    if not finals:
        # What stands before the first channel is no reasoning.
        reply = _SIGNS.channel_ends.split(text, maxsplit=1)[0]
        return _Parts(reply, is_open=True)
    rest = text[finals[-1].end() :]
    return _Parts(_SIGNS.channel_ends.split(rest, maxsplit=1)[0], is_open=False)


def _split_tags(text: str) -> _Parts:
    reply = ""
    position = 0
    is_open = False
    for tag in _SIGNS.tag.finditer(text):
        if tag.lastgroup == "closes":
            if not is_open:
                # The prompt opened the reasoning, so all text before the tag is reasoning.
                reply = ""
            position = tag.end()
            is_open = False
        elif not is_open:
            reply += text[position : tag.start()]
            is_open = True
    if not is_open:
        reply += text[position:]
    return _Parts(reply, is_open=is_open)
