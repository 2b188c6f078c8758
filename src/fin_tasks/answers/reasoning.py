"""Drop what a reasoning model thinks aloud, so that only its reply is read."""

import re

__all__ = ["strip_reasoning"]

_TAG = re.compile(
    r"<(?P<close>/?)(?:think|thinking|reasoning|thought)>"
    r"|(?P<kimi>◁(?P<kimi_close>/?)think▷)"
    r"|\[(?P<mistral_close>/?)THINK\]"
    r"|<\|(?:begin|(?P<end>end))_of_thought\|>",
    re.IGNORECASE,
)
_CHANNEL = "<|channel|>"
_FINAL = re.compile(r"<\|channel\|>\s{0,4}final[^<]{0,40}(?:<\|constrain\|>[^<]{0,40})?<\|message\|>")
_STOP = re.compile(r"<\|(?:end|return|start|channel)\|>")
_BARE_FINAL = "assistantfinal"


def strip_reasoning(text: str) -> str:
    """Return the reply without the reasoning before it.

    Tagged blocks go (`<think>`, `<thinking>`, `<reasoning>` and a few spellings of other model families). Where the
    opening tag is missing, as with chat templates that write it themselves, all up to the last closing tag goes.
    Where the closing tag is missing the model never stopped thinking: all after the opening tag goes, so there is no
    answer in it. Of channelled output only the final channel stays.

    Example:
        >>> strip_reasoning("<think>Maybe 5?</think>It is 6.")
        'It is 6.'
        >>> strip_reasoning("Maybe 5?</think>It is 6."), strip_reasoning("<think>Maybe 5?")
        ('It is 6.', '')
    """
    if _CHANNEL in text:
        text = _final_channel(text)
    elif text.startswith("analysis") and _BARE_FINAL in text:
        # The same channels after a decoder dropped their special tokens.
        text = text.rpartition(_BARE_FINAL)[2]
    return _outside_tags(text)


def _final_channel(text: str) -> str:
    finals = list(_FINAL.finditer(text))
    if not finals:
        return text[: text.index(_CHANNEL)]
    reply = text[finals[-1].end() :]
    stop = _STOP.search(reply)
    return reply[: stop.start()] if stop else reply


def _outside_tags(text: str) -> str:
    kept: list[str] = []
    position, inside = 0, False
    for tag in _TAG.finditer(text):
        if tag["close"] or tag["kimi_close"] or tag["mistral_close"] or tag["end"]:
            if not inside:
                kept.clear()
            position, inside = tag.end(), False
        elif not inside:
            kept.append(text[position : tag.start()])
            inside = True
    if not inside:
        kept.append(text[position:])
    return "".join(kept)
