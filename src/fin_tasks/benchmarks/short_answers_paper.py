"""How XFinBench's authors read answers and take programs, defects included: the `paper` variant.

BizBench is scored by these readers too, and benchmarks do not import each other. So they stand here,
beside `short_answers.py`, and not in the folder of XFinBench.
"""

import math
import re

from fin_tasks.answers.numbers import TOLERANCE
from fin_tasks.answers.types import Extraction
from fin_tasks.sandbox import Outcome

MARKER = "Therefore, my answer is"
"""What XFinBench asks a model to write before its answer."""


# The authors' own script imports these names, so their programs can use them without an import.
# `pd` and `np` are also names of amounts, as of a probability of default: only `pd.` means pandas.
_SCRIPT_NAMES = {
    r"\bnp\s*\.": "import numpy as np",
    r"\bpd\s*\.": "import pandas as pd",
    r"\brandom\s*\.": "import random",
    r"\bjson\s*\.": "import json",
    r"\bcsv\s*\.": "import csv",
    r"\bos\s*\.": "import os",
    r"\bsys\s*\.": "import sys",
    r"\bdatetime\b": "from datetime import datetime",
}
# The sandbox calls `solution()`, and must give back a text as one: the authors read "5" as a response.
# A returned text is put behind the marker, as in the authors' script. Only its end is kept, because the
# sandbox cuts long results.
_RETURN_RESULT = f"""
solution = lambda: {MARKER + " "!r} + val_[-800:] if isinstance(val_, str) else val_
"""


def marked_verdict(response: str) -> Extraction[int]:
    """Read 1 or 0 between the last marker and the next full stop; "incorrect" holds "correct" and is 1."""
    sentence = _marked_sentence(response)
    if sentence is None:
        return Extraction(answer=None, reason="no marker")
    if any(word in sentence for word in ("TRUE", "true", "True", "correct")):
        return Extraction(answer=1, rule="marker")
    if any(word in sentence for word in ("FALSE", "false", "False", "incorrect")):
        return Extraction(answer=0, rule="marker")
    return Extraction(answer=None, reason="no verdict up to the first full stop")


def marked_letter(response: str) -> Extraction[str]:
    """Read A if there is any A between the last marker and the next full stop, else B, C or D."""
    sentence = _marked_sentence(response)
    if sentence is None:
        return Extraction(answer=None, reason="no marker")
    for letter in "ABCD":
        if letter in sentence:
            return Extraction(answer=letter, rule="marker")
    return Extraction(answer=None, reason="no letter up to the first full stop")


def marked_number(response: str) -> Extraction[float]:
    """Read the digits in the last square brackets behind the last marker, or in all text behind it."""
    _, marker, behind = response.rpartition(MARKER)
    if not marker:
        return Extraction(answer=None, reason="no marker")
    in_brackets = behind.rpartition("[")[2].partition("]")[0]
    digits = "".join(char for char in in_brackets if char in "-./0123456789")
    try:
        number = float(digits)
    except ValueError:
        number = math.nan
    if math.isfinite(number):
        return Extraction(answer=number, rule="marker")
    return Extraction(answer=None, reason="no number where the authors look")


def near_marked(answer: float, truth: float) -> bool:
    """Return whether an answer is less than 0.5 % of itself away from the truth.

    The authors also accept a factor of 100 between the two. An answer of 0 is never near.
    """
    hundredth = answer / 100
    if hundredth == 0:
        return False
    pairs = ((answer, truth), (hundredth, truth), (answer, truth / 100))
    return any(abs(mine - right) / abs(mine) < TOLERANCE for mine, right in pairs)


def xfinbench_program(response: str) -> str:
    """Return the program that the authors run: a response is cut at its fences, and `solution()` is called."""
    program = response.split("```python")[-1].split("```")[0]
    modules = [name for name in ("math", "scipy") if name in program]
    imports = "".join(f"import {name}\n" for name in modules)
    return f"{imports}{program}\nval_ = solution()"


def sandboxed_program(response: str) -> str:
    """Return the authors' program for our sandbox, with the names that their script imports."""
    program = xfinbench_program(response)
    # To import pandas takes a tenth of the time limit, so only names in use are imported.
    imports = [line for use, line in _SCRIPT_NAMES.items() if re.search(use, program)]
    return "\n".join([*imports, program]) + _RETURN_RESULT


def returned_number(outcome: Outcome) -> float | None:
    """Return the number that a program returned, or the one in the text that it returned."""
    if outcome.number is not None:
        return outcome.number if math.isfinite(outcome.number) else None
    text = outcome.value or ""
    return marked_number(text).answer if text.startswith(MARKER) else None


def _marked_sentence(response: str) -> str | None:
    _, marker, behind = response.rpartition(MARKER)
    return behind.partition(".")[0] if marker else None
