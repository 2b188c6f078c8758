"""The authors' own readers of answers and programs, bug for bug: the `paper` variants."""

import math
import re

from fin_tasks.answers.numbers import TOLERANCE

MARKER = "Therefore, my answer is"  # what XFinBench asks a model to write before its answer


def marked_verdict(response: str) -> tuple[int | None, str]:
    """Read 1 or 0 up to the first full stop behind the last marker; "incorrect" holds "correct", so it is 1."""
    _, marker, behind = response.rpartition(MARKER)
    sentence = behind.partition(".")[0] if marker else ""
    if any(word in sentence for word in ("TRUE", "true", "True", "correct")):
        return 1, ""
    if any(word in sentence for word in ("FALSE", "false", "False")):
        return 0, ""
    return None, "no verdict up to the first full stop" if marker else "no marker"


def marked_letter(response: str) -> tuple[str | None, str]:
    """Read the first of A to D, in the order of the alphabet, up to the first full stop behind the last marker."""
    _, marker, behind = response.rpartition(MARKER)
    found = sorted(set(behind.partition(".")[0]) & set("ABCD")) if marker else []
    return (
        (found[0], "")
        if found
        else (None, "no letter up to the first full stop" if marker else "no marker")
    )


def marked_number(response: str) -> tuple[float | None, str]:
    """Read a finite number in the last square brackets behind the last marker, by its digits, `.`, `-` and `/` only."""
    _, marker, behind = response.rpartition(MARKER)
    held = behind.rpartition("[")[2].partition("]")[0] if marker else ""
    try:
        number = float("".join(char for char in held if char in "-./0123456789"))
    except ValueError:
        number = math.nan
    if math.isfinite(number):
        return number, ""
    return None, "no number where the authors look" if marker else "no marker"


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
