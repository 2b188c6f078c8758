"""Types for the answer that one variant reads in a response, and for its score."""

import json
from dataclasses import asdict, dataclass

from fin_tasks.answers.numbers import Number, number_from_float
from fin_tasks.answers.read import read_quantity


@dataclass(frozen=True, kw_only=True)
class Reading:
    """The answer that one variant reads in a response; `str` gives JSON, which lm-eval writes into the samples file."""

    variant: str
    answer: int | str | float | Number | None  # 1 or 0 for a verdict, a letter, a number; None without an answer
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


def number_of_result(value: float | None, text: str | None) -> Number | None:
    """Read the result of a program: a float, or a text that is only a number, such as `7.66%`."""
    if value is not None:
        return number_from_float(value)
    return read_quantity(text[:200])[0] if text is not None and "\\" not in text else None
