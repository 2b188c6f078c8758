"""What the `ground_truth` column of XFinBench says, read once and typed.

The files write the same thing in many ways: `1.0`, `0` or `True` for a verdict, an en dash for a minus, scientific
notation, and once two numbers in one cell. A truth that cannot serve as one is kept, with the reason, so that the
row can be counted instead of vanishing.
"""

import math
import re
from dataclasses import dataclass
from typing import Literal

from fin_tasks.errors import ConfigError

__all__ = ["TASKS", "Task", "Truth", "TruthKind", "normalise_task", "parse_truth"]

Task = Literal["bool", "mcq", "calcu"]
TruthKind = Literal["verdict", "choice", "number", "unusable"]

TASKS: tuple[Task, ...] = ("bool", "mcq", "calcu")

_DASHES = str.maketrans({dash: "-" for dash in "‐‑‒–—−﹣-"})
_NUMBER = re.compile(r"[-+]?(?:\d{1,3}(?:,\d{3})+(?:\.\d*)?|\d+(?:\.\d*)?|\.\d+)(?:[eE][-+]?\d+)?")
_AMOUNT = re.compile(
    r"(?P<open>\()?(?P<sign>[-+]?)\s*(?:[$€£¥]\s*(?P<inner>[-+]?))?(?P<size>[^-+\s$€£¥%()][^\s%()]*)\s*%?(?P<close>\))?"
)
_LETTER = re.compile(r"\**\(?([A-Za-z])(?:[).:]?\**|[).:]\s.*)", re.DOTALL)
_VERDICTS = {"true": 1, "false": 0}


@dataclass(frozen=True, kw_only=True)
class Truth:
    """A ground truth.

    Attributes:
        kind: What the answer is compared as; `unusable` where the cell is no answer to its question.
        value: 1 or 0 for a verdict, a capital letter for a choice, a float for a number, None when unusable.
        text: The cell as it stands in the file.
        reason: Why it is unusable; empty otherwise.
    """

    kind: TruthKind
    value: int | str | float | None
    text: str
    reason: str = ""


def normalise_task(task: str) -> Task:
    """Return the name the files use for a task; `calc` is understood as `calcu`.

    Raises:
        ConfigError: No such task.
    """
    name = "calcu" if task == "calc" else task
    for known in TASKS:
        if name == known:
            return known
    raise ConfigError(f"XFinBench task: expected bool, mcq or calc, got {task!r}. Check the `task` column or `--task`.")


def parse_truth(task: str, raw: str) -> Truth:
    """Read a ground truth.

    Args:
        task: `bool`, `mcq` or `calcu`.
        raw: The cell.

    Returns:
        The truth; of kind `unusable`, with a reason, where the cell is no answer to a question of this task.

    Raises:
        ConfigError: No such task.

    Example:
        >>> parse_truth("bool", "1.0").value, parse_truth("mcq", "C").value, parse_truth("calcu", "–6.0").value
        (1, 'C', -6.0)
        >>> parse_truth("calcu", "56.14, -85.77").reason
        'two numbers'
    """
    name = normalise_task(task)
    text = raw.strip().translate(_DASHES)
    if not text:
        return _unusable(raw, "empty")
    if name == "bool":
        return _verdict(raw, text)
    if name == "mcq":
        return _choice(raw, text)
    return _number(raw, text)


def _unusable(raw: str, reason: str) -> Truth:
    return Truth(kind="unusable", value=None, text=raw, reason=reason)


def _verdict(raw: str, text: str) -> Truth:
    value = _VERDICTS.get(text.lower())
    if value is not None:
        return Truth(kind="verdict", value=value, text=raw)
    number = _float(text)
    if number in (0.0, 1.0):
        return Truth(kind="verdict", value=int(number), text=raw)
    return _unusable(raw, "no verdict" if number is None else "number for a verdict question")


def _choice(raw: str, text: str) -> Truth:
    if match := _LETTER.fullmatch(text):
        return Truth(kind="choice", value=match[1].upper(), text=raw)
    return _unusable(raw, "no letter" if _float(text) is None else "number for a choice question")


def _number(raw: str, text: str) -> Truth:
    number = _float(text)
    if number is not None:
        return Truth(kind="number", value=number, text=raw)
    if len(_NUMBER.findall(text)) == 2:
        return _unusable(raw, "two numbers")
    return _unusable(raw, "not one number")


def _float(text: str) -> float | None:
    """Read text that is a number as a whole; None for anything else, and for what a float cannot hold.

    A currency and a per cent sign say nothing about the value: `12%` is 12. An amount in round brackets is negative.
    """
    amount = _AMOUNT.fullmatch(text)
    if amount is None or not _NUMBER.fullmatch(amount["size"]):
        return None
    if (amount["open"] is None) != (amount["close"] is None) or (amount["sign"] and amount["inner"]):
        return None
    size = float(amount["size"].replace(",", ""))
    signs = (amount["sign"], amount["inner"], "-" if amount["open"] else "")
    if not math.isfinite(size) or signs.count("-") > 1:
        return None
    return -size if "-" in signs else size
