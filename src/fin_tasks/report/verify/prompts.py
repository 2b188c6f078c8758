"""Compare what was sent with the prompts that a task builds.

Around our texts only a model's chat template may stand. It is the same for every row.
"""

from collections.abc import Mapping
from typing import NamedTuple

import pandas as pd

from fin_tasks.benchmarks.contract import Document

from .items import Item, Rows, item_of

_MAX_TEMPLATE = 400  # characters; an answer key for many rows is longer

Docs = Mapping[str, Document]
Texts = list[tuple[str, str]]
"""Texts of a prompt, each with its kind or its place."""


class Prompts(NamedTuple):
    """How what was sent differs from the prompts that a task builds."""

    missing: list[str]
    """Rows in which a text of the task is missing."""
    odd: list[str]
    """Rows with text around ours that other rows do not have."""
    around: str
    """What stands around our texts in most rows."""
    n_unknown: int
    """How many rows do not say what was sent."""


def compare_prompts(rows: Rows, docs: Docs) -> Prompts:
    """Compare the prompts of all rows with ours."""
    missing = []
    gaps = []
    for row_id, row in rows.items():
        if row.prompt is None:
            continue
        own_gaps = _gaps(row.prompt, _pieces(row_id, rows, docs), docs[row_id])
        if own_gaps is None:
            missing.append(f"{row_id}: a text of the task is missing")
            continue
        gaps += [(row_id, *gap) for gap in own_gaps]
    table = pd.DataFrame(gaps, columns=["row", "place", "text"])
    template = table.groupby("place", sort=False)["text"].agg(
        lambda texts: texts.mode()[0]
    )
    is_odd = table["text"] != table["place"].map(template)
    odd = []
    for row_id, place, text in table[is_odd].itertuples(index=False):
        odd.append(f"{row_id}: {text!r:.120} is {place}")
    n_unknown = sum(row.prompt is None for row in rows.values())
    return Prompts(missing, odd, " … ".join(filter(None, template)), n_unknown)


def check_prompts(rows: Rows, docs: Docs) -> Item:
    """Say whether the prompts of all rows are ours."""
    prompts = compare_prompts(rows, docs)
    changed = prompts.missing + prompts.odd
    around = prompts.around
    if prompts.n_unknown and not changed:
        return Item(
            "prompts",
            "not verified",
            f"{prompts.n_unknown:,} rows do not say what was sent",
        )
    if len(around) > _MAX_TEMPLATE and not changed:
        return Item(
            "prompts",
            "not verified",
            f"there is much text around the prompts: {around!r:.{_MAX_TEMPLATE}}",
        )
    around_text = f"with {around!r} around them" if around else "no other text"
    return item_of(
        "prompts",
        changed,
        "prompts are not those of the task",
        f"{len(rows):,} questions were sent with the prompts of the task, and {around_text}",
    )


def _pieces(row_id: str, rows: Rows, docs: Docs) -> Texts:
    """Return our texts in their order; later turns repeat the model's own answers."""
    doc = docs[row_id]
    turn = doc.get("turn", 1)
    pieces = [("the system message", doc.get("system") or "")]
    for earlier_id, earlier in docs.items():
        is_earlier = (
            turn > 1 and earlier["index"] == doc["index"] and earlier["turn"] < turn
        )
        if is_earlier and earlier_id in rows:
            pieces.append(("a question", earlier["prompt"]))
            pieces.append(("an answer", rows[earlier_id].responses[0]))
    return [*pieces, ("a question", doc["prompt"])]


def _gaps(prompt: str, pieces: Texts, doc: Document) -> Texts | None:
    """Return what stands around our texts, with its place; None if a text is missing."""
    # Base models get a cue behind a question.
    cue = _words(doc.get("cue") or "")
    gaps = []
    before = "the start"
    rest = _words(prompt)
    for kind, piece in pieces:
        words = _words(piece)
        if words:
            gap, separator, rest = rest.partition(words)
            if not separator:
                return None
            gaps.append((f"between {before} and {kind}", gap.strip().removeprefix(cue)))
            before = kind
    return [*gaps, ("at the end", rest.strip().removeprefix(cue))]


def _words(text: str) -> str:
    return " ".join(text.replace("<image>", " ").split())
