"""How FinanceMath's authors take programs out of responses and compare numbers, oddities included."""

import math
import re

_PYTHON_BLOCK = re.compile(r"```python(.*?)```", re.DOTALL)
_ANY_BLOCK = re.compile(r"```(.*?)```", re.DOTALL)
_HEAD = "def solution():"
_INDENT = "    "

_TOLERANCE = 0.0015
_FORGIVEN_FACTORS = (100, 1_000, 100_000)


def financemath_program(response: str) -> str | None:
    """Return the program that the authors run; None if they run nothing."""
    if not response.strip() or "argparse" in response:
        return None
    block = _PYTHON_BLOCK.search(response) or _ANY_BLOCK.search(response)
    if block is not None:
        program = block[1]
    elif _HEAD in response:
        program = response
    elif response.count("```") == 1:
        program = _with_head(response.partition("```")[0])
    else:
        program = _with_head(response)
    return program.strip("` \t\r\n")


def is_equal(result: float, truth: float) -> bool:
    """Compare two numbers as the authors do: a power of ten is forgiven, signs hardly count, NaN is right."""
    if math.isnan(result):
        return True
    if math.isinf(result) or not math.isfinite(truth):
        return False
    large = max(abs(result), abs(truth))
    small = min(abs(result), abs(truth))
    if is_near(result, truth):
        return True
    if _are_powers_of_ten_apart(large, small):
        return True
    if _are_rounded_up_alike(large, small):
        return True
    return any(is_near(small * factor, large) for factor in _FORGIVEN_FACTORS)


def is_near(number: float, truth: float) -> bool:
    """Return whether a number is within 0.15 % of the truth."""
    # An interval rather than a difference: at the very edge the two round differently.
    margin = abs(truth) * _TOLERANCE
    return truth - margin <= number <= truth + margin


def _with_head(body: str) -> str:
    indent = "" if body.startswith(_INDENT) else _INDENT
    return f"{_HEAD}\n{indent}{body}"


def _are_powers_of_ten_apart(large: float, small: float) -> bool:
    if small == 0 or not math.isfinite(large / small):
        return False
    return math.log10(large / small).is_integer()


def _are_rounded_up_alike(large: float, small: float) -> bool:
    """Return whether both give the same number when they are rounded up to three decimals."""
    if not math.isfinite(large * 1000):
        return False
    return math.ceil(large * 1000) == math.ceil(small * 1000)
