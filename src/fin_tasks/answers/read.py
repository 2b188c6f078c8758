"""Read the answer in a whole response as a careful reader does."""

from collections.abc import Callable, Sequence
from typing import TypeVar

from fin_tasks.answers.choices import choice_in
from fin_tasks.answers.locate import Kind, commitments
from fin_tasks.answers.numbers import Number
from fin_tasks.answers.quantities import quantity_in
from fin_tasks.answers.reasoning import strip_reasoning
from fin_tasks.answers.verdicts import verdict_in

Answer = TypeVar("Answer")


def read_verdict(response: str) -> tuple[int | None, str]:
    """Read whether a statement is called true (1) or false (0); without an answer, None and the reason."""
    return _read(response, verdict_in)


def read_choice(response: str, choices: Sequence[str] = ()) -> tuple[str | None, str]:
    """Read the letter of a choice, given by letter or by text; without an answer, None and the reason."""
    return _read(response, lambda text, kind: choice_in(text, kind, choices))


def read_quantity(response: str) -> tuple[Number | None, str]:
    """Read a number with its unit; without an answer, None and the reason."""
    return _read(response, quantity_in)


def _read(response: str, read: Callable[[str, Kind], Answer | None]) -> tuple[Answer | None, str]:
    reply = strip_reasoning(response)
    reason = "no marker" if reply.strip() else "no reply"
    for kind, text, beside in commitments(reply):
        # If the next line holds another answer, both are items of a list.
        if (answer := read(text, kind)) is not None and read(beside, kind) in (None, answer):
            return answer, ""
        reason = reason if kind in ("last", "first") else "no single answer behind the marker"
    return None, reason
