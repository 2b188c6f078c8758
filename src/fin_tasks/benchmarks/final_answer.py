"""Let a model read the final answer of a response in which the rules find none.

The model sees the question, its choices and the response, never the truth. Its reply is a copy of
the answer or NONE, and our rules read the reply.
"""

from collections.abc import Sequence
from dataclasses import replace
from string import ascii_uppercase
from typing import Literal

from fin_tasks.answers.choices import lettered
from fin_tasks.answers.cut_off import is_cut_off
from fin_tasks.answers.notation import plain
from fin_tasks.answers.numbers import Number, find_numbers
from fin_tasks.answers.read import read_choice, read_quantity, read_verdict
from fin_tasks.answers.reasoning import strip_reasoning
from fin_tasks.answers.types import Extraction, Reading
from fin_tasks.benchmarks.contract import Document, ReadingFields
from fin_tasks.benchmarks.short_answers_paper import MARKER
from fin_tasks.judging.item import Item, Judged

Kind = Literal["verdict", "letter", "number"]
AnyExtraction = (
    Extraction[int] | Extraction[str] | Extraction[float] | Extraction[Number]
)

RUBRIC = "final_answer"
READER_OPTIONS = ("reader_model", "reader_base_url", "reader_key")
"""The metadata that name the model."""
READ_BY_MODEL = "read_by_model"
"""The share of responses that the model read, in reports."""

_NONE = "none"
_AROUND_ANSWER = ' \t\r\n"`*.'
_LONGEST_REPLY = 80
"""A reply of more characters is no copy of an answer."""
_SHOWN_QUESTION = 4_000
_SHOWN_RESPONSE = 12_000
"""So many characters are shown. Results stand at the end, and so does a question behind its document."""


def item_of(
    kind: Kind,
    doc: Document,
    response: str,
    choices: Sequence[str] = (),
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


def was_asked(judged: Judged) -> bool:
    """Return whether the model was asked about a response."""
    return bool(judged.replies or judged.error)


def read_by_model(
    kind: Kind,
    judged: Judged,
    *,
    variant: str,
    choices: Sequence[str] = (),
) -> Reading:
    """Read the model's last reply.

    The response is unscored if there is no reply, or if the reply is no copy of an answer.
    """
    reading = Reading(
        variant=variant,
        answer=None,
        by="model",
        replies=tuple(reply.text for reply in judged.replies),
    )
    if judged.error:
        return replace(reading, reason=judged.error, unscored=True)
    reply = strip_reasoning(judged.replies[-1].text).strip(_AROUND_ANSWER)
    if reply.lower() == _NONE:
        return replace(reading, reason="the model found no final answer")
    answer = _answer_in(kind, reply, judged.response, choices)
    if answer is None:
        reason = (
            f"expected an answer of the response from the model, got {reply[:80]!r}"
        )
        return replace(reading, reason=reason, unscored=True)
    return replace(reading, answer=answer)


def share_read_by_model(readings: Sequence[ReadingFields]) -> float | None:
    """Return the share of responses that a model read; None without a response."""
    if not readings:
        return None
    scored = [reading for reading in readings if reading.get("unscored") is not True]
    n_read = [reading.get("by") for reading in scored].count("model")
    return n_read / len(readings)


def _answer_in(
    kind: Kind,
    reply: str,
    response: str,
    choices: Sequence[str],
) -> int | str | Number | None:
    """Return the answer that a reply copies; None if it is another text, or if it is made up."""
    if len(reply) > _LONGEST_REPLY or "\n" in reply:
        return None
    if kind == "verdict":
        return read_verdict(f"{MARKER} {reply}.").answer
    if kind == "letter":
        letter = read_choice(f"{MARKER} {reply}.", choices).answer
        n_choices = len(choices) or None
        return letter if letter and letter in ascii_uppercase[:n_choices] else None
    number = read_quantity(f"{MARKER} [{reply}].").answer
    return number if number and _is_in(number, strip_reasoning(response)) else None


def _is_in(number: Number, response: str) -> bool:
    """Return whether a response has a number, with any unit or sign."""
    sizes = set(map(abs, number.readings))
    shown_sizes: set[float] = set()
    for mention in find_numbers(plain(response)):
        shown_sizes.update(map(abs, mention.number.readings))
    return not sizes.isdisjoint(shown_sizes)
