"""Drop what a reasoning model thinks aloud, so that only its reply is read."""

import re

__all__ = ["strip_reasoning"]

_THOUGHT = re.compile(
    r"<(?P<a>/?)(?:think|thinking|reasoning|thought)>|◁(?P<b>/?)think▷|\[(?P<c>/?)THINK\]"
    r"|<\|(?:begin|(?P<d>end))_of_thought\|>",
    re.IGNORECASE,
)
_CHANNEL = "<|channel|>"
_FINAL = re.compile(r"<\|channel\|>\s{0,4}final[^<]{0,40}(?:<\|constrain\|>[^<]{0,40})?<\|message\|>")
_STOP = re.compile(r"<\|(?:end|return|start|channel)\|>")


def strip_reasoning(text: str) -> str:
    """Return the reply without the reasoning before it; empty if the model never stopped thinking."""
    if _CHANNEL in text:
        finals = list(_FINAL.finditer(text))
        text = _STOP.split(text[finals[-1].end() :], maxsplit=1)[0] if finals else text.partition(_CHANNEL)[0]
    elif text.startswith("analysis"):  # the same channels without their special tokens
        text = text.rpartition("assistantfinal")[2]
    kept: list[str] = []
    position, inside = 0, False
    for tag in _THOUGHT.finditer(text):
        if any(tag.groups()):
            if not inside:
                kept.clear()
            position, inside = tag.end(), False
        elif not inside:
            kept.append(text[position : tag.start()])
            inside = True
    return "".join(kept if inside else [*kept, text[position:]])
