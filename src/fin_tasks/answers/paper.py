"""Answers and programs as the benchmarks' authors take them from a response, bug for bug.

These readers are the `paper` variants. They see the raw response: nothing is stripped, and no other wording counts.
"""

import math
import re

from fin_tasks.answers.compare import TOLERANCE

__all__ = [
    "MARKER",
    "financemath_program",
    "marked_letter",
    "marked_number",
    "marked_verdict",
    "near_marked",
    "xfinbench_program",
]

MARKER = "Therefore, my answer is"
"""What XFinBench asks a model to write before its answer."""


def marked_verdict(response: str) -> tuple[int | None, str]:
    """Read 1 or 0 up to the first full stop behind the last marker; "incorrect" holds "correct", so it is 1."""
    behind = _behind(response)
    if behind is None:
        return None, "no marker"
    sentence = behind.partition(".")[0]
    if any(word in sentence for word in ("TRUE", "true", "True", "correct")):
        return 1, ""
    if any(word in sentence for word in ("FALSE", "false", "False", "incorrect")):
        return 0, ""
    return None, "no verdict up to the first full stop"


def marked_letter(response: str) -> tuple[str | None, str]:
    """Read the alphabetically first of A to D anywhere up to the first full stop behind the last marker."""
    behind = _behind(response)
    if behind is None:
        return None, "no marker"
    sentence = behind.partition(".")[0]
    letter = next((letter for letter in "ABCD" if letter in sentence), None)
    return letter, "" if letter else "no letter up to the first full stop"


def marked_number(response: str) -> tuple[float | None, str]:
    """Read a finite number in the last square brackets behind the last marker, by its digits, `.`, `-` and `/` only."""
    behind = _behind(response)
    if behind is None:
        return None, "no marker"
    held = behind.rpartition("[")[2].partition("]")[0]
    try:
        number = float("".join(char for char in held if char in "-./0123456789"))
    except ValueError:
        number = math.nan
    return (number, "") if math.isfinite(number) else (None, "no number where the authors look")


def near_marked(m: float, g: float) -> bool:
    """Tell whether the answer m is near the truth g: within 0.5 % of m, also if one of them is a hundredfold.

    An answer of 0 is never near.
    """
    if m == 0 or m / 100 == 0:
        return False
    pairs = ((m, g, m), (m / 100, g, m / 100), (m, g / 100, m))
    return any(abs(answer - truth) / abs(base) < TOLERANCE for answer, truth, base in pairs)


def xfinbench_program(response: str) -> str:
    """Return the program XFinBench's authors run: what follows the last python fence, else the whole response."""
    program = response.rpartition("```python")[2].partition("```")[0] if "```python" in response else response
    imports = "".join(f"import {module}\n" for module in ("math", "scipy") if module in program)
    return imports + program


def financemath_program(response: str) -> str | None:
    """Return the program FinanceMath's authors run; None if they run nothing."""
    if not response.strip() or "argparse" in response:
        return None
    block = re.search(r"```python(.*?)```", response, re.DOTALL) or re.search(r"```(.*?)```", response, re.DOTALL)
    if block is not None:
        program = block[1]
    elif "def solution():" in response:
        program = response
    else:
        body = response.partition("```")[0] if response.count("```") == 1 else response
        program = f"def solution():\n{'' if body.startswith('    ') else '    '}{body}"
    return program.strip("` \t\r\n")


def _behind(response: str) -> str | None:
    _, marker, behind = response.rpartition(MARKER)
    return behind if marker else None
