"""What the model was asked, compared with what it should have been: documents, prompts and hashes of a row."""

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from pathlib import PurePosixPath
from typing import Any

from fin_tasks.report.verify.closeness import same

__all__ = ["beside_ours", "changed_fields", "prompt_of", "wrong_hashes"]

_PATHS = ("figure_path", "image_path", "chart")
"""Fields with the place of a picture, whose folder is another on every machine."""
_IMAGE_MARK = "<image>\n"
_PICTURE = re.compile(r"data:image/[\w.+-]+;(?:sha256,[0-9a-f]{64}|base64,[\w+/=]{64,})")
"""A picture in a chat, or its hash in place of it as our command writes it."""


def changed_fields(theirs: Mapping[str, Any], ours: Mapping[str, Any]) -> list[str]:
    """Name the fields in which a document differs from the benchmark's own, gold answers among them.

    Example:
        >>> changed_fields({"target": "A", "chart": "/x/a.png"}, {"target": "B", "chart": "a.png"})
        ['target']
    """
    names = sorted(theirs.keys() | ours.keys())
    return [name for name in names if not _same_field(name, theirs, ours)]


def _same_field(name: str, theirs: Mapping[str, Any], ours: Mapping[str, Any]) -> bool:
    if name not in theirs:
        return not ours[name]  # nothing is said, and nothing is left out
    if name not in ours:
        return False
    one, other = theirs[name], ours[name]
    if name in _PATHS and isinstance(one, str) and isinstance(other, str):
        return _file_name(one) == _file_name(other)
    return same(one, other)


def _file_name(path: str) -> str:
    return PurePosixPath(path.replace("\\", "/")).name


def wrong_hashes(sample: Mapping[str, Any]) -> list[str]:
    """Name the hashes that do not belong to what stands beside them, made as lm-eval makes them."""
    made = {
        "doc_hash": _sha256(json.dumps(sample.get("doc"), indent=2, ensure_ascii=False)),
        "prompt_hash": _sha256(prompt_of(sample)),
        "target_hash": _sha256(str(sample.get("target"))),
    }
    return [name for name, value in made.items() if sample.get(name) != value]


def prompt_of(sample: Mapping[str, Any]) -> str:
    """Return the prompt as it was sent: text, or a chat's messages as JSON; empty where there is none."""
    arguments = sample.get("arguments")
    first = arguments.get("gen_args_0") if isinstance(arguments, dict) else None
    sent = first.get("arg_0") if isinstance(first, dict) else None
    if isinstance(sent, list) and sent:  # a chat's messages, wrapped
        sent = sent[0]
    return sent if isinstance(sent, str) else ""


def beside_ours(prompt: str, ours: Mapping[str, Any]) -> str | None:
    """Return what a prompt says beside a document's system message, question and cue; None without the question.

    A chat template, or lm-eval's own system instruction, is the same in every row.

    Example:
        >>> doc = {"system": "You add.", "prompt": "1 + 1?", "cue": "Sum:"}
        >>> beside_ours("<s>You add.</s><u>1 + 1?</u>", doc), beside_ours("1 + 2?", doc)
        ('<s></s><u></u>', None)
    """
    text = _texts(prompt)
    question = str(ours.get("prompt", "")).removeprefix(_IMAGE_MARK).strip()
    before, found, after = text.rpartition(question)
    if not found:
        return None
    system, cue = str(ours.get("system", "")).strip(), str(ours.get("cue", "")).strip()
    if system:
        before = before.replace(system, "", 1)
    if cue:
        after = after.replace(cue, "", 1)
    return re.sub(r"\s+", " ", f"{before}{after}".replace("<image>", "")).strip()


def _texts(prompt: str) -> str:
    """Return the texts of a chat's messages, one after the other; a prompt that is no chat as it is."""
    if not prompt.startswith("["):
        return prompt
    try:
        messages = json.loads(prompt)
    except (ValueError, RecursionError):
        return prompt
    if not isinstance(messages, list) or not all(isinstance(one, dict) for one in messages):
        return prompt
    return "\n".join(filter(None, (_message(message) for message in messages)))


def _message(message: Mapping[str, Any]) -> str:
    """Return a message's text, and whatever else it tells beside its role."""
    content = message.get("content")
    parts = content if isinstance(content, list) else [{"text": content}]
    texts = [_part(part) for part in parts]
    return "\n".join(filter(None, [*texts, _others(message, ("role", "content"))]))


def _part(part: Any) -> str:
    if not isinstance(part, dict):
        return json.dumps(part)
    text = part.get("text")
    said = text if isinstance(text, str) else "" if text is None else json.dumps(text)
    url = part["image_url"].get("url") if isinstance(part.get("image_url"), dict) else None
    is_picture = isinstance(url, str) and _PICTURE.fullmatch(url)
    return f"{said}{_others(part, ('type', 'text', 'image_url') if is_picture else ('type', 'text'))}"


def _others(values: Mapping[str, Any], known: Sequence[str]) -> str:
    others = {name: value for name, value in values.items() if name not in known}
    return json.dumps(others, sort_keys=True) if others else ""


def _sha256(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()
