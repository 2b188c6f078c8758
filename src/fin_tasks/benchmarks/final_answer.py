"""Let a model read the final answer of a response in which the rules find none.

The model sees the question, its choices and the response, never the truth. Its reply is a copy of
the answer or NONE, and our rules read the reply.
"""

from collections.abc import Sequence
from dataclasses import replace
from itertools import chain
from typing import Literal

from fin_tasks.answers.choices import lettered, read_choice
from fin_tasks.answers.numbers import Number, find_numbers
from fin_tasks.answers.quantities import read_quantity
from fin_tasks.answers.text import is_cut_off, plain, strip_reasoning
from fin_tasks.answers.types import Extraction, Reading
from fin_tasks.answers.verdicts import read_verdict
from fin_tasks.judging.item import Item, Judged

from .contract import Document
from .request import MARKER

Kind = Literal["verdict", "letter", "number"]
AnyExtraction = (
    Extraction[int] | Extraction[str] | Extraction[float] | Extraction[Number]
)

RUBRIC = "final_answer"

_LONGEST_REPLY = 80
"""A reply of more characters is no copy of an answer."""
# The model sees so many characters from the end of a text, where results stand, and questions below
# a document.
_SHOWN_QUESTION = 4_000
_SHOWN_RESPONSE = 12_000


def item_of(
    kind: Kind, doc: Document, response: str, choices: Sequence[str] = ()
) -> Item | None:
    """Return what the model is shown; None for a response without a reply, such as one that was cut off."""
    reply = strip_reasoning(response).strip()
    if not reply or is_cut_off(response):
        return None
    question = doc.get("question") or doc.get("prompt") or "-"
    return Item(
        question=question[-_SHOWN_QUESTION:],
        answer="-",
        background=lettered(choices),
        response=reply[-_SHOWN_RESPONSE:],
        category=kind,
    )


def read_by_model(kind: Kind, judged: Judged, choices: Sequence[str] = ()) -> Reading:
    """Read the model's last reply.

    The response is unscored if there is no reply, or if the reply is no copy of an answer.
    """
    reading = Reading(
        scoring="robust",
        answer=None,
        by="model",
        replies=judged.replies,
    )
    if judged.error:
        return replace(reading, reason=judged.error, unscored=True)
    reply = strip_reasoning(judged.replies[-1]).strip(' \t\r\n"`*.')
    if reply.lower() == "none":
        return replace(reading, reason="the model found no final answer")
    answer = _answer_in(kind, reply, judged.response, choices)
    if answer is None:
        reason = (
            f"expected an answer of the response from the model, got {reply[:80]!r}"
        )
        return replace(reading, reason=reason, unscored=True)
    return replace(reading, answer=answer)


def _answer_in(
    kind: Kind, reply: str, response: str, choices: Sequence[str]
) -> int | str | Number | None:
    """Return the answer that a reply copies; None if the reply is another text, or is not in the response."""
    if len(reply) > _LONGEST_REPLY or "\n" in reply:
        return None
    if kind == "verdict":
        return read_verdict(f"{MARKER} {reply}.").answer
    if kind == "letter":
        return read_choice(f"{MARKER} {reply}.", choices).answer
    number = read_quantity(f"{MARKER} [{reply}].").answer
    return number if number and _is_in(number, strip_reasoning(response)) else None


def _is_in(number: Number, response: str) -> bool:
    """Return whether a response has a number, with any unit or sign."""
    sizes = set(map(abs, number.values))
    mentions = find_numbers(plain(response))
    readings = chain.from_iterable(mention.number.values for mention in mentions)
    return not sizes.isdisjoint(map(abs, readings))
