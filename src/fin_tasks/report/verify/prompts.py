"""Compare what was sent with the prompts that a task builds.

Around our texts only a model's chat template may stand. It is the same for every row.
"""

import json
import re
from collections import (
    Counter,
    defaultdict,
)
from collections.abc import (
    Iterator,
    Mapping,
    Sequence,
)
from typing import Any

from fin_tasks.benchmarks.contract import Document
from fin_tasks.report.verify.items import (
    Item,
    item_of,
)
from fin_tasks.report.verify.submission import Rows

_MAX_TEMPLATE = 400  # characters; an answer key for many rows is longer
_NO_TEXT = {  # values in a chat's messages that are no text for the model
    "role": ("system", "developer", "user", "assistant"),
    "type": ("text", "image_url"),
    "detail": ("auto", "low", "high"),
}
_PICTURE = re.compile(r"data:image/[\w.+-]+;(sha256|base64),[\w+/=]*")

Docs = Mapping[str, Document]
Texts = list[tuple[str, str]]
"""Texts of a prompt, each with its kind or its place."""


def check_prompts(
    rows: Rows,
    docs: Docs,
) -> Item:
    """Compare the prompts of all rows with ours."""
    changed: list[str] = []
    gaps_by_row: dict[str, Texts] = {}
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    n_missing = 0
    for row_id, row in rows.items():
        if row.arguments is None:
            n_missing += 1
            continue
        gaps = _gaps(_sent_text(row.arguments), _pieces(row_id, rows, docs), docs[row_id])
        if gaps is None:
            changed.append(f"{row_id}: a text of ours is missing")
            continue
        gaps_by_row[row_id] = gaps
        for position, text in gaps:
            counts[position][text] += 1
    template = {position: texts.most_common(1)[0][0] for position, texts in counts.items()}
    for row_id, gaps in gaps_by_row.items():
        for position, text in gaps:
            if text != template[position]:
                changed.append(f"{row_id}: {text!r:.120} stands {position}")
    if n_missing and not changed:
        return Item("prompts", "not verified", f"{n_missing:,} rows do not say what was sent")
    around = " … ".join(filter(None, template.values()))
    if len(around) > _MAX_TEMPLATE and not changed:
        evidence = f"much text stands around ours: {around!r:.{_MAX_TEMPLATE}}"
        return Item("prompts", "not verified", evidence)
    evidence = f"{len(rows):,} prompts are ours; around them stands {around!r}"
    return item_of("prompts", changed, "prompts are not ours", evidence)


def _pieces(
    row_id: str,
    rows: Rows,
    docs: Docs,
) -> Texts:
    """Return our texts in their order; later turns repeat the model's own answers."""
    doc = docs[row_id]
    turn = doc.get("turn", 1)
    pieces = [("the system message", doc.get("system") or "")]
    for earlier_id, earlier in docs.items():
        is_earlier = turn > 1 and earlier["index"] == doc["index"] and earlier["turn"] < turn
        if is_earlier and earlier_id in rows:
            pieces.append(("a question", earlier["prompt"]))
            pieces.append(("an answer", rows[earlier_id].responses[0]))
    pieces.append(("a question", doc["prompt"]))
    return [(kind, _words(text)) for kind, text in pieces]


def _gaps(
    message: str,
    pieces: Texts,
    doc: Document,
) -> Texts | None:
    """Return what stands around our texts, with its place; None if a text is missing."""
    # Base models get a cue behind a question.
    cue = _words(doc.get("cue") or "")
    gaps: Texts = []
    before = "the start"
    rest = message
    for kind, piece in pieces:
        if not piece:
            continue
        gap, separator, rest = rest.partition(piece)
        if not separator:
            return None
        gaps.append((f"between {before} and {kind}", gap.strip().removeprefix(cue)))
        before = kind
    gaps.append(("at the end", rest.strip().removeprefix(cue)))
    return gaps


def _words(text: str) -> str:
    return " ".join(text.replace("<image>", " ").split())


def _sent_text(arguments: Any) -> str:
    try:
        message = arguments["gen_args_0"]["arg_0"]
    except (KeyError, TypeError):
        message = arguments
    return _words("\n".join(_texts(message)))


def _texts(
    value: Any,
    name: str = "",
) -> Iterator[str]:
    """Yield all texts in what was sent, which may be a chat's messages or their JSON."""
    values: Sequence[Any] = ()
    if isinstance(value, str) and value.startswith("[{"):
        try:
            values = json.loads(value)
        except (ValueError, RecursionError):
            yield value
    elif isinstance(value, Mapping):
        for key, inner in value.items():
            yield from _texts(inner, key)
    elif isinstance(value, list):
        values = value
    elif value not in _NO_TEXT.get(name, ()) and not _PICTURE.fullmatch(str(value)):
        yield str(value)
    for inner in values:
        yield from _texts(inner, name)
