"""Read the answer in a whole response as a careful reader does, and the types for what is read and for its score."""

import json
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import TypeVar

from fin_tasks.answers.choices import choice_in
from fin_tasks.answers.locate import Kind, commitments
from fin_tasks.answers.numbers import Number, number_from_float
from fin_tasks.answers.quantities import quantity_in
from fin_tasks.answers.reasoning import strip_reasoning
from fin_tasks.answers.verdicts import verdict_in

Answer = TypeVar("Answer")


@dataclass(frozen=True, kw_only=True)
class Reading:
    """The answer that one variant reads in a response; `str` gives JSON, which lm-eval writes into the samples file."""

    variant: str
    answer: (
        int | str | float | Number | None
    )  # 1 or 0 for a verdict, a letter, a number; None without an answer
    reason: str = ""  # why there is no answer, or why the response cannot be scored
    unscored: bool = False  # the judge or the sandbox failed, so nothing is known about the answer
    status: str | None = None  # how the program ended, as `sandbox.Status` has it

    def __str__(self) -> str:
        answer = self.answer.value if isinstance(self.answer, Number) else self.answer
        return json.dumps({**asdict(self), "answer": answer}, ensure_ascii=False)


@dataclass(frozen=True, kw_only=True)
class Score:
    """The score of one answer; `correct` and `correct_err` are None if it cannot be scored."""

    answer: int | str | float | None
    correct: bool | None
    correct_err: bool | None  # whether a number is right within 0.5 %; None for other tasks
    reason: str
    status: str | None = None


def read_verdict(response: str) -> tuple[int | None, str]:
    """Read whether a statement is called true (1) or false (0); without an answer, None and the reason."""
    return _read(response, verdict_in)


def read_choice(response: str, choices: Sequence[str] = ()) -> tuple[str | None, str]:
    """Read the letter of a choice, given by letter or by text; without an answer, None and the reason."""
    return _read(response, lambda text, kind: choice_in(text, kind, choices))


def read_quantity(response: str) -> tuple[Number | None, str]:
    """Read a number with its unit; without an answer, None and the reason."""
    return _read(response, quantity_in)


def number_of_result(value: float | None, text: str | None) -> Number | None:
    """Read the result of a program: a float, or a text that is only a number, such as `7.66%`."""
    if value is not None:
        return number_from_float(value)
    return read_quantity(text[:200])[0] if text is not None and "\\" not in text else None


def _read(response: str, read: Callable[[str, Kind], Answer | None]) -> tuple[Answer | None, str]:
    reply = strip_reasoning(response)
    reason = "no marker" if reply.strip() else "no reply"
    for kind, text, beside in commitments(reply):
        # If the next line holds another answer, both are items of a list.
        if (answer := read(text, kind)) is not None and read(beside, kind) in (None, answer):
            return answer, ""
        reason = reason if kind in ("last", "first") else "no single answer behind the marker"
    return None, reason
