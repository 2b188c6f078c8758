"""What FinanceMath and FinanceReasoning share: how their authors find programs in responses, and the metrics."""

import re
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from fin_tasks.answers.numbers import Number, fit
from fin_tasks.answers.types import Reading, Score

from . import short_answers
from .short_answers import Values

_PYTHON_BLOCK = re.compile(r"```python(.*?)```", re.DOTALL)
_ANY_BLOCK = re.compile(r"```(.*?)```", re.DOTALL)
_HEAD = "def solution():"
_INDENT = "    "
_METRICS = ("acc", "execution_rate", "no_answer", "cut_off", "unscored")


def program_in(response: str) -> str | None:
    """Return the program that the authors run; None if they run nothing."""
    if not response.strip() or "argparse" in response:
        return None
    block = _PYTHON_BLOCK.search(response) or _ANY_BLOCK.search(response)
    if block is not None:
        program = block[1]
    elif _HEAD in response:
        program = response
    else:
        body = response.partition("```")[0]
        indent = "" if body.startswith(_INDENT) else _INDENT
        program = f"{_HEAD}\n{indent}{body}"
    return program.strip("` \t\r\n")


programs = partial(short_answers.programs, authors=program_in)


def is_near(number: float, truth: float, tolerance: float) -> bool:
    """Return whether a number is within this share of the truth."""
    # An interval rather than a difference: at the very edge the two round differently.
    margin = abs(truth) * tolerance
    return truth - margin <= number <= truth + margin


def is_right(number: Number, truth: float, tolerance: float) -> bool:
    """Return whether a number is near the truth in any of its units, or equal to it as far as written."""
    if any(is_near(value, truth, tolerance) for value in number.values):
        return True
    found = fit(number, [(truth, 0.0)])
    return found is not None and found.is_equal


def mean_values(
    compare: Callable[[Any, Any], Score], doc: Any, readings: Sequence[Reading]
) -> Values:
    """Return a document's metrics; of responses in words, `execution_rate` is the share with an answer."""
    values = short_answers.mean_values(_METRICS, compare, doc, readings)
    no_answer = values["no_answer"]
    if values["execution_rate"] is None and no_answer is not None:
        values["execution_rate"] = 1.0 - no_answer
    return values
