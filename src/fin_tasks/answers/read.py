"""Read an answer in a whole response as a careful reader does."""

from collections.abc import Sequence

from fin_tasks.answers.choices import bare_choice
from fin_tasks.answers.choices import read_choice as _choice
from fin_tasks.answers.marker import committed_text
from fin_tasks.answers.numbers import Number
from fin_tasks.answers.quantities import read_bare
from fin_tasks.answers.quantities import read_quantity as _quantity
from fin_tasks.answers.reasoning import strip_reasoning
from fin_tasks.answers.verdicts import bare_verdict
from fin_tasks.answers.verdicts import read_verdict as _verdict

__all__ = ["read_choice", "read_quantity", "read_verdict"]


def read_verdict(response: str) -> tuple[int | None, str]:
    """Read whether a statement is called true (1) or false (0); without an answer, None and the reason."""
    reply = strip_reasoning(response)
    committed = committed_text(reply)
    answer = bare_verdict(reply) if committed is None else _verdict(committed)
    return answer, _reason(answer, reply, committed)


def read_choice(response: str, choices: Sequence[str] = ()) -> tuple[str | None, str]:
    """Read the letter of a choice, given by letter or by text; without an answer, None and the reason."""
    reply = strip_reasoning(response)
    committed = committed_text(reply)
    answer = bare_choice(reply, choices) if committed is None else _choice(committed, choices)
    return answer, _reason(answer, reply, committed)


def read_quantity(response: str) -> tuple[Number | None, str]:
    """Read a number with its unit; without an answer, None and the reason."""
    reply = strip_reasoning(response)
    committed = committed_text(reply)
    answer = read_bare(reply) if committed is None else _quantity(committed)
    return answer, _reason(answer, reply, committed)


def _reason(answer: object, reply: str, committed: str | None) -> str:
    if answer is not None:
        return ""
    if not reply.strip():
        return "no reply"
    return "no marker" if committed is None else "no single answer behind the marker"
