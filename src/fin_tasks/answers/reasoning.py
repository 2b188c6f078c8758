"""Drop the reasoning of a reasoning model, so that only its reply is read."""

import re

# A tag of one family of models opens the thoughts; with a slash or `end`, it closes them.
_THOUGHT = re.compile(
    r"<(?P<a>/?)(?:think|thinking|reasoning|thought)>|◁(?P<b>/?)think▷|\[(?P<c>/?)THINK\]"
    r"|<\|(?:begin|(?P<d>end))_of_thought\|>",
    re.IGNORECASE,
)
_FINAL = re.compile(
    r"<\|channel\|>\s{0,4}final[^<]{0,40}(?:<\|constrain\|>[^<]{0,40})?<\|message\|>"
)


def strip_reasoning(text: str) -> str:
    """Return the reply without the reasoning before it; empty if the model never stopped thinking."""
    if "<|channel|>" in text:
        finals = list(_FINAL.finditer(text))
        text = text[finals[-1].end() :] if finals else text
        text = re.split(r"<\|(?:end|return|start|channel)\|>", text, maxsplit=1)[0]
    elif text.startswith("analysis"):  # the same channels without their special tokens
        text = text.rpartition("assistantfinal")[2]
    kept, position, inside = "", 0, False
    for tag in _THOUGHT.finditer(text):
        if any(tag.groups()):
            kept = kept if inside else ""
            position, inside = tag.end(), False
        elif not inside:
            kept, inside = kept + text[position : tag.start()], True
    return kept if inside else kept + text[position:]
