"""Read the answer in a whole response as a careful reader does."""

from collections.abc import Callable, Sequence

from fin_tasks.answers.choices import choice_in
from fin_tasks.answers.locate import Kind, commitments
from fin_tasks.answers.numbers import Number, number_from_float
from fin_tasks.answers.quantities import quantity_in
from fin_tasks.answers.reasoning import strip_reasoning
from fin_tasks.answers.types import Answer, Extraction
from fin_tasks.answers.verdicts import verdict_in


def read_verdict(response: str) -> Extraction[int]:
    """Read whether a statement is called true (1) or false (0)."""
    return _read(response, verdict_in)


def read_choice(response: str, choices: Sequence[str] = ()) -> Extraction[str]:
    """Read the letter of a choice, given by letter or by text."""
    return _read(response, lambda text, kind: choice_in(text, kind, choices))


def read_quantity(response: str) -> Extraction[Number]:
    """Read a number with its unit."""
    return _read(response, quantity_in)


def number_of_result(value: float | None, text: str | None) -> Number | None:
    """Read the result of a program: a float, or a text that is only a number, such as `7.66%`."""
    if value is not None:
        return number_from_float(value)
    return read_quantity(text[:200]).answer if text is not None and "\\" not in text else None


def _read(response: str, read: Callable[[str, Kind], Answer | None]) -> Extraction[Answer]:
    reply = strip_reasoning(response)
    reason = "no marker" if reply.strip() else "no reply"
    for kind, text, beside in commitments(reply):
        # If the next line holds another answer, both are items of a list.
        if (answer := read(text, kind)) is not None and read(beside, kind) in (None, answer):
            return Extraction(answer=answer, rule=kind)
        reason = reason if kind in ("last", "first") else "no single answer behind the marker"
    return Extraction(answer=None, reason=reason)
