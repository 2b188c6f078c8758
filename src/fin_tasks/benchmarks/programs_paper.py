"""How the authors of FinanceMath and FinanceReasoning take programs out of responses."""

import re

_PYTHON_BLOCK = re.compile(r"```python(.*?)```", re.DOTALL)
_ANY_BLOCK = re.compile(r"```(.*?)```", re.DOTALL)
_HEAD = "def solution():"
_INDENT = "    "


def program_in(response: str) -> str | None:
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


def _with_head(body: str) -> str:
    indent = "" if body.startswith(_INDENT) else _INDENT
    return f"{_HEAD}\n{indent}{body}"
