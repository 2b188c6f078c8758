"""What the `answer` column of BizBench says, read once and typed.

Answers are texts: `0.0512`, `1,234`, `(5.2)`, `12.3%`, `$ 4.5 million`. An answer that cannot serve as a truth is kept,
with the reason, so that the row is counted instead of vanishing.
"""

import re
from dataclasses import dataclass
from typing import Literal

from fin_tasks.answers.notation import CURRENCY, plain
from fin_tasks.answers.numbers import Number
from fin_tasks.answers.quantities import read_number

__all__ = ["Truth", "letter_truth", "number_truth"]

TruthKind = Literal["number", "choice", "unusable"]

_LONGEST = 80
_ACCOUNTING = re.compile(rf"\A({CURRENCY}?\s*)\(\s*({CURRENCY}?\s*[\d.,]+\s*%?)\s*\)")
_UNIT = re.compile(r"(?<=[\d.)])\s*(?![eE][-+]?\d)[%¢A-Za-z].*\Z", re.DOTALL)


@dataclass(frozen=True, kw_only=True)
class Truth:
    """A ground truth.

    Attributes:
        kind: What an answer is compared as; `unusable` where the text is no answer to its question.
        number: The number with every value it may stand for; None for other kinds.
        written: The digits as they are written, sign included, per cent sign and scale word left out: what the
            `paper` variant compares with, as its reading of a response leaves them out too. None for other kinds.
        letter: Capital letter of the right option; empty for other kinds.
        reason: Why it is unusable; empty otherwise.
    """

    kind: TruthKind
    number: Number | None = None
    written: float | None = None
    letter: str = ""
    reason: str = ""


def number_truth(text: str) -> Truth:
    """Read the answer to a question for a number.

    Args:
        text: The answer as it stands in the file.

    Example:
        >>> number_truth("(5.2)").written, number_truth("$ 4.5 million").number.readings
        (-5.2, (4500000.0, 4.5))
        >>> number_truth("12.3%").written, number_truth("12.3%").number.value
        (12.3, 0.123)
        >>> number_truth("7 and 9").reason
        'not one number'
    """
    stripped = text.strip().strip("[]'\"").strip()
    if not stripped:
        return Truth(kind="unusable", reason="empty")
    text = _ACCOUNTING.sub(r"\1-\2", plain(stripped).strip())
    number = read_number(text, framed=True) if len(stripped) <= _LONGEST else None
    if number is None:
        return Truth(kind="unusable", reason="not one number")
    bare = read_number(_UNIT.sub("", text), framed=True)
    return Truth(kind="number", number=number, written=number.value if bare is None else bare.value)


def letter_truth(letter: str) -> Truth:
    """Name the right option.

    Args:
        letter: Of the right option; empty where the answer is none of them.

    Example:
        >>> letter_truth("C").kind, letter_truth("").reason
        ('choice', 'none of the options')
    """
    if not letter:
        return Truth(kind="unusable", reason="none of the options")
    return Truth(kind="choice", letter=letter)
