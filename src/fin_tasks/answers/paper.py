"""The authors' own readers of answers and programs, bug for bug: the `paper` variants."""

import math
import re

from fin_tasks.answers.numbers import TOLERANCE
from fin_tasks.answers.types import Extraction

MARKER = "Therefore, my answer is"  # what XFinBench asks a model to write before its answer


def marked_verdict(response: str) -> Extraction[int]:
    """Read 1 or 0 up to the first full stop behind the last marker; "incorrect" is 1, as it holds "correct"."""
    _, marker, behind = response.rpartition(MARKER)
    if not marker:
        return Extraction(answer=None, reason="no marker")
    sentence = behind.partition(".")[0]
    if any(word in sentence for word in ("TRUE", "true", "True", "correct")):
        return Extraction(answer=1, rule="marker")
    if any(word in sentence for word in ("FALSE", "false", "False")):
        return Extraction(answer=0, rule="marker")
    return Extraction(answer=None, reason="no verdict up to the first full stop")


def marked_letter(response: str) -> Extraction[str]:
    """Read the first of A to D, in the order of the alphabet, up to the first full stop behind the last marker."""
    _, marker, behind = response.rpartition(MARKER)
    if not marker:
        return Extraction(answer=None, reason="no marker")
    sentence = behind.partition(".")[0]
    for letter in "ABCD":
        if letter in sentence:
            return Extraction(answer=letter, rule="marker")
    return Extraction(answer=None, reason="no letter up to the first full stop")


def marked_number(response: str) -> Extraction[float]:
    """Read a finite number in the last square brackets behind the last marker, by its digits, `.`, `-` and `/` only."""
    _, marker, behind = response.rpartition(MARKER)
    if not marker:
        return Extraction(answer=None, reason="no marker")
    in_brackets = behind.rpartition("[")[2].partition("]")[0]
    try:
        number = float("".join(char for char in in_brackets if char in "-./0123456789"))
    except ValueError:
        number = math.nan
    if math.isfinite(number):
        return Extraction(answer=number, rule="marker")
    return Extraction(answer=None, reason="no number where the authors look")


def near_marked(m: float, g: float) -> bool:
    """Return whether m is less than 0.5 % of m away from the truth g, also if one is divided by 100; 0 never is."""
    pairs = ((m, g, m), (m / 100, g, m / 100), (m, g / 100, m))
    return m / 100 != 0 and any(
        abs(answer - truth) / abs(base) < TOLERANCE for answer, truth, base in pairs
    )


def xfinbench_program(response: str) -> str:
    """Return the program XFinBench's authors run: the text behind the last python fence, else the whole response."""
    program = (
        response.rpartition("```python")[2].partition("```")[0]
        if "```python" in response
        else response
    )
    return (
        "".join(f"import {module}\n" for module in ("math", "scipy") if module in program) + program
    )


def financemath_program(response: str) -> str | None:
    """Return the program FinanceMath's authors run; None if they run nothing."""
    if not response.strip() or "argparse" in response:
        return None
    block = re.search(r"```python(.*?)```", response, re.DOTALL) or re.search(
        r"```(.*?)```", response, re.DOTALL
    )
    program = block[1] if block else response
    if block is None and "def solution():" not in response:
        body = response.partition("```")[0] if response.count("```") == 1 else response
        program = f"def solution():\n{'' if body.startswith('    ') else '    '}{body}"
    return program.strip("` \t\r\n")
